package run

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/broker/wire"
	"sbx/internal/doc"
	"sbx/internal/read"
	"sbx/internal/sys"
	"sbx/internal/view"
	"sbx/spec"
	"sbx/spec/agent"
	"sbx/wrap"
	"sbx/wrap/launch"
	"sbx/wrap/outer"
)

// broker is the program that runs tools for the command, outside of its sandbox.
type broker struct {
	*planned
	*launch.Helper // nil for none
	conn           wire.Conn
	why            string // there is none, where one is wanted
	token          string // by which the command is known to it; it is in the sandbox alone
	documents      [2]wire.Document
	door           int  // the socket of a command that has the host's network; -1 for none
	told           bool // how the run is to be decided
	ended          bool // it says nothing any more
}

const (
	brokerName = "sbx-broker"
	brokerDoes = "runs tools for the command"
)

// doorName is the socket of a command that has the host's network, in the run's directory.
const doorName = "door.sock"

// maxDocument is how long a broker's document, or a plan, may be in bytes.
const maxDocument = 1 << 20

// brokerPatience is how long the broker may take to judge its documents.
const brokerPatience = 10 * time.Second

// start reads the broker's documents and starts it: its own start passes beside
// the launch.
func (b *broker) start() error {
	if b.Resolved.Broker.File.Abs == "" {
		return nil
	}
	asked := [2]*spec.Path{&b.Resolved.Broker.File, &b.Resolved.Broker.Plan}
	for i, p := range asked {
		if p.Abs == "" {
			continue
		}
		text, ok := read.Regular(p.Real, maxDocument)
		if !ok {
			return &spec.Problem{Field: p.Field, On: p.At, Do: "read " + spec.Name(p.Abs), Why: "it is not a readable file, or longer than 1 MiB"}
		}
		b.documents[i] = wire.Document{Name: p.Asked, Dir: view.Parent(p.Real), Text: text}
	}
	variables, specs := brokersOwn(b.documents[0].Text)
	b.Resolved.Withhold(variables)
	b.specs = nil
	for _, name := range specs {
		if !strings.HasPrefix(name, "/") {
			name = b.documents[0].Dir + "/" + name
		}
		if real, err := spec.Real(name, spec.HostPaths{}); err == nil { // the broker says what cannot be read
			b.specs = append(b.specs, real)
		}
	}
	path, why := beside(brokerName, brokerDoes)
	if b.why = why; why != "" || b.DryRun {
		return nil
	}
	if b.token == "" {
		var random [32]byte
		if _, err := unix.Getrandom(random[:], 0); err != nil {
			return err
		}
		b.token = base64.RawURLEncoding.EncodeToString(random[:])
	}
	helper, err := launch.StartHelper(unix.SOCK_STREAM, []string{path, "serve"}, b.Inputs.Environ)
	if err != nil {
		b.why = path + " cannot be started: " + err.Error()
		return nil
	}
	b.Helper, b.conn, b.door = helper, wire.Conn{FD: helper.FD}, -1
	return nil
}

// BrokerOf is how an agent reaches the broker of a spec: over its own network, else by
// the broker's program, which finds the socket.
func BrokerOf(r *spec.Resolved) agent.Broker {
	if r.Broker.File.Abs == "" {
		return agent.Broker{}
	}
	switch path, why := beside(brokerName, brokerDoes); {
	case why != "":
		return agent.Broker{}
	case r.Network != spec.NetworkHost:
		return agent.Broker{URL: "http://127.0.0.1:" + strconv.Itoa(wire.Port) + "/mcp"}
	case r.AccessMode.Guards(): // sbx's own directory may be private inside
		return agent.Broker{Command: []string{wrap.ConnectPath, "connect"}}
	default:
		return agent.Broker{Command: []string{path, "connect"}}
	}
}

// ask is the broker as the Plan needs to know it.
func (b *broker) ask() wrap.BrokerAsk {
	if b.Resolved.Broker.File.Abs == "" {
		return wrap.BrokerAsk{}
	}
	path, _ := beside(brokerName, brokerDoes)
	return wrap.BrokerAsk{Why: b.why, Token: b.token, Plan: string(b.documents[1].Text), Socket: b.runFolder() + "/" + doorName, Program: path, PlanFile: b.runFolder() + "/plan"}
}

// runFolder is this run's own in the state directory.
func (b *broker) runFolder() string {
	return audit.StateDir(b.Inputs.Environ, b.Inputs.Home) + "/runs/" + b.ID
}

