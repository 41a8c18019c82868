package audit

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/dirs"
	"sbx/internal/sys"
	"sbx/wrap"
)

// effectiveName is a record's name in its run's directory.
const effectiveName = "effective.json"

// StateDir is sbx's own state directory: $XDG_STATE_HOME/sbx where that is
// absolute, else ~/.local/state/sbx; "" for a caller with no home. Inside another
// sandbox, in which it neither is nor can be made, it is in the private /run/user/UID:
// what is there ends with that sandbox, as all that one keeps of its own.
func StateDir(environ []string, home string) string {
	state := wrap.StateDir(sys.Variable(environ, "XDG_STATE_HOME"), home)
	if state == "" || sys.Exists(state) || !sys.Exists(wrap.ParentPath) {
		return state
	}
	near := state
	for near != "/" && !sys.Exists(near) {
		near = near[:max(1, strings.LastIndexByte(near, '/'))]
	}
	if unix.Access(near, unix.W_OK) == nil {
		return state
	}
	return "/run/user/" + strconv.Itoa(unix.Getuid()) + "/sbx"
}

// openRun makes the run's own directory the record's.
func (s *Sink) openRun() error {
	if s.state == "" {
		return cannotWrite(effectiveName, "there is no home directory, and XDG_STATE_HOME is not set to an absolute path",
			"set HOME, or name a file: --effective FILE")
	}
	s.path, s.base = s.state+"/runs/"+s.id+"/"+effectiveName, effectiveName
	fd, dir, err := makeRun(s.state, s.id)
	if err != nil {
		return cannotWrite(dir, "the directory cannot be made: "+err.Error(),
			"set XDG_STATE_HOME to a directory that can be written, or name a file: --effective FILE")
	}
	s.dir = fd
	return nil
}

// Run opens the run's own directory, where swept files go, and makes it if the
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

// MakeState makes a state directory, and what is missing above it.
func MakeState(state string) error { return makeParents(state + "/runs/") }

// makeRun makes and opens runs/<id>, and what is missing above it, all 0700. The
// directory is locked until its descriptor is closed, which tells who mends records
// that the run goes on: also on another machine that shares the state directory, and
// in another pid namespace. Where there are no locks its process must do.
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
	fd, err := dirs.Open(unix.AT_FDCWD, dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err == unix.EACCES { // by an umask that leaves no right to read
		fd, err = dirs.Open(unix.AT_FDCWD, dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		return fd, dir, err
	}
	if err == nil {
		_ = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	}
	return fd, dir, err
}

// makeParents makes the directories above path that are missing.
func makeParents(path string) error {
	for i := 1; i < len(path); i++ {
		if path[i] != '/' {
			continue
		}
		if err := unix.Mkdir(path[:i], 0o700); err != nil && err != unix.EEXIST {
			// A directory above may be there and not be ours to make: EROFS, EACCES.
			var st unix.Stat_t
			if unix.Stat(path[:i], &st) != nil {
				return err
			}
		}
	}
	return nil
}

// newest is the names of the newest n runs of those that are older than before
// ("" for all), newest first.
func newest(runs, n int, before string) []string {
	if _, err := unix.Seek(runs, 0, unix.SEEK_SET); err != nil {
		return nil
	}
	f := dirs.Reader{FD: runs, Buf: make([]byte, 8<<10)}
	var ids []string
	least := "" // what is older is not among them
	sort := func() {
		slices.SortFunc(ids, func(a, b string) int { return strings.Compare(b, a) })
		if len(ids) >= n {
			ids = ids[:n]
			least = ids[n-1]
		}
	}
	for e, ok := f.Next(); ok; e, ok = f.Next() {
		if string(e.Name) < least || before != "" && string(e.Name) >= before || !isID(string(e.Name)) {
			continue
		}
		if ids = append(ids, string(e.Name)); len(ids) >= 2*n {
			sort()
		}
	}
	sort()
	return ids
}
