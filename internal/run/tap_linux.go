package run

import (
	"slices"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/audit/agent"
	"sbx/spec"
	flags "sbx/spec/agent"
)

// tap reads an agent's event stream.
type tap struct {
	*audit.Tap
	rules   *agent.Rules
	passes  bool            // the stream is passed on to the caller's stdout
	real    int             // the caller's stdout while descriptor 1 is the pipe
	rollout *audit.Follower // follows the session file of codex; nil for none
}

// newTap replaces stdout by a pipe, before the child that inherits it is cloned, if the
// agent's stream is to be read. It returns nil if no stream is read.
func (x *journal) newTap() (*tap, error) {
	if !x.Seen.Stream || x.DryRun {
		return nil, nil
	}
	fail := func(err error) (*tap, error) {
		return nil, &spec.Problem{Field: "agent", On: "stdout", Do: "read the agent's stream", Why: err.Error()}
	}
	real, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return fail(err)
	}
	a := x.Agent.Agent
	stream, write, err := audit.NewTap(func(h agent.Hooks) (*agent.Stream, bool) { return agent.New(a, h) }, real)
	if err != nil {
		return fail(err)
	}
	defer unix.Close(write)
	if err := unix.Dup3(write, 1, 0); err != nil {
		return fail(err)
	}
	s := x.Resolved.Spec
	allowed := s.ToolsAllowed
	if x.Resolved.Broker.File.Abs != "" && allowed.Set { // the broker decides on each call of its own tools
		allowed.Value = append(slices.Clone(allowed.Value), flags.BrokerTools)
	}
	t := &tap{Tap: stream, real: real,
		rules: agent.NewRules(a, allowed, s.ToolsDenied, spec.Place{Dir: x.Resolved.Start(), Home: x.Inputs.Home})}
	if dir := RolloutDir(x.Resolved); a == spec.Codex && dir != "" {
		t.rollout = audit.Follow(dir, x.record.StartedAt)
	}
	return t, nil
}

// close restores the supervisor's stdout, once the command has the pipe.
func (t *tap) close() {
	if t != nil {
		_ = unix.Dup3(t.real, 1, 0) // restores what 1 was
	}
}

// RolloutDir returns the host's directory of codex's session files; "" if the command does
// not see it and so does not write them.
func RolloutDir(r *spec.Resolved) string {
	for _, o := range r.Own {
		if o.Mode == spec.OwnWrite {
			return o.Real + "/sessions"
		}
	}
	return ""
}
