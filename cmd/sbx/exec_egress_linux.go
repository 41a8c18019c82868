package main

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
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/launch"
)

// egress is how a command reaches what network.allow names, and is reached at what
// network.listen names.
type egress struct {
	relay *launch.Relay  // nil for none
	why   string         // there is none, where one is wanted
	lead  *listen.Egress // nil before the command runs
	v6    bool           // the sandbox has IPv6
	over  bool           // the command has ended
	asked string         // the last name that was refused

	lookups *listen.Lookups // of names, without a network; nil where they are not told of
}

// relayName is the relay's program, which lies beside sbx.
const relayName = "sbx-egress"

// findRelay finds the relay's program, or says why there is none; "" where none is
// wanted.
func (x *execution) findRelay() (path string) {
	if x.resolved.Network != spec.NetworkAllow && len(x.resolved.Listen) == 0 {
		return ""
	}
	path = selfPath()
	path = path[:strings.LastIndexByte(path, '/')+1] + relayName
	err := error(unix.ENOENT)
	if path[0] == '/' {
		err = unix.Access(path, unix.X_OK)
	}
	if err != nil {
		x.egress.why = relayName + ", which connects for the command, cannot be started beside sbx (" + path + "): " + err.Error()
		return ""
	}
	return path
}

// startRelay starts the relay, whose own start passes beside the launch, and tells it
// what may be reached and what is published. The error is of a port that cannot be.
func (x *execution) startRelay() error {
	path, opening := x.findRelay(), wrap.Open(x.resolved, &x.host)
	leads := opening.Egress && x.counter != wrap.CounterPtrace
	if path == "" || !leads && !opening.Doors {
		return nil
	}
	var env []string
	for _, entry := range x.environ {
		if name, _, _ := strings.Cut(entry, "="); leads && spec.IsProxy(name) {
			env = append(env, entry)
		}
	}
	relay, err := launch.StartRelay(path, env)
	if err != nil {
		x.egress.why = path + " cannot be started: " + err.Error()
		return nil
	}
	x.egress.relay = relay
	for i := range x.resolved.Reach {
		relay.Tell(wire.AppendRule(nil, x.resolved.Reach[i].Text), nil)
	}
	return x.publish()
}

// handSockets gives the relay its sockets inside, and keeps none: where it is gone the
// kernel refuses. That of look-ups is kept where they are told of.
func (x *execution) handSockets() {
	if fd := x.process.LookupSocket(); fd >= 0 && x.plan.Sockets && x.describe != wrap.DescribeNone {
		x.egress.lookups = &listen.Lookups{FD: fd, Asked: x.nameAsked}
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
		x.egress.v6 = x.egress.v6 || i == 1
	}
	if x.plan.Relay || x.plan.Publish {
		x.egress.relay.Tell(packet, there)
	} else {
		x.egress.relay.Kill()
	}
	for _, fd := range there {
		unix.Close(fd)
	}
}

// hearRelay takes down what the relay tells.
func (x *execution) hearRelay(h *launch.Hooks) {
	if !x.plan.Relay && !x.plan.Publish {
		return
	}
	x.record.Connections = &audit.Connections{}
	e := &listen.Egress{FD: x.egress.relay.FD, V6: x.egress.v6, May: x.resolved.Reach, Hosts: hostNames(), Refused: x.nameRefused, Ended: x.connectionEnded, CameIn: x.cameIn, Lost: x.relayLost}
	x.egress.lead = e
	at := len(h.Wait)
	h.Wait = append(h.Wait, launch.Waiter{FD: e.FD, Event: func() {
		if !e.Hear() {
			h.Wait[at].FD = -1
		}
	}})
}

// relayLost says that nothing can be reached any more.
func (x *execution) relayLost() {
	if x.egress.over {
		return
	}
	const ended = relayName + " ended while the command ran: since then "
	lost := func(why string, fields ...spec.Field) {
		for _, f := range fields {
			x.weaken(f, why)
		}
		if !x.quiet() {
			x.std.say(string(fields[0]) + ": " + why)
		}
	}
	if x.plan.Relay {
		lost(ended+"nothing can be reached", "network.allow", "network")
	}
	if x.plan.Publish {
		lost(ended+"no port is published", "network.listen")
	}
}

