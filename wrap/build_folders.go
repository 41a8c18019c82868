package wrap

import "cmp"

// ownFolders lists the directories that a mask lies over, and gives the masks empty
// directories of their own, so that the supervisor can tell which was opened: inotify
// tells of inodes. Each is a mkdir of some 4 us, so every start would pay for what is
// hidden from everybody: that shares one, and so does all where nobody looks.
func (b *layers) ownFolders() {
	var all []Folder
	var masks []*item
	held := false // the supervisor has the directory because a mask may have to be mounted again
	next, shared := 1, 0
	for n := range b.items {
		i := &b.items[n]
		if i.how != itemMasked || i.kind != Dir {
			continue
		}
		f := Folder{Inside: i.path, Path: cmp.Or(i.source, i.path), For: i.field}
		if !b.shares(&f) {
			f.Own = next
			next++
		} else {
			shared++
		}
		all, masks, held = append(all, f), append(masks, i), held || i.source != ""
	}
	if !held || b.req.Describe == DescribeNone || !b.plan.Has(PidNS) {
		return
	}
	b.plan.Watch.Folders = all
	one := next == 1 || next == 2 && shared == 0
	for k := range all {
		switch f := &all[k]; {
		case one:
			f.Own = 0 // the empty directory itself
		case f.Own == 0:
			f.Own = next // which is not empty any more: what shares has one for all
		}
		masks[k].slot = all[k].Own
	}
}

// shares reports whether a masked directory is one of those that stand on every
// machine: outside of the home directory, or sbx's own state.
func (b *layers) shares(f *Folder) bool {
	home := b.h.Home
	return f.For == FieldSecrets && (home == "" || home == "/" || !under(f.Path, home) || f.Path == b.h.State)
}
