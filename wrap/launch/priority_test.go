package launch

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The answering thread has a lower nice value than the command, if permitted. At first that is
// the supervising thread, whose priority is restored afterwards; after some calls it is a
// thread of its own.
func TestGoAhead(t *testing.T) {
	nice := func(pid int) int32 {
		t.Helper()
		a, err := unix.SchedGetAttr(pid, 0)
		if err != nil {
			t.Skipf("sched_getattr: %v", err)
		}
		return a.Nice
	}
	before := nice(0)
	want := before
	if mayLead(before) {
		want = max(before-niceLead, -20)
	}
	for _, c := range []struct {
		name     string
		programs int // that are executed, the shell's own start not among them
		threads  int
	}{{"few", aloneAfter - 1, 1}, {"many", aloneAfter + 8, 2}} {
		t.Run(c.name, func(t *testing.T) {
			plan := newSite(t).plan(workspaceWrite, "/bin/sh", "-c", "for n in $(seq "+strconv.Itoa(c.programs-1)+"); do /bin/true; done; exit 3")
			answered := map[int]int{} // by threads
			var inside, after int32
			var exit Exit
			onThread(func() {
				pr := running(t, plan)
				if pr == nil {
					return
				}
				supervisor := unix.Gettid()
				hooks := lenient(pr)
				if hooks.Calls == nil {
					t.Error("nobody is asked")
					return
				}
				answer := hooks.Calls.Answer
				hooks.Calls.Answer = func() {
					answered[unix.Gettid()]++
					inside = nice(pr.CommandPid())
					if is := nice(0); is != want {
						t.Errorf("niceness %d while answering, want %d", is, want)
					}
					if is := nice(supervisor); is != want {
						t.Errorf("niceness %d of who supervises, whose turns an answer waits for, want %d", is, want)
					}
					answer()
				}
				exit = pr.Supervise(hooks)
				after = nice(0)
				if n := answered[supervisor]; n != min(c.programs, aloneAfter) {
					t.Errorf("the supervising thread answered %d, of %v", n, answered)
				}
			})
			if exit.Code != 3 || len(answered) != c.threads || inside != before || after != before {
				t.Errorf("exit %+v, answered %v, niceness %d, inside %d, after %d", exit, answered, before, inside, after)
			}
		})
	}
}

// The answering thread ends with the sandbox and closes its copy of the listener: a copy keeps
// the filter alive, and a process may run any number of sandboxes.
func TestWhoAnswersEnds(t *testing.T) {
	var u unix.Utsname
	var major, minor int
	if err := unix.Uname(&u); err != nil {
		t.Fatal(err)
	}
	release := unix.ByteSliceToString(u.Release[:])
	if _, err := fmt.Sscanf(release, "%d.%d", &major, &minor); err != nil || major < 6 || major == 6 && minor < 11 {
		t.Skipf("Linux %s: who waits for notifications does so until the process ends (Linux 6.11)", release)
	}
	listeners := func() (n int) {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if to, _ := os.Readlink("/proc/self/fd/" + e.Name()); strings.Contains(to, "seccomp notify") {
				n++
			}
		}
		return n
	}
	plan := newSite(t).plan(workspaceWrite, "/bin/sh", "-c", "for n in $(seq "+strconv.Itoa(2*aloneAfter)+"); do /bin/true; done")
	for range 3 {
		during := 0
		onThread(func() {
			pr := running(t, plan)
			if pr == nil {
				return
			}
			hooks := lenient(pr)
			answer := hooks.Calls.Answer
			hooks.Calls.Answer = func() {
				during = max(during, listeners())
				answer()
			}
			pr.Supervise(hooks)
		})
		if during < 2 {
			t.Errorf("%d listeners while it ran: the calls never had a thread of their own", during)
		}
	}
	for range 500 { // it is told of the end by then, but has yet to run
		if listeners() == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d listeners are left", listeners())
}

// mayLead reports whether a thread of this process, one that is then given up, may
// have a lower niceness.
func mayLead(nice int32) bool {
	may := make(chan bool)
	go func() {
		runtime.LockOSThread()
		may <- unix.Setpriority(unix.PRIO_PROCESS, 0, int(nice)-niceLead) == nil
	}()
	return <-may
}
