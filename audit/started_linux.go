package audit

import (
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/doc"
	"sbx/internal/read"
	"sbx/spec/redact"
)

// The most programs that a record lists, and the most bytes of their paths.
const (
	maxStarted      = 500
	maxStartedBytes = 64 << 10
)

// Program is a program that was started.
type Program struct {
	At      time.Time
	EndedAt time.Time // when its process was seen to have ended; zero where nobody saw
	PID     int       // 0 where it was not to be told
	Parent  int       // the nearest process above that is listed or the command's, else its parent
	Path    string    // redacted
}

// Timeline lists the programs that are started, and sees their processes end. It is for
// one thread at a time.
type Timeline struct {
	list    []Program
	paths   map[string]string // as they were called, and as the list has them
	bytes   int
	omitted int
	ends    ends
	next    Program // what is about to be started
	pidfd   int     // of its process; -1 for none
	command func() int
	root    int // the command's process; 0 where that is not known
}

// NewTimeline makes a timeline with nothing in it. command is the command's process, 0
// where that is not known.
func NewTimeline(command func() int) *Timeline {
	return &Timeline{command: command, paths: map[string]string{}, ends: ends{fd: -1}, pidfd: -1}
}

func (t *Timeline) full() bool { return len(t.list) == maxStarted || t.bytes >= maxStartedBytes }

// Expect is called while a thread waits to start a program: its process is certain to be
// the one that has its number. Started or Forget follows.
func (t *Timeline) Expect(tid int) {
	if t.full() {
		return
	}
	t.next = Program{At: time.Now(), PID: tid}
	var err error
	if t.pidfd, err = unix.PidfdOpen(tid, 0); err == unix.EINVAL || err == unix.ENOENT { // it does not lead its process
		t.next.PID, _ = CallerOf(tid)
		t.pidfd, err = unix.PidfdOpen(t.next.PID, 0)
	}
	if err != nil {
		t.next.PID, t.pidfd = 0, -1
		return
	}
	info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_PID}
	if unix.IoctlPidfdInfo(t.pidfd, &info) == nil { // Linux 6.13
		t.next.Parent = int(info.Ppid)
	} else {
		t.next.Parent = read.Parent(t.next.PID)
	}
}

// Started says that the program has been let go. path's bytes may change after it.
func (t *Timeline) Started(path string) {
	if t.full() {
		t.omitted++
		return
	}
	kept, known := t.paths[path]
	if !known {
		path = strings.Clone(path)
		kept = redact.Text(Clip(path))
		t.paths[path] = kept
	}
	p := t.next
	p.Path = kept
	if len(t.list) == 0 {
		t.root = t.command()
	}
	p.Parent = t.above(p.Parent)
	t.bytes += len(kept)
	t.list = append(t.list, p)
	if t.pidfd >= 0 && t.ends.await(t.pidfd, p.PID, len(t.list)-1) {
		t.pidfd = -1
	}
	t.Forget()
	t.ends.note(t.ended)
}

// Executed says that a process has just started a program.
func (t *Timeline) Executed(pid int, path string) {
	t.Expect(pid)
	t.Started(path)
}

// Forget says that the program was not started.
func (t *Timeline) Forget() {
	if t.pidfd >= 0 {
		unix.Close(t.pidfd)
	}
	t.pidfd = -1
}

// maxAbove is how many processes that are not listed, subshells mostly, are passed on the
// way up.
const maxAbove = 4

// above is the process that one whose parent this is is listed under.
func (t *Timeline) above(parent int) int {
	for up, n := parent, 0; up > 0 && n <= maxAbove; n++ {
		if up == t.root || t.ends.awaits(up) {
			return up
		}
		up = read.Parent(up)
	}
	return parent
}

// ended notes that the process has ended of a program, and of those that took its place.
func (t *Timeline) ended(place int, at time.Time) {
	pid := t.list[place].PID
	for i := place; i < len(t.list); i++ {
		if p := &t.list[i]; p.PID == pid {
			p.EndedAt = at
		}
	}
}

// Watch begins to see processes end: Look is to be called whenever the descriptor is
// readable; -1 for never.
func (t *Timeline) Watch() int {
	t.ends.open()
	return t.ends.fd
}

// NoteEnds notes which processes have ended.
func (t *Timeline) NoteEnds() { t.ends.event(t.ended) }

// Close is for when nothing of the sandbox runs any more.
func (t *Timeline) Close() {
	t.Forget()
	t.ends.close(t.ended)
}

func (t *Timeline) append(w *writer) {
	doc.Objects(&w.Writer, "started", t.list, func(p *Program) {
		w.keyTime("at", p.At)
		w.keyTime("ended_at", p.EndedAt)
		w.KeyCount("pid", int64(p.PID))
		w.KeyCount("parent", int64(p.Parent))
		w.KeyStr("program", p.Path)
	})
	w.KeyCount("started_omitted", int64(t.omitted))
}
