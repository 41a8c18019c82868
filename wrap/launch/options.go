package launch

import (
	"sbx/seccomp"
	"sbx/wrap"
)

// Options are what a launch needs from its caller in addition to the Plan.
type Options struct {
	Caller  Caller
	Keep    []int // descriptors above 2 for the command
	KeepAll bool  // all of the caller's descriptors
	Signals int   // Catch's descriptor; 0 for none
}

// terminal returns the terminal that a command with its own process group takes over; -1
// for none.
func terminal(p *wrap.Plan) int {
	if !p.OwnGroup {
		return -1
	}
	return Terminal()
}

// uncounted reports whether the listener is not notified of execs.
func uncounted(p *wrap.Plan) bool { return p.Counter == wrap.CounterNone && !p.Programs.Any() }

// input collects what the steps need from the caller and the shipped filters.
func input(p *wrap.Plan, o Options, sock int) Input {
	in := Input{Caller: o.Caller, Keep: o.Keep, KeepAll: o.KeepAll, Sock: sock, Terminal: terminal(p), Limits: rlimits(&p.Limits, o.Caller.Files), Devices: devices(p, o)}
	own := p.Filter.Options
	if p.Notify != seccomp.NotifyNone {
		own.Uncounted = uncounted(p)
	}
	in.Late = p.Filter.On && p.Filter.Code != nil
	switch {
	case in.Late:
		pid1 := p.Filter.Options
		pid1.Seal = seccomp.SealNone // pid 1 executes no program
		in.Own, in.Filter = seccomp.Shipped(pid1, seccomp.Native), string(p.Filter.Code)
		refused := own
		if refused.Seal == seccomp.SealAsk { // the notification filter covers this
			refused.Seal = seccomp.SealNone
		}
		if beside := seccomp.Beside(refused); len(beside.Rules) > 0 {
			program, _ := seccomp.Program(beside, seccomp.Native) // sbx's own rules always compile
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
		beside, _ := seccomp.Program(seccomp.Notifications(own), seccomp.Native) // sbx's own rules always compile
		in.Count = string(seccomp.Encode(beside))
	case !p.Filter.On:
		in.Count = string(seccomp.Encode(seccomp.CountOnly(seccomp.Native)))
	}
	return in
}

// Input is what a Plan's steps need in addition to the Plan.
type Input struct {
	Caller  Caller
	Keep    []int // descriptors above 2 that the command gets
	KeepAll bool  // all of the caller's descriptors (no syscall filter)
	Sock    int   // the child's end of the socket
	// Terminal is the terminal that a command with its own process group takes over; -1 for
	// none.
	Terminal int
	// Filter is the seccomp program. A profile of the user's (Late) may deny calls that the
	// launch itself makes, so the command loads it last, and pid 1 loads Own after the command
	// has started.
	Filter string
	Late   bool
	Own    string
	// Count notifies the counter of each started program and allows all other calls. It is
	// used if no other filter that counts is loaded before the command.
	Count string
	// Beside denies calls that a profile in Filter may not deny.
	Beside string
	Limits []Rlimit // the command's resource limits
	// Devices are standard streams that the command gets from the sandbox's /dev.
	Devices []Device
}
