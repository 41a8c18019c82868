package wrap

import (
	"sbx/internal/broker/wire"
	"sbx/spec"
)

// BrokerAsk is the broker of a run, as the caller of Build has it.
type BrokerAsk struct {
	Why   string // there is none that could be started; "" where there is
	Token string // by which the command is known to it; "" for a Plan that is only looked at
	Plan  string // the text of the execution plan; "" for none

	// For a command that has the host's network, or is in a container: the host's socket,
	// the program that a command without a client of its own reaches it by and, for a
	// container, the host's files of the token and the plan.
	Socket, Program, TokenFile, PlanFile string
}

// ConnectPath is where the command has that program.
const ConnectPath = "/run/sbx/sbx-broker"

// Environ are the variables by which a command finds a broker at url.
func (a *BrokerAsk) Environ(env []string, url string) []string {
	return append(without(env, []string{wire.URLVariable, wire.TokenVariable}), wire.URLVariable+"="+url, wire.TokenVariable+"="+a.Token)
}

// PlanPath is where a command finds the plan that its broker is held to.
const PlanPath = "/run/sbx/plan"

// broker says how the command finds its broker: in its own network at the loopback,
// else by a socket that lies in its /run or, where nothing is mounted, with the record.
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

// placeBroker puts what the command has of its broker into the private /run.
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

// brokerWay is the way of a command that has the host's network: the socket at which
// the broker listens and the program that connects to it, whose directory may be private.
func (b *places) brokerWay() []item {
	ask := &b.req.Broker
	if b.r.Broker.File.Abs == "" || ask.Why != "" || b.plan.Broker {
		return nil
	}
	const f spec.Field = "broker.file"
	return []item{{path: wire.SocketFile, source: ask.Socket, kind: Other, field: f}, {path: ConnectPath, source: ask.Program, kind: File, mode: ModeRO, field: f}}
}
