package main

import (
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/audit/agent"
	"sbx/spec"
	"sbx/wrap/launch"
)

// watched is an agent whose stream is read.
type watched struct {
	tap     *audit.Tap
	rules   *agent.Rules
	passes  bool            // what comes is passed on
	real    int             // the caller's stdout, while descriptor 1 is the pipe
	rollout *audit.Follower // of codex; nil for none
	turns   int
}

// tapAgent puts a pipe in the place of stdout where the agent's stream is to be
// read, before the child is made that inherits it.
func (x *execution) tapAgent() error {
	if !x.seen.Stream || x.has("dry-run") {
		return nil
	}
	fail := func(err error) error {
		return &spec.Problem{Field: "agent", On: "stdout", Do: "read the agent's stream", Why: err.Error()}
	}
	real, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return fail(err)
	}
	a := x.agent.Agent
	tap, write, err := audit.NewTap(func(h agent.Hooks) (*agent.Stream, bool) { return agent.New(a, h) }, real)
	if err != nil {
		return fail(err)
	}
	defer unix.Close(write)
	if err := unix.Dup3(write, 1, 0); err != nil {
		return fail(err)
	}
	s := x.resolved.Spec
	x.watched = &watched{tap: tap, real: real,
		rules: agent.NewRules(a, s.ToolsAllowed, s.ToolsDenied, spec.Place{Dir: x.resolved.Start(), Home: x.home()})}
	x.std.out = real
	if dir := x.rolloutDir(); a == spec.Codex && dir != "" {
		x.watched.rollout = audit.Follow(dir, x.record.StartedAt)
	}
	return nil
}

// untap gives stdout back to the supervisor, once the command has the pipe.
func (x *execution) untap() {
	if x.watched == nil {
		return
	}
	_ = unix.Dup3(x.watched.real, 1, 0) // it was 1
}

// listenAgent hears what the stream tells while the agent runs.
func (x *execution) listenAgent(h *launch.Hooks) {
	w := x.watched
	if w == nil {
		return
	}
	h.Wait = append(h.Wait, launch.Waiter{FD: w.tap.Wake, Event: x.heard})
	if w.rollout != nil {
		if fd := w.rollout.Tick(); fd >= 0 {
			h.Wait = append(h.Wait, launch.Waiter{FD: fd, Event: func() { x.follow(w.rollout.Look) }})
		}
	}
}

// heard takes what the stream told.
func (x *execution) heard() {
	for _, e := range x.watched.tap.Next() {
		switch {
		case e.Turn > 0:
			x.turn(e.Turn)
		case e.Wish != nil:
			x.wish(*e.Wish)
		}
	}
}

// turn ends the agent where a turn begins that it may not have.
func (x *execution) turn(n int) {
	s := x.resolved.Spec
	x.watched.turns = max(x.watched.turns, n)
	if !s.MaxTurns.Set || n <= s.MaxTurns.Value || s.OnExceed.Or(spec.Deny) == spec.RecordOnly || x.ended != "" {
		return
	}
	rule := "max_turns: " + strconv.Itoa(s.MaxTurns.Value)
	x.record.Violations.Add(audit.Violation{Kind: "limit", At: time.Now(), Action: "begin a turn", Rule: rule, AllowWith: "max_turns: " + strconv.Itoa(n), Count: 1})
	if !x.quiet() {
		x.std.say(rule + ": the agent is ended; max_turns: " + strconv.Itoa(n) + " would allow one more")
	}
	x.end("max_turns")
}

// wish notes a tool that the agent should have kept from.
func (x *execution) wish(w agent.Wish) {
	v := x.watched.rules.Judge(w)
	if !v.Outside {
		return
	}
	target := w.Name
	if len(w.Targets) > 0 {
		target += ": " + cutTo(w.Targets[0], 200)
	}
	violation := audit.Violation{Kind: "tool", At: time.Now(), Action: "use", Target: target, Rule: v.Rule, AllowWith: v.AllowWith, Count: 1}
	x.record.Violations.Add(violation)
	x.once("tool"+v.Rule+w.Name, violation, "the agent asks for "+spec.Name(target))
	if x.resolved.Spec.OnExceed.Value == spec.Kill {
		x.end("tool")
	}
}

func cutTo(s string, n int) string {
	if len(s) > n {
		return s[:n] + "…"
	}
	return s
}

// agentEnded waits for the rest of the stream and puts what it said into the
// record. Whoever reads may take their time; a signal ends the wait.
func (x *execution) agentEnded() {
	w := x.watched
	if w == nil {
		return
	}
	impatient := x.ended != "" || x.bounds.TimedOut()
	until, cut := time.Now().Add(5*time.Second), false
	for !w.tap.Done() && !cut {
		pf := []unix.PollFd{{Fd: int32(w.tap.Wake), Events: unix.POLLIN}, {Fd: int32(x.signals), Events: unix.POLLIN}}
		_, _ = unix.Poll(pf, 100)
		x.heard()
		if pf[1].Revents&unix.POLLIN != 0 {
			cut = launch.Asked(x.signals)
		}
		cut = cut || impatient && time.Now().After(until)
	}
	x.heard()
	if w.rollout != nil {
		x.follow(w.rollout.Finish)
	}
	w.tap.With(func(s *agent.Stream) {
		if w.rollout != nil && w.rollout.Found() != nil {
			s.Supplement(w.rollout.Found())
		}
		sum := s.Summary()
		x.record.Agent, x.record.TurnsUsed, x.record.ToolsUsed = &sum, sum.Turns, sum.ToolsUsed()
	})
}

// follow hears of the turns that codex's own file tells of, and of the tools that
// its stream does not show.
func (x *execution) follow(look func(session string) (turns int)) {
	session := ""
	x.watched.tap.With(func(s *agent.Stream) { session = s.Session() })
	if turns := look(session); turns > x.watched.turns {
		x.turn(turns)
	}
	for _, wish := range x.watched.rollout.Wishes() {
		x.wish(wish)
	}
}
