package audit

import (
	"bytes"

	"golang.org/x/sys/unix"

	"sbx/internal/dirs"
)

// Each call of Mend looks at the newest runs, where those are that were lost
// lately, and at some of the others, from where the last call stopped: the
// supervisor answers nothing meanwhile.
const (
	mendNewest = 64
	mendOlder  = 192
)

// mendedName is a file of the state directory: the run that Mend looked at last of
// the others.
const mendedName = "mended"

// Mend finishes the records of runs in a state directory whose supervisor is
// gone: their state becomes "lost". It leaves what it cannot tell, and is to be
// called while a command runs, never before. Gradually it comes to all runs.
func Mend(stateDir string) (mended int) {
	self := Self()
	return mend(stateDir, func(p Process) bool { return p.life(self) == lifeEnded })
}

func mend(stateDir string, gone func(Process) bool) (mended int) {
	runs, err := dirs.Open(unix.AT_FDCWD, stateDir+"/runs", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return 0
	}
	defer dirs.Close(runs)
	ids := newest(runs, mendNewest, "")
	if len(ids) == mendNewest {
		ids = append(ids, older(stateDir, runs, ids[len(ids)-1])...)
	}
	for _, id := range ids {
		if mendRun(runs, id, gone) {
			mended++
		}
	}
	return mended
}

// older is the next of the runs that are older than before, and notes how far
// that goes. Where another sbx does so meanwhile some are looked at twice.
func older(stateDir string, runs int, before string) []string {
	from := before
	fd, err := dirs.Open(unix.AT_FDCWD, stateDir+"/"+mendedName, unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err == nil {
		defer dirs.Close(fd)
		var at [len(idLayout) + 9]byte
		if n, _ := dirs.ReadFull(fd, at[:]); isID(string(at[:n])) && string(at[:n]) < before {
			from = string(at[:n])
		}
	}
	ids := newest(runs, mendOlder, from)
	if err == nil {
		next := before // the oldest has been looked at
		if len(ids) == mendOlder {
			next = ids[len(ids)-1]
		}
		_, _ = unix.Pwrite(fd, []byte(next), 0)
	}
	return ids
}

// mendRun finishes the record of one run. Its directory is locked meanwhile, as it is
// by its supervisor as long as that lives: nothing else writes there.
func mendRun(runs int, id string, gone func(Process) bool) bool {
	if !beginsRunning(runs, id) {
		return false
	}
	dir, err := dirs.Open(runs, id, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer dirs.Close(dir)
	if unix.Flock(dir, unix.LOCK_EX|unix.LOCK_NB) == unix.EWOULDBLOCK {
		return false
	}
	b, v, err := settled(func() ([]byte, error) { return readRecord(dir, effectiveName, unix.O_NOFOLLOW) }, gone)
	return err == nil && v.State == StateLost && replaceAt(dir, effectiveName, launchName, b, false) == nil
}

// beginsRunning tells by its first bytes whether a run's record may say that it
// is running: nearly all do not, and need not be read.
func beginsRunning(runs int, id string) bool {
	fd, err := dirs.Open(runs, id+"/"+effectiveName, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer dirs.Close(fd)
	var head [512]byte
	n, _ := dirs.ReadFull(fd, head[:])
	return bytes.Contains(head[:n], []byte(`"`+StateRunning+`"`))
}
