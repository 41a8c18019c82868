package run

import (
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/audit/agent"
	"sbx/spec"
	"sbx/wrap/launch"
)

// watchedAgent is an agent whose event stream the supervisor reads.
type watchedAgent struct {
	*events
	bounds *launch.Bounds
	turns  int
}

// listen registers the readers of the agent's stream with the supervisor's loop.
func (x *watchedAgent) listen(h *launch.Hooks) {
	w := x.tap
	if w == nil {
		return
	}
	h.Wait = append(h.Wait, launch.Waiter{FD: w.Wake, Event: x.readEvents})
	if w.rollout != nil {
		if fd := w.rollout.Tick(); fd >= 0 {
			h.Wait = append(h.Wait, launch.Waiter{FD: fd, Event: func() { x.follow(w.rollout.Read) }})
		}
	}
}

// readEvents handles the events that have arrived on the stream.
func (x *watchedAgent) readEvents() {
	for _, e := range x.tap.Next() {
		switch {
		case e.Turn > 0:
			x.limitTurns(e.Turn)
		case e.Wish != nil:
			x.noteRequest(*e.Wish)
		}
	}
}

// limitTurns ends the agent when it begins turn n and its limit is lower.
func (x *watchedAgent) limitTurns(n int) {
	s := x.Resolved.Spec
	x.turns = max(x.turns, n)
	if !s.MaxTurns.Set || n <= s.MaxTurns.Value || s.OnExceed.Or(spec.Deny) == spec.RecordOnly || x.ended != "" {
		return
	}
	rule := "max_turns: " + strconv.Itoa(s.MaxTurns.Value)
	x.record.Violations.Add(audit.Violation{Kind: "limit", At: time.Now(), Action: "begin a turn", Rule: rule, AllowWith: "max_turns: " + strconv.Itoa(n), Count: 1})
	x.refusals++
	x.Voice.print(rule + ": the agent is ended; max_turns: " + strconv.Itoa(n) + " would allow one more")
	x.stop("max_turns")
}

// noteRequest records that the agent used a tool that its flags should have taken away.
func (x *watchedAgent) noteRequest(w agent.Wish) {
	v := x.tap.rules.Judge(w)
	if !v.Outside {
		return
	}
	target := w.Name
	if len(w.Targets) > 0 {
		target += ": " + cutTo(w.Targets[0], 200)
	}
	violation := audit.Violation{Kind: "tool", At: time.Now(), Action: "use", Target: target, Rule: v.Rule, AllowWith: v.AllowWith, Count: 1}
	x.record.Violations.Add(violation)
	x.printOnce("tool"+v.Rule+w.Name, violation, "the agent asks for "+spec.Name(target))
	if x.Resolved.Spec.OnExceed.Value == spec.Kill {
		x.stop("tool")
	}
}

func cutTo(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}

// finish reads the rest of the stream and puts what the agent reported into the record.
// The reader of sbx's stdout may be slow, so there is no time limit; a signal ends the
// wait.
func (x *watchedAgent) finish() {
	w := x.tap
	if w == nil {
		return
	}
	impatient := x.ended != "" || x.bounds.TimedOut()
	until, cut := time.Now().Add(5*time.Second), false
	for !w.Done() && !cut {
		pf := []unix.PollFd{{Fd: int32(w.Wake), Events: unix.POLLIN}, {Fd: int32(x.Signals), Events: unix.POLLIN}}
		_, _ = unix.Poll(pf, 100)
		x.readEvents()
		if pf[1].Revents&unix.POLLIN != 0 {
			cut = launch.Asked(x.Signals)
		}
		cut = cut || impatient && time.Now().After(until)
	}
	x.readEvents()
	if w.rollout != nil {
		x.follow(w.rollout.Finish)
	}
	w.With(func(s *agent.Stream) {
		if w.rollout != nil && w.rollout.Rollout() != nil {
			s.Supplement(w.rollout.Rollout())
		}
		sum := s.Summary()
		x.record.Agent, x.record.TurnsUsed, x.record.ToolsUsed = &sum, sum.Turns, sum.ToolsUsed()
	})
}

// follow reads the turns from the session file that codex writes, and the tools that its
// stream does not show.
func (x *watchedAgent) follow(look func(session string) (turns int)) {
	session := ""
	x.tap.With(func(s *agent.Stream) { session = s.Session() })
	if turns := look(session); turns > x.turns {
		x.limitTurns(turns)
	}
	for _, wish := range x.tap.rollout.Wishes() {
		x.noteRequest(wish)
	}
}