// nameAsked notes a name that was asked for where there is no network. Names of
// addresses, the root and localhost are nobody's to reach.
func (x *execution) nameAsked(name string, kind uint16) {
	if name != "" && name != "localhost" && !strings.HasSuffix(name, ".arpa") {
		x.nameRefused(&wire.Refused{Name: name, Type: kind})
	}
}

// relayEnded takes the relay's last words, when nothing of the sandbox is left.
func (x *execution) relayEnded() {
	if q := x.egress.lookups; q != nil {
		q.Hear()
		unix.Close(q.FD)
	}
	e := x.egress.lead
	if e == nil {
		return
	}
	x.egress.over = true
	if e.Idle() && !x.plan.Publish { // it may not even have started
		x.egress.relay.Kill()
		return
	}
	x.egress.relay.Stop(e.Hear)
	e.Open(func(led *listen.Led) { x.record.Connections.Add(connectionOf(led)) })
}

func connectionOf(led *listen.Led) audit.Connection {
	return audit.Connection{Host: led.Host, Port: led.Port, Program: led.Program, Made: 1}
}

// connectionEnded notes a connection that the relay made, or did not.
func (x *execution) connectionEnded(led *listen.Led, m *wire.Ended) {
	v := audit.Violation{At: time.Now(), Kind: "network", Action: "connect", Rule: x.networkRule()}
	if led == nil { // a socket that no connect was made with
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
			v.AllowWith = x.allowLine(listen.Target(ip.String(), led.Port))
		}
	case wire.Fronted:
		c.Why, what = "TLS asked for another name", "TLS to "+v.Target+" asked for "+m.Detail
		v.Action = "connect by way of " + v.Target
		v.Host = m.Detail
		v.Target = listen.Target(v.Host, v.Port)
		v.AllowWith = x.allowLine(v.Target)
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
		x.once(v.Kind+v.Rule+v.Action, v, what)
	}
}

// nameRefused notes a name that was asked for and has no address inside.
func (x *execution) nameRefused(m *wire.Refused) {
	if domain, longer := strings.CutPrefix(m.Name, x.egress.asked+"."); longer && isSearched(domain) {
		return
	}
	x.egress.asked = m.Name
	v := audit.Violation{At: time.Now(), Kind: "network", Action: "look up a name", Target: m.Name, Host: m.Name, Rule: x.networkRule()}
	what := spec.Name(m.Name) + " has no address here"
	if x.resolved.Reach.Asks(m.Name) {
		v.Action = "look up a record of type " + strconv.Itoa(int(m.Type))
		what = "of " + spec.Name(m.Name) + " no record of type " + strconv.Itoa(int(m.Type)) + " is told"
	} else {
		v.AllowWith = x.allowLine(m.Name + ":443")
	}
	x.record.Violations.Add(v)
	x.once(v.Kind+v.Rule+v.Action, v, what)
}

// isSearched tells whether resolvers add a domain to names that do not exist
// (resolv.conf(5)); what the sandbox's read is the host's.
func isSearched(domain string) bool {
	for line := range strings.Lines(readFile("/etc/resolv.conf", 1<<16)) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "search" && words[0] != "domain" {
			continue
		}
		for _, w := range words[1:] {
			if strings.EqualFold(strings.TrimSuffix(w, "."), domain) {
				return true
			}
		}
	}
	return false
}

// allowLine is network.allow with one more.
func (x *execution) allowLine(target string) string {
	if x.resolved.Spec.Network.Value.Mode.Set && x.resolved.Network == spec.NetworkNone { // beside which there is no list
		return "network.mode: host"
	}
	list := slices.Clone(x.resolved.Spec.Network.Value.Allow.Value)
	if x.resolved.AgentNetwork { // what an agent has by itself, a list would take away
		for _, r := range x.resolved.Reach {
			list = append(list, r.Text)
		}
	}
	if _, err := reach.Parse(target); err != nil {
		return ""
	}
	return spec.Longer("network.allow", list, target)
}

// apart is a target's host and port.
func apart(target string) (host string, port int) {
	i := strings.LastIndexByte(target, ':')
	if i < 0 {
		return target, 0
	}
	port, _ = strconv.Atoi(target[i+1:])
	return strings.Trim(target[:i], "[]"), port
}