// tell tells the broker how to decide, while the child is busy with its mounts,
// and makes the socket of a command that has the host's network.
func (b *broker) tell(seen *view.Tree) error {
	if b.Helper == nil || !b.Plan.Brokered {
		b.Kill()
		return nil
	}
	again := b.told // for another rung
	if again {
		b.close()
		if err := b.start(); err != nil {
			return err
		}
	}
	if err := b.open(); err != nil {
		return err
	}
	folder, dir, err := b.sink.Run()
	if err != nil {
		return &spec.Problem{Field: "broker.file", Do: "start the broker", Why: "there is no directory for its audit: " + err.Error(), Help: "set XDG_STATE_HOME to a directory that can be written"}
	}
	if again { // no command was there to call it: what it had begun is empty
		_ = unix.Unlinkat(folder, wire.AuditFile, 0)
		_ = unix.Unlinkat(folder, "broker", unix.AT_REMOVEDIR)
	}
	b.told = true
	hash := sha256.Sum256([]byte(b.token))
	start := &wire.Start{Execution: b.ID, TokenSHA256: doc.Hex(hash[:]), Workspace: b.Plan.Command.Dir, RunDir: dir, SBX: sys.SelfPath(),
		Broker: b.documents[0], Granted: b.granted(seen)}
	if b.documents[1].Text != nil {
		start.Plan = &b.documents[1]
	}
	if j := b.Resolved.Job; j != nil {
		start.Output = j.Output.Real
	}
	_ = b.conn.Send(start) // one that is gone shows by the end of the socket
	if !b.Plan.Broker {
		if b.door, err = listenUnix(folder, doorName); err != nil {
			return &spec.Problem{Field: "broker.file", On: b.ask().Socket, Do: "make the broker's socket", Why: err.Error()}
		}
	}
	return nil
}

// toolPlan starts the broker of a command in a container.
func (b *broker) behind(ask *outer.Ask) error {
	if err := b.start(); err != nil || b.why != "" || b.Resolved.Broker.File.Abs == "" {
		return err
	}
	ask.Broker, ask.Sources = b.ask(), b.sourcePaths()
	ask.Broker.TokenFile = b.runFolder() + "/token"
	if b.DryRun {
		return nil
	}
	if err := b.open(); err != nil {
		return err
	}
	dir, _, err := b.sink.Run()
	if err == nil {
		err = writeSecret(dir, "token", b.token)
	}
	if err == nil && ask.Broker.Plan != "" {
		err = writeSecret(dir, "plan", ask.Broker.Plan)
	}
	if err != nil {
		return &spec.Problem{Field: "broker.file", On: ask.Broker.TokenFile, Do: "write the broker's token and plan", Why: err.Error()}
	}
	return nil
}

// writeSecret makes a file that its owner alone may read.
func writeSecret(dir int, name, text string) error {
	fd, err := unix.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o400)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_, err = unix.Write(fd, []byte(text))
	return err
}

func brokerGone(err error) error {
	return &spec.Problem{Field: "broker.file", Do: "start the broker", Why: brokerName + " ended before it was ready: " + err.Error(), Help: "run " + brokerName + " --version by hand to see why"}
}

// granted is what the sandbox, in which tree is seen, has of its own: nobody is to have
// more.
func (b *broker) granted(tree *view.Tree) wire.Granted {
	r := b.Resolved
	g := wire.Granted{Trees: b.Plan.Watch.Trees, Any: !r.Limited}
	for _, at := range tree.Places() {
		grant := tree.At(at)
		if grant.Copied {
			grant.Source = "" // what a tool wrote there would reach the host
		}
		g.View = append(g.View, wire.Place{Path: at, Access: grant.Access.String(), Source: grant.Source, Protected: grant.Protected})
	}
	if g.View == nil { // nothing is mounted
		g.View = []wire.Place{{Path: "/", Access: view.Write.String(), Source: "/"}}
	}
	switch r.Network {
	case spec.NetworkHost:
		g.Reach = []string{"*"}
	case spec.NetworkAllow:
		for i := range r.Reach {
			g.Reach = append(g.Reach, r.Reach[i].Text)
		}
	}
	for i := range r.Allow {
		g.Programs = append(g.Programs, r.Allow[i].Path.Real)
	}
	for _, c := range r.Broker.Grant {
		g.Caps = append(g.Caps, c.String())
	}
	return g
}

// hand gives the broker the sandbox's socket, and waits for it to have judged its
// documents. The error is why nothing may start.
func (b *broker) hand(p *launch.Process, behind bool) error {
	if b.Helper == nil {
		return nil
	}
	fd, kind := p.BrokerSocket(), "tcp"
	if b.door >= 0 {
		fd, kind = b.door, "unix"
	}
	_ = b.conn.Send(&wire.Sockets{Kinds: []string{kind}}, fd)
	unix.Close(fd) // where it is gone the kernel refuses
	if !behind && sys.Variable(b.Plan.Env, wire.URLVariable) == "unix:"+wire.SocketFile {
		// The sandbox has it by its mount, and nobody outside is to have it by a name. A
		// container's engine mounts it later.
		_ = unix.Unlink(b.ask().Socket)
	}
	m, _, err := b.conn.Receive(brokerPatience)
	switch m := m.(type) {
	case *wire.Ready:
		b.record.Broker = &audit.Broker{Document: m.BrokerSHA256, Plan: m.PlanSHA256, Required: m.Required}
		return nil
	case *wire.Refused:
		return &spec.Problem{Field: spec.Field(m.Field), On: m.On, Do: m.Do, Why: m.Why, Help: m.Help}
	}
	return brokerGone(cmp.Or(err, error(unix.EPROTO)))
}

// listenUnix is a listening socket at a name in a directory, whose path may be longer than
// an address of a socket has room for (unix(7): 108 bytes).
func listenUnix(folder int, name string) (fd int, err error) {
	path := "/proc/self/fd/" + strconv.Itoa(folder) + "/" + name
	if fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return -1, err
	}
	if err = unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err == nil {
		err = unix.Listen(fd, backlog)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}
