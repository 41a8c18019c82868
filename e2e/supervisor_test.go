package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A command that serves its own memory or files delays only its own call: the timeout works, and
// SIGKILL of sbx ends it.
func TestWhatIsServedHoldsNothingUp(t *testing.T) {
	const timed = `{"max_commands": 100, "limits": {"timeout": "1s"}}`
	for _, c := range []struct {
		what         string
		served, held []string
		waits        string // where the supervisor waits, in the kernel
		inside       string // in a sandbox
	}{
		{"memory", []string{"userfault", "300", "/nothing"}, []string{"userfault", "-1"}, "handle_userfault", "userfaultfd E"},
		{"files", []string{"fuse", "no"}, []string{"fuse", "wait"}, "request_wait_answer", "/dev/fuse E"},
	} {
		t.Run(c.what, func(t *testing.T) {
			b := newBox(t)
			served := append([]string{b.probe()}, c.served...)
			held := append([]string{b.probe()}, c.held...)
			const answer = "execve ENOENT\n"
			if r := b.plain(served...); !strings.HasSuffix(r.out, answer) {
				t.Skipf("not for this user: %q", r.out)
			}
			if r := b.run(`{"max_commands": 100}`, served...); r.code != 0 || !strings.HasSuffix(r.out, answer) {
				t.Errorf("served: %v", r)
			}
			r := b.run(timed, held...)
			if r.code != 124 || r.rec.at("state") != "exited" || r.rec.at("exit", "ended_by") != "timeout" || strings.Contains(r.out, "nothing ended it") {
				t.Errorf("held: %v", r)
			}
			r.rec.hasStatus(t, "limits.timeout", "degraded")
			r.rec.hasStatus(t, "max_commands", "degraded")

			s := b.start(`{"max_commands": 100}`, held...)
			s.expect("asks")
			pid := childOf(t, s.cmd.Process.Pid)
			eventually(t, "the supervisor waits", func() bool { return waitsFor(s.cmd.Process.Pid, c.waits) })
			must(t, s.cmd.Process.Kill())
			if got := s.wait(); got != -128-int(unix.SIGKILL) {
				t.Errorf("killed: status %d", got)
			}
			eventually(t, "the command is gone", func() bool { return unix.Kill(pid, 0) == unix.ESRCH })
			for _, l := range s.out.all() {
				if l == "nothing ended it" {
					t.Error("killed: " + l)
				}
			}

			// The supervising thread answers the first calls of a sandbox.
			needSandbox(t)
			r = b.run(specWith(specWW, `"max_commands": 5, "limits": {"timeout": "20s"}`), held...)
			if r.code != 3 || !strings.Contains(r.out, c.inside) {
				t.Errorf("in a sandbox: %v", r)
			}
			r.rec.hasStatus(t, "limits.timeout", "enforced")
			r.rec.hasStatus(t, "max_commands", "enforced")
		})
	}
}

// Programs that wait for each other's look-ups, and for sbx's among them, on a file system that
// never answers cannot be ended before sbx is: sbx gives up, and they end with it.
func TestLookUpsThatCrossAreGivenUp(t *testing.T) {
	b := newBox(t)
	probe := b.probe()
	if r := b.plain(probe, "fuse", "no"); !strings.HasSuffix(r.out, "execve ENOENT\n") {
		t.Skipf("not for this user: %q", r.out)
	}
	r := b.run(`{"max_commands": 100, "limits": {"timeout": "1s"}}`, probe, "fuse", "cross")
	if r.code != -128-int(unix.SIGALRM) && r.code != 124 || strings.Contains(r.out, "nothing ended it") {
		t.Errorf("%v", r)
	}
	if r.code != 124 && r.rec.at("state") != "running" { // which sbx show reports as lost
		t.Errorf("the record: %v", r)
	}
	r.rec.hasStatus(t, "limits.timeout", "degraded")
}

// childOf returns the one child of a process.
func childOf(t *testing.T, pid int) int {
	t.Helper()
	all := childrenOf(t, pid)
	if len(all) == 0 {
		t.Fatal("no child")
	}
	return all[0]
}

// childrenOf returns the processes that a process has started and that exist.
func childrenOf(t *testing.T, pid int) (all []int) {
	t.Helper()
	tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	for _, f := range tasks {
		b, _ := os.ReadFile(f)
		for _, word := range strings.Fields(string(b)) {
			child, err := strconv.Atoi(word)
			must(t, err)
			all = append(all, child)
		}
	}
	return all
}

// waitsFor reports whether a thread of a process waits in a function of the kernel's.
func waitsFor(pid int, function string) bool {
	tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/wchan")
	for _, f := range tasks {
		if b, _ := os.ReadFile(f); strings.Contains(string(b), function) {
			return true
		}
	}
	return false
}

