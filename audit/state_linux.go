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

// effectiveName is the name of the record in the directory of its run.
const effectiveName = "effective.json"

// StateDir returns sbx's state directory: $XDG_STATE_HOME/sbx if that is absolute, else
// ~/.local/state/sbx; "" for a caller without a home. Inside another sandbox, where that
// directory neither exists nor can be made, it is in the private /run/user/UID, which ends with
// that sandbox.
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

// openRun puts the record into the run's own directory.
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

// Run returns the run's own directory, for swept files, and makes it if the record is elsewhere.
// The sink closes the descriptor.
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

// MakeState makes a state directory and the missing directories above it.
func MakeState(state string) error { return makeParents(state + "/runs/") }

// makeRun makes and opens runs/<id> and the missing directories above, all with mode 0700. The
// directory stays locked until its descriptor is closed. The lock shows Mend that the run goes
// on, also on another machine that shares the state directory and in another pid namespace; on
// a file system without locks only the process id shows it.
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
	if err == unix.EACCES { // because of an umask that removes the right to read
		fd, err = dirs.Open(unix.AT_FDCWD, dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		return fd, dir, err
	}
	if err == nil {
		_ = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	}
	return fd, dir, err
}

// makeParents makes the missing directories above path.
func makeParents(path string) error {
	for i := 1; i < len(path); i++ {
		if path[i] != '/' {
			continue
		}
		if err := unix.Mkdir(path[:i], 0o700); err != nil && err != unix.EEXIST {
			// If the directory exists, mkdir may also fail with EROFS or EACCES.
			var st unix.Stat_t
			if unix.Stat(path[:i], &st) != nil {
				return err
			}
		}
	}
	return nil
}

// newest returns the names of the newest n runs among those older than before ("" for all),
// newest first.
func newest(runs, n int, before string) []string {
	if _, err := unix.Seek(runs, 0, unix.SEEK_SET); err != nil {
		return nil
	}
	f := dirs.Reader{FD: runs, Buf: make([]byte, 8<<10)}
	var ids []string
	least := "" // older runs are not among the newest n
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
