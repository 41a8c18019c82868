package launch

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// While it answers, the supervisor's thread goes ahead of the command: with a lower
// niceness where it may, and never what the command has. Afterwards it is what it was.
func TestGoAhead(t *testing.T) {
	nice := func(pid int) int32 {
		t.Helper()
		a, err := unix.SchedGetAttr(pid, 0)
		if err != nil {
			t.Skipf("sched_getattr: %v", err)
		}
		return a.Nice
	}
	s := newSite(t)
	plan := s.plan(workspaceWrite, "/bin/sh", "-c", "/bin/true; /bin/true; exit 3")
	before := nice(0)
	var during, inside, after int32
	asked := 0
	var exit Exit
	onThread(func() {
		pr := running(t, plan)
		if pr == nil {
			return
		}
		hooks := lenient(pr)
		if len(hooks.Wait) == 0 {
			t.Error("nobody is asked")
			return
		}
		answer := hooks.Wait[0].Event
		hooks.Wait[0].Event = func() {
			asked++
			during, inside = nice(0), nice(pr.CommandPid())
			answer()
		}
		exit = pr.Supervise(hooks)
		after = nice(0)
	})
	want := before
	if mayLead(before) {
		want = max(before-lead, -20)
	}
	if exit.Code != 3 || asked == 0 || during != want || inside != before || after != before {
		t.Errorf("exit %+v, asked %d times, niceness %d, while answering %d (want %d), inside %d, after %d", exit, asked, before, during, want, inside, after)
	}
}

// mayLead tells whether a thread of this process, one that is then given up, may
// have a lower niceness.
func mayLead(nice int32) bool {
	may := make(chan bool)
	go func() {
		runtime.LockOSThread()
		may <- unix.Setpriority(unix.PRIO_PROCESS, 0, int(nice)-lead) == nil
	}()
	return <-may
}
