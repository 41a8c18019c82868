package main

import (
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit/agent"
)

// rollout follows the file in which codex records its session, and which names
// the turns that its stream does not. The file is the sandbox's to write:
// nothing of it is believed but that it was said.
type rollout struct {
	dir    string // sessions, in codex's state folder on the host
	since  time.Time
	reader *agent.Rollout
	fd     int // of the file, -1 before it is found
	clock  int // the timer; -1 for none
	turns  int
}

func newRollout(dir string, since time.Time) *rollout {
	r := &rollout{dir: dir, since: since, fd: -1, clock: -1}
	r.reader = agent.NewRollout(agent.Hooks{Turn: func(n int) { r.turns = n }})
	return r
}

func (r *rollout) found() bool { return r.fd >= 0 }

// rolloutTick is how often the file is looked at; a turn takes seconds.
const rolloutTick = 250 * time.Millisecond

// tick is a descriptor that is readable when it is time to look; -1 for none.
func (r *rollout) tick() int {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return -1
	}
	every := unix.NsecToTimespec(int64(rolloutTick))
	if err := unix.TimerfdSettime(fd, 0, &unix.ItimerSpec{Interval: every, Value: every}, nil); err != nil {
		unix.Close(fd)
		return -1
	}
	r.clock = fd
	return fd
}

// drain takes note of the timer.
func (r *rollout) drain() {
	if r.clock >= 0 {
		var n [8]byte
		_, _ = unix.Read(r.clock, n[:])
	}
}

// follow reads what was added since, and hears of turns.
func (x *execution) follow() {
	w := x.watched
	if w == nil || w.rollout == nil {
		return
	}
	r := w.rollout
	r.drain()
	if r.fd < 0 {
		session := ""
		w.tap.With(func(s *agent.Stream) { session = s.Session() })
		if session == "" || !r.find(session) {
			return
		}
	}
	// At most a MiB a time: whoever writes faster waits for the end.
	buf := make([]byte, 64<<10)
	for range 16 {
		n, err := unix.Read(r.fd, buf)
		if n <= 0 || err != nil {
			break
		}
		_, _ = r.reader.Write(buf[:n]) // it takes all
	}
	if r.turns > w.turns {
		x.turn(r.turns)
	}
}

// find opens the session's file beneath the folders of the last days. No link is
// followed: the sandbox can write there.
func (r *rollout) find(session string) bool {
	if strings.ContainsAny(session, "/*?[") || len(session) > 200 {
		return false
	}
	top, err := unix.Open(r.dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(top)
	for _, day := range []time.Time{r.since, time.Now(), r.since.UTC(), time.Now().UTC()} {
		dir, err := open2(top, day.Format("2006/01/02"), unix.O_RDONLY|unix.O_DIRECTORY)
		if err != nil {
			continue
		}
		name := fileOf(dir, session)
		if name != "" {
			if fd, err := open2(dir, name, unix.O_RDONLY|unix.O_NONBLOCK); err == nil {
				if r.isNew(fd) {
					r.fd = fd
				} else {
					unix.Close(fd)
				}
			}
		}
		unix.Close(dir)
		if r.fd >= 0 {
			return true
		}
	}
	return false
}

// isNew tells whether a regular file came into being in this run. In one that
// goes on from an earlier session the turns before cannot be told apart.
func (r *rollout) isNew(fd int) bool {
	var st unix.Statx_t
	if unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_BTIME|unix.STATX_TYPE, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return false
	}
	born := time.Unix(st.Btime.Sec, int64(st.Btime.Nsec))
	return st.Mask&unix.STATX_BTIME == 0 || !born.Before(r.since.Add(-time.Second))
}

func open2(dir int, path string, flags int) (int, error) {
	return unix.Openat2(dir, path, &unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC | unix.O_NOFOLLOW),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS})
}

// fileOf is the name of a session's file in a folder of a day.
func fileOf(dir int, session string) string {
	buf := make([]byte, 32<<10)
	for range 64 {
		n, err := unix.ReadDirent(dir, buf)
		if n <= 0 || err != nil {
			return ""
		}
		_, _, names := unix.ParseDirent(buf[:n], -1, nil)
		for _, name := range names {
			if strings.HasPrefix(name, "rollout-") && strings.HasSuffix(name, session+".jsonl") {
				return name
			}
		}
	}
	return ""
}
