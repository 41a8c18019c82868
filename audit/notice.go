package audit

import "time"

// Notice is an event on a protected or masked path.
type Notice struct {
	Path string // absolute; "" for Overflow
	At   time.Time
	What NoticeKind

	// When the mount was restored, and how long it had been missing as far as is known; zero
	// if it was not restored.
	Renewed time.Time
	Lacked  time.Duration
	// The digests of a protected file, when the renewal began and when its mount was restored;
	// "" if there was no file to read.
	Found, Kept string
}

// NoticeKind is the kind of a Notice.
type NoticeKind uint8

// These are the kinds of notices.
const (
	// Replaced: another file took the place of a protected or masked one, and the mount on
	// it has fallen off inside the sandbox.
	Replaced NoticeKind = iota + 1
	// Removed: the file is gone, and the mount on it.
	Removed
	// Appeared: a protected name was created that was not there at launch.
	// Sweep.At moves it away.
	Appeared
	// Overflow: the kernel dropped events. The protected files and the watched directories
	// were compared anew; the sweep at the end covers the rest.
	Overflow
	// RemovedInside: the command removed the file, with its worktree.
	RemovedInside
	// Opened: a program opened a masked directory, and found it empty. Path is its path
	// inside, "" if several are possible.
	Opened
)

// String returns the word for w in a record.
func (w NoticeKind) String() string {
	return [...]string{"", "replaced", "removed", "appeared", "overflow", "removed inside", "opened"}[w]
}
