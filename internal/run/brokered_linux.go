package run

import (
	"bytes"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/broker/wire"
	"sbx/internal/doc"
	"sbx/spec"
	"sbx/wrap/launch"
)

// brokerEvents handles the messages of the broker while the command runs.
type brokerEvents struct {
	*events
	over bool // the command has ended
}

// listen registers the broker's socket with the supervisor's loop.
func (x *brokerEvents) listen(h *launch.Hooks) {
	if x.broker.Helper == nil {
		return
	}
	at := len(h.Wait)
	h.Wait = append(h.Wait, launch.Waiter{FD: x.broker.FD, Event: func() {
		if !x.receive() {
			h.Wait[at].FD = -1
		}
	}})
}

// receive handles the messages that have arrived, and reports whether more may come.
func (x *brokerEvents) receive() bool {
	b := &x.broker
	if b.ended {
		return false
	}
	for {
		m, _, err := b.conn.Next()
		if m == nil && err == nil {
			if err = b.conn.Fill(); err == nil {
				continue
			}
			if err == unix.EAGAIN {
				return true
			}
		}
		switch m := m.(type) {
		case *wire.Call:
			x.recordCall(m)
		case *wire.Ask:
			x.Voice.Say("broker: " + spec.Name(m.Tool) + " is asked for (" + spec.Shown(m.Reason) + ")\nhint: " + brokerName + " answer " + spec.Shown(m.ID) + " yes, or no")
		case *wire.Failed:
			x.recordLoss("no call is allowed any more: " + spec.Shown(m.Why))
		case *wire.Summary:
			x.recordSummary(m)
			b.ended = true
			return false
		default: // the broker is gone, or sent an invalid message
			x.recordLoss(brokerName + " ended before it had reported its calls")
			b.ended = true
			return false
		}
	}
}

// recordCall records a denied call.
func (x *brokerEvents) recordCall(m *wire.Call) {
	if m.Verdict != "deny" {
		return
	}
	v := audit.Violation{At: time.Now(), Kind: "tool", Action: "call", Target: m.Tool, Rule: m.Rule, AllowWith: m.AllowWith}
	if v.Rule == "" {
		v.Rule = "broker"
	}
	x.record.Violations.Add(v)
	x.printOnce(v.Kind+v.Rule+v.Target, v, "the call of "+spec.Name(m.Tool)+" was denied: "+spec.Shown(m.Reason))
}

// recordLoss records that the broker is gone, and ends the run if the broker is required.
func (x *brokerEvents) recordLoss(why string) {
	for _, f := range []spec.Field{"broker.file", "broker.plan", "broker.grant"} {
		x.weaken(f, why)
	}
	if x.over {
		return
	}
	x.Voice.print("broker: " + why)
	if x.record.Broker.Required {
		x.stop("broker")
	}
}

// recordSummary puts the numbers of the broker's summary into the record.
func (x *brokerEvents) recordSummary(m *wire.Summary) {
	r := x.record.Broker
	r.Calls, r.Denied, r.Lines = spec.Some(m.Calls), spec.Some(m.Denied), m.Lines
	for _, c := range m.ByTool {
		if c.Tool == "" { // calls of names that no tool has
			continue
		}
		r.ByTool = append(r.ByTool, audit.ToolCalls{Tool: c.Tool, Calls: c.Calls, Denied: c.Denied})
	}
}

// askSummary asks the broker for its summary, when no process of the sandbox is left.
func (x *brokerEvents) askSummary() {
	b := &x.broker
	if b.Helper == nil {
		return
	}
	x.over = true
	if !b.ended {
		_ = b.conn.Send(&wire.End{})
		b.Finish(x.receive)
	}
	if !b.ended {
		x.recordLoss(brokerName + " did not report its calls in time")
	}
	b.close()
	if !x.record.Broker.Calls.Set {
		x.dropPartialLine()
	}
}

// dropPartialLine cuts a partial line from the end of the audit log: a broker that is
// killed may leave one, since the kernel ends a write between two pages.
func (x *brokerEvents) dropPartialLine() {
	fd, err := unix.Open(x.broker.runDir()+"/"+wire.AuditFile, unix.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	size, err := unix.Seek(fd, 0, unix.SEEK_END)
	for part := make([]byte, 4<<10); err == nil && size > 0; {
		at := max(size-int64(len(part)), 0)
		n, err := unix.Pread(fd, part[:size-at], at)
		if err != nil || n == 0 {
			return
		}
		end := bytes.LastIndexByte(part[:n], '\n') + 1
		if size = at + int64(end); end > 0 {
			break
		}
	}
	_ = unix.Ftruncate(fd, size)
}

// close ends the broker and removes its sockets.
func (b *broker) close() {
	b.Kill()
	if b.Helper == nil {
		return
	}
	_ = unix.Unlink(b.runDir() + "/" + wire.SocketName) // a broker that was killed leaves it behind
	if b.door >= 0 {
		_ = unix.Unlink(b.ask().Socket)
		_ = unix.Unlink(b.runDir() + "/token") // only a container has this file
		_ = unix.Unlink(b.runDir() + "/plan")
	}
}

// withheldForBroker returns the variables that hold the secrets of a Broker document, which the
// command must not get, and the files with its tools' specs, which it must not write. A
// document that cannot be read is reported by the broker.
func withheldForBroker(text []byte) (variables, specs []string) {
	root, err := doc.ParseJSON("", text)
	if err != nil {
		root, err = doc.ParseYAML("", text)
	}
	if err != nil {
		return nil, nil
	}
	of := func(key, member string) (all []string) {
		if named := root.Get(key); named != nil {
			for _, m := range named.Members {
				if n := m.Value.Get(member); n != nil && n.Kind == doc.String {
					all = append(all, n.Text)
				}
			}
		}
		return all
	}
	return of("secrets", "env"), of("tools", "spec")
}
