package launch

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sbx/wrap"
)

const workspaceWrite = `{"access_mode": "workspace-write"}`

// The control of the following tests: the launch succeeds if no step is spoilt.
func TestLaunch(t *testing.T) {
	for name, make := range kinds {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			make(s)
			plan := s.plan(s.doc(), "/bin/sh", "-c", "echo end >marker; exit 7")
			before := descriptors(t)
			var exit Exit
			onThread(func() {
				pr := running(t, plan)
				if pr == nil {
					return
				}
				exit = pr.Supervise(lenient(pr))
			})
			if b, err := os.ReadFile(s.dir + "/marker"); string(b) != "end\n" || exit.Code != 7 || !exit.Known {
				t.Errorf("%q, %v, %+v", b, err, exit)
			}
			leaks(t, before)
		})
	}
}

// Each step in turn fails. The launch ends and reports the step, the command has not run, and
// nothing is left behind.
func TestEachStepFails(t *testing.T) {
	for name, make := range kinds {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			make(s)
			plan := s.plan(s.doc(), "/bin/sh", "-c", "echo ran >marker")
			programs := Steps(plan, input(plan, Options{Caller: Inherited()}, 9))
			if n := len(programs.Setup) + len(programs.Command); n < 30 {
				t.Fatalf("there are only %d steps", n)
			}
			stride := 1
			if testing.Short() {
				stride = 7
			}
			before := descriptors(t)
			for i := range programs.Opening {
				s.failAt(plan, "opening", i, before)
			}
			for i := 0; i < len(programs.Setup); i += stride {
				s.failAt(plan, "setup", i, before)
			}
			for i := 0; i < len(programs.Command); i++ {
				s.failAt(plan, "command", i, before)
			}
		})
	}
}

// failAt launches with one step spoilt.
func (s *site) failAt(plan *wrap.Plan, program string, index int, before []string) {
	t := s.t
	var steps []Step
	var err error
	onThread(func() {
		var pr *Process
		pr, err = startWith(plan, Options{Caller: Inherited()}, func(p *Programs) {
			list := map[string]*[]Step{"opening": &p.Opening, "setup": &p.Setup, "command": &p.Command}[program]
			*list = slices.Clone(*list)
			steps = *list
			if index < len(steps) {
				spoil(&steps[index])
			}
		})
		if err != nil {
			return
		}
		if err = pr.Ready(); err != nil {
			pr.Kill() // a launch whose child vanished leaves its end to the caller
			return
		}
		if err = pr.Go(); err != nil {
			pr.Kill()
			return
		}
		pr.Supervise(lenient(pr))
	})
	where := program + " step " + strconv.Itoa(index) + " (" + steps[index].Name + ")"
	ran := os.Remove(s.dir+"/marker") == nil
	spawned := slices.IndexFunc(steps, func(s Step) bool { return s.Do == DoSpawn })
	late := program == "setup" && spawned >= 0 && index > spawned // the command has been executed by then
	switch e, ok := err.(*StepError); {
	case err == nil && (isSkipped(steps, index) || steps[index].Name == "reap"):
		if !ran && steps[index].Name != "reap" { // without pid 1 the command may not come far
			t.Errorf("%s is passed over, but the command did not run", where)
		}
	case !ok:
		t.Errorf("%s: %v", where, err)
	case e.Program != program || e.Index != index || unix.Errno(e.Errno) != unix.ENOSYS || e.Step.Name != steps[index].Name:
		t.Errorf("%s: told as step %d of %s: %v", where, e.Index, e.Program, e)
	case ran && !late:
		t.Errorf("%s: the command ran", where)
	}
	leaks(t, before)
	if t.Failed() {
		t.FailNow()
	}
}

// isSkipped reports whether an earlier step may pass over this one, or its failing is none.
func isSkipped(steps []Step, index int) bool {
	if steps[index].Expected == anyErrno {
		return true
	}
	for i := range index {
		if steps[i].Expected != 0 && i+int(steps[i].Skip) >= index {
			return true
		}
	}
	return false
}

