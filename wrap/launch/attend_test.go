package launch

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// CommandPid is the pid of the command outside the sandbox, not of pid 1.
func TestCommandPid(t *testing.T) {
	for name, bare := range map[string]bool{"namespaces": false, "bare": true} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.bare = bare
			doc := workspaceWrite
			if bare {
				doc = `{"access_mode": "workspace-write", "best_effort": ["*"]}`
			}
			plan := s.plan(doc, "/bin/sh", "-c", "exit 7")
			onThread(func() {
				pr, err := Start(plan, Options{Caller: Inherited()})
				if err == nil {
					err = pr.Ready()
				}
				if err != nil {
					t.Error(err)
					return
				}
				pid := pr.CommandPid()
				b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
				_, after, _ := strings.Cut(string(b), "\nNSpid:\t")
				line, _, _ := strings.Cut(after, "\n")
				inner := strings.Fields(line)
				if len(inner) == 0 || inner[0] != strconv.Itoa(pid) || bare != (len(inner) == 1) || !bare && inner[1] == "1" {
					t.Errorf("pid %d is %q", pid, line)
				}
				pr.Kill()
				if pid := pr.CommandPid(); !pr.noPidNS && pid != 0 {
					t.Errorf("after the end it is %d", pid)
				}
			})
		})
	}
}

// An attended descriptor is served while the launch waits for a report and for the end; an end
// that a Waiter collected is not waited for again.
func TestAttend(t *testing.T) {
	s := newSite(t)
	s.bare = true
	plan := s.plan(`{"access_mode": "workspace-write", "best_effort": ["*"]}`, "/bin/sh", "-c", "exit 7")
	onThread(func() {
		fd, err := unix.Eventfd(1, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
		if err != nil {
			t.Error(err)
			return
		}
		defer unix.Close(fd)
		pr, err := Start(plan, Options{Caller: Inherited()})
		if err != nil {
			t.Error(err)
			return
		}
		served, collected := 0, false
		pr.Attend(Waiter{FD: fd, Event: func() {
			served++
			if collected || pr.pid == 0 {
				return
			}
			var status unix.WaitStatus
			var used unix.Rusage
			if pid, _ := unix.Wait4(pr.pid, &status, unix.WNOHANG, &used); pid > 0 {
				collected = true
				pr.Collected(pid+1, 0, &used) // another's
				pr.Collected(pid, status, &used)
			}
		}})
		if err := pr.Ready(); err != nil {
			t.Error(err)
		}
		if err := pr.Go(); err != nil {
			t.Error(err)
		}
		exit := pr.Supervise(&Hooks{})
		if exit.Code != 7 || !exit.Known || served == 0 {
			t.Errorf("%+v, served %d times, collected %v", exit, served, collected)
		}
	})
}

// Children's descriptor is readable once a child has ended, and is one for all.
func TestChildren(t *testing.T) {
	fd, err := Children()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Children(); again != fd || err != nil {
		t.Errorf("%d, then %d, %v", fd, again, err)
	}
	read := func() bool {
		var b [8]byte
		n, _ := unix.Read(fd, b[:])
		return n == 8
	}
	for read() {
	}
	s := newSite(t)
	plan := s.plan(workspaceWrite, "/bin/true")
	for read() {
	}
	onThread(func() {
		pr := running(t, plan)
		if pr == nil {
			return
		}
		pr.Supervise(&Hooks{})
	})
	if !read() || read() {
		t.Error("the descriptor did not tell of the child's end, or did not forget it")
	}
}
