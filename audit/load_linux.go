package audit

import (
	"errors"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
	"sbx/internal/dirs"
	"sbx/spec"
)

// Load reads a record, as Settled does. name is the path of a file, or names a run: by the
// beginning of its id or of the id's last part, if only one run matches, or by its place from
// the newest: "last" or "-1", "-2" and so on. Load also returns the path of the record.
func Load(stateDir, name string) ([]byte, View, string, error) {
	if strings.ContainsRune(name, '/') || strings.HasSuffix(name, ".json") {
		b, v, err := Settled(func() ([]byte, error) { return readRecord(unix.AT_FDCWD, name, 0) })
		return b, v, name, noRecord(name, err)
	}
	runs, err := dirs.Open(unix.AT_FDCWD, stateDir+"/runs", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, View{}, "", noRecord(name, err)
	}
	defer dirs.Close(runs)
	ids, nth := newest(runs, 1<<30, ""), fromEnd(name)
	if nth == 0 {
		if ids = beginning(ids, name); len(ids) > 1 {
			return nil, View{}, "", noRecord(name, errors.New(strconv.Itoa(len(ids))+" runs have an id that begins so, as "+ids[0]+" and "+ids[1]))
		}
	}
	for _, id := range ids {
		b, v, err := loadRun(runs, id)
		if err == unix.ENOENT && nth > 0 {
			continue // its record was named with --effective
		}
		if nth--; nth > 0 {
			continue
		}
		at := stateDir + "/runs/" + id + "/" + effectiveName
		return b, v, at, noRecord(at, err)
	}
	if nth > 0 && len(ids) > 0 {
		return nil, View{}, "", noRecord(name, errors.New("there are not as many runs with a record"))
	}
	return nil, View{}, "", noRecord(name, unix.ENOENT)
}

// fromEnd returns the place of a run from the newest, which has 1; 0 if name is not such a place.
func fromEnd(name string) int {
	if name == "last" {
		return 1
	}
	digits, is := strings.CutPrefix(name, "-")
	n, err := strconv.ParseUint(digits, 10, 31)
	if !is || err != nil {
		return 0
	}
	return int(n)
}

// beginning returns the ids that begin with a text, or whose last part does.
func beginning(ids []string, text string) (all []string) {
	for _, id := range ids {
		if strings.HasPrefix(id, text) || strings.HasPrefix(id[len(idLayout)+1:], text) {
			all = append(all, id)
		}
	}
	return all
}

// openRunOf opens the directory of a run, if its owner and mode show that sbx made it.
func openRunOf(runs int, id string) (int, error) {
	dir, err := dirs.Open(runs, id, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err == unix.ENOTDIR || err == unix.ELOOP {
		err = errors.New("its directory is a symbolic link, or not a directory: sbx did not make it")
	}
	if err != nil {
		return -1, err
	}
	var above, own unix.Stat_t
	if err = unix.Fstat(runs, &above); err == nil {
		err = unix.Fstat(dir, &own)
	}
	if err == nil && (own.Uid != above.Uid || own.Mode&^above.Mode&0o022 != 0) {
		err = errors.New("others may write to its directory, which sbx makes for its caller alone")
	}
	if err != nil {
		dirs.Close(dir)
		return -1, err
	}
	return dir, nil
}

// loadRun reads the record of a run.
func loadRun(runs int, id string) ([]byte, View, error) {
	dir, err := openRunOf(runs, id)
	if err != nil {
		return nil, View{}, err
	}
	defer dirs.Close(dir)
	return recordOf(dir, id, func(p Process) bool { return p.Gone() && (p.BootID == bootID() || !isLocked(dir)) })
}

// recordOf reads the record in the open directory of a run, which must have the run's id.
func recordOf(dir int, id string, gone func(Process) bool) ([]byte, View, error) {
	b, v, err := settled(func() ([]byte, error) { return readRecord(dir, effectiveName, unix.O_NOFOLLOW) }, gone)
	if err == unix.ELOOP {
		err = errors.New("it is a symbolic link, which sbx does not make")
	}
	if err == nil && Text(v.Node.Get("id")) != id {
		err = errors.New("it says that it is of another run")
	}
	return b, v, err
}

// isLocked reports whether a supervisor, on whichever machine, has locked the run's directory.
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
		Help: `name a file, the id of a run (sbx runs lists them), "last", or -2 for the last but one`}
}

// readRecord reads a regular file of at most maxRecord bytes.
func readRecord(dir int, name string, flags int) ([]byte, error) {
	fd, err := dirs.Open(dir, name, unix.O_RDONLY|unix.O_NONBLOCK|flags, 0)
	if err != nil {
		return nil, err
	}
	defer dirs.Close(fd)
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
	n, err := dirs.ReadFull(fd, b)
	return b[:n], err
}
