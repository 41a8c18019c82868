package launch

import (
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/launch/cgroup"
)

// groups are the cgroups that enforce a command's limits.
type groups struct {
	set          *cgroup.Set // nil for none
	boundsMemory bool        // one of them limits the memory
}

// make creates the cgroups of a plan, before the command exists.
func (g *groups) make(l *wrap.Limits) (err error) {
	g.boundsMemory = l.Confines()
	if len(l.Groups) == 0 {
		return nil
	}
	if g.set, err = cgroup.Make(l.Groups); err != nil {
		return groupError(err)
	}
	return nil
}

// place moves the command into its cgroups while it waits for the message to go on.
func (g *groups) place(c *child) error {
	if g.set == nil {
		return nil
	}
	pid := c.CommandPid()
	if pid == 0 {
		return groupError(&cgroup.Error{Do: "find", On: "the command", Err: unix.ESRCH})
	}
	if err := g.set.Place(pid); err != nil {
		return groupError(err)
	}
	if c.CommandPid() != pid {
		return groupError(&cgroup.Error{Do: "find", On: "the command", Err: unix.ESRCH})
	}
	return nil
}

// remove removes the cgroups.
func (g *groups) remove() {
	g.set.Remove()
	g.set = nil
}

// programGroups is the Program of a StepError about cgroups.
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

// withoutGroups derives a Host from the failure to create a cgroup: none can be created in
// that directory.
func withoutGroups(h wrap.Host, e *StepError) (next wrap.Host, ok bool) {
	for c := range h.Groups {
		if g := &h.Groups[c]; g.State == wrap.Yes && view.Within(e.Step.On, g.Dir) {
			*g = wrap.GroupHost{Answer: wrap.Answer{State: wrap.No, Why: e.Error()}}
			ok = true
		}
	}
	return h, ok
}
