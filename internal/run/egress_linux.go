package run

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/audit/listen"
	"sbx/internal/reach"
	"sbx/internal/relay/wire"
	"sbx/internal/sys"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/launch"
)

// egress is the command's network: the connections to the hosts of network.allow, and from
// the ports of network.listen.
type egress struct {
	*events
	lead  *listen.Egress // nil until the command runs
	v6    bool           // the sandbox has IPv6
	over  bool           // the command has ended
	asked string         // the last name that was denied

	lookups *listen.Lookups // DNS questions inside a sandbox without a network; nil if they are not reported
}

// handSockets gives the relay its sockets inside the sandbox, and closes the supervisor's
// copies: if the relay is gone, the kernel refuses connections. The supervisor keeps the
// socket for DNS questions if those are reported.
func (x *egress) handSockets() {
	if fd := x.process.LookupSocket(); fd >= 0 && x.Plan.Sockets && x.Describe != wrap.DescribeNone {
		x.lookups = &listen.Lookups{FD: fd, Asked: x.recordQuestion}
	} else if fd >= 0 {
		unix.Close(fd)
	}
	packet, there := []byte{byte(wire.KindSockets)}, []int{}
	for i, fd := range x.process.RelaySockets() {
		if fd < 0 {
			packet = append(packet, 0)
			continue
		}
		packet, there = append(packet, 1), append(there, fd)
		x.v6 = x.v6 || i == 1
	}
	if x.Plan.Relay || x.Plan.Publish {
		x.relay.Tell(packet, there)
	} else {
		x.relay.Kill()
	}
	for _, fd := range there {
		unix.Close(fd)
	}
}

// listenToRelay registers for the messages of the relay.
func (x *egress) listenToRelay(h *launch.Hooks) {
	if !x.Plan.Relay && !x.Plan.Publish {
		return
	}
	x.record.Connections = &audit.Connections{}
	e := &listen.Egress{FD: x.relay.FD, V6: x.v6, May: x.Resolved.Reach, Hosts: hostNames(), Refused: x.recordRefusedName, Ended: x.recordConnection, CameIn: x.recordPublished, Lost: x.recordRelayLoss}
	x.lead = e
	at := len(h.Wait)
	h.Wait = append(h.Wait, launch.Waiter{FD: e.FD, Event: func() {
		if !e.Hear() {
			h.Wait[at].FD = -1
		}
	}})
}

// recordRelayLoss records that the relay is gone: nothing can be reached any more.
func (x *egress) recordRelayLoss() {
	if x.over {
		return
	}
	const ended = relayName + " ended while the command ran: since then "
	lost := func(why string, fields ...spec.Field) {
		for _, f := range fields {
			x.weaken(f, why)
		}
		x.Voice.print(string(fields[0]) + ": " + why)
	}
	if x.Plan.Relay {
		lost(ended+"nothing can be reached", "network.allow", "network")
	}
	if x.Plan.Publish {
		lost(ended+"no port is published", "network.listen")
	}
}

// recordQuestion records a DNS question in a sandbox without a network. Reverse names, the root
// and localhost are not recorded: they are not hosts that a command could reach.
func (x *egress) recordQuestion(name string, kind uint16) {
	if name != "" && name != "localhost" && !strings.HasSuffix(name, ".arpa") {
		x.recordRefusedName(&wire.Refused{Name: name, Type: kind})
	}
}

// readLastMessages reads the relay's last messages, when no process of the sandbox is left.
func (x *egress) readLastMessages() {
	if q := x.lookups; q != nil {
		q.Hear()
		unix.Close(q.FD)
	}
	e := x.lead
	if e == nil {
		return
	}
	x.over = true
	if e.Idle() && !x.Plan.Publish { // the relay may not even have started
		x.relay.Kill()
		return
	}
	x.relay.Stop(e.Hear)
	e.Open(func(led *listen.Relayed) { x.record.Connections.Add(connectionOf(led)) })
}

func connectionOf(led *listen.Relayed) audit.Connection {
	return audit.Connection{Host: led.Host, Port: led.Port, Program: led.Program, Made: 1}
}

