package wrap

import (
	"slices"
	"strconv"

	"sbx/landlock"
	"sbx/seccomp"
	"sbx/spec"
)

// Describe is how many denials are described.
type Describe uint8

// The levels of --violations.
const (
	DescribeAll   Describe = iota
	DescribeNames          // calls that open files are not examined
	DescribeNone
)

// counter decides what counts the started programs, and which calls the supervisor answers. A host
// on which nothing can count is a reason to refuse only if the spec sets a budget.
func (b *counting) counter() {
	if why := b.noListener(); why == "" {
		b.plan.Notify = b.notify()
		if b.req.Counter == CounterNotify || b.req.Counter == CounterAuto {
			b.plan.Counter = CounterNotify
		}
	} else {
		b.mute = why
		if b.h.Outer && b.req.Counter == CounterAuto {
			b.plan.Counter = CounterOuter
		}
	}
	why := ""
	switch c := b.req.Counter; {
	case b.plan.Counter != CounterNone:
		return
	case c == CounterNone:
		why = "nothing counts programs (--counter none)"
	case c != CounterNotify && b.h.Seccomp.State != No && b.h.Tracer.State != No:
		b.plan.Counter = CounterPtrace
		return
	case c == CounterPtrace && b.h.Seccomp.State != No:
		why = b.h.Tracer.Why
	default:
		why = "nothing can count programs: " + b.mute
		if c == CounterAuto && b.h.Seccomp.State != No {
			why += "; " + b.h.Tracer.Why
		}
	}
	if b.r.Spec.MaxCommands.Set {
		b.lack(&spec.Problem{Field: "max_commands", On: b.r.At("max_commands"), Do: "keep to " + strconv.Itoa(b.r.Spec.MaxCommands.Value) + " commands",
			Why: why, Help: "leave max_commands out, or list it in best_effort"}, Unavailable)
	} else if b.req.Counter != CounterNone && b.req.Counter != CounterAuto {
		b.problems = append(b.problems, &spec.Problem{Do: "count by " + b.req.Counter.String(), Why: why, Help: "leave --counter out"})
	}
}

// noListener says why the supervisor cannot answer calls; "" if it can.
func (b *counting) noListener() string {
	switch {
	case b.h.Seccomp.State == No:
		return "no seccomp filter can be loaded: " + b.h.Seccomp.Why
	case b.h.Listener.State == No:
		return b.h.Listener.Why
	case b.req.Counter == CounterPtrace:
		return "ptrace counts, and a call cannot have both"
	}
	return ""
}

// notify returns which calls the supervisor answers, if it can answer any. That depends on what the
// spec constrains and on how many denials the user wants described.
func (b *counting) notify() seccomp.Notify {
	switch {
	case b.plan.Rung == RungFree && b.req.Counter == CounterNone:
		return seccomp.NotifyNone
	case b.plan.Rung == RungFree:
		return seccomp.NotifyExec
	case !b.r.FileRules && b.req.Describe == DescribeNone:
		return seccomp.NotifyExec
	case b.req.Describe == DescribeNone:
		return seccomp.NotifyNames
	case !b.r.FileRules || b.req.Describe == DescribeNames:
		return seccomp.NotifyRefused
	}
	return seccomp.NotifyOpens
}

// SeesReach reports whether the counter can see when something inside first connects.
func (p *Plan) SeesReach() bool {
	return p.Counter == CounterNotify && p.Filter.On && (p.Filter.Unix || p.Filter.NotifyConnect)
}

// Closed reports whether Landlock alone, without mounts, keeps path from being written, created or
// removed. The path has no links.
func (p *Plan) Closed(path string) bool {
	if p.Base != BaseHost || p.Landlock.FS&landlock.WriteFile == 0 {
		return false
	}
	return !slices.ContainsFunc(p.Landlock.Rules, func(r landlock.Rule) bool {
		return r.Allow&landlock.WriteFile != 0 && under(path, r.Path)
	})
}

// Observed lists the kinds of denials that sbx can see, in order.
func (p *Plan) Observed() (kinds []string) {
	add := func(seen bool, kind string) {
		if seen {
			kinds = append(kinds, kind)
		}
	}
	command := p.Counter != CounterNone
	if p.Programs.Any() {
		command = p.Notify >= seccomp.NotifyExec
	}
	add(command, "command")
	add(len(p.Watch.Trees) > 0 || p.Notify >= seccomp.NotifyRefused, "filesystem")
	add(p.Notify >= seccomp.NotifyRefused && p.Sockets || p.Narrow != nil && p.Narrow.Told, "network")
	add(p.Notify >= seccomp.NotifyRefused && p.Filter.On && p.Filter.Code == nil, "syscall")
	return kinds
}

// ObservedFiles lists which denials of file access sbx can see, in order. It sees no others.
func (p *Plan) ObservedFiles() (seen []string) {
	if p.Notify >= seccomp.NotifyRefused {
		seen = append(seen, "names")
	}
	if p.Notify >= seccomp.NotifyOpens {
		seen = append(seen, "opens for writing")
	}
	if p.Filter.NotifyReads {
		seen = append(seen, "secrets")
	}
	if len(p.Watch.MaskedDirs) > 0 {
		seen = append(seen, "masked folders")
	}
	if len(p.Watch.Trees) > 0 {
		seen = append(seen, "protected names")
	}
	return seen
}

// budget writes the Enforcement of max_commands.
func (b *counting) budget() {
	if !b.r.Spec.MaxCommands.Set || b.isNotYet("max_commands") {
		return
	}
	if b.plan.Counter != CounterNone && b.r.Spec.OnExceed.Or(spec.Deny) == spec.RecordOnly {
		b.fault("max_commands", Observed, "on_exceed is record: programs are counted and none is denied")
	}
}

// by returns the name of a counter's mechanism.
func (c Counter) by() string {
	return [...]string{"", "seccomp notify", "ptrace", "outer supervisor", ""}[c]
}

// views lists where the writable trees show inside: the supervisor is notified with paths as the
// command sees them.
func (b *guards) views() {
	if b.plan.Notify < seccomp.NotifyNames {
		return
	}
	w := &b.plan.Watch
	for _, t := range w.Trees {
		if b.view.At(t).Source == t && b.isWritable(t) {
			w.Views = append(w.Views, View{Inside: t, Tree: t})
		}
	}
	for i := range b.binds {
		m := &b.binds[i]
		v := View{Inside: m.Target}
		if m.Mode == spec.MountRW && m.Source.IsDir {
			v.Tree = m.Source.Real
		}
		w.Views = append(w.Views, v)
	}
}

// unmadeStatus returns how well protected names that do not exist yet are enforced.
func (b *guards) unmadeStatus() Status {
	if b.plan.Notify == seccomp.NotifyOpens {
		return Guarded
	}
	return Degraded
}

// unmadeText says how protected names that do not exist yet are kept from being created.
func (b *guards) unmadeText() string {
	switch b.plan.Notify {
	case seccomp.NotifyOpens:
		return "a protected name that does not exist yet is denied, but a program that changes a path while it is checked may pass: then the name is noticed and moved away"
	case seccomp.NotifyNames, seccomp.NotifyRefused:
		return "a protected name that does not exist yet is denied, except files that an open creates: they are noticed and moved away, as is a name that a program slips past the supervisor"
	}
	return "a protected name that does not exist yet is not denied but noticed and moved away"
}
