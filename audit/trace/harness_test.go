package trace

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/seccomp"
	"sbx/spec"
)

// harnessEnv makes the test binary a supervisor. A tracer waits for all children of its process, so
// each supervisor needs a process of its own.
const harnessEnv = "SBX_TEST_TRACE"

// job is the task of a supervisor.
type job struct {
	Argv     []string
	Dir      string
	Starter  string
	Max      spec.Opt[int]
	OnExceed spec.OnExceed
	Untraced bool // load the filter but do not attach
	Linger   bool // wait for all processes, not only for the command
	Slow     int  // microseconds to sleep before each wait
}

// outcome is the result.
type outcome struct {
	Failed   string // why the harness failed
	Commands audit.Commands
	Status   int      // the command's, 128+n for a signal
	Refused  []string // programs that the budget denied
	Exceeded int
	Debugger int
	Flights  int // execs in progress at the end
	MS       int64
	Inner    int64 // the part of it spent in the tracer
}

func TestMain(m *testing.M) {
	if text := os.Getenv(harnessEnv); text != "" {
		var j job
		o := outcome{}
		if err := json.Unmarshal([]byte(text), &j); err != nil {
			o.Failed = err.Error()
		} else {
			o = supervise(&j)
		}
		b, _ := json.Marshal(o)
		os.NewFile(3, "result").Write(b)
		os.Exit(0)
	}
	code := m.Run()
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// supervise launches a job's command under a tracer, as sbx does.
func supervise(j *job) (o outcome) {
	runtime.LockOSThread()
	os.Unsetenv(harnessEnv)
	fail := func(what string, err error) outcome {
		return outcome{Failed: fmt.Sprint(what, ": ", err)}
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fail("subreaper", err)
	}
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return fail("eventfd", err)
	}
	children := make(chan os.Signal, 1)
	signal.Notify(children, unix.SIGCHLD)
	go func() {
		for range children {
			unix.Write(wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
		}
	}()
	var program, word, ready [2]int
	for _, p := range []*[2]int{&program, &word, &ready} {
		if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
			return fail("pipe", err)
		}
	}
	if path, err := exec.LookPath(j.Argv[0]); err != nil && !strings.HasPrefix(j.Argv[0], "./") {
		return fail("look up", err)
	} else if err == nil {
		j.Argv[0] = path
	}
	unix.Write(program[1], seccompBytes())
	unix.Close(program[1])
	pid, err := syscall.ForkExec(j.Starter, append([]string{"starter"}, j.Argv...), &syscall.ProcAttr{
		Dir: j.Dir, Env: os.Environ(), Files: []uintptr{0, 1, 2, uintptr(program[0]), uintptr(word[0]), uintptr(ready[1])}})
	if err != nil {
		return fail("start", err)
	}
	unix.Close(ready[1])
	unix.Read(ready[0], make([]byte, 1)) // its own exec is over
	over := false
	l := &audit.Ledger{Max: j.Max, OnExceed: j.OnExceed}
	options := Options{Wake: wake,
		Reaped: func(p int, s unix.WaitStatus, u *unix.Rusage) {
			if p == pid {
				over = true
				if o.Status = s.ExitStatus(); s.Signaled() {
					o.Status = 128 + int(s.Signal())
				}
			}
		},
		Refused:  func(tid int, program string) { o.Refused = append(o.Refused, program) },
		Exceeded: func() { o.Exceeded++; unix.Kill(pid, unix.SIGKILL) },
		Debugger: func(tid int) { o.Debugger++ },
	}
	var tracer *Tracer
	if j.Untraced {
		tracer = &Tracer{options: options, ledger: l}
	} else if tracer, err = Attach(pid, l, options); err != nil {
		unix.Kill(pid, unix.SIGKILL)
		return fail("attach", err)
	}
	began := time.Now()
	unix.Write(word[1], []byte{1})
	wait := func() {
		unix.Poll([]unix.PollFd{{Fd: int32(wake), Events: unix.POLLIN}}, -1)
		if j.Slow > 0 {
			time.Sleep(time.Duration(j.Slow) * time.Microsecond)
		}
		at := time.Now()
		tracer.Event()
		o.Inner += time.Since(at).Microseconds()
	}
	for !over {
		wait()
	}
	o.MS = time.Since(began).Milliseconds()
	// ECHILD means that there is neither a child nor a tracee.
	for unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL, nil) != unix.ECHILD {
		if !j.Linger {
			lists, _ := filepath.Glob("/proc/self/task/*/children")
			for _, list := range lists {
				b, _ := os.ReadFile(list)
				for _, word := range strings.Fields(string(b)) {
					child, _ := strconv.Atoi(word)
					unix.Kill(child, unix.SIGKILL)
				}
			}
		}
		wait()
	}
	o.Commands = tracer.Commands()
	o.Flights = len(tracer.pending)
	return o
}

func seccompBytes() []byte {
	var b []byte
	for _, in := range seccomp.Traced(seccomp.Native) {
		b = append(b, byte(in.Code), byte(in.Code>>8), in.Jt, in.Jf, byte(in.K), byte(in.K>>8), byte(in.K>>16), byte(in.K>>24))
	}
	return b
}

func jobText(t *testing.T, j job) string {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// limit is the time that a job may take.
const limit = 100 * time.Second

// run runs a job in a process of its own. The output is the command's.
func run(t *testing.T, j job) (outcome, string) {
	t.Helper()
	o, out, _ := runWith(t, j, nil)
	return o, out
}

// runWith is run with an action on the supervisor meanwhile.
func runWith(t *testing.T, j job, meanwhile func(supervisor *os.Process, done <-chan struct{})) (o outcome, stdout, stderr string) {
	t.Helper()
	j.Starter = program(t, "starter")
	if j.Dir == "" {
		j.Dir = workspace(t)
	}
	text := jobText(t, j)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	var out, errs strings.Builder
	cmd.Env, cmd.ExtraFiles, cmd.Stdout, cmd.Stderr = append(os.Environ(), harnessEnv+"="+text), []*os.File{w}, &out, &errs
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	done := make(chan struct{})
	var helpers sync.WaitGroup
	if meanwhile != nil {
		helpers.Go(func() { meanwhile(cmd.Process, done) })
	}
	late := time.AfterFunc(limit, func() { cmd.Process.Kill() }) // and with it everything that it traces
	err = cmd.Wait()
	close(done)
	helpers.Wait()
	if !late.Stop() {
		t.Fatalf("%v: not done after %v\n%s", j.Argv, limit, tail(out.String()+errs.String()))
	}
	if err != nil {
		t.Fatalf("the supervisor: %v\n%s", err, tail(errs.String()))
	}
	b := make([]byte, 1<<20)
	n, _ := r.Read(b)
	r.Close()
	if err := json.Unmarshal(b[:n], &o); err != nil {
		t.Fatalf("%q: %v\n%s", b[:n], err, errs.String())
	}
	if o.Failed != "" {
		t.Fatal(o.Failed)
	}
	if o.Flights != 0 || o.Commands.Overcharged != spec.Some(0) {
		t.Errorf("%v: %d execs are under way at the end, overcharged %+v", j.Argv, o.Flights, o.Commands.Overcharged)
	}
	return o, out.String(), errs.String()
}

func tail(s string) string { return s[max(0, len(s)-2000):] }

// lacks skips a test because the host lacks something, and fails it if the run must not skip.
func lacks(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("SBX_TEST_MUST_RUN") == "1" {
		t.Fatal("must run, and cannot: " + why)
	}
	t.Skip(why)
}

// need returns the path of an installed program.
func need(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		lacks(t, name+" is not installed")
	}
	return path
}
