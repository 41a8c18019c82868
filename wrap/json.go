package wrap

import (
	"math"
	"strconv"
	"strings"

	"sbx/internal/doc"
	"sbx/landlock"
	"sbx/seccomp"
)

// AppendJSON appends the Plan as JSON, indented by two spaces. It leaves out the values of
// environment variables.
func (p *Plan) AppendJSON(dst []byte) []byte {
	w := &printer{doc.Writer{B: dst, Lines: math.MaxInt}}
	w.Open('{')
	w.KeyOpen("command", '{')
	w.KeyTexts("argv", p.Command.Argv)
	w.KeyText("executable", p.Command.Executable)
	w.KeyText("dir", p.Command.Dir)
	w.Close('}')
	w.KeyText("rung", p.Rung.String())
	w.KeyText("base", p.Base.String())
	w.KeyTexts("namespaces", texts(p.Namespaces, (*Namespace).String))
	w.Key("ids")
	w.ids(p.IDs)
	w.KeyFlag("loopback", p.Loopback)
	w.KeyCount("pid_max", int64(p.Processes))
	doc.Values(&w.Writer, "mounts", p.Mounts, func(m *Mount) { w.mount(m) })
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
	w.KeyFlag("broker", p.Brokered)
	if p.Narrow != nil {
		w.KeyOpen("narrow", '{')
		w.KeyTexts("reach", p.Narrow.Reach)
		w.KeyTexts("sockets", p.Narrow.Sockets)
		w.Close('}')
	}
	w.KeyFlag("own_group", p.OwnGroup)
	w.limits(&p.Limits)
	w.KeyTexts("environment", envNames(p.Env))
	w.watch(&p.Watch)
	w.programs(&p.Programs)
	doc.Objects(&w.Writer, "enforcement", p.Enforcement, func(e *Enforcement) {
		w.KeyText("field", string(e.Field))
		w.KeyText("asked", e.Asked)
		w.KeyText("status", e.Status.String())
		w.KeyText("by", e.By)
		w.KeyText("reason", e.Reason)
	})
	w.Close('}')
	return w.B
}

func envNames(env []string) []string {
	names := make([]string, 0, len(env))
	for _, kv := range env {
		if name, _, ok := strings.Cut(kv, "="); ok {
			names = append(names, name)
		}
	}
	return names
}

// texts returns the texts of a list's items.
func texts[T any](list []T, text func(*T) string) (all []string) {
	for i := range list {
		all = append(all, text(&list[i]))
	}
	return all
}

// printer writes a Plan.
type printer struct{ doc.Writer }

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
	w.KeyCount("slot", int64(m.Slot))
	w.KeyCount("own", int64(m.Own))
	if m.Mode != ModeKeep {
		w.KeyText("mode", m.Mode.String())
	}
	if m.Perm != 0 {
		w.KeyText("perm", strconv.FormatUint(uint64(m.Perm), 8))
	}
	w.KeyCount("size", m.Size)
	w.KeyFlag("soft", m.Soft)
	w.KeyText("for", string(m.For))
	w.KeyText("why", m.Why)
	w.Close('}')
}

func (w *printer) landlock(p *Plan) {
	if p.LandlockABI == 0 {
		return
	}
	w.KeyOpen("landlock", '{')
	w.KeyInt("abi", int64(p.LandlockABI))
	w.KeyFlag("logs", p.LandlockLogs)
	w.KeyText("fs", p.Landlock.FS.String())
	w.KeyText("scope", p.Landlock.Scope.String())
	doc.Values(&w.Writer, "rules", p.Landlock.Rules, func(r *landlock.Rule) {
		w.OpenFlat('{')
		w.KeyText("path", r.Path)
		w.KeyText("allow", r.Allow.String())
		w.KeyText("why", r.Why)
		w.Close('}')
	})
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
	w.KeyOpen("watch", '{')
	w.KeyTexts("trees", x.Trees)
	w.KeyTexts("git_folders", x.Git)
	w.KeyTexts("worktrees", texts(x.Worktrees, func(t *Worktree) string { return t.Admin }))
	w.KeyTexts("allowed", x.Allowed)
	w.KeyTexts("protected", texts(x.Protected, func(p *Protected) string { return p.Path }))
	w.KeyTexts("unmade", x.Unmade)
	w.KeyTexts("views", x.elsewhere())
	w.KeyTexts("masked", x.Masked)
	w.KeyTexts("folders", texts(x.MaskedDirs, func(f *MaskedDir) string { return f.Inside }))
	w.KeyTexts("sockets", x.Sockets)
	w.KeyText("record", x.Record)
	w.Close('}')
}

func (w *printer) limits(l *Limits) {
	if !l.Any() {
		return
	}
	w.KeyOpen("limits", '{')
	w.KeyCount("open_files", int64(l.Files))
	w.KeyCount("file_size", int64(l.FileSize))
	w.KeyCount("processes", int64(l.Procs))
	w.KeyCount("watched_memory", l.Memory)
	if l.Timeout != 0 {
		w.KeyText("timeout", l.Timeout.String())
	}
	if len(l.Groups) > 0 {
		doc.Values(&w.Writer, "groups", l.Groups, func(g *Group) { w.group(g) })
	}
	w.Close('}')
}

func (w *printer) filter(f *Filter) {
	if !f.On {
		return
	}
	w.Key("seccomp")
	w.OpenFlat('{')
	w.KeyText("profile", f.Profile)
	w.KeyFlag("root", f.Root)
	w.KeyFlag("unix_datagrams_refused", f.Unix)
	w.KeyFlag("inet_refused", f.NoInet)
	w.KeyFlag("fast_open_refused", f.NoFastOpen)
	if f.Seal != seccomp.SealNone {
		w.KeyText("memfd_create", f.Seal.String())
	}
	w.KeyFlag("connect_noted", f.NotifyConnect)
	w.KeyFlag("looks_noted", f.NotifyReads)
	if f.Code == nil {
		n := len(seccomp.Shipped(f.Options, seccomp.Native)) / 8
		w.KeyInt("instructions", int64(n))
	} else {
		w.KeyInt("instructions", int64(len(f.Code)/8))
	}
	w.Close('}')
}

func (w *printer) programs(p *Programs) {
	if !p.Any() {
		return
	}
	w.KeyOpen("programs", '{')
	w.KeyFlag("limited", p.Limited)
	w.KeyTexts("files", p.Files)
	w.KeyTexts("folders", p.Dirs)
	w.KeyTexts("denied", p.Denied)
	w.KeyTexts("loaders", p.Loaders)
	w.Close('}')
}

func (w *printer) group(g *Group) {
	w.OpenFlat('{')
	w.KeyInt("version", int64(g.Version))
	w.KeyText("in", g.Dir)
	w.KeyTexts("controllers", texts(g.Controllers, (*Controller).String))
	w.KeyTexts("enable", texts(g.Enable, (*Controller).String))
	w.KeyFlag("leaf", g.Leaf)
	w.KeyFlag("threaded", g.Threaded)
	w.KeyFlag("soft", g.Soft)
	for _, s := range g.Write {
		w.KeyText(s.File, s.Value)
	}
	w.Close('}')
}
