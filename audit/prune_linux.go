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

// Old tells which runs are to be removed: those that began before, and are not among
// the newest. What is zero does not count.
type Old struct {
	Before time.Time
	Keep   int
}

// Pruned is what became of one run that was to be removed.
type Pruned struct {
	ID   string
	Left error // why it is still there; nil where it was removed
}

// errInUse is of a run whose directory a supervisor has, or another that removes runs.
var errInUse = errors.New("it goes on")

// InUse reports whether a run is left because it goes on.
func (p *Pruned) InUse() bool { return p.Left == errInUse }

// Prune removes the runs of a state directory that are old, oldest first, and tells each
// what became of one. With dry it removes none, and tells of those that it would. A run
// that another removes meanwhile is passed over.
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

// openRuns opens the directory of the runs: no link, and the caller's own.
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

// The bounds of what a state directory keeps by itself. One run in everySo looks whether
// there are more than usualRuns, and removes at most mostRemoved of those beyond; the
// others look at no directory.
const (
	usualRuns   = 1000
	everySo     = 64
	mostLooked  = 1024
	mostRemoved = 256
)

// Bound removes the oldest runs beyond usualRuns of the state directory in which the run id
// is one, but for those that go on and those that hold what was swept. Where the file
// system counts the directories in one, that count reports whether to look, else the id does.
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

// extent is which runs are removed: any that has ended, or those alone that hold no more
// than records.
type extent uint8

const (
	recordsAlone extent = iota
	sweptToo
)

// young is how long a directory without a record is left, in which there may yet be one.
const young = time.Hour

// removeRun removes a run that has ended. Its directory is locked meanwhile, as it is by its
// supervisor as long as that lives; the record goes last, so that what is cut short can be
// done again. Only what sbx has put there is removed.
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

// What a broker leaves in a run's directory: the records of its tools' runs, its audit, and
// the sockets and the token of one that was killed.
const brokerRuns = "broker"

var brokerFiles = [...]string{"broker.jsonl", "broker.sock", "door.sock", "token"}

// hasEnded refuses a run that goes on, or of which that cannot be told.
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
		return unix.ENOENT // another has removed it meanwhile
	case time.Since(time.Unix(st.Ctim.Unix())) < young:
		return errors.New("it has no record, and one may yet come")
	}
	return nil
}

// madeBySbx are the files in a run's directory beside its records; what sbx does not put
// there is refused.
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
