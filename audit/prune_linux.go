package audit

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/dirs"
)

// Old selects the runs to remove: those that began before Before and are not among the Keep
// newest. A zero field is no condition.
type Old struct {
	Before time.Time
	Keep   int
}

// Pruned is the result for one run that Prune selected.
type Pruned struct {
	ID   string
	Left error // why it was not removed; nil if it was
}

// errInUse means that a supervisor, or another call of Prune, has locked the run's directory.
var errInUse = errors.New("it goes on")

// InUse reports whether the run was left because it is still running.
func (p *Pruned) InUse() bool { return p.Left == errInUse }

// Prune removes the old runs of a state directory, oldest first, and calls each with the result
// for each of them. With dry it removes nothing and reports the runs that it would remove. It
// skips a run that another process removes at the same time.
func Prune(stateDir string, old Old, dry bool, each func(Pruned)) error {
	runs, err := openRuns(stateDir)
	if err == unix.ENOENT {
		return nil
	}
	if err != nil {
		return err
	}
	defer dirs.Close(runs)
	ids := newest(runs, 1<<30, "")
	ids = ids[min(old.Keep, len(ids)):]
	for i := len(ids) - 1; i >= 0; i-- {
		at, err := time.Parse(idLayout, ids[i][:len(idLayout)])
		if !old.Before.IsZero() && (err != nil || !at.Before(old.Before)) {
			continue
		}
		if err := removeRun(runs, ids[i], sweptToo, dry); err != unix.ENOENT {
			each(Pruned{ids[i], err})
		}
	}
	return nil
}

// openRuns opens the directory of the runs, which must not be a symbolic link and must be the
// caller's own.
func openRuns(stateDir string) (int, error) {
	runs, err := dirs.Open(unix.AT_FDCWD, stateDir+"/runs", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return -1, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(runs, &st); err == nil && st.Uid != uint32(unix.Geteuid()) {
		err = errors.New("it is another user's")
	}
	if err != nil {
		dirs.Close(runs)
		return -1, err
	}
	return runs, nil
}

// These bound the runs that a state directory keeps. One run in everySo checks whether there are
// more than usualRuns, and then removes at most mostRemoved of the oldest; the other runs check
// nothing.
const (
	usualRuns   = 1000
	everySo     = 64
	mostLooked  = 1024
	mostRemoved = 256
)

// Bound removes the oldest runs beyond usualRuns from the state directory of the run id, except
// runs that are still running or contain swept files. The link count of the directory decides
// whether to look; on a file system without such counts the random digits of the id do.
func Bound(stateDir, id string) {
	var st unix.Stat_t
	if stateDir == "" || !isID(id) || unix.Stat(stateDir+"/runs", &st) != nil {
		return
	}
	count, known := int(st.Nlink)-2, st.Nlink > 2
	if !known {
		random, _ := strconv.ParseUint(id[len(idLayout)+1:], 16, 32)
		count = int(random)
	}
	if known && count <= usualRuns || count%everySo != 0 {
		return
	}
	runs, err := openRuns(stateDir)
	if err != nil {
		return
	}
	defer dirs.Close(runs)
	ids := newest(runs, 1<<30, "")
	removed := 0
	for looked := range min(mostLooked, max(len(ids)-usualRuns, 0)) {
		if removeRun(runs, ids[len(ids)-1-looked], recordsAlone, false) == nil {
			if removed++; removed == mostRemoved {
				return
			}
		}
	}
}

// extent says which runs to remove: all that have ended, or only those that contain nothing but
// records.
type extent uint8

const (
	recordsAlone extent = iota
	sweptToo
)

// young is how long a directory without a record is kept, because its run may still write one.
const young = time.Hour

// removeRun removes a run that has ended. It locks the run's directory, as the supervisor does
// while it lives, and removes the record last, so that an interrupted removal can be repeated.
// It removes only files that sbx has created.
func removeRun(runs int, id string, how extent, dry bool) error {
	dir, err := openRunOf(runs, id)
	if err != nil {
		return err
	}
	defer dirs.Close(dir)
	locked := unix.Flock(dir, unix.LOCK_EX|unix.LOCK_NB)
	if locked == unix.EWOULDBLOCK {
		return errInUse
	}
	if err := hasEnded(dir, id, locked == nil); err != nil {
		return err
	}
	files, err := madeBySbx(dir, how)
	if err != nil || dry {
		return err
	}
	if how == sweptToo {
		if err := dirs.RemoveAll(dir, SweptDir, 1<<30); err != nil && err != unix.ENOENT {
			return errors.New(SweptDir + " cannot be removed: " + err.Error())
		}
	}
	if err := dirs.RemoveAll(dir, brokerRuns, 1<<30); err != nil && err != unix.ENOENT {
		return errors.New(brokerRuns + " cannot be removed: " + err.Error())
	}
	for _, name := range append(files, launchName, effectiveName) {
		if err := unix.Unlinkat(dir, name, 0); err != nil && err != unix.ENOENT {
			return errors.New(name + " cannot be removed: " + err.Error())
		}
	}
	return unix.Unlinkat(runs, id, unix.AT_REMOVEDIR)
}

// These are the files that a broker leaves in a run's directory: the records of its tools' runs,
// its audit log, and, if the broker was killed, the sockets and the token.
const brokerRuns = "broker"

var brokerFiles = [...]string{"broker.jsonl", "broker.sock", "door.sock", "token"}

// hasEnded returns an error for a run that is still running or may be.
func hasEnded(dir int, id string, locked bool) error {
	_, v, err := recordOf(dir, id, func(p Process) bool { return p.Gone() && (locked || p.BootID == bootID()) })
	switch {
	case err == nil && v.State == StateRunning:
		return errInUse
	case err != unix.ENOENT:
		return err
	case !locked:
		return errors.New("it has no record, and its file system has no locks that would show that it has ended")
	}
	var st unix.Stat_t
	if err := unix.Fstat(dir, &st); err != nil {
		return err
	}
	switch {
	case st.Nlink == 0:
		return unix.ENOENT // another process has removed it
	case time.Since(time.Unix(st.Ctim.Unix())) < young:
		return errors.New("it has no record, and one may yet come")
	}
	return nil
}

// madeBySbx returns the files in a run's directory other than its records, and an error if
// there are files that sbx does not create.
func madeBySbx(dir int, how extent) (files []string, err error) {
	f := dirs.Reader{FD: dir, Buf: make([]byte, 4<<10)}
	for e, ok := f.Next(); ok; e, ok = f.Next() {
		switch name := string(e.Name); {
		case name == effectiveName, name == launchName, name == brokerRuns, name == SweptDir && how == sweptToo:
		case strings.HasPrefix(name, tempPrefix), slices.Contains(brokerFiles[:], name):
			files = append(files, name)
		default:
			return nil, errors.New("it holds " + name + ", which is not a record")
		}
	}
	return files, f.Err
}
