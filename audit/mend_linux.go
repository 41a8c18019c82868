package audit

import (
	"bytes"

	"golang.org/x/sys/unix"

	"sbx/internal/dirs"
)

// Each call of Mend looks at the newest runs, which were most likely lost, and at some of the
// older ones, continuing where the last call stopped. The bounds keep the call short, since the
// supervisor answers nothing meanwhile.
const (
	mendNewest = 64
	mendOlder  = 192
)

// mendedName is a file in the state directory that contains the id of the last older run that
// Mend looked at.
const mendedName = "mended"

// Mend finishes the records of runs in a state directory whose supervisor is gone: their state
// becomes "lost". It leaves runs for which it cannot decide that. Call it while a command runs,
// never before the start. Over many calls it looks at all runs.
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

// older returns the next runs among those older than before, and notes the last of them in the
// state directory. If another sbx does so at the same time some runs are looked at twice.
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
		next := before // start again after the oldest run
		if len(ids) == mendOlder {
			next = ids[len(ids)-1]
		}
		_, _ = unix.Pwrite(fd, []byte(next), 0)
	}
	return ids
}

// mendRun finishes the record of one run. It locks the run's directory, as the supervisor does
// while it lives, so that nothing else writes there.
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

// beginsRunning checks the first bytes of a record for the state "running": nearly all records
// have another state and need not be read.
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
