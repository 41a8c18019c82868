package audit

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
	"sbx/spec"
)

// effectiveName is a record's name in its run's folder.
const effectiveName = "effective.json"

// maxMend is how many of the newest runs Mend looks at.
const maxMend = 32

// StateDir is sbx's own state folder: $XDG_STATE_HOME/sbx where that is
// absolute, else ~/.local/state/sbx; "" for a caller with no home.
func StateDir(environ []string, home string) string {
	if x := lookup(environ, "XDG_STATE_HOME"); strings.HasPrefix(x, "/") {
		return strings.TrimRight(x, "/") + "/sbx"
	}
	if !strings.HasPrefix(home, "/") {
		return ""
	}
	return strings.TrimRight(home, "/") + "/.local/state/sbx"
}

// openRun makes the run's own folder the record's.
func (s *Sink) openRun() error {
	if s.state == "" {
		return cannotWrite(effectiveName, "there is no home folder, and XDG_STATE_HOME is not set to an absolute path",
			"set HOME, or name a file: --effective FILE")
	}
	s.path, s.base = s.state+"/runs/"+s.id+"/"+effectiveName, effectiveName
	fd, dir, err := makeRun(s.state, s.id)
	if err != nil {
		return cannotWrite(dir, "the folder cannot be made: "+err.Error(),
			"set XDG_STATE_HOME to a folder that can be written, or name a file: --effective FILE")
	}
	s.dir = fd
	return nil
}

// Run opens the run's own folder, where swept files go, and makes it if the
// record is elsewhere. The descriptor is the sink's.
func (s *Sink) Run() (fd int, path string, err error) {
	path = s.state + "/runs/" + s.id
	switch {
	case s.run >= 0:
		return s.run, path, nil
	case !s.named:
		return s.dir, path, nil
	case s.state == "":
		return -1, "", unix.ENOENT
	}
	s.run, _, err = makeRun(s.state, s.id)
	return s.run, path, err
}

// makeRun makes and opens runs/<id>, and what is missing above it, all 0700.
func makeRun(state, id string) (int, string, error) {
	dir := state + "/runs/" + id
	err := unix.Mkdir(dir, 0o700)
	if err == unix.ENOENT {
		if err = makeParents(dir); err == nil {
			err = unix.Mkdir(dir, 0o700)
		}
	}
	if err != nil && err != unix.EEXIST {
		return -1, dir, err
	}
	fd, err := openat(unix.AT_FDCWD, dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	return fd, dir, err
}

// makeParents makes the folders above path that are missing.
func makeParents(path string) error {
	for i := 1; i < len(path); i++ {
		if path[i] != '/' {
			continue
		}
		if err := unix.Mkdir(path[:i], 0o700); err != nil && err != unix.EEXIST {
			// A folder above may be there and not be ours to make: EROFS, EACCES.
			var st unix.Stat_t
			if unix.Stat(path[:i], &st) != nil {
				return err
			}
		}
	}
	return nil
}

// Mend finishes the records of runs in a state folder whose supervisor is
// gone: their state becomes "lost". It looks at the newest runs only, leaves
// what it cannot tell, and is to be called while a command runs, never before.
func Mend(stateDir string) (mended int) {
	runs, err := openat(unix.AT_FDCWD, stateDir+"/runs", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return 0
	}
	defer closeFD(runs)
	self := Self()
	for _, id := range newest(runs, maxMend) {
		if mendRun(runs, id, self) {
			mended++
		}
	}
	return mended
}

// beginsRunning tells by its first bytes whether a run's record may say that it
// is running: nearly all do not, and need not be read.
func beginsRunning(dir int) bool {
	fd, err := openat(dir, effectiveName, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer closeFD(fd)
	var head [512]byte
	n, _ := readFull(fd, head[:])
	return bytes.Contains(head[:n], []byte(`"`+stateRunning+`"`))
}

func mendRun(runs int, id string, self Process) bool {
	dir, err := openat(runs, id, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer closeFD(dir)
	if !beginsRunning(dir) {
		return false
	}
	b, err := readRecord(dir, effectiveName, unix.O_NOFOLLOW)
	if err != nil {
		return false
	}
	v, err := Parse(b)
	if err != nil || v.derive(self) != stateLost {
		return false
	}
	return replaceAt(dir, effectiveName, launchName, v.lost(), false) == nil
}

// lost is the record with its state changed, and all else as it was.
func (v View) lost() []byte {
	w := writer{}
	w.open('{')
	for _, m := range v.Node.Members {
		w.name(m.Key)
		if m.Key == "state" {
			w.str(stateLost)
			continue
		}
		w.b = m.Value.AppendJSON(w.b, nil)
		w.comma = true
	}
	w.close('}')
	return append(w.b, '\n')
}

// newest is the names of the newest n runs, newest first.
func newest(runs, n int) []string {
	f := folder{fd: runs, buf: make([]byte, 8<<10)}
	var ids []string
	for e, ok := f.next(); ok; e, ok = f.next() {
		name := string(e.name)
		if !isID(name) || len(ids) == n && name < ids[n-1] {
			continue
		}
		at, _ := slices.BinarySearchFunc(ids, name, func(a, b string) int { return strings.Compare(b, a) })
		if ids = slices.Insert(ids, at, name); len(ids) > n {
			ids = ids[:n]
		}
	}
	return ids
}

// Load reads a record: a file by its path, a run by its id or the beginning
// of one, or the newest by "last". What it returns beside is where it stood.
func Load(stateDir, name string) ([]byte, string, error) {
	if strings.ContainsRune(name, '/') || strings.HasSuffix(name, ".json") {
		b, err := readRecord(unix.AT_FDCWD, name, 0)
		return b, name, noRecord(name, err)
	}
	runs, err := openat(unix.AT_FDCWD, stateDir+"/runs", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, "", noRecord(name, err)
	}
	defer closeFD(runs)
	for _, id := range newest(runs, 1<<30) {
		if name != "last" && !strings.HasPrefix(id, name) {
			continue
		}
		at := id + "/" + effectiveName
		b, err := readRecord(runs, at, 0)
		if err == unix.ENOENT && name == "last" {
			continue // its record was named with --effective
		}
		at = stateDir + "/runs/" + at
		return b, at, noRecord(at, err)
	}
	return nil, "", noRecord(name, unix.ENOENT)
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
