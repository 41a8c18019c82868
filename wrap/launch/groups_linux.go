package launch

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/launch/cgroup"
)

// groups finds out where the control groups that r's limits need can be made.
// Where there is no such limit, and something else bounds the number of processes,
// nothing is looked at.
func (p *prober) groups() {
	l := &p.r.Spec.Limits.Value
	want := cgroup.Want{wrap.Memory: l.Memory.Set, wrap.CPU: l.CPUs.Set, wrap.PIDs: l.PIDs.Set}
	if want != (cgroup.Want{}) && p.h.Parent == nil {
		want[wrap.CPUAcct] = true
		p.h.Groups = cgroup.Find(want)
	}
	Unbounded(p.r, &p.h)
}

// Unbounded finds out where a group can be made for the default bound on processes,
// where h has nothing else for it. A process is in one group of version 2 alone: that of
// the other limits, where there is one.
func Unbounded(r *spec.Resolved, h *wrap.Host) {
	if !h.Unbounded(r) || h.Groups[wrap.PIDs].State != wrap.Unknown {
		return
	}
	g := cgroup.Beneath(wrap.PIDs)
	for c := range h.Groups {
		if o := &h.Groups[c]; g.Version == 2 && o.Version == 2 && o.Dir != g.Dir {
			g = cgroup.In(o.Dir, wrap.PIDs)
		}
	}
	h.Groups[wrap.PIDs] = g
}

// makeGroups makes the groups of a plan, before the command is there.
func (pr *Process) makeGroups(p *wrap.Plan) (err error) {
	if len(p.Limits.Groups) == 0 {
		return nil
	}
	if pr.groups, err = cgroup.Make(p.Limits.Groups); err != nil {
		return groupError(err)
	}
	return nil
}

// enterGroups moves the command, which waits for its word, into its groups.
func (pr *Process) enterGroups() error {
	if pr.groups == nil {
		return nil
	}
	pid := pr.pid
	if pr.begun != nil {
		if pid = pidOf(pr.target); pid <= 0 {
			return groupError(&cgroup.Error{Do: "find", On: "the command", Err: unix.ESRCH})
		}
	}
	if err := pr.groups.Place(pid); err != nil {
		return groupError(err)
	}
	if pr.begun != nil && pidOf(pr.target) != pid {
		return groupError(&cgroup.Error{Do: "find", On: "the command", Err: unix.ESRCH})
	}
	return nil
}

// pidOf is the pid that a pidfd stands for, as this process sees it (pidfd's
// fdinfo, proc(5)); -1 for one that was waited for.
func pidOf(pidfd int) int {
	b, _ := readProc("/proc/self/fdinfo/"+strconv.Itoa(pidfd), 1<<12)
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "Pid:"); ok {
			if pid, err := strconv.Atoi(strings.TrimSpace(v)); err == nil {
				return pid
			}
		}
	}
	return -1
}

// programGroups is what a StepError calls what the supervisor does to groups.
const programGroups = "groups"

func groupError(err error) error {
	e, ok := err.(*cgroup.Error)
	if !ok {
		return err
	}
	file := e.On[strings.LastIndexByte(e.On, '/')+1:]
	f := spec.Field("limits")
	for prefix, field := range map[string]spec.Field{"memory.": "limits.memory", "cpu.": "limits.cpus", "pids.": "limits.pids"} {
		if strings.HasPrefix(file, prefix) {
			f = field
		}
	}
	return &StepError{Program: programGroups, Index: -1, Step: Step{Name: e.Do, On: e.On, For: f}, Errno: Errno(e.Err)}
}

// withoutGroups is what a group that could not be made says of the host: none
// can be made in that folder.
func withoutGroups(h wrap.Host, e *StepError) (next wrap.Host, ok bool) {
	for c := range h.Groups {
		if g := &h.Groups[c]; g.State == wrap.Yes && within(e.Step.On, g.Dir) {
			*g = wrap.GroupHost{Answer: wrap.Answer{State: wrap.No, Why: e.Error()}}
			ok = true
		}
	}
	return h, ok
}
