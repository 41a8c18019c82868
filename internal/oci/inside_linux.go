package oci

import "golang.org/x/sys/unix"

// inside calls f on a thread in the container's mount namespace, where its files have their own paths; it
// does nothing before the supervisor has met the container.
func (s *supervisor) inside(f func()) {
	if s.root < 0 {
		return
	}
	apart(func() {
		// Setns makes the container's root this thread's.
		if unix.Unshare(unix.CLONE_FS) == nil && unix.Setns(s.mounts, unix.CLONE_NEWNS) == nil {
			f()
		}
	})
}
