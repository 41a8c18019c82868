package audit

import "time"

// Notice is something that the watch saw.
type Notice struct {
	Path string // absolute; "" for Overflow
	At   time.Time
	What What

	// Where the mount was there again: when that was, and how long it had
	// been missing, as far as could be told.
	Renewed time.Time
	Lacked  time.Duration
	// The digests of a protected file, as it was found and as it was when its
	// mount was there again; "" where there was nothing to read.
	Found, Kept string
}

// What is what happened to a path.
type What uint8

// What a watch notices.
const (
	// Replaced: another file stands where a protected or masked one stood; the
	// mount on it has fallen off inside the sandbox.
	Replaced What = iota + 1
	// Removed: nothing stands there any more, and the mount is gone with it.
	Removed
	// Appeared: a protected name was created that was not there at launch.
	// Sweep.At moves it away.
	Appeared
	// Overflow: more happened than the kernel kept. What was protected and the
	// directories under watch were looked at anew; the sweep at the end covers the rest.
	Overflow
	// RemovedInside: the command removed it, with its worktree.
	RemovedInside
	// Opened: a directory that is masked was opened, and was empty. Path is what it
	// is called inside, and "" where that cannot be told.
	Opened
)

// String is the word for it in a record.
func (w What) String() string {
	return [...]string{"", "replaced", "removed", "appeared", "overflow", "removed inside", "opened"}[w]
}
