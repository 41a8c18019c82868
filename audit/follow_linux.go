package audit

import (
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit/agent"
	"sbx/internal/sys"
)

// Follower reads the growing file in which codex records its session, which shows turns that its
// output does not. The sandbox can write to the file, so its content counts only as a claim of
// the agent.
type Follower struct {
	dir    string // sessions, in codex's state directory on the host
	since  time.Time
	reader *agent.Rollout
	fd     int // of the file, -1 before it is found
	clock  int // the timer, -1 for none
	turns  int
	wishes []agent.Wish // not fetched yet
}

// maxWishes is how many requested tools may wait for Wishes; the next read returns more.
const maxWishes = 1 << 10

// followEvery is how often the file is read; a turn takes seconds.
const followEvery = 250 * time.Millisecond

// Follow makes a follower of a session that begins at since or later.
func Follow(sessions string, since time.Time) *Follower {
	f := &Follower{dir: sessions, since: since, fd: -1, clock: -1}
	f.reader = agent.NewRollout(agent.Hooks{Turn: func(n int) { f.turns = n }, Tool: func(w agent.Wish) {
		if len(f.wishes) < maxWishes {
			f.wishes = append(f.wishes, w)
		}
	}})
	return f
}

// Tick returns a descriptor that is readable when it is time to call Read; -1 if there is none.
func (f *Follower) Tick() int {
	f.clock, _ = sys.Timer(followEvery, followEvery)
	return f.clock
}

// Wishes returns the tools requested since the last call that the agent's output does not show.
func (f *Follower) Wishes() []agent.Wish {
	w := f.wishes
	f.wishes = nil
	return w
}

// Rollout returns the reader of the file, nil if no file was found.
func (f *Follower) Rollout() *agent.Rollout {
	if f.fd < 0 {
		return nil
	}
	return f.reader
}

// These bound one Read, and Finish: the sandbox can make the file as long as it likes.
const (
	followLook = 1 << 20
	followEnd  = 64 << 20
)

// Read reads what was added to the file of a session, which is "" while it is unknown, and returns
// how many turns have begun.
func (f *Follower) Read(session string) (turns int) {
	if f.clock >= 0 {
		sys.Hush(f.clock)
	}
	f.read(session, followLook)
	return f.turns
}

// Finish reads the rest of the file after the session.
func (f *Follower) Finish(session string) (turns int) {
	if f.read(session, followEnd) {
		f.reader.Cut()
	}
	return f.turns
}

// read reads at most limit bytes, and reports whether there are more.
func (f *Follower) read(session string, limit int) (more bool) {
	if f.fd < 0 && (session == "" || !f.find(session)) {
		return false
	}
	buf := make([]byte, 64<<10)
	for limit > 0 {
		n, err := unix.Read(f.fd, buf[:min(len(buf), limit)])
		if err == unix.EINTR {
			continue
		}
		if n <= 0 || err != nil {
			return false
		}
		_, _ = f.reader.Write(buf[:n]) // its Write never fails
		limit -= n
	}
	var st unix.Stat_t
	at, err := unix.Seek(f.fd, 0, unix.SEEK_CUR)
	return err == nil && unix.Fstat(f.fd, &st) == nil && st.Size > at
}

// find opens the session's file in the directories of the last days. It follows no link, since the
// sandbox can write there.
func (f *Follower) find(session string) bool {
	if strings.ContainsAny(session, "/*?[") || len(session) > 200 {
		return false
	}
	top, err := unix.Open(f.dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(top)
	now := time.Now()
	for _, day := range []time.Time{f.since, now, f.since.UTC(), now.UTC()} {
		dir, err := openInside(top, day.Format("2006/01/02"), unix.O_RDONLY|unix.O_DIRECTORY)
		if err != nil {
			continue
		}
		if name := fileOf(dir, session); name != "" {
			// without waiting for a FIFO or device
			if fd, err := openInside(dir, name, unix.O_RDONLY|unix.O_NONBLOCK); err == nil {
				if f.isNew(fd) {
					f.fd = fd
				} else {
					unix.Close(fd)
				}
			}
		}
		unix.Close(dir)
		if f.fd >= 0 {
			return true
		}
	}
	return false
}

// isNew reports whether a regular file was created in this run. In a file that continues an
// earlier session the earlier turns cannot be told from the present ones.
func (f *Follower) isNew(fd int) bool {
	var st unix.Statx_t
	if unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_BTIME|unix.STATX_TYPE, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return false
	}
	born := time.Unix(st.Btime.Sec, int64(st.Btime.Nsec))
	return st.Mask&unix.STATX_BTIME == 0 || !born.Before(f.since.Add(-time.Second))
}

func openInside(dir int, path string, flags int) (int, error) {
	return unix.Openat2(dir, path, &unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC | unix.O_NOFOLLOW),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS})
}

// fileOf returns the name of a session's file in the directory of a day; "" if there is none.
func fileOf(dir int, session string) string {
	buf := make([]byte, 32<<10)
	for range 64 {
		n, err := unix.ReadDirent(dir, buf)
		if n <= 0 || err != nil {
			return ""
		}
		_, _, names := unix.ParseDirent(buf[:n], -1, nil)
		for _, name := range names {
			if strings.HasPrefix(name, "rollout-") && strings.HasSuffix(name, "-"+session+".jsonl") {
				return name
			}
		}
	}
	return ""
}
