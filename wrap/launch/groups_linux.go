package launch

import (
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/launch/cgroup"
)

// groups are the control groups that hold a command's limits.
type groups struct {
	set          *cgroup.Set // nil for none
	boundsMemory bool        // one of them bounds the memory
}

// make makes the groups of a plan, before the command is there.
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

// place moves the command, which waits for its word, into its groups.
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

// remove removes what there is of them.
func (g *groups) remove() {
	g.set.Remove()
	g.set = nil
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