// usesUp forks until that fails, and then causes everything for which the supervisor once needed a
// thread: connects that wait, binds, lines to print.
const usesUp = `
import os, socket, time
server = socket.socket(socket.AF_UNIX)
server.bind("queue")
server.listen(0)
read, write = os.pipe()
def waits():
    socket.socket(socket.AF_UNIX).connect("queue")
    time.sleep(60)
def binds(i):
    for n in range(20):
        s = socket.socket(socket.AF_UNIX)
        s.bind("bound%d.%d" % (i, n))
        open("new%d" % i, "w").close()
        os.rename("new%d" % i, "old%d" % i)
def runs():
    os.execv("/bin/true", ["true"])
pids = []
for i in range(60):
    pid = os.fork()
    if pid == 0:
        os.close(write)
        os.read(read, 1)
        try:
            if i < 40: waits()
            elif i < 50: binds(i)
            else: runs()
        except OSError as e:
            if i >= 40: print("failed", i, e, flush=True)
        os._exit(0)
    pids.append(pid)
full = False
for i in range(2000):
    try:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
    except BlockingIOError:
        full = True
        break
print("full", full, flush=True)
os.write(write, b"x" * 60)
try: os.mkdir(".git")
except OSError: print("protected", flush=True)
for pid in pids[40:]: os.waitpid(pid, 0)
for i in range(100): # the supervisor answers, however many connects wait
    try: socket.socket(socket.AF_UNIX).connect("nothing")
    except OSError: pass
    time.sleep(0.01)
print("end", flush=True)
os._exit(0)
`

// A command that uses up all processes, as in a container with a limit, does not thereby end its
// supervisor.
func TestProcessesAreUsedUp(t *testing.T) {
	needSandbox(t)
	python := "/usr/bin/python3"
	if _, err := os.Stat(python); err != nil {
		python = needPrograms(t, "python3")
	}
	group := pidsGroup(t, 130)
	b := newBox(t)
	b.write(b.ws+"/usesup.py", usesUp)
	for range 3 {
		ctx, cancel := context.WithTimeout(context.Background(), 2*limit)
		defer cancel()
		cmd := b.command(ctx, specWW, python, "usesup.py")
		cmd.Args = append([]string{"sh", "-c", "echo $$ >" + group + "/cgroup.procs && exec \"$0\" \"$@\"", cmd.Path}, cmd.Args[1:]...)
		cmd.Path = needPrograms(t, "sh")
		cmd.WaitDelay = 2 * time.Second
		r := b.finish(cmd).ended()
		if r.rec.at("state") != "exited" || !strings.Contains(r.out, "full True\n") || !strings.Contains(r.out, "protected\n") || strings.Contains(r.out, "failed") {
			t.Errorf("%v", r)
		}
		must(t, os.Remove(b.ws+"/queue"))
		for _, old := range []string{"bound*", "old*"} {
			files, _ := filepath.Glob(b.ws + "/" + old)
			for _, f := range files {
				must(t, os.Remove(f))
			}
		}
	}
}

// pidsGroup returns a control group that may have so many processes.
func pidsGroup(t *testing.T, most int) string {
	t.Helper()
	for _, top := range []string{"/sys/fs/cgroup/pids", "/sys/fs/cgroup"} {
		dir := top + "/sbx-test-" + strconv.Itoa(os.Getpid())
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() {
			eventually(t, dir+" is removed", func() bool { return os.Remove(dir) == nil })
		})
		if os.WriteFile(dir+"/pids.max", []byte(strconv.Itoa(most)), 0o644) == nil {
			return dir
		}
	}
	t.Skip("this user can make no control group that bounds processes")
	return ""
}

// A failing runtime is not reported as a wrong command line, before the command exists and after.
func TestAFailureIsNoUsageError(t *testing.T) {
	b := newBox(t)
	t.Run("no thread", func(t *testing.T) {
		if isRoot() {
			t.Skip("RLIMIT_NPROC does not bound root")
		}
		prlimit := needPrograms(t, "prlimit")
		for _, c := range []struct {
			most, code int
			word       string
		}{{1, 125, "leaves too few for the threads of sbx"}, {2, 125, "leaves too few for the threads of sbx"}, {5000, 0, ""}} {
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			cmd := b.command(ctx, "{}", "true")
			cmd.Path, cmd.Args = prlimit, append([]string{"prlimit", "--nproc=" + strconv.Itoa(c.most), "--"}, cmd.Args...)
			if r := b.finish(cmd); r.code != c.code || !strings.Contains(r.err, c.word) {
				t.Errorf("%d: %v", c.most, r)
			}
			cancel()
		}
	})
	t.Run("before", func(t *testing.T) {
		cmd := exec.Command(sbxPath, "exec", "--spec", "-", "--", "true")
		cmd.Dir, cmd.Env = b.ws, b.env
		stdin, err := cmd.StdinPipe() // sbx waits for a document
		must(t, err)
		var said strings.Builder
		cmd.Stderr = &said
		must(t, cmd.Start())
		eventually(t, "it reads", func() bool { return waitsFor(cmd.Process.Pid, "pipe_read") })
		must(t, cmd.Process.Signal(unix.SIGABRT))
		_ = cmd.Wait()
		stdin.Close()
		if got := cmd.ProcessState.ExitCode(); got != 125 || !strings.Contains(said.String(), "no command was started") {
			t.Errorf("status %d: %s", got, said.String())
		}
	})
	for _, sig := range []unix.Signal{unix.SIGABRT, unix.SIGSEGV} {
		t.Run("after, "+unix.SignalName(sig), func(t *testing.T) {
			s := b.start("{}", "sh", "-c", "echo runs; exec sleep 60")
			s.expect("runs")
			pid := childOf(t, s.cmd.Process.Pid)
			at := time.Now()
			must(t, s.cmd.Process.Signal(sig))
			if got := s.wait(); got != -128-int(unix.SIGABRT) {
				t.Errorf("status %d; %q", got, s.err.String())
			}
			if took := time.Since(at); took > 8*time.Second { // the runtime would wait ten seconds for its threads' stacks
				t.Errorf("it ended after %v", took)
			}
			eventually(t, "the command is gone", func() bool { return unix.Kill(pid, 0) == unix.ESRCH })
		})
	}
}
