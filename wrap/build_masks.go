package wrap

import "cmp"

// ownMasks lists the masked directories and gives their masks empty directories of their own, so
// that the supervisor can tell which one the command opened: inotify reports inodes. Each costs
// every start a mkdir of about 4 us. Masks that every machine has therefore share one directory,
// and all masks share one if nobody looks at the reports.
func (b *layers) ownMasks() {
	var all []MaskedDir
	var masks []*item
	held := false // the supervisor has the directory open, because it may have to mount a mask again
	next, shared := 1, 0
	for n := range b.items {
		i := &b.items[n]
		if i.how != itemMasked || i.kind != Dir {
			continue
		}
		f := MaskedDir{Inside: i.path, Path: cmp.Or(i.source, i.path), For: i.field}
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
	b.plan.Watch.MaskedDirs = all
	one := next == 1 || next == 2 && shared == 0
	for k := range all {
		switch f := &all[k]; {
		case one:
			f.Own = 0 // the empty directory itself
		case f.Own == 0:
			f.Own = next // the empty directory itself now holds others, so masks that share get one of their own
		}
		masks[k].slot = all[k].Own
	}
}

// shares reports whether a masked directory may share its mask: one outside of the home directory,
// which every machine has, or sbx's own state.
func (b *layers) shares(f *MaskedDir) bool {
	home := b.h.Home
	return f.For == FieldSecrets && (home == "" || home == "/" || !under(f.Path, home) || f.Path == b.h.State)
}
