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
}

// terminal is where a command with a group of its own becomes the foreground.
func terminal(p *wrap.Plan) int {
	if !p.OwnGroup {
		return -1
	}
	return Terminal()
}

// input is what the steps need of the caller and of the filters that are shipped.
func input(p *wrap.Plan, o Options, sock int) Input {
	in := Input{Caller: o.Caller, Keep: o.Keep, KeepAll: o.KeepAll, Sock: sock, Terminal: terminal(p)}
	own := p.Filter.Options()
	notify := p.Counter == wrap.CounterNotify
	in.Late = p.Filter.On && p.Filter.Code != nil
	switch {
	case in.Late:
		in.Own, in.Filter = seccomp.Shipped(own, seccomp.Native), string(p.Filter.Code)
	case p.Filter.On:
		own.Notify = notify
		in.Filter = seccomp.Shipped(own, seccomp.Native)
	}
	if notify && (in.Late || !p.Filter.On) {
		in.Count = string(seccomp.Encode(seccomp.CountOnly(seccomp.Native)))
	}
	return in
}
