package wrap

import (
	"sbx/internal/broker/wire"
	"sbx/spec"
)

// BrokerAsk describes the broker of a run for Build.
type BrokerAsk struct {
	Why   string // why no broker could be started; "" if one could
	Token string // by which the command authenticates to the broker; "" for a Plan that is only printed
	Plan  string // the text of the execution plan; "" for none

	// These are for a command that has the host's network or runs in a container: the host's socket
	// and the program through which a command without a client reaches the broker. A container also
	// needs the host's files of the token and the plan.
	Socket, Program, TokenFile, PlanFile string
}

// ConnectPath is where the command finds BrokerAsk.Program.
const ConnectPath = "/run/sbx/sbx-broker"

// Environ returns env with the variables by which a command finds a broker at url.
func (a *BrokerAsk) Environ(env []string, url string) []string {
	return append(without(env, []string{wire.URLVariable, wire.TokenVariable}), wire.URLVariable+"="+url, wire.TokenVariable+"="+a.Token)
}

// PlanPath is where a command finds the execution plan that its broker enforces.
const PlanPath = "/run/sbx/plan"

// broker decides how the command reaches its broker. In a network of its own it uses the loopback;
// else it uses a socket in its private /run or, where nothing is mounted, the socket beside the
// record.
func (b *places) broker() {
	if b.r.Broker.File.Abs == "" {
		return
	}
	const f spec.Field = "broker.file"
	ask := &b.req.Broker
	if ask.Why != "" {
		b.lack(&spec.Problem{Field: f, On: b.r.At(f), Do: "start the broker of " + b.r.Broker.File.Asked, Why: ask.Why,
			Help: "install sbx-broker next to sbx, or list \"broker\" in best_effort: then the command has no broker"}, Unavailable)
		return
	}
	b.plan.Brokered = true
	url := "http://127.0.0.1:" + itoa(wire.Port)
	if !b.plan.Broker {
		url = "unix:" + ask.Socket
		if b.privateRun() {
			url = "unix:" + wire.SocketFile
		} else if a := b.req.Agent.Agent; a != 0 && b.r.AccessMode.Guards() {
			b.lack(&spec.Problem{Field: f, On: b.r.At(f), Do: "lead " + a.String() + " to its broker", Why: "the program that it would do it by lies in a /run of its own, which cannot be made here",
				Help: "leave out network.mode, or list \"broker\" in best_effort: then " + a.String() + " has no broker"}, Unavailable)
		}
	}
	b.plan.Env = ask.Environ(b.plan.Env, url)
}

// placeBroker puts the files by which the command reaches its broker into the private /run.
func (b *layers) placeBroker() {
	ask := &b.req.Broker
	if b.r.Broker.File.Abs == "" || ask.Why != "" {
		return
	}
	b.write(wire.TokenFile, ask.Token, 0o400)
	if ask.Plan != "" {
		b.write(PlanPath, ask.Plan, 0)
	}
	for _, i := range b.host.broker {
		b.place(i)
	}
}

// brokerWay returns the items by which a command on the host's network reaches its broker: the
// broker's socket and the program that connects to it. A private directory may cover the program's
// own place.
func (b *places) brokerWay() []item {
	ask := &b.req.Broker
	if b.r.Broker.File.Abs == "" || ask.Why != "" || b.plan.Broker {
		return nil
	}
	const f spec.Field = "broker.file"
	return []item{{path: wire.SocketFile, source: ask.Socket, kind: Other, field: f}, {path: ConnectPath, source: ask.Program, kind: File, mode: ModeRO, field: f}}
}
