package wrap

import "sbx/spec"

// folderMasked notes a mask over a directory of the sandbox.
func (b *hiding) folderMasked(image, path string, k Kind, f spec.Field) {
	if k == Dir {
		w := &b.plan.Watch
		w.Folders = append(w.Folders, Folder{Inside: image, Path: path, For: f})
	}
}

// ownFolders gives masks over directories empty directories of their own, so that the
// supervisor can tell which was opened: inotify tells of inodes. Each is a mkdir
// of some 4 us, so every start would pay for what is hidden from everybody: that
// shares one, and so does all where nobody looks.
func (b *mounter) ownFolders() {
	w := &b.plan.Watch
	held := false // the supervisor has the directory because a mask may have to be mounted again
	for i := range w.Renew {
		held = held || w.Renew[i].Mount.Op == OpPlace && w.Renew[i].Mount.Slot == SlotEmpty
	}
	if !held || b.req.Describe == DescribeNone || !b.plan.Has(PidNS) {
		w.Folders = nil
	}
	next, shared := 1, 0
	for i := range w.Folders {
		if f := &w.Folders[i]; !b.shares(f) {
			f.Own = next
			next++
		} else {
			shared++
		}
	}
	if next == 1 || next == 2 && shared == 0 {
		for i := range w.Folders {
			w.Folders[i].Own = 0 // the empty directory itself
		}
		return
	}
	own := make(map[string]int, len(w.Folders))
	n := 0
	for i := range b.plan.Mounts {
		if m := &b.plan.Mounts[i]; m.Op == OpPlace && m.Slot == SlotEmpty {
			f := &w.Folders[n]
			n++
			if f.Own == 0 {
				f.Own = next // which is not empty any more: what shares has one for all
			}
			own[f.Inside], m.Own = f.Own, f.Own
		}
	}
	for i := range w.Renew {
		if m := &w.Renew[i].Mount; m.Op == OpPlace && m.Slot == SlotEmpty {
			m.Own = own[m.Target]
		}
	}
}

// shares tells whether a masked directory is one of those that stand on every
// machine: outside of the home directory, or sbx's own state.
func (b *mounter) shares(f *Folder) bool {
	home := b.h.Home
	return f.For == FieldSecrets && (home == "" || home == "/" || !under(f.Path, home) || f.Path == b.h.State)
}
