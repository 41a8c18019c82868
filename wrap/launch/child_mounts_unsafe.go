package launch

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What a child does about the flags of mounts where the kernel has no
// mount_setattr(2). The rules of child_unsafe.go hold here.

// remountEach repeatedly asks the supervisor which mounts to change, and changes them, until
// the supervisor answers that all have their flags, or that they cannot. The supervisor
// checks the mounts itself and does not rely on the results of these calls.
//
//go:nosplit
//go:norace
func (p *program) remountEach(o *op, i int) syscall.Errno {
	tree := p.slots[o.a[0]&63]
	if tree == emptySlot {
		return syscall.EBADF
	}
	var last syscall.Errno
	for {
		p.rep.kind = reportEach
		p.rep.index = int32(i)
		p.rep.value = int64(tree)
		p.rep.user = int64(last)
		p.tell()
		if e := p.await(); e != 0 {
			return e
		}
		if p.each == nil {
			return syscall.Errno(p.verdict)
		}
		for k := range p.each.ops {
			if _, e := p.call(&p.each.ops[k]); e != 0 {
				last = e
			}
		}
	}
}

// remountOne adds flags to the existing flags of a mount.
//
//go:nosplit
//go:norace
func (p *program) remountOne(o *op) syscall.Errno {
	var st unix.Statfs_t
	_, _, e := syscall.RawSyscall(unix.SYS_FSTATFS, p.slots[o.a[0]&63], uintptr(unsafe.Pointer(&st)), 0)
	if e != 0 {
		return e
	}
	has := uintptr(st.Flags) & sameFlags
	if st.Flags&stNoSymFollow != 0 {
		has |= unix.MS_NOSYMFOLLOW
	}
	_, _, e = syscall.RawSyscall6(unix.SYS_MOUNT, 0, o.a[1], 0, unix.MS_REMOUNT|unix.MS_BIND|has|o.a[2], 0, 0)
	return e
}

const (
	// sameFlags have the same numbers as ST_RDONLY and the other flags of statfs(2).
	sameFlags     = unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	stNoSymFollow = 0x2000 // ST_NOSYMFOLLOW of linux/statfs.h, Linux 5.10
)
