package life

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sbx/audit"
	"sbx/dispatch"
	"sbx/internal/read"
	"sbx/spec"
)

// Poll checks a dispatch. If its processes are gone it ends the row as the record says. It
// returns the row after that.
func (w *World) Poll(l *dispatch.Ledger, id string) (dispatch.Dispatch, error) {
	d, err := l.Get(id)
	if err != nil || d.Status.Ended() && d.SandboxEffective.Set {
		return d, err
	}
	e, ok := w.endOf(l, &d)
	if !ok {
		return d, nil
	}
	if err := l.End(id, e); err != nil {
		return d, err
	}
	return l.Get(id)
}

// endOf returns how a dispatch has ended; ok is false if it runs, if that is unknown, or if
// another program must end it.
func (w *World) endOf(l *dispatch.Ledger, d *dispatch.Dispatch) (dispatch.End, bool) {
	f := w.dirOf(l.Path(), d.ID)
	who, noted := f.process()
	switch {
	case noted && !who.Gone():
		return dispatch.End{}, false
	case !noted && (d.Status.Ended() || !abandoned(d)):
		return dispatch.End{}, false
	case !noted && !l.Own():
		// Another driver ran it, or its driver was killed before it began: there is no
		// record.
		return dispatch.End{At: time.Now(), Status: dispatch.Failed, Error: spec.Some("its process is gone")}, true
	}
	record, view, err := audit.Settled(f.record)
	switch {
	case err != nil:
		record = w.substitute(f.readJob(), time.Unix(d.StartedAt.Or(d.CreatedAt.Or(time.Now().Unix())), 0), nil)
		if view, err = audit.Parse(record); err != nil {
			return dispatch.End{}, false
		}
	case view.State == "running": // sbx exec is about to die, as its keeper did
		return dispatch.End{}, false
	}
	return outcome(record, view, time.Now(), spec.Opt[int64]{}, f.stop()), true
}

// abandoned reports whether a row without a known keeper certainly has no process: it was
// started before the last boot, or no process has its PID.
func abandoned(d *dispatch.Dispatch) bool {
	if boot := bootTime(); boot > 0 && d.StartedAt.Set && d.StartedAt.Value < boot-1 {
		return true
	}
	pid := int(d.PID.Value)
	return d.PID.Set && pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// bootTime returns when the machine was started, in seconds since 1970; 0 if unknown.
func bootTime() int64 {
	b, _ := os.ReadFile("/proc/stat")
	n, _ := strconv.ParseInt(read.StatusLine(string(b), "btime "), 10, 64)
	return n
}

// Wait polls a dispatch until it has ended. After timeout, unless that is 0, Wait stops it
// with the status TimedOut.
func (w *World) Wait(l *dispatch.Ledger, id string, every, timeout time.Duration) (dispatch.Dispatch, error) {
	begun := time.Now()
	for {
		d, err := w.Poll(l, id)
		if err != nil || d.Status.Ended() {
			return d, err
		}
		pause := every
		if timeout > 0 {
			left := timeout - time.Since(begun)
			if left <= 0 {
				return w.Stop(l, id, dispatch.TimedOut)
			}
			pause = min(pause, left)
		}
		time.Sleep(pause)
	}
}

// Stop ends a dispatch with status as, by SIGTERM and five seconds later by SIGKILL.
func (w *World) Stop(l *dispatch.Ledger, id string, as dispatch.Status) (dispatch.Dispatch, error) {
	d, err := w.Poll(l, id)
	if err != nil || d.Status.Ended() {
		return d, err
	}
	f := w.dirOf(l.Path(), id)
	who, noted := f.process()
	if !noted {
		if d.PID.Set || d.Status != dispatch.Spawned {
			return d, problem(id, "stop the dispatch", "its process was not started by sbx, or by another user", "let who started it end it, as ic dispatch kill")
		}
		e := dispatch.End{Status: as, At: time.Now(), Error: spec.Some("it was stopped before it was started"),
			Effective: spec.Some(strings.TrimSpace(string(w.substitute(nil, time.Now(), problem("", "start the dispatch", "it was stopped before", "")))))}
		if err := l.End(id, e); err != nil {
			return d, err
		}
		return l.Get(id)
	}
	if err := f.write(stopFile, []byte(as)); err != nil {
		return d, problem(string(f), "note why it is stopped", dispatch.WithoutPath(err), "")
	}
	if err := signalUntilGone(who); err != nil {
		return d, problem(id, "stop the dispatch", err.Error(), "")
	}
	// sbx exec dies together with its keeper. Poll can end the row a moment later.
	for range 200 {
		if d, err = w.Poll(l, id); err != nil || d.Status.Ended() {
			return d, err
		}
		time.Sleep(25 * time.Millisecond)
	}
	return d, problem(id, "stop the dispatch", "its process does not end", "")
}

// signalUntilGone asks a process to end, and kills it five seconds later. It holds the
// process by a pidfd, so that it cannot signal another one that reuses the PID.
func signalUntilGone(who audit.Process) error {
	p, err := os.FindProcess(who.PID)
	if err != nil {
		return nil // it is gone
	}
	defer func() { _ = p.Release() }()
	if !who.Runs() {
		if who.Gone() {
			return nil
		}
		return errors.New("its process is out of sight, as in another pid namespace")
	}
	if err := p.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	for range 200 {
		if who.Gone() {
			return nil
		}
		time.Sleep(25 * time.Millisecond)
	}
	_ = p.Signal(syscall.SIGKILL) // fails if it has ended meanwhile
	return nil
}
