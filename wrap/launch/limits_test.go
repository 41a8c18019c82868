package launch

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// limited runs a script under limits that need control groups. between is
// called with the groups' directories while the command waits for its word.
func (s *site) limited(doc, script string, between func(dirs []string)) Exit {
	s.t.Helper()
	plan := s.plan(doc, "/bin/sh", "-c", script)
	before := descriptors(s.t)
	var exit Exit
	onThread(func() {
		pr, err := Start(plan, Options{Caller: Inherited()})
		if err != nil {
			s.t.Error(err)
			return
		}
		pr.Allow() // means nothing yet: the command must be in its groups first
		if err = pr.Ready(); err != nil {
			s.t.Error(err)
			return
		}
		dirs := groupsOf(plan)
		s.holdsOne(pr, dirs)
		if between != nil {
			between(dirs)
		}
		bounds, err := pr.Bounds(&plan.Limits)
		if err == nil {
			err = pr.Go()
		}
		if err != nil {
			s.t.Error(err)
			pr.Kill()
			return
		}
		hooks := lenient(pr)
		hooks.Limits = bounds.Waiters()
		exit = pr.Supervise(hooks)
		bounds.Close()
	})
	leaks(s.t, before)
	if left := groupsOf(plan); len(left) > 0 {
		s.t.Errorf("groups are left: %v", left)
	}
	return exit
}

// groupsOf are the directories of a plan's groups that this process has made.
func groupsOf(p *wrap.Plan) (dirs []string) {
	for _, g := range p.Limits.Groups {
		found, _ := filepath.Glob(g.Dir + "/sbx-*-" + strconv.Itoa(os.Getpid()) + "-*")
		for _, d := range found {
			if !strings.HasSuffix(d, "-supervisor") {
				dirs = append(dirs, d)
			}
		}
	}
	return dirs
}

// holdsOne checks that only the command is in each group: neither pid 1, which shares the
// supervisor's memory, nor the supervisor.
func (s *site) holdsOne(pr *Process, dirs []string) {
	s.t.Helper()
	if len(dirs) == 0 {
		s.t.Error("there is no group")
	}
	for _, d := range dirs {
		b, err := os.ReadFile(d + "/cgroup.procs")
		if got := strings.Fields(string(b)); err != nil || len(got) != 1 || got[0] != strconv.Itoa(pidOf(pr.target)) {
			s.t.Errorf("in %s are %v, %v; the command is %d", d, got, err, pidOf(pr.target))
		}
	}
}

// needGroup skips where no group can be made for memory.
func needGroup(t *testing.T) {
	t.Helper()
	s := newSite(t)
	plan := s.plan(`{"limits": {"memory": "1GiB"}, "best_effort": ["*"]}`, "/bin/true")
	if len(plan.Limits.Groups) == 0 {
		if os.Getuid() != 0 {
			t.Skip("this user can have no control group here: " + plan.Enforcement[0].Reason)
		}
		lacks(t, plan.Enforcement[0].Reason)
	}
}

// hog uses more than 64 MiB in one process besides the shell.
const hog = "(x=aaaaaaaa; i=0; while [ $i -lt 23 ]; do x=$x$x; i=$((i+1)); done); "

// A command that uses up its memory is killed, alone or, with memory.oom.group, with all
// processes of its group. The supervisor, whose memory pid 1 shares, survives: it is this
// test's process.
func TestMemoryEndsTheCommandAlone(t *testing.T) {
	needGroup(t)
	for name, c := range map[string]struct {
		bare, group bool
	}{"namespaces": {false, false}, "bare": {true, false}, "namespaces, the whole group": {false, true}, "bare, the whole group": {true, true}} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.bare = c.bare
			doc := `{"access_mode": "workspace-write", "limits": {"memory": "24MiB", "timeout": "60s"}, "best_effort": ["access_mode", "network"]}`
			version2 := true
			exit := s.limited(doc, hog+"echo went on >marker", func(dirs []string) {
				for _, d := range dirs {
					err := os.WriteFile(d+"/memory.oom.group", []byte("1"), 0)
					version2 = version2 && err == nil
				}
			})
			if c.group && !version2 {
				t.Skip("version 1 has no memory.oom.group")
			}
			if exit.Use.OOMKills.Value == 0 {
				t.Errorf("nothing was ended for its memory: %+v", exit)
			}
			if peak := exit.Use.MemoryPeak; peak.Set && (peak.Value > 25<<20 || peak.Value < 8<<20) {
				t.Errorf("the peak is %d", peak.Value)
			}
			_, err := os.Stat(s.dir + "/marker")
			if c.group && version2 && (err == nil || exit.Signal != int(unix.SIGKILL)) {
				t.Errorf("the group was to end as a whole: %v, %+v", err, exit)
			}
			if !exit.Known || exit.Changed != "" {
				t.Errorf("%+v", exit)
			}
		})
	}
}