// recordConnection records a connection that the relay made, or failed to make.
func (x *egress) recordConnection(led *listen.Relayed, m *wire.Ended) {
	v := audit.Violation{At: time.Now(), Kind: "network", Action: listen.Connect, Rule: NetworkRule(x.Resolved)}
	if led == nil { // no connect(2) belongs to this token
		v.Target = "without a connect"
		x.record.Violations.Add(v)
		return
	}
	c := connectionOf(led)
	c.Out, c.In = int64(m.Up), int64(m.Down)
	if m.NoSNI {
		c.NoSNI = 1
	}
	v.PID, v.Program, v.Host, v.Port = led.PID, led.Program, led.Host, led.Port
	v.Target = listen.Target(v.Host, v.Port)
	what := ""
	switch m.Outcome {
	case wire.Done:
	case wire.Special:
		c.Why, what = "resolves into an address that no name may lead to", v.Target+" resolves into "+m.Detail+", where no name may lead"
		address, _, _ := strings.Cut(m.Detail, ": ")
		v.Action = "connect to " + address + " by name"
		if ip, ok := reach.ParseIP(address); ok {
			v.Act = reachAct(listen.Target(ip.String(), led.Port))
		}
	case wire.Fronted:
		c.Why, what = "TLS asked for another name", "TLS to "+v.Target+" asked for "+m.Detail
		v.Action = "connect by way of " + v.Target
		v.Host = m.Detail
		v.Target = listen.Target(v.Host, v.Port)
		v.Act = reachAct(v.Target)
	case wire.Garbled:
		c.Why, what = "TLS that cannot be read", "TLS to "+v.Target+" cannot be read ("+m.Detail+"), nor which name it asks for"
		v.Action = "connect by TLS that cannot be read"
	case wire.NoName:
		c.Why = "the name does not resolve"
	case wire.ByProxy:
		c.Why = "the proxy refused"
	case wire.Unmade:
		c.Why = "given up before it was made"
	default:
		c.Why = "no answer"
	}
	if c.Why != "" {
		c.Failed = 1
		if what == "" && m.Detail != "" {
			c.Why += ": " + m.Detail
		}
	}
	x.record.Connections.Add(c)
	if what != "" {
		x.record.Violations.Add(v)
		x.printOnce(v.Kind+v.Rule+v.Action, v, what)
	}
}

// recordRefusedName records a name for which the resolver inside gave no address.
func (x *egress) recordRefusedName(m *wire.Refused) {
	if x.hasSearchDomain(m.Name) {
		return
	}
	x.asked = m.Name
	if x.Resolved.Reach.Asks(m.Name) && m.Type == wire.TypeA {
		x.recordUnresolved(m.Name)
		return
	}
	v := audit.Violation{At: time.Now(), Kind: "network", Action: "look up a name", Target: m.Name, Host: m.Name, Rule: NetworkRule(x.Resolved)}
	what := spec.Name(m.Name) + " has no address here"
	if x.Resolved.Reach.Asks(m.Name) {
		v.Action = "look up a record of type " + strconv.Itoa(int(m.Type))
		what = "of " + spec.Name(m.Name) + " no record of type " + strconv.Itoa(int(m.Type)) + " is told"
	} else if reach.IsHostName(m.Name) { // a query can be for "*.com" or "0.0.0.0/0", which a list would take for more
		v.Act = reachAct(m.Name + ":443")
	}
	x.record.Violations.Add(v)
	x.printOnce(v.Kind+v.Rule+v.Action, v, what)
}

// recordUnresolved records an allowed name that the host cannot resolve, which is not a denial. A
// person is told only of names that the spec lists, since these are few.
func (x *egress) recordUnresolved(name string) {
	w := spec.Warning{Field: "network.allow", Text: "network.allow: " + spec.Name(name) + " is allowed, but this host finds no address for it"}
	x.record.Warnings = append(x.record.Warnings, w)
	if x.Voice.Muted() || !slices.ContainsFunc(x.Resolved.Reach, func(r reach.Rule) bool { return strings.HasPrefix(r.Text, name+":") }) {
		return
	}
	x.Voice.Say(w.String())
}

// hasSearchDomain reports whether a name is an earlier or an allowed name with a search domain
// added: resolvers add one when the name itself has no address (resolv.conf(5)). The
// sandbox's resolv.conf has the search domains of the host's.
func (x *egress) hasSearchDomain(name string) bool {
	for line := range strings.Lines(sys.ReadFile("/etc/resolv.conf", 1<<16)) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "search" && words[0] != "domain" {
			continue
		}
		for _, w := range words[1:] {
			domain := "." + strings.ToLower(strings.TrimSuffix(w, "."))
			if short, ok := strings.CutSuffix(name, domain); ok && (short == x.asked || x.Resolved.Reach.Asks(short)) {
				return true
			}
		}
	}
	return false
}
