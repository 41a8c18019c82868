package launch

import (
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/launch/cgroup"
)

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

// pidOf is the pid that a pidfd stands for, as this process sees it; -1 for one that
// was waited for.
func pidOf(pidfd int) int {
	if pid, ok := read.Descriptor(pidfd, "Pid:"); ok { // since Linux 5.4
		return pid
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
// can be made in that directory.
func withoutGroups(h wrap.Host, e *StepError) (next wrap.Host, ok bool) {
	for c := range h.Groups {
		if g := &h.Groups[c]; g.State == wrap.Yes && view.Within(e.Step.On, g.Dir) {
			*g = wrap.GroupHost{Answer: wrap.Answer{State: wrap.No, Why: e.Error()}}
			ok = true
		}
	}
	return h, ok
}