// The control: without a limit the same command succeeds.
func TestHogWithoutLimit(t *testing.T) {
	s := newSite(t)
	plan := s.plan(workspaceWrite, "/bin/sh", "-c", hog+"echo went on >marker")
	onThread(func() {
		pr := running(t, plan)
		if pr == nil {
			return
		}
		pr.Supervise(lenient(pr))
	})
	if b, err := os.ReadFile(s.dir + "/marker"); string(b) != "went on\n" {
		t.Errorf("%q, %v", b, err)
	}
}

// A change of a group's limit during the run is reported.
func TestChangedLimitIsTold(t *testing.T) {
	needGroup(t)
	s := newSite(t)
	var file string
	exit := s.limited(`{"limits": {"pids": 20}}`, "exit 3", func(dirs []string) {
		file = dirs[0] + "/pids.max"
		if err := os.WriteFile(file, []byte("max"), 0); err != nil {
			t.Error(err)
		}
	})
	if exit.Code != 3 || exit.Changed != file {
		t.Errorf("%+v, want %s", exit, file)
	}
}

// From a group that cannot be created the launcher learns that there is none.
func TestLearnGroups(t *testing.T) {
	h := wrap.Host{}
	yes := wrap.GroupHost{Answer: wrap.Answer{State: wrap.Yes}, Version: 2, Dir: "/sys/fs/cgroup/a"}
	h.Groups[wrap.Memory], h.Groups[wrap.PIDs] = yes, yes
	h.Groups[wrap.CPU] = wrap.GroupHost{Answer: wrap.Answer{State: wrap.Yes}, Version: 1, Dir: "/sys/fs/cgroup/cpu"}
	e := &StepError{Program: programGroups, Step: Step{Name: "mkdir", On: "/sys/fs/cgroup/a/sbx-1-2-3-0"}, Errno: Errno(unix.EROFS)}
	next, ok := Learn(h, &wrap.Plan{}, e)
	if !ok || next.Groups[wrap.Memory].State != wrap.No || next.Groups[wrap.PIDs].State != wrap.No || next.Groups[wrap.CPU].State != wrap.Yes {
		t.Errorf("%v, %+v", ok, next.Groups)
	}
	if !strings.Contains(next.Groups[wrap.Memory].Why, "read-only file system") {
		t.Errorf("%q", next.Groups[wrap.Memory].Why)
	}
	if _, ok = Learn(next, &wrap.Plan{}, e); ok {
		t.Error("the same teaches something twice")
	}
}

// The deadline also ends a launch that hangs: pid 1 that was stopped from outside is killed.
func TestDeadlineEndsAStoppedPid1(t *testing.T) {
	s := newSite(t)
	plan := s.plan(`{"access_mode": "workspace-write", "limits": {"timeout": "100ms"}}`, "/bin/sh", "-c", "while :; do :; done")
	if !plan.Has(wrap.PidNS) {
		lacks(t, "no pid namespace here")
	}
	from := time.Now()
	onThread(func() {
		pr, err := Start(plan, Options{Caller: Inherited()})
		if err == nil {
			err = pr.Ready()
		}
		if err != nil {
			t.Error(err)
			return
		}
		bounds, err := pr.Bounds(&plan.Limits)
		if err == nil {
			err = pr.Go()
		}
		if err != nil {
			t.Error(err)
			return
		}
		unix.Kill(pr.Child(), unix.SIGSTOP)
		hooks := lenient(pr)
		hooks.Limits = bounds.Waiters()
		pr.Supervise(hooks)
		bounds.Close()
		if !bounds.TimedOut() {
			t.Error("the time was not up")
		}
	})
	if took := time.Since(from); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}
