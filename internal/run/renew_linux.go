package run

import (
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/audit/guard"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/launch"
)

// The bounds of renewals: a host that replaces a file all the time must not
// keep the supervisor, nor one whose file server does not answer.
const (
	renewEvery = 50 * time.Millisecond // from one beginning to the next
	renewLimit = 2 * time.Second       // after which the child is killed
	renewLater = time.Second           // after one that came to nothing
	renewTries = 5                     // how many of those in a row
)

// renewer has what the host replaced mounted again inside. Nothing of it waits.
type renewer struct {
	*events
	watch *guard.Watch
	hooks *launch.Hooks
	drain func()
	child *launch.Renewal // nil where none is under way
	began time.Time
	tries int // that came to nothing, in a row
	later bool
	timer int // a timerfd, and behind it in hooks.Wait the child; -1 before the first renewal
	wait  int // its place there
	renewed
}

// renewed is how a renewal went.
type renewed struct {
	fails map[string]string // why a path inside could not be mounted on
	gone  map[string]bool   // at which nothing stands
	all   string            // why nothing could be mounted
}

// walk begins a renewal where something lacks its mount, now or when it is time.
func (r *renewer) check() {
	if r.child != nil || r.later || !r.watch.Fallen() || !r.ready() {
		return
	}
	if left := renewEvery - time.Since(r.began); left > 0 {
		r.later = true
		r.arm(left)
		return
	}
	r.begin()
}

// ready makes the timer, once.
func (r *renewer) ready() bool {
	if r.timer >= 0 {
		return true
	}
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return false
	}
	r.timer, r.wait = fd, len(r.hooks.Wait)
	r.hooks.Wait = append(r.hooks.Wait, launch.Waiter{FD: fd, Event: r.time}, launch.Waiter{FD: -1, Event: r.read})
	return true
}

func (r *renewer) arm(d time.Duration) {
	_ = unix.TimerfdSettime(r.timer, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(max(int64(d), 1))}, nil)
}

// time is when a child took too long, or the next one may begin.
func (r *renewer) time() {
	var b [8]byte
	_, _ = unix.Read(r.timer, b[:])
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
		r.over()
		return
	}
	r.child = child
	r.hooks.Wait[r.wait+1].FD = child.FD()
	r.arm(renewLimit)
}

// read takes what the child tells.
func (r *renewer) read() {
	failed, gone := r.child.Read()
	for _, e := range failed {
		switch on := e.Step.On; {
		case on == "" || !e.Step.Bear:
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
		r.over()
	}
}

func renewWhy(e *launch.StepError) string {
	if unix.Errno(e.Errno) == unix.ELOOP {
		return "a link stands there, or on the way"
	}
	return e.Step.Name + ": " + e.Errno.Error()
}

// over tells the watch how the renewal went, and looks whether there is another
// to begin: what fell off meanwhile, or all of it once more.
func (r *renewer) over() {
	now := time.Now()
	r.drain() // what was replaced meanwhile is not taken for mounted
	r.watch.Renewed(now, r.outcome)
	if r.all == "" {
		r.tries = 0
		r.check()
		return
	}
	if r.tries++; r.tries < renewTries {
		r.watch.Again()
		r.later = true
		r.arm(renewLater)
	}
}

// outcome tells how the renewal of a path of the host went, at all the places
// inside where it shows.
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

// end is for when nothing runs any more.
func (r *renewer) end() {
	if r.child != nil {
		r.child.Kill()
	}
	if r.timer >= 0 {
		unix.Close(r.timer)
	}
}

// noteBare says in the record's lines, and on stderr where it was to the end,
// what lacked its mount for a time.
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

// renewedFor is the field whose line tells of a path.
func (x *events) renewedFor(path string) spec.Field {
	w := &x.Plan.Watch
	for i := range w.Renew {
		if w.Renew[i].Path == path && w.Renew[i].Mount.For != "" {
			return w.Renew[i].Mount.For
		}
	}
	return wrap.FieldProtected
}

// bareLine sums up what lacked its mount.
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
