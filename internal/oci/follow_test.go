package oci

import (
	"bufio"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// Under this name the program of the test reports that it runs, waits for a line, and executes the
// program that the line names from a thread that is not its first.
const executes = "SBX_TEST_EXECUTES"

func init() {
	if os.Getenv(executes) == "" {
		return
	}
	runtime.LockOSThread()
	os.Stdout.WriteString("runs\n")
	program, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() != os.Getpid() {
			program = program[:len(program)-1]
			_ = unix.Exec(program, []string{program, "1000"}, nil)
		}
		os.Exit(1)
	}()
	select {}
}

// A process that is followed is killed when it executes another program than sbx-init, whichever of
// its threads does; after it has executed that one it is traced no longer.
func TestFollow(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		program string // in the place of sbx-init
		killed  bool
	}{{sleep, false}, {"/dev/null", true}} {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(self)
		cmd.Env = []string{executes + "=1"}
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		pid := cmd.Process.Pid
		t.Cleanup(func() { cmd.Process.Kill() })
		if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		s := &supervisor{asked: asked{program: fileAt(c.program)}}
		s.pid.Store(int32(pid))
		if err := s.follow(pid); err != nil {
			t.Fatal(err)
		}
		if _, err := stdin.Write([]byte(sleep + "\n")); err != nil {
			t.Fatal(err)
		}
		deadline := time.Now().Add(time.Minute)
		for c.killed && state(t, pid) != "Z" || !c.killed && (of(pid, "exe") != fileAt(sleep) || state(t, pid) != "S" || tracer(t, pid) != "0") {
			if time.Now().After(deadline) {
				t.Fatalf("%s: state %s, traced by %s", c.program, state(t, pid), tracer(t, pid))
			}
			time.Sleep(10 * time.Millisecond)
		}
		if !c.killed {
			cmd.Process.Kill()
		}
		_ = cmd.Wait() // earlier it would take the tracer's events: here the parent traces
		if cmd.ProcessState.Exited() {
			t.Errorf("%s: it ended by itself: %v", c.program, cmd.ProcessState)
		}
	}
}

// state returns the letter of a process's state (proc_pid_stat(5)).
func state(t *testing.T, pid int) string {
	t.Helper()
	fields := read.StatFields(strconv.Itoa(pid))
	if len(fields) <= read.StatState {
		t.Fatal("it is gone")
	}
	return fields[read.StatState]
}

// tracer returns the pid of a process's tracer; "0" for none.
func tracer(t *testing.T, pid int) string {
	t.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	return read.StatusLine(string(status), "TracerPid:")
}
