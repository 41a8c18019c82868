package trace

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sbx/spec"
)

// Signals and their data, stopping and continuing, the end of the first thread: a program cannot
// notice that it is traced.
func TestSignalsAndStops(t *testing.T) {
	manners := program(t, "manners")
	control := exec.Command("timeout", "-s", "KILL", "60", manners)
	// The process group of the control is orphaned, while that of the others depends on the caller:
	// the terminal's signals must have the same effect in both.
	control.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	want, err := control.Output()
	if err != nil || strings.Count(string(want), "\n") < 12 {
		t.Fatalf("the control: %v\n%s", err, want)
	}
	delays := []int{0, 3000}
	if testing.Short() {
		delays = delays[:1]
	}
	for _, slow := range delays {
		o, out := run(t, job{Argv: []string{manners}, Slow: slow})
		if out != string(want) || o.Commands.Started != 1 || o.Status != 0 {
			t.Errorf("slowed by %d us: status %d, %+v, it printed\n%swhere the control prints\n%s", slow, o.Status, o.Commands, out, want)
		}
	}
}

// These are the ways around a tracer, with their results without and with one.
func TestDoors(t *testing.T) {
	doors := program(t, "doors")
	out, err := exec.Command("timeout", "-s", "KILL", "20", doors).Output()
	free := answers(string(out))
	if err != nil || free["end"] != "" {
		t.Fatalf("the control: %v\n%s", err, out)
	}
	o, text := run(t, job{Argv: []string{doors}})
	got := answers(text)
	for what, want := range map[string][2]string{ // free, traced
		"clone untraced":  {"0", "no child: 1"},
		"clone3 untraced": {"0", "no child: 38"}, // ENOSYS
		"traceme":         {"0", "1"},
		"seize":           {"0", "1"},
		"seized child":    {"0", "0"},
		"listened":        {"0", "0"}, // and counted
		"plain":           {"0", "0"},
		"check":           {}, // the same, but not counted
		"end":             {"", ""},
		// ENOSYS, as without a tracer.
		"a filter that wants a tracer": {"38", "38"},
	} {
		if what == "seize" && free[what] != "0" { // Yama forbids more than the parent-child rule
			want[0] = free[what]
		}
		f, okFree := free[what]
		g, okGot := got[what]
		if what == "check" { // EINVAL before Linux 6.14
			want = [2]string{f, f}
		}
		if !okFree || !okGot || f != want[0] || g != want[1] {
			t.Errorf("%s: %q free and %q traced, want %q", what, f, g, want)
		}
	}
	if o.Debugger != 1 || o.Commands.Started != 3 {
		t.Errorf("told %d times of ptrace, %+v", o.Debugger, o.Commands)
	}
	// With the budget used up, a program that cannot be denied is killed.
	for max, want := range map[int]string{0: "signal 9", 1: "0"} {
		o, text := run(t, job{Argv: []string{doors, "listened"}, Max: spec.Some(max)})
		if text != "listened "+want+"\nend\n" || o.Commands.Started != max || o.Commands.Refused != 1-max {
			t.Errorf("max %d: %q, %+v", max, text, o.Commands)
		}
	}
}

// answers reads the lines "what answer" of the program doors.
func answers(out string) map[string]string {
	m := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		for _, word := range []string{"no child: ", "signal "} {
			if what, n, found := strings.Cut(line, " "+word); found {
				m[what], line = word+n, ""
			}
		}
		if line == "" {
			continue
		}
		i := strings.LastIndexByte(line, ' ')
		if i < 0 {
			m[line] = ""
			continue
		}
		m[line[:i]] = line[i+1:]
	}
	return m
}

