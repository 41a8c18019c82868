package run

import (
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/relay/wire"
	"sbx/internal/sys"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/launch"
)

// relay is the program sbx-egress, which makes the command's connections.
type relay struct {
	*planned
	*launch.Helper        // nil if there is no relay
	why            string // why a requested relay is missing
}

// relayName is the name of the relay's program, which is installed next to sbx.
const (
	relayName = "sbx-egress"
	relayDoes = "connects for the command"
)

// locate returns the path of the relay's program, and notes the reason if there is none;
// "" if no relay is needed.
func (x *relay) locate() (path string) {
	if x.Resolved.Network != spec.NetworkAllow && len(x.Resolved.Listen) == 0 {
		return ""
	}
	path, x.why = beside(relayName, relayDoes)
	return path
}

// beside returns the path of a program next to sbx, or the reason why it cannot be
// started.
func beside(name, does string) (path, why string) {
	path = sys.SelfPath()
	path = path[:strings.LastIndexByte(path, '/')+1] + name
	err := error(unix.ENOENT)
	if path[0] == '/' {
		err = unix.Access(path, unix.X_OK)
	}
	if err != nil {
		return "", name + ", which " + does + ", cannot be started next to sbx (" + path + "): " + err.Error()
	}
	return path, ""
}

// start starts the relay, so that it starts while the sandbox is prepared, and sends it
// the rules and the published ports. The error is about a port that is not available.
func (x *relay) start() error {
	path, opening := x.locate(), wrap.Open(x.Resolved, &x.Host)
	leads := opening.Egress && x.Counter != wrap.CounterPtrace
	if path == "" || !leads && !opening.Doors {
		return nil
	}
	var env []string
	for _, entry := range x.Inputs.Environ {
		if name, _, _ := strings.Cut(entry, "="); leads && spec.IsProxy(name) {
			env = append(env, entry)
		}
	}
	helper, err := launch.StartHelper(unix.SOCK_SEQPACKET, []string{path}, env)
	if err != nil {
		x.why = path + " cannot be started: " + err.Error()
		return nil
	}
	x.Helper = helper
	for i := range x.Resolved.Reach {
		helper.Tell(wire.AppendRule(nil, x.Resolved.Reach[i].Text), nil)
	}
	return x.publish()
}
