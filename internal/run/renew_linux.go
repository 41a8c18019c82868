package run

import (
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/audit/guard"
	"sbx/internal/sys"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/launch"
)

// Bounds of renewals. A host that replaces a file all the time must not keep the
// supervisor busy, nor may a file server that does not answer.
const (
	renewEvery = 50 * time.Millisecond // between the starts of two renewals
	renewLimit = 2 * time.Second       // the time limit, after which the child is killed
	renewLater = time.Second           // the pause after a failed renewal
	renewTries = 5                     // how many may fail in a row
)

// renewer restores the mounts inside the sandbox over files that the host has replaced.
// None of its functions waits.
type renewer struct {
	*events
	watch *guard.Watch
	hooks *launch.Hooks
	drain func()
	child *launch.Renewal // nil if no renewal is in progress
	began time.Time
	tries int // failed renewals in a row
	later bool
	timer int // a timerfd, followed by the child in hooks.Wait; -1 before the first renewal
	wait  int // the index of the timer there
	renewed
}

// renewed is the result of a renewal.
type renewed struct {
	fails map[string]string // why a path inside could not be mounted over
	gone  map[string]bool   // the paths that do not exist
	all   string            // why no path could be mounted over
}

// check starts a renewal, now or when the pause is over, if a path lacks its mount.
func (r *renewer) check() {
	if r.child != nil || r.later || !r.watch.Fallen() || !r.ready() {
		return
	}
	if left := renewEvery - time.Since(r.began); left > 0 {
		r.later = true
		sys.Arm(r.timer, left, 0)
		return
	}
	r.begin()
}

// ready creates the timer at the first call.
func (r *renewer) ready() bool {
	if r.timer >= 0 {
		return true
	}
	fd, err := sys.Timer(0, 0)
	if err != nil {
		return false
	}
	r.timer, r.wait = fd, len(r.hooks.Wait)
	r.hooks.Wait = append(r.hooks.Wait, launch.Waiter{FD: fd, Event: r.onTimer}, launch.Waiter{FD: -1, Event: r.read})
	return true
}

// onTimer handles the timer: the child took too long, or the next renewal may start.
func (r *renewer) onTimer() {
	sys.Hush(r.timer)
	if r.child != nil {
		r.child.Kill()
		return
	}
	r.later = false
	r.check()
}

func (r *renewer) begin() {
	r.began = time.Now()
	r.renewed = renewed{fails: map[string]string{}, gone: map[string]bool{}}
	r.watch.Renewing()
	child, err := r.process.Renew()
	if err != nil {
		r.all = err.Error()
		r.finishRenewal()
		return
	}
	r.child = child
	r.hooks.Wait[r.wait+1].FD = child.FD()
	sys.Arm(r.timer, renewLimit, 0)
}

// read reads the results that the child sends.
func (r *renewer) read() {
	failed, gone := r.child.Read()
	for _, e := range failed {
		switch on := e.Step.On; {
		case on == "" || !e.Step.Tolerant:
			r.all = e.Error()
		case unix.Errno(e.Errno) == unix.ENOENT:
			r.gone[on] = true
		default:
			r.fails[on] = renewWhy(e)
		}
	}
	if gone {
		r.child = nil
		r.hooks.Wait[r.wait+1].FD = -1
		r.finishRenewal()
	}
}

func renewWhy(e *launch.StepError) string {
	if unix.Errno(e.Errno) == unix.ELOOP {
		return "a link stands there, or on the way"
	}
	return e.Step.Name + ": " + e.Errno.Error()
}

// finishRenewal reports the results to the watch, and starts another renewal if needed: for mounts
// that were lost meanwhile, or for all of them once more.
func (r *renewer) finishRenewal() {
	now := time.Now()
	r.drain() // a file that was replaced meanwhile does not count as mounted
	r.watch.Renewed(now, r.outcome)
	if r.all == "" {
		r.tries = 0
		r.check()
		return
	}
	if r.tries++; r.tries < renewTries {
		r.watch.Again()
		r.later = true
		sys.Arm(r.timer, renewLater, 0)
	}
}

// outcome returns the result for a path of the host, over all places inside where it
// shows.
func (r *renewer) outcome(path string) (why string, gone bool) {
	if r.all != "" {
		return r.all, false
	}
	for i := range r.Plan.Watch.Renew {
		w := &r.Plan.Watch.Renew[i]
		if w.Path != path {
			continue
		}
		if f := r.fails[w.Mount.Target]; f != "" {
			return f, false
		}
		gone = gone || r.gone[w.Mount.Target]
	}
	return "", gone
}

// end ends a renewal in progress, when no process of the sandbox is left.
func (r *renewer) end() {
	if r.child != nil {
		r.child.Kill()
	}
	if r.timer >= 0 {
		unix.Close(r.timer)
	}
}

// noteBare records which paths lacked their mount for a time, and prints those that lacked
// it until the end.
func (x *events) noteBare() {
	told := false
	lines := map[spec.Field]*bareLine{}
	for i := range x.record.Protected {
		c := &x.record.Protected[i]
		if c.Unprotected == 0 && !c.Bare {
			continue
		}
		f := x.renewedFor(c.Path)
		if lines[f] == nil {
			lines[f] = &bareLine{}
		}
		lines[f].add(c)
		if c.Why != "" && !told && !x.Voice.Quiet {
			told = true
			x.Voice.Say("cannot mount " + spec.Name(c.Path) + " again, which the host replaced: " + spec.Shown(c.Why))
		}
	}
	for f, l := range lines {
		x.weaken(f, l.text())
	}
}

// renewedFor returns the field of the spec that a path belongs to.
func (x *events) renewedFor(path string) spec.Field {
	w := &x.Plan.Watch
	for i := range w.Renew {
		if w.Renew[i].Path == path && w.Renew[i].Mount.For != "" {
			return w.Renew[i].Mount.For
		}
	}
	return wrap.FieldProtected
}

// bareLine summarizes the paths that lacked their mount.
type bareLine struct {
	first   string
	files   int
	longest time.Duration
	bare    int
}

func (l *bareLine) add(c *audit.Change) {
	if l.files++; l.files == 1 {
		l.first = c.Path
	}
	l.longest = max(l.longest, c.Unprotected)
	if c.Bare {
		l.bare++
	}
}

func (l *bareLine) text() string {
	s := l.first
	if l.files > 1 {
		s += " and " + strconv.Itoa(l.files-1) + " more"
	}
	s += " lacked the mount for " + strconv.FormatInt(int64((l.longest+time.Millisecond-1)/time.Millisecond), 10) +
		" ms when the host replaced it"
	if l.bare > 0 {
		s += ", " + strconv.Itoa(l.bare) + " to the end"
	}
	return s
}
