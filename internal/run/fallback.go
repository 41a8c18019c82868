package run

import (
	"golang.org/x/sys/unix"

	"sbx/audit/trace"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/host"
	"sbx/wrap/launch"
)

// learnFrom learns about the host from a failed launch, so that the run can be planned again;
// it returns the error if there is nothing to learn. A host without overlays needs the
// names in the directories that are then assembled from mounts instead.
func (x *planned) learnFrom(plan *wrap.Plan, err error) error {
	if e, ok := err.(*trace.AttachError); ok {
		x.Host = launch.Untraceable(x.Host, untraceable(e))
		return nil
	}
	step, ok := err.(*launch.StepError)
	if !ok {
		return err
	}
	if !learn(x.Resolved, &x.Host, plan, step) {
		return stepProblem(step)
	}
	return nil
}

// learn notes in h what a failed step of plan's launch says about the host; it returns
// false if that is nothing.
func learn(r *spec.Resolved, h *wrap.Host, plan *wrap.Plan, step *launch.StepError) bool {
	next, ok := launch.Learn(*h, plan, step)
	if !ok {
		return false
	}
	if next.Overlay.State != h.Overlay.State || next.Layer.State != h.Layer.State {
		host.Listings(&next)
	}
	host.Unbounded(r, &next)
	*h = next
	return true
}

// FindPlan finds, by launches without a command, the plan for r that works on the host h, and
// notes in h what it learned. why is the reason if there is none, or the reason that stop
// returned, which is called before each launch.
func FindPlan(r *spec.Resolved, h *wrap.Host, stop func() string) (plan *wrap.Plan, why string) {
	prog := wrap.Program{Path: "/bin/true", Real: "/bin/true", Mapped: true}
	for {
		if why := stop(); why != "" {
			return nil, why
		}
		plan, err := wrap.Build(r, h, wrap.Request{Argv: []string{"true"}, Program: prog})
		if err != nil {
			return nil, err.Error()
		}
		if err = launch.Try(plan); err == nil {
			return plan, ""
		}
		if step, ok := err.(*launch.StepError); !ok || !learn(r, h, plan, step) {
			return nil, err.Error()
		}
	}
}

// stepProblem explains a failed step of the launch in terms of the spec.
func stepProblem(e *launch.StepError) error {
	p := &spec.Problem{Field: e.Step.For, On: e.Step.On, Do: "set up the sandbox (" + e.Step.Name + ")", Why: e.Errno.Error()}
	switch unix.Errno(e.Errno) {
	case unix.ELOOP:
		p.Why = "a link stands there now, and none did when the path was looked up"
	case unix.EAGAIN:
		p.Help = "where no process can be made raise their limit (ulimit -u, TasksMax=, a container's pids limit)"
	case unix.EROFS:
		if e.Step.For == "network.listen" {
			p.Help = "have the command listen at a port from 1024 on, as in \"80:8080\": the kernel's setting does not matter then"
		}
	case unix.ENOSPC:
		p.Why = "a limit of the kernel is reached (" + p.Why + ")"
		p.Help = "see /proc/sys/user/max_*_namespaces and /proc/sys/fs/mount-max"
	}
	return p
}
