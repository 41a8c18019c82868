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

// broker is the program sbx-broker, which runs tools for the command outside of its
// sandbox.
type broker struct {
	*planned
	*launch.Helper // nil if there is no broker
	conn           wire.Conn
	why            string // why a requested broker is missing
	token          string // identifies the command to the broker; only the sandbox has it
	documents      [2]wire.Document
	door           int  // the broker's socket if the command has the host's network; -1 for none
	told           bool // Start was sent
	ended          bool // the broker sends nothing more
}

const (
	brokerName = "sbx-broker"
	brokerDoes = "runs tools for the command"
)

// doorName is the name of door in the run's directory.
const doorName = "door.sock"

// maxDocument is the largest Broker document or plan, in bytes.
const maxDocument = 1 << 20

// brokerPatience is the time limit for the broker to check its documents.
const brokerPatience = 10 * time.Second

// start reads the broker's documents and starts the program, so that it starts while the
// sandbox is prepared.
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
	variables, specs := withheldForBroker(b.documents[0].Text)
	b.Resolved.Withhold(variables)
	b.specs = nil
	for _, name := range specs {
		if !strings.HasPrefix(name, "/") {
			name = b.documents[0].Dir + "/" + name
		}
		if real, err := spec.Real(name, spec.HostPaths{}); err == nil { // the broker reports files that cannot be read
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

// BrokerOf says how an agent reaches the broker of a spec: over the sandbox's own network,
// or else through the program sbx-broker, which finds the socket.
func BrokerOf(r *spec.Resolved) agent.Broker {
	if r.Broker.File.Abs == "" {
		return agent.Broker{}
	}
	switch path, why := beside(brokerName, brokerDoes); {
	case why != "":
		return agent.Broker{}
	case r.Network != spec.NetworkHost:
		return agent.Broker{URL: "http://127.0.0.1:" + strconv.Itoa(wire.Port) + "/mcp"}
	case r.AccessMode.Guards(): // the command may not see sbx's own directory
		return agent.Broker{Command: []string{wrap.ConnectPath, "connect"}}
	default:
		return agent.Broker{Command: []string{path, "connect"}}
	}
}

// ask returns what the Plan needs to know about the broker.
func (b *broker) ask() wrap.BrokerAsk {
	if b.Resolved.Broker.File.Abs == "" {
		return wrap.BrokerAsk{}
	}
	path, _ := beside(brokerName, brokerDoes)
	return wrap.BrokerAsk{Why: b.why, Token: b.token, Plan: string(b.documents[1].Text), Socket: b.runDir() + "/" + doorName, Program: path, PlanFile: b.runDir() + "/plan"}
}

// runDir returns this run's own directory in the state directory.
func (b *broker) runDir() string {
	return audit.StateDir(b.Inputs.Environ, b.Inputs.Home) + "/runs/" + b.ID
}

// sendStart sends the broker the message Start while the child makes its mounts, and creates the
// socket for a command that has the host's network.
func (b *broker) sendStart(seen *view.Tree) error {
	if b.Helper == nil || !b.Plan.Brokered {
		b.Kill()
		return nil
	}
	again := b.told // this is another attempt, at the next fallback level
	if again {
		b.close()
		if err := b.start(); err != nil {
			return err
		}
	}
	if err := b.open(); err != nil {
		return err
	}
	dirFD, dir, err := b.sink.Run()
	if err != nil {
		return &spec.Problem{Field: "broker.file", Do: "start the broker", Why: "there is no directory for its audit: " + err.Error(), Help: "set XDG_STATE_HOME to a directory that can be written"}
	}
	if again { // no command has run yet, so the broker's directory has no calls in it
		_ = unix.Unlinkat(dirFD, wire.AuditFile, 0)
		_ = unix.Unlinkat(dirFD, "broker", unix.AT_REMOVEDIR)
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
	_ = b.conn.Send(start) // if the broker is gone, the end of the socket shows it
	if !b.Plan.Broker {
		if b.door, err = listenUnix(dirFD, doorName); err != nil {
			return &spec.Problem{Field: "broker.file", On: b.ask().Socket, Do: "make the broker's socket", Why: err.Error()}
		}
	}
	return nil
}

// startForContainer starts the broker of a command that runs in a container.
func (b *broker) startForContainer(ask *outer.Ask) error {
	if err := b.start(); err != nil || b.why != "" || b.Resolved.Broker.File.Abs == "" {
		return err
	}
	ask.Broker, ask.Sources = b.ask(), b.sourcePaths()
	ask.Broker.TokenFile = b.runDir() + "/token"
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

// writeSecret creates a file that only its owner may read.
func writeSecret(dir int, name, text string) error {
	fd, err := unix.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o400)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_, err = unix.Write(fd, []byte(text))
	return err
}

func lostBroker(err error) error {
	return &spec.Problem{Field: "broker.file", Do: "start the broker", Why: brokerName + " ended before it was ready: " + err.Error(), Help: "run " + brokerName + " --version by hand to see why"}
}

// granted returns what the spec gives the sandbox, whose files are tree: a tool may get
// nothing beyond that.
func (b *broker) granted(tree *view.Tree) wire.Granted {
	r := b.Resolved
	g := wire.Granted{Trees: b.Plan.Watch.Trees, Any: !r.Limited}
	for _, at := range tree.Places() {
		grant := tree.At(at)
		if grant.Copied {
			grant.Source = "" // a tool that writes there would write to the host, and the command does not
		}
		g.View = append(g.View, wire.Place{Path: at, Access: grant.Access.String(), Source: grant.Source, Protected: grant.Protected})
	}
	if g.View == nil { // the sandbox mounts nothing
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

// handSocket gives the broker the sandbox's listening socket and waits until the broker has checked
// its documents. The error is the reason why the command must not start.
func (b *broker) handSocket(p *launch.Process, behind bool) error {
	if b.Helper == nil {
		return nil
	}
	fd, kind := p.BrokerSocket(), "tcp"
	if b.door >= 0 {
		fd, kind = b.door, "unix"
	}
	_ = b.conn.Send(&wire.Sockets{Kinds: []string{kind}}, fd)
	unix.Close(fd) // if the broker is gone, the kernel refuses connections
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
	return lostBroker(cmp.Or(err, error(unix.EPROTO)))
}

// listenUnix creates a listening socket at a name in a directory. The path of the
// directory may be longer than a socket's address can hold (unix(7): 108 bytes).
func listenUnix(dir int, name string) (fd int, err error) {
	path := "/proc/self/fd/" + strconv.Itoa(dir) + "/" + name
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
