package audit

import (
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/doc"
	"sbx/internal/read"
	"sbx/spec/redact"
)

// These bound the list of programs: their number, and the bytes of their paths.
const (
	maxStarted      = 500
	maxStartedBytes = 64 << 10
)

// Program is a program that a process started.
type Program struct {
	At      time.Time
	EndedAt time.Time // when its process had ended; zero if that was not seen
	PID     int       // 0 if unknown
	Parent  int       // the nearest ancestor that is listed or the command's process, else the parent
	Path    string    // redacted
}

// Timeline lists the programs that are started and when their processes end. One thread at a
// time uses it.
type Timeline struct {
	list    []Program
	paths   map[string]string // paths as the programs gave them, and as the list has them
	bytes   int
	omitted int
	ends    ends
	next    Program // the program that is about to be started
	pidfd   int     // of the process that starts next; -1 for none
	command func() int
	root    int // the command's process; 0 if unknown
}

// NewTimeline returns an empty timeline. command returns the command's process, 0 if unknown.
func NewTimeline(command func() int) *Timeline {
	return &Timeline{command: command, paths: map[string]string{}, ends: ends{fd: -1}, pidfd: -1}
}

func (t *Timeline) full() bool { return len(t.list) == maxStarted || t.bytes >= maxStartedBytes }

// Expect is called while a thread waits to start a program, so that its number cannot belong to
// another process by now. Started or Forget follows.
func (t *Timeline) Expect(tid int) {
	if t.full() {
		return
	}
	t.next = Program{At: time.Now(), PID: tid}
	var err error
	if t.pidfd, err = unix.PidfdOpen(tid, 0); err == unix.EINVAL || err == unix.ENOENT { // the thread is not the leader of its process
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

// Started lists the expected program at path, whose bytes may change after the call.
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

// Executed lists a program that a process has just started.
func (t *Timeline) Executed(pid int, path string) {
	t.Expect(pid)
	t.Started(path)
}

// Forget drops the expected program, which was not started.
func (t *Timeline) Forget() {
	if t.pidfd >= 0 {
		unix.Close(t.pidfd)
	}
	t.pidfd = -1
}

// maxAbove is how many processes that are not listed, mostly subshells, above skips.
const maxAbove = 4

// above returns the process to list a program under whose process has this parent.
func (t *Timeline) above(parent int) int {
	for up, n := parent, 0; up > 0 && n <= maxAbove; n++ {
		if up == t.root || t.ends.awaits(up) {
			return up
		}
		up = read.Parent(up)
	}
	return parent
}

// ended notes that a process has ended: that of the program at place, and of the programs that it
// executed later.
func (t *Timeline) ended(place int, at time.Time) {
	pid := t.list[place].PID
	for i := place; i < len(t.list); i++ {
		if p := &t.list[i]; p.PID == pid {
			p.EndedAt = at
		}
	}
}

// Watch begins to notice that processes end, and returns a descriptor: call NoteEnds whenever it
// is readable. It is -1 if there is none.
func (t *Timeline) Watch() int {
	t.ends.open()
	return t.ends.fd
}

// NoteEnds notes which processes have ended.
func (t *Timeline) NoteEnds() { t.ends.event(t.ended) }

// Close ends the timeline after the last process of the sandbox has ended.
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
