package oci

import (
	"bufio"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// Under this name the program of the test reports that it runs, waits for a line, and executes a shell
// from a thread that is not its first. The shell does the same, and executes another program.
const executes = "SBX_TEST_EXECUTES"

func init() {
	if os.Getenv(executes) == "" {
		return
	}
	runtime.LockOSThread()
	os.Stdout.WriteString("runs\n")
	_, _ = os.Stdin.Read(make([]byte, 1))
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() != os.Getpid() {
			_ = unix.Exec("/bin/sh", []string{"sh", "-c", "echo shell; read x; exec sleep 1000"}, os.Environ())
		}
		os.Exit(1)
	}()
	select {}
}

// A process that is followed is killed when it executes another program than sbx-init, whichever of
// its threads does, and when that executes another before it has handed over its listener. Else it is
// traced no longer after that.
func TestFollow(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		program string // in the place of sbx-init
		walled  bool
	}{{"/bin/sh", true}, {"/bin/sh", false}, {"/dev/null", true}} {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), executes+"=1")
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
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		lines := bufio.NewReader(stdout)
		s := &supervisor{asked: asked{program: fileAt(c.program)}}
		s.pid.Store(int32(pid))
		next := func(want string, before func() error) {
			line, err := lines.ReadString('\n')
			if err == nil && line == want {
				err = before()
			}
			if err == nil {
				_, err = stdin.Write([]byte("\n"))
			}
			if err != nil || line != want {
				t.Fatalf("%v: %q: %v", c, line, err)
			}
		}
		next("runs\n", func() error { return s.follow(pid) })
		if c.program != "/dev/null" {
			next("shell\n", func() error {
				if c.walled {
					s.walled.Store(pid, true)
				}
				return nil
			})
		}
		killed := !c.walled || c.program == "/dev/null"
		deadline := time.Now().Add(10 * time.Second)
		for killed && state(pid) != "" || !killed && (of(pid, "exe") != fileAt(sleep) || state(pid) != "S" || tracer(pid) != "0") {
			if time.Now().After(deadline) {
				t.Fatalf("%v: state %s, traced by %s", c, state(pid), tracer(pid))
			}
			time.Sleep(10 * time.Millisecond)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // not before: it would take the tracer's events, since here the parent traces
	}
}

// state returns the letter of a process's state (proc_pid_stat(5)); "" if it has ended.
func state(pid int) string {
	return strings.TrimPrefix(read.Stat(strconv.Itoa(pid), read.StatState), "Z")
}

// tracer returns the pid of a process's tracer; "0" for none.
func tracer(pid int) string { return read.StatusLine(read.Status(strconv.Itoa(pid)), "TracerPid:") }
