package guard

import "golang.org/x/sys/unix"

// identity distinguishes files that were at the same path at different times. An inode number alone
// does not, since the kernel soon reuses it; the birth time is different then.
type identity struct {
	dev  [2]uint32
	ino  uint64
	born unix.StatxTimestamp
}

func identify(path string) identity { return identifyIn(unix.AT_FDCWD, path) }

func identifyIn(dir int, name string) identity {
	var st unix.Statx_t
	if statx(dir, name, &st) != nil {
		return identity{}
	}
	return identityOf(&st)
}

func identityOf(st *unix.Statx_t) identity {
	return identity{[2]uint32{st.Dev_major, st.Dev_minor}, st.Ino, st.Btime}
}

// statx reads the attributes of a name in an open directory and does not follow a link.
func statx(dir int, name string, st *unix.Statx_t) error {
	for {
		err := unix.Statx(dir, name, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT,
			unix.STATX_BASIC_STATS|unix.STATX_BTIME, st)
		if err != unix.EINTR {
			return err
		}
	}
}
