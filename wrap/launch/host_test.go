package launch

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/seccomp"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/host"
)

// lacks skips a test for something that the host does not have, and fails it
// where the run must not skip.
func lacks(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("SBX_TEST_MUST_RUN") == "1" {
		t.Fatal("must run, and cannot: " + why)
	}
	t.Skip(why)
}

// site is a workspace on this host and what a command there is planned with.
type site struct {
	t       *testing.T
	dir     string // the workspace
	home    string
	bare    bool // plan as if there were no namespaces
	remount bool // plan as if there were no mount_setattr(2)
}

// kinds are the hosts that a launch is tried on.
var kinds = map[string]func(*site){
	"namespaces":       func(*site) {},
	"no mount_setattr": func(s *site) { s.remount = true },
	"bare":             func(s *site) { s.bare = true },
}

// doc is workspace-write as the site's host accepts it.
func (s *site) doc() string {
	if s.bare {
		return `{"access_mode": "workspace-write", "best_effort": ["*"]}`
	}
	return workspaceWrite
}

func newSite(t *testing.T) *site {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, dir: base + "/work", home: base + "/home"}
	for _, d := range []string{s.dir, s.home, s.dir + "/.git/hooks", s.home + "/.ssh"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{s.dir + "/.git/config", s.home + "/.netrc"} {
		if err := os.WriteFile(f, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// request names the program that argv begins with, links resolved.
func (s *site) request(argv ...string) wrap.Request {
	real, err := filepath.EvalSymlinks(argv[0])
	if err != nil {
		real = argv[0]
	}
	return wrap.Request{Counter: wrap.CounterAuto, Argv: argv, Program: wrap.Program{Path: argv[0], Real: real}}
}

// plan plans a command on the first fallback level that this host supports, as the launcher
// does.
func (s *site) plan(doc string, argv ...string) *wrap.Plan {
	s.t.Helper()
	d, err := spec.Decode("spec.json", []byte(doc))
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := spec.Resolve(d, spec.Inputs{Home: s.home, Cwd: s.dir, Environ: []string{"PATH=/usr/bin:/bin"}, UID: os.Getuid(), Paths: spec.HostPaths{}})
	if err != nil {
		s.t.Fatal(err)
	}
	h := host.Probe(&r)
	if s.remount {
		h.SetAttr = wrap.Answer{State: wrap.No, Why: "the test leaves it out"}
	}
	if s.bare {
		for _, rung := range []wrap.Rung{wrap.RungUser, wrap.RungRoot} {
			h = h.Without(rung, "the test leaves it out")
		}
	}
	for {
		plan, err := wrap.Build(&r, &h, s.request(argv...))
		if err != nil {
			lacks(s.t, "this host cannot hold the plan: "+err.Error())
		}
		var step *StepError
		onThread(func() {
			if err := Try(plan); err != nil {
				step = err.(*StepError)
			}
		})
		if step == nil {
			return plan
		}
		next, ok := Learn(h, plan, step)
		if !ok {
			s.t.Fatal(step)
		}
		h = next
	}
}

// onThread runs f on a thread that ends with it, since Start locks its thread.
func onThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// descriptors are this process's own ends of launches: sockets that keep packets
// apart. What the child had open in the shared table when it ended is not among
// them.
func descriptors(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		to, _ := os.Readlink("/proc/self/fd/" + e.Name())
		fd, _ := strconv.Atoi(e.Name())
		kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
		if err == nil && kind == unix.SOCK_SEQPACKET {
			list = append(list, e.Name()+" "+to)
		}
	}
	return list
}

// leaks compares what was open and running before with what is now.
func leaks(t *testing.T, before []string) {
	t.Helper()
	for _, fd := range descriptors(t) {
		if !slices.Contains(before, fd) {
			t.Errorf("descriptor %s is left open", fd)
		}
	}
	if left := read.Children("self"); len(left) > 0 {
		t.Errorf("processes %v are left", left)
		for _, pid := range left {
			unix.Kill(pid, unix.SIGKILL)
			unix.Wait4(pid, nil, 0, nil)
		}
	}
}

// ends waits until every one of the processes is gone, for some seconds.
func ends(pids []int) (left []int) {
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		left = slices.DeleteFunc(slices.Clone(pids), func(pid int) bool { return !lives(pid) })
		if len(left) == 0 || time.Now().After(end) {
			return left
		}
	}
}

// lives reports whether there is a process with that pid which is no zombie.
func lives(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	after := string(b[strings.LastIndexByte(string(b), ')')+1:])
	return len(after) > 1 && after[1] != 'Z' && after[1] != 'X'
}

// withWord are the processes that have a word in their arguments.
func withWord(word string) (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, d := range dirs {
		if b, err := os.ReadFile(d); err == nil && strings.Contains(string(b), word) {
			if pid, err := strconv.Atoi(strings.Split(d, "/")[2]); err == nil && pid != os.Getpid() {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// running starts a Plan's command; it reports a failure and returns nil.
func running(t *testing.T, plan *wrap.Plan) *Process {
	t.Helper()
	pr, err := Start(plan, Options{Caller: Inherited()})
	if err == nil {
		err = pr.Ready()
	}
	if err == nil {
		err = pr.Go()
	}
	if err != nil {
		t.Error(err)
		return nil
	}
	return pr
}

// lenient allows every call of which the listener is notified.
func lenient(pr *Process) *Hooks {
	hooks := &Hooks{}
	if fd := pr.Listener(); fd >= 0 {
		var n seccomp.Notification
		hooks.Calls = &Calls{FD: fd, Take: func(fd int) (taken, over bool) { return seccomp.Next(fd, &n) },
			Answer: func() { seccomp.Continue(fd, n.ID) }}
	}
	return hooks
}
