package wrap

import (
	"strconv"
)

// AppendJSON writes the Plan as JSON, two spaces to a level. Values of the
// environment do not enter it.
func (p *Plan) AppendJSON(dst []byte) []byte {
	w := &printer{b: dst}
	w.open('{')
	w.key("command")
	w.open('{')
	w.list("argv", p.Command.Argv)
	w.text("executable", p.Command.Executable)
	w.text("dir", p.Command.Dir)
	w.close('}')
	w.text("rung", p.Rung.String())
	w.text("base", p.Base.String())
	var names []string
	for _, n := range p.Namespaces {
		names = append(names, n.String())
	}
	w.list("namespaces", names)
	w.key("ids")
	w.ids(p.IDs)
	w.flag("loopback", p.Loopback)
	if p.Processes != 0 {
		w.num("pid_max", int64(p.Processes))
	}
	w.key("mounts")
	w.open('[')
	for i := range p.Mounts {
		w.item()
		w.mount(&p.Mounts[i])
	}
	w.close(']')
	w.flag("remount", p.Remount)
	w.flag("no_new_privs", p.NoNewPrivs)
	w.landlock(p)
	w.caps(p)
	w.filter(&p.Filter)
	w.text("counter", p.Counter.String())
	w.text("notify", p.Notify.String())
	w.flag("sockets", p.Sockets)
	w.flag("own_group", p.OwnGroup)
	w.limits(&p.Limits)
	w.list("environment", envNames(p.Env))
	w.watch(&p.Watch)
	w.programs(&p.Programs)
	w.key("enforcement")
	w.open('[')
	for i := range p.Enforcement {
		e := &p.Enforcement[i]
		w.item()
		w.open('{')
		w.text("field", string(e.Field))
		w.text("asked", e.Asked)
		w.text("status", e.Status.String())
		w.text("by", e.By)
		w.text("reason", e.Reason)
		w.close('}')
	}
	w.close(']')
	w.close('}')
	return w.b
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

// printer writes indented JSON.
type printer struct {
	b     []byte
	depth int
	first bool
	flat  bool // no line breaks within this value
}

func (w *printer) open(c byte) {
	w.b = append(w.b, c)
	w.depth++
	w.first = true
}

func (w *printer) close(c byte) {
	w.depth--
	if !w.first {
		w.line()
	}
	w.b = append(w.b, c)
	w.first = false
}

func (w *printer) line() {
	if w.flat {
		return
	}
	w.b = append(w.b, '\n')
	for i := 0; i < w.depth; i++ {
		w.b = append(w.b, "  "...)
	}
}

func (w *printer) item() {
	if !w.first {
		w.b = append(w.b, ',')
		if w.flat {
			w.b = append(w.b, ' ')
		}
	}
	w.first = false
	w.line()
}

func (w *printer) key(k string) {
	w.item()
	w.str(k)
	w.b = append(w.b, ": "...)
}

// text writes a member, left out where it is empty.
func (w *printer) text(k, v string) {
	if v != "" {
		w.key(k)
		w.str(v)
	}
}

// flag writes a member that is true, and leaves out one that is not.
func (w *printer) flag(k string, v bool) {
	if v {
		w.key(k)
		w.b = append(w.b, "true"...)
	}
}

func (w *printer) num(k string, v int64) {
	w.key(k)
	w.b = strconv.AppendInt(w.b, v, 10)
}

func (w *printer) list(k string, v []string) {
	if len(v) == 0 {
		return
	}
	w.key(k)
	w.open('[')
	for _, s := range v {
		w.item()
		w.str(s)
	}
	w.close(']')
}

// raw writes a value that is JSON already.
func (w *printer) raw(s string) { w.b = append(w.b, s...) }

func (w *printer) str(s string) { w.b = AppendString(w.b, s) }

func (w *printer) ids(m IDMap) {
	switch {
	case m.All:
		w.str("all")
	case len(m.UIDs) == 0:
		w.str("as on the host")
	default:
		w.str("the caller's own")
	}
}

func (w *printer) mount(m *Mount) {
	w.flat = true
	w.open('{')
	w.text("op", m.Op.String())
	w.text("source", m.Source)
	w.text("lower", m.Lower)
	w.text("upper", m.Upper)
	w.text("work", m.Work)
	w.text("target", m.Target)
	if m.Slot != 0 {
		w.num("slot", int64(m.Slot))
	}
	if m.Own != 0 {
		w.num("own", int64(m.Own))
	}
	if m.Mode != ModeKeep {
		w.text("mode", m.Mode.String())
	}
	if m.Perm != 0 {
		w.text("perm", strconv.FormatUint(uint64(m.Perm), 8))
	}
	if m.Size != 0 {
		w.num("size", m.Size)
	}
	w.flag("soft", m.Soft)
	w.text("for", string(m.For))
	w.text("why", m.Why)
	w.close('}')
	w.flat = false
}

func (w *printer) landlock(p *Plan) {
	if p.LandlockABI == 0 {
		return
	}
	w.key("landlock")
	w.open('{')
	w.num("abi", int64(p.LandlockABI))
	w.flag("logs", p.LandlockLogs)
	w.text("fs", p.Landlock.FS.String())
	w.text("scope", p.Landlock.Scope.String())
	w.key("rules")
	w.open('[')
	for i := range p.Landlock.Rules {
		r := &p.Landlock.Rules[i]
		w.item()
		w.flat = true
		w.open('{')
		w.text("path", r.Path)
		w.text("allow", r.Allow.String())
		w.text("why", r.Why)
		w.close('}')
		w.flat = false
	}
	w.close(']')
	w.close('}')
}

func (w *printer) caps(p *Plan) {
	if p.KeepCaps {
		w.text("capabilities", "as the caller's")
		return
	}
	w.key("capabilities")
	w.flat = true
	w.open('[')
	for _, c := range p.Caps {
		w.item()
		w.b = strconv.AppendInt(w.b, int64(c), 10)
	}
	w.close(']')
	w.flat = false
}

func (w *printer) watch(x *Watch) {
	w.key("watch")
	w.open('{')
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
	w.text("record", x.Record)
	w.close('}')
}