// With the filter but without a tracer no program runs: the exec fails closed.
func TestNoTracerNoExec(t *testing.T) {
	o, _, errs := runWith(t, job{Argv: []string{"/bin/true"}, Untraced: true}, nil)
	if o.Status != 122 || !strings.Contains(strings.ToLower(errs), unix.ENOSYS.Error()) {
		t.Errorf("status %d, %q", o.Status, errs)
	}
	o, _, errs = runWith(t, job{Argv: []string{"/bin/true"}}, nil)
	if o.Status != 0 || errs != "" {
		t.Errorf("the control: status %d, %q", o.Status, errs)
	}
}

// A debugger inside fails with its own message, and the supervisor is notified once.
func TestDebuggersInside(t *testing.T) {
	for name, argv := range map[string][]string{
		"strace": {"strace", "-f", "true"},
		"gdb":    {"gdb", "-batch", "-nx", "-ex", "run", "/bin/true"},
	} {
		t.Run(name, func(t *testing.T) {
			need(t, name)
			o, out, errs := runWith(t, job{Argv: argv}, nil)
			if o.Debugger != 1 || !strings.Contains(out+errs, "not permitted") && !strings.Contains(out+errs, "EPERM") {
				t.Errorf("told %d times, status %d\n%s", o.Debugger, o.Status, tail(out+errs))
			}
			t.Logf("status %d: %s", o.Status, tail(errs))
		})
	}
}

// Two thousand processes start, stop, continue and are killed, and threads execute programs, while
// the supervisor is slow or is stopped at times. It ends every time, and leaves nothing.
func TestStress(t *testing.T) {
	exercise := program(t, "exercise")
	n := "2000"
	if testing.Short() {
		n = "400"
	}
	pauses := func(p *os.Process, done <-chan struct{}) {
		for {
			select {
			case <-done:
				return
			case <-time.After(7 * time.Millisecond):
			}
			p.Signal(unix.SIGSTOP)
			time.Sleep(5 * time.Millisecond)
			p.Signal(unix.SIGCONT)
		}
	}
	for name, row := range map[string]struct {
		slow int
		max  spec.Opt[int]
		also func(*os.Process, <-chan struct{})
	}{
		"quick":           {},
		"slow":            {slow: 300},
		"stopped":         {also: pauses},
		"over the budget": {max: spec.Some(100)},
		"slow, over":      {slow: 300, max: spec.Some(50), also: pauses},
	} {
		t.Run(name, func(t *testing.T) {
			o, out, _ := runWith(t, job{Argv: []string{exercise, "comers", n}, Slow: row.slow, Max: row.max, Linger: true}, row.also)
			if out != "ended "+n+"\n" || o.Status != 0 {
				t.Errorf("status %d, %q", o.Status, tail(out))
			}
			if row.max.Set && o.Commands.Started > row.max.Value {
				t.Errorf("%+v of %d", o.Commands, row.max.Value)
			}
			t.Logf("%+v in %d ms, %d us in the tracer", o.Commands, o.MS, o.Inner)
		})
	}
}

// If the supervisor is killed, everything ends with it, also without a pid namespace.
func TestNothingOutlivesTheTracer(t *testing.T) {
	starter := program(t, "starter")
	mark := "86399." + time.Now().Format("150405") // a sleep with a duration that no other process has
	sh := "(sleep " + mark + " &) ; sleep " + mark
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), harnessEnv+"="+jobText(t, job{Argv: []string{"sh", "-c", sh}, Dir: t.TempDir(), Starter: starter}))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	sleepers := func() (pids []int) {
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, f := range files {
			if b, _ := os.ReadFile(f); string(b) == "sleep\x00"+mark+"\x00" {
				pid, _ := strconv.Atoi(strings.Split(f, "/")[2])
				pids = append(pids, pid)
			}
		}
		return pids
	}
	until := func(n int) []int {
		for range 400 {
			if len(sleepers()) == n {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		return sleepers()
	}
	if got := until(2); len(got) != 2 {
		t.Errorf("%v sleep, want 2", got)
	}
	cmd.Process.Kill()
	cmd.Wait()
	for _, pid := range until(0) {
		t.Errorf("%d outlives the supervisor", pid)
		unix.Kill(pid, unix.SIGKILL)
	}
}
