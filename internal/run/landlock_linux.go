package run

import (
	"time"

	"sbx/audit"
	"sbx/audit/listen"
	"sbx/seccomp"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/launch"
)

// landlog reads Landlock's denials from the kernel's audit.
type landlog struct {
	*events
	log *audit.LandlockLog // nil if it is not read
}

// listen reads the denials, if the launch enabled their audit. This only describes them:
// without it Landlock denies the same, and nobody learns why.
func (x *landlog) listen(hooks *launch.Hooks) {
	if !x.Plan.LandlockLogs {
		return
	}
	log, err := audit.OpenLandlockLog(x.process.Child())
	if err != nil {
		return
	}
	at := len(hooks.Wait)
	hooks.Wait = append(hooks.Wait, launch.Waiter{FD: log.FD(), Event: func() {
		for _, d := range log.Read() {
			x.denied(&d)
		}
		hooks.Wait[at].FD = log.FD()
	}})
	x.log = log
}

// denied records a denial of Landlock, unless the listener has described the call already.
func (x *landlog) denied(d *audit.Denial) {
	known, ok := seenAs(d.Blockers[0])
	for i := 1; i < len(d.Blockers) && !ok; i++ {
		known, ok = seenAs(d.Blockers[i])
	}
	if known.by != seccomp.NotifyNone && x.Plan.Notify >= known.by {
		return
	}
	v := audit.Violation{At: time.Now(), PID: d.PID, Program: d.Program, Kind: known.kind, Action: known.action, Target: d.Target}
	switch {
	case v.Kind == "network":
		v.Rule, v.Act = NetworkRule(x.Resolved), wrap.Act{Kind: wrap.ToReachElse}
		if known.blocker == "net.connect_tcp" {
			v.Act = reachAct(listen.Target(splitTarget(v.Target)))
		}
	case v.Kind == "syscall":
		v.Rule = string(wrap.FieldSideDoors)
	case known.blocker == "fs.execute" && x.Resolved.Limited:
		v.Rule, v.AllowWith = x.programRule(listen.ByAllow, v.Target)
	default:
		x.explain(&v)
	}
	if v.Target == "" {
		v.AllowWith, v.Act = "", wrap.Act{}
	}
	x.record.Violations.Add(v)
	what := spec.Name(v.Target)
	if what != "" {
		what += ": "
	}
	x.printOnce("landlock "+v.Kind+v.Rule+v.Action, v, what+"Landlock denied an attempt to "+v.Action)
}

// seen says how the record names an act that Landlock denied, and from which notifications
// on the listener describes it itself.
type seen struct {
	blocker, kind, action string
	by                    seccomp.Notify // NotifyNone: never
}

var blocked = [...]seen{
	{"fs.execute", "command", "execute", seccomp.NotifyExec},
	{"fs.read_file", "filesystem", "open for reading", seccomp.NotifyNone},
	{"fs.read_dir", "filesystem", "open", seccomp.NotifyNone},
	{"fs.write_file", "filesystem", "open for writing", seccomp.NotifyOpens},
	{"fs.truncate", "filesystem", "truncate", seccomp.NotifyNone},
	{"fs.ioctl_dev", "filesystem", "ioctl", seccomp.NotifyNone},
	{"fs.remove_dir", "filesystem", "remove a directory", seccomp.NotifyRefused},
	{"fs.remove_file", "filesystem", "remove", seccomp.NotifyRefused},
	{"fs.make_char", "filesystem", "create", seccomp.NotifyRefused},
	{"fs.make_block", "filesystem", "create", seccomp.NotifyRefused},
	{"fs.make_fifo", "filesystem", "create", seccomp.NotifyRefused},
	{"fs.make_sock", "filesystem", "create", seccomp.NotifyNone},
	{"fs.make_reg", "filesystem", "create", seccomp.NotifyOpens},
	{"fs.make_dir", "filesystem", "create a directory", seccomp.NotifyRefused},
	{"fs.make_sym", "filesystem", "create a link", seccomp.NotifyRefused},
	{"fs.refer", "filesystem", "rename", seccomp.NotifyRefused},
	{"fs.change_topology", "syscall", "mount", seccomp.NotifyRefused},
	{"net.bind_tcp", "network", "bind", seccomp.NotifyNone},
	{"net.connect_tcp", "network", "connect", seccomp.NotifyNone},
	{"net.bind_udp", "network", "bind", seccomp.NotifyNone},
	{"net.connect_send_udp", "network", "connect by UDP", seccomp.NotifyNone},
	{"scope.abstract_unix_socket", "network", "connect", seccomp.NotifyNone},
	{"scope.signal", "syscall", "kill", seccomp.NotifyNone},
	{"ptrace", "syscall", "ptrace", seccomp.NotifyNone},
}

func seenAs(blocker string) (seen, bool) {
	for i := range blocked {
		if blocked[i].blocker == blocker {
			return blocked[i], true
		}
	}
	return seen{blocker: blocker, kind: "syscall", action: blocker}, false
}

// end reads the denials that are left.
func (x *landlog) end() {
	if x.log == nil {
		return
	}
	for _, d := range x.log.Read() {
		x.denied(&d)
	}
	x.log.Close()
}
