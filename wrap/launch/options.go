package launch

import (
	"sbx/seccomp"
	"sbx/wrap"
)

// Options are what a launch takes from its caller besides the Plan.
type Options struct {
	Caller  Caller
	Keep    []int // descriptors beyond 0-2 for the command
	KeepAll bool  // all of the caller's descriptors
	Signals int   // where Catch's signals are read; 0 for none
}

// terminal is where a command with a group of its own becomes the foreground.
func terminal(p *wrap.Plan) int {
	if !p.OwnGroup {
		return -1
	}
	return Terminal()
}

// uncounted reports whether execs are no matter of the listener's.
func uncounted(p *wrap.Plan) bool { return p.Counter == wrap.CounterNone && !p.Programs.Any() }

// input is what the steps need of the caller and of the filters that are shipped.
func input(p *wrap.Plan, o Options, sock int) Input {
	in := Input{Caller: o.Caller, Keep: o.Keep, KeepAll: o.KeepAll, Sock: sock, Terminal: terminal(p), Limits: rlimits(&p.Limits, o.Caller.Files), Devices: devices(p, o)}
	own := p.Filter.Options()
	if p.Notify != seccomp.NotifyNone {
		own.Uncounted = uncounted(p)
	}
	in.Late = p.Filter.On && p.Filter.Code != nil
	switch {
	case in.Late:
		pid1 := p.Filter.Options()
		pid1.Seal = seccomp.SealNone // it executes nothing
		in.Own, in.Filter = seccomp.Shipped(pid1, seccomp.Native), string(p.Filter.Code)
		refused := own
		if refused.Seal == seccomp.SealAsk { // among the notifications
			refused.Seal = seccomp.SealNone
		}
		if beside := seccomp.Beside(refused); len(beside.Rules) > 0 {
			program, _ := seccomp.Program(beside, seccomp.Native) // of own rules: it compiles
			in.Beside = string(seccomp.Encode(program))
		}
	case p.Filter.On:
		own.Notify = p.Notify
		in.Filter = seccomp.Shipped(own, seccomp.Native)
	}
	switch {
	case p.Counter == wrap.CounterPtrace:
		in.Count = string(seccomp.Encode(seccomp.Traced(seccomp.Native)))
	case p.Notify == seccomp.NotifyNone:
	case in.Late:
		own.Notify = p.Notify
		beside, _ := seccomp.Program(seccomp.Notifications(own), seccomp.Native) // of own rules: it compiles
		in.Count = string(seccomp.Encode(beside))
	case !p.Filter.On:
		in.Count = string(seccomp.Encode(seccomp.CountOnly(seccomp.Native)))
	}
	return in
}

// Input is what a Plan's steps need besides the Plan.
type Input struct {
	Caller  Caller
	Keep    []int // descriptors beyond 0-2 that the command gets
	KeepAll bool  // all of the caller's descriptors (no side door is shut)
	Sock    int   // the child's end of the socket
	// Terminal is where a command with a process group of its own becomes the
	// foreground; -1 for none.
	Terminal int
	// Filter is the seccomp program's bytes. A profile of the user's (Late)
	// may lack calls that the launch itself makes, so the command loads it
	// last, and pid 1 takes Own once the command has started.
	Filter string
	Late   bool
	Own    string
	// Count tells the counter of programs that are started and allows the rest: what
	// counts where no other filter is loaded before the command.
	Count string
	// Beside refuses what a Filter that is a profile may not.
	Beside string
	Limits []Rlimit // that the command gets
	// Devices are standard streams that the command gets from the sandbox's /dev.
	Devices []Device
}