// A child that fails before it reads the supervisor's message still reports why: the socket
// returns ECONNRESET first.
func TestFailsWithTheWordUnread(t *testing.T) {
	s := newSite(t)
	s.bare = true
	plan := s.plan(`{"access_mode": "workspace-write", "best_effort": ["*"]}`, "/bin/sh", "-c", "echo ran >marker")
	onThread(func() {
		pr, err := begin(plan.Opening, nil)
		if err != nil {
			t.Error(err)
			return
		}
		pr.Allow()
		programs := Steps(plan, input(plan, Options{Caller: Inherited()}, pr.childSock))
		spoil(&programs.Command[0])
		if err := pr.load(programs); err != nil {
			t.Error(err)
			return
		}
		if _, err := unix.Poll([]unix.PollFd{{Fd: int32(pr.pidfd), Events: unix.POLLIN}}, 10_000); err != nil {
			t.Error(err)
			return
		}
		err = pr.Ready()
		var step *StepError
		if !errors.As(err, &step) || step.Program != "command" || step.Index != 0 || step.Errno != Errno(unix.ENOSYS) {
			t.Errorf("the launch ended with %v", err)
		}
		pr.Kill()
	})
}

// If the command cannot be executed, the error is the kernel's errno.
func TestExecFails(t *testing.T) {
	s := newSite(t)
	file := func(name, text string, mode os.FileMode) string {
		path := s.dir + "/" + name
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	loop := s.dir + "/loop"
	if err := os.Symlink("loop", loop); err != nil {
		t.Fatal(err)
	}
	plain := file("plain", "#!/bin/sh\n", 0o644)
	for _, row := range []struct {
		name, path string
		argv       []string
		want       unix.Errno
	}{
		{"missing", s.dir + "/missing", nil, unix.ENOENT},
		{"not executable", plain, nil, unix.EACCES},
		{"a directory", s.dir, nil, unix.EACCES},
		{"beneath a file", plain + "/x", nil, unix.ENOTDIR},
		{"a loop of links", loop, nil, unix.ELOOP},
		{"no program", file("garbage", "\x01\x02\x03", 0o755), nil, unix.ENOEXEC},
		{"no interpreter", file("script", "#!/no/such/interpreter\n", 0o755), nil, unix.ENOENT},
		{"an argument too long", "/bin/true", []string{"true", strings.Repeat("a", 1<<17)}, unix.E2BIG},
	} {
		t.Run(row.name, func(t *testing.T) {
			plan := *s.plan(workspaceWrite, "/bin/true")
			plan.Command.Executable = row.path
			if row.argv != nil {
				plan.Command.Argv = row.argv
			}
			before := descriptors(t)
			var err error
			onThread(func() {
				var pr *Process
				if pr, err = Start(&plan, Options{}); err == nil {
					if err = pr.Ready(); err == nil {
						err = pr.Go()
					}
				}
			})
			var e *StepError
			if !errors.As(err, &e) || e.Step.Name != "execve" || e.Program != "command" || !errors.Is(err, row.want) {
				t.Errorf("%v, want execve: %v", err, row.want)
			}
			leaks(t, before)
		})
	}
}

// A launch can be aborted at any point.
func TestKill(t *testing.T) {
	for name, bare := range map[string]bool{"namespaces": false, "bare": true} {
		for _, phase := range []string{"start", "ready", "go"} {
			t.Run(name+" after "+phase, func(t *testing.T) {
				s := newSite(t)
				s.bare = bare
				doc := workspaceWrite
				if bare {
					doc = `{"access_mode": "workspace-write", "best_effort": ["*"]}`
				}
				plan := s.plan(doc, "/bin/sh", "-c", "echo ran >marker; exec sleep 1000")
				before := descriptors(t)
				onThread(func() {
					pr, err := Start(plan, Options{})
					if err == nil && phase != "start" {
						err = pr.Ready()
					}
					if err == nil && phase == "go" {
						err = pr.Go()
					}
					if err != nil {
						t.Error(err)
						return
					}
					pid := pr.Child()
					pr.Kill()
					if lives(pid) {
						t.Errorf("process %d lives on", pid)
					}
					pr.Kill() // again does no harm
				})
				if _, err := os.Stat(s.dir + "/marker"); err == nil && phase != "go" {
					t.Error("the command ran")
				}
				leaks(t, before)
			})
		}
	}
}

// A child that ends without a report ends the launch.
func TestChildIsKilledFromOutside(t *testing.T) {
	for _, phase := range []string{"ready", "go"} {
		t.Run("before "+phase, func(t *testing.T) {
			plan := newSite(t).plan(workspaceWrite, "/bin/sh", "-c", "sleep 1000")
			if !plan.Has(wrap.PidNS) {
				lacks(t, "no pid namespace")
			}
			before := descriptors(t)
			onThread(func() {
				pr, err := startWith(plan, Options{}, func(p *Programs) {
					if phase == "ready" { // it waits for ever before it is ready
						p.Setup = slices.Insert(slices.Clone(p.Setup), 2, Step{Name: "pause", Call: unix.SYS_PPOLL})
					}
				})
				if err != nil {
					t.Error(err)
					return
				}
				if phase == "go" {
					if err := pr.Ready(); err != nil {
						t.Error(err)
						return
					}
				}
				unix.Kill(pr.Child(), unix.SIGKILL)
				if phase == "ready" {
					err = pr.Ready()
				} else {
					err = pr.Go()
				}
				if err == nil {
					t.Error("nobody noticed")
				}
				pr.Kill()
			})
			leaks(t, before)
		})
	}
}

const (
	dyingEnv  = "SBX_TEST_LAUNCH_DIES_AFTER"
	dyingWord = "SBX_TEST_LAUNCH_WORD"
)

// TestDying is not a test but the supervisor that TestSupervisorDies kills.
func TestDying(t *testing.T) {
	phase, word := os.Getenv(dyingEnv), os.Getenv(dyingWord)
	if phase == "" {
		return
	}
	plan := newSite(t).plan(workspaceWrite, "/bin/sh", "-c", "setsid sh -c 'sleep 1000; : "+word+"' & sh -c 'sleep 1000; : "+word+"'; : "+word)
	pr, err := startWith(plan, Options{}, func(p *Programs) {
		if phase == "start" { // it stops half-way for ever
			p.Setup = slices.Insert(slices.Clone(p.Setup), between(p.Setup, len(p.Setup)/3), Step{Name: "pause", Call: unix.SYS_PPOLL})
		}
	})
	if phase == "start" {
		time.Sleep(200 * time.Millisecond)
	}
	if err == nil && phase != "start" {
		err = pr.Ready()
	}
	if err == nil && phase == "go" {
		err = pr.Go()
	}
	if err != nil {
		os.Stdout.WriteString("failed " + err.Error() + "\n")
		return
	}
	os.Stdout.WriteString("pid " + strconv.Itoa(pr.Child()) + "\n")
	time.Sleep(time.Minute)
}

// between returns an index, at or after at, where a step can be inserted: no earlier step
// skips it.
func between(steps []Step, at int) int {
	next := 0
	for i := range steps {
		if i >= at && i >= next {
			return i
		}
		next = max(next, i+1+int(steps[i].Skip))
	}
	return len(steps)
}

// However the supervisor is killed, all processes inside end.
func TestSupervisorDies(t *testing.T) {
	if plan := newSite(t).plan(workspaceWrite, "/bin/true"); !plan.Has(wrap.PidNS) {
		lacks(t, "no pid namespace")
	}
	for _, phase := range []string{"start", "ready", "go"} {
		t.Run("after "+phase, func(t *testing.T) {
			word := "w" + strconv.Itoa(os.Getpid()) + phase
			cmd := exec.Command(os.Args[0], "-test.run=^TestDying$")
			cmd.Env = append(os.Environ(), dyingEnv+"="+phase, dyingWord+"="+word, "TMPDIR="+t.TempDir()) // which nobody else removes
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := false
			end := func() {
				if !ended {
					ended = true
					cmd.Process.Kill()
					cmd.Wait()
				}
			}
			defer end()
			buf := make([]byte, 256)
			n, _ := out.Read(buf)
			line := strings.TrimSpace(string(buf[:n]))
			pid, err := strconv.Atoi(strings.TrimPrefix(line, "pid "))
			if err != nil {
				t.Fatalf("the supervisor says %q", line)
			}
			inside := []int{pid}
			if phase == "go" { // the command, its child and one that left its session
				for try := 0; len(withWord(word)) < 3 && try < 400; try++ {
					time.Sleep(5 * time.Millisecond)
				}
				if inside = append(inside, withWord(word)...); len(inside) < 4 {
					t.Fatalf("only %v run inside", inside)
				}
			} else if !lives(pid) {
				t.Fatal("there is nothing to be killed")
			}
			end()
			if left := ends(inside); len(left) > 0 {
				t.Errorf("%v outlived the supervisor", left)
			}
		})
	}
}
