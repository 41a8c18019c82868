package wrap

import (
	"math"
	"strconv"

	"sbx/internal/doc"
)

// AppendJSON writes the Plan as JSON, two spaces to a level. Values of the
// environment do not enter it.
func (p *Plan) AppendJSON(dst []byte) []byte {
	w := &printer{doc.Writer{B: dst, Lines: math.MaxInt}}
	w.Open('{')
	w.Key("command")
	w.Open('{')
	w.list("argv", p.Command.Argv)
	w.KeyText("executable", p.Command.Executable)
	w.KeyText("dir", p.Command.Dir)
	w.Close('}')
	w.KeyText("rung", p.Rung.String())
	w.KeyText("base", p.Base.String())
	var names []string
	for _, n := range p.Namespaces {
		names = append(names, n.String())
	}
	w.list("namespaces", names)
	w.Key("ids")
	w.ids(p.IDs)
	w.KeyFlag("loopback", p.Loopback)
	if p.Processes != 0 {
		w.KeyInt("pid_max", int64(p.Processes))
	}
	w.Key("mounts")
	w.Open('[')
	for i := range p.Mounts {
		w.Item()
		w.mount(&p.Mounts[i])
	}
	w.Close(']')
	w.KeyFlag("remount", p.Remount)
	w.KeyFlag("no_new_privs", p.NoNewPrivs)
	w.landlock(p)
	w.caps(p)
	w.filter(&p.Filter)
	w.KeyText("counter", p.Counter.String())
	w.KeyText("notify", p.Notify.String())
	w.KeyFlag("sockets", p.Sockets)
	w.KeyFlag("relay", p.Relay)
	w.KeyFlag("publish", p.Publish)
	if p.Narrow != nil {
		w.Key("narrow")
		w.Open('{')
		w.list("reach", p.Narrow.Reach)
		w.list("sockets", p.Narrow.Sockets)
		w.Close('}')
	}
	w.KeyFlag("own_group", p.OwnGroup)
	w.limits(&p.Limits)
	w.list("environment", envNames(p.Env))
	w.watch(&p.Watch)
	w.programs(&p.Programs)
	w.Key("enforcement")
	w.Open('[')
	for i := range p.Enforcement {
		e := &p.Enforcement[i]
		w.Item()
		w.Open('{')
		w.KeyText("field", string(e.Field))
		w.KeyText("asked", e.Asked)
		w.KeyText("status", e.Status.String())
		w.KeyText("by", e.By)
		w.KeyText("reason", e.Reason)
		w.Close('}')
	}
	w.Close(']')
	w.Close('}')
	return w.B
}

func envNames(env []string) []string {
	names := make([]string, 0, len(env))
	for _, kv := range env {
		for i := 0; i < len(kv); i++ {
			if kv[i] == '=' {
				names = append(names, kv[:i])
				break
			}
		}
	}
	return names
}

// printer writes a Plan.
type printer struct{ doc.Writer }

// list writes a member, left out where it is empty.
func (w *printer) list(k string, v []string) {
	if len(v) > 0 {
		w.KeyList(k, v)
	}
}

func (w *printer) ids(m IDMap) {
	switch {
	case m.All:
		w.Str("all")
	case len(m.UIDs) == 0:
		w.Str("as on the host")
	default:
		w.Str("the caller's own")
	}
}

func (w *printer) mount(m *Mount) {
	w.OpenFlat('{')
	w.KeyText("op", m.Op.String())
	w.KeyText("source", m.Source)
	w.KeyText("lower", m.Lower)
	w.KeyText("upper", m.Upper)
	w.KeyText("work", m.Work)
	w.KeyText("target", m.Target)
	if m.Slot != 0 {
		w.KeyInt("slot", int64(m.Slot))
	}
	if m.Own != 0 {
		w.KeyInt("own", int64(m.Own))
	}
	if m.Mode != ModeKeep {
		w.KeyText("mode", m.Mode.String())
	}
	if m.Perm != 0 {
		w.KeyText("perm", strconv.FormatUint(uint64(m.Perm), 8))
	}
	if m.Size != 0 {
		w.KeyInt("size", m.Size)
	}
	w.KeyFlag("soft", m.Soft)
	w.KeyText("for", string(m.For))
	w.KeyText("why", m.Why)
	w.Close('}')
}

func (w *printer) landlock(p *Plan) {
	if p.LandlockABI == 0 {
		return
	}
	w.Key("landlock")
	w.Open('{')
	w.KeyInt("abi", int64(p.LandlockABI))
	w.KeyFlag("logs", p.LandlockLogs)
	w.KeyText("fs", p.Landlock.FS.String())
	w.KeyText("scope", p.Landlock.Scope.String())
	w.Key("rules")
	w.Open('[')
	for i := range p.Landlock.Rules {
		r := &p.Landlock.Rules[i]
		w.Item()
		w.OpenFlat('{')
		w.KeyText("path", r.Path)
		w.KeyText("allow", r.Allow.String())
		w.KeyText("why", r.Why)
		w.Close('}')
	}
	w.Close(']')
	w.Close('}')
}

func (w *printer) caps(p *Plan) {
	if p.KeepCaps {
		w.KeyText("capabilities", "as the caller's")
		return
	}
	w.Key("capabilities")
	w.OpenFlat('[')
	for _, c := range p.Caps {
		w.Item()
		w.B = strconv.AppendInt(w.B, int64(c), 10)
	}
	w.Close(']')
}

func (w *printer) watch(x *Watch) {
	w.Key("watch")
	w.Open('{')
	w.list("trees", x.Trees)
	w.list("git_folders", x.Git)
	var linked []string
	for i := range x.Worktrees {
		linked = append(linked, x.Worktrees[i].Admin)
	}
	w.list("worktrees", linked)
	w.list("allowed", x.Allowed)
	var paths []string
	for i := range x.Protected {
		paths = append(paths, x.Protected[i].Path)
	}
	w.list("protected", paths)
	w.list("unmade", x.Unmade)
	w.list("views", x.elsewhere())
	w.list("masked", x.Masked)
	var folders []string
	for i := range x.Folders {
		folders = append(folders, x.Folders[i].Inside)
	}
	w.list("folders", folders)
	w.list("sockets", x.Sockets)
	w.KeyText("record", x.Record)
	w.Close('}')
}
