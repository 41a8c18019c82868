package audit

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"
	"sbx/spec"
)

// Load reads a record, as Settled does: a file by its path, a run by its id or the
// beginning of one, or the newest by "last". What it returns beside is where it
// stood.
func Load(stateDir, name string) ([]byte, View, string, error) {
	if strings.ContainsRune(name, '/') || strings.HasSuffix(name, ".json") {
		b, v, err := Settled(func() ([]byte, error) { return readRecord(unix.AT_FDCWD, name, 0) })
		return b, v, name, noRecord(name, err)
	}
	runs, err := openat(unix.AT_FDCWD, stateDir+"/runs", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, View{}, "", noRecord(name, err)
	}
	defer closeFD(runs)
	for _, id := range newest(runs, 1<<30, "") {
		if name != "last" && !strings.HasPrefix(id, name) {
			continue
		}
		b, v, err := loadRun(runs, id)
		if err == unix.ENOENT && name == "last" {
			continue // its record was named with --effective
		}
		at := stateDir + "/runs/" + id + "/" + effectiveName
		return b, v, at, noRecord(at, err)
	}
	return nil, View{}, "", noRecord(name, unix.ENOENT)
}

// loadRun reads the record in a run's folder, if it is one that sbx makes.
func loadRun(runs int, id string) ([]byte, View, error) {
	dir, err := openat(runs, id, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err == unix.ENOTDIR || err == unix.ELOOP {
		err = errors.New("its folder is a link or no folder, which sbx does not make")
	}
	if err != nil {
		return nil, View{}, err
	}
	defer closeFD(dir)
	var above, own unix.Stat_t
	if err = unix.Fstat(runs, &above); err == nil {
		err = unix.Fstat(dir, &own)
	}
	if err != nil {
		return nil, View{}, err
	}
	if own.Uid != above.Uid || own.Mode&^above.Mode&0o022 != 0 {
		return nil, View{}, errors.New("others may write its folder, which sbx makes for its caller alone")
	}
	b, v, err := settled(func() ([]byte, error) { return readRecord(dir, effectiveName, unix.O_NOFOLLOW) },
		func(p Process) bool { return p.Gone() && (p.BootID == bootID() || !isLocked(dir)) })
	if err == unix.ELOOP {
		err = errors.New("it is a link, which sbx does not make")
	}
	if err == nil && text(v.Node.Get("id")) != id {
		err = errors.New("it says that it is of another run")
	}
	return b, v, err
}

// isLocked tells whether a supervisor, of whichever machine, has the run's folder.
func isLocked(dir int) bool {
	err := unix.Flock(dir, unix.LOCK_SH|unix.LOCK_NB)
	if err == nil {
		_ = unix.Flock(dir, unix.LOCK_UN)
	}
	return err == unix.EWOULDBLOCK
}

func noRecord(name string, err error) error {
	if err == nil {
		return nil
	}
	return &spec.Problem{On: name, Do: "read a record", Why: err.Error(),
		Help: `name a file, the id of a run, or "last"`}
}

// readRecord reads a regular file of a record's size.
func readRecord(dir int, name string, flags int) ([]byte, error) {
	fd, err := openat(dir, name, unix.O_RDONLY|unix.O_NONBLOCK|flags, 0)
	if err != nil {
		return nil, err
	}
	defer closeFD(fd)
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	switch {
	case st.Mode&unix.S_IFMT == unix.S_IFDIR:
		return nil, unix.EISDIR
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return nil, unix.EINVAL
	case st.Size > maxRecord:
		return nil, unix.EFBIG
	}
	b := make([]byte, st.Size)
	n, err := readFull(fd, b)
	return b[:n], err
}
