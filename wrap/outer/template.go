package outer

import (
	"sbx/internal/doc"
	"sbx/spec/redact"
	"sbx/wrap"
)

// TemplateVersion is the version of a template's format. A reader refuses any other version,
// since it would understand half of the template.
const TemplateVersion = 2

// AppendTemplate appends everything that a wrapper of NewWrapper knows, as an object on one line:
// another program wraps by it as Wrap does, without asking sbx again. left is added to notHeld of
// the audits.
//
// A template is not an audit: it has the host's paths and the spec's values. The error is
// spec.Problems: JSON cannot carry the line.
func AppendTemplate(dst []byte, of Wrapper, left []Lack) ([]byte, error) {
	t := template{of.(*wrapper), doc.Writer{B: dst}}
	if err := t.w.unsayable(); err != nil {
		return dst, err
	}
	t.Open('{')
	t.KeyInt("template", int64(TemplateVersion))
	t.KeyStr("wrapper", t.w.name)
	t.KeyStr("cmd", t.w.program())
	doc.Values(&t.Writer, "line", t.w.line, func(w *Word) { t.word(w) })
	t.Key("folders")
	t.directories()
	t.Key("env")
	t.environment()
	t.Key("audit")
	t.audit()
	t.Key("redact")
	t.redact(redact.Rules())
	t.Key("notHeld")
	return append(appendLacks(t.B, append(t.w.auditLacks[:len(t.w.auditLacks):len(t.w.auditLacks)], left...)), '}'), nil
}

// template writes a wrapper as a template.
type template struct {
	w *wrapper
	doc.Writer
}

// rows writes a member that is a list of lists.
func (t *template) rows(key string, n int, row func(i int)) {
	t.KeyOpen(key, '[')
	for i := range n {
		t.Item()
		t.Open('[')
		row(i)
		t.Close(']')
	}
	t.Close(']')
}

// The items of a row.

func (t *template) str(s string) { t.Item(); t.Str(s) }
func (t *template) num(n int)    { t.Item(); t.Int(int64(n)) }
func (t *template) flag(is bool) { t.Item(); t.Bool(is) }

// slotNames are the slots' names in a template; a word of SlotNone is its text.
var slotNames = [...]string{SlotCwd: "cwd", SlotEnv: "env", SlotHeeded: "heeded", SlotCmd: "cmd", SlotArgs: "args"}

func (t *template) word(w *Word) {
	if w.Slot == SlotNone {
		t.Str(w.Text)
		return
	}
	t.Open('{')
	t.KeyStr("slot", slotNames[w.Slot])
	t.KeyStr("flag", w.Text)
	t.Close('}')
}

// directories writes the directories in view: where the command starts by default, the paths of the
// host in order, of which the last that holds a path decides, and the requested mounts.
func (t *template) directories() {
	w := t.w
	t.Open('{')
	t.KeyStr("cwd", w.plan.Command.Dir)
	var seen []wrap.Node
	for _, n := range w.nodes {
		if n.Kind != wrap.NodeReadOnly && w.name != nameNone {
			seen = append(seen, n)
		}
	}
	t.rows("view", len(seen), func(i int) {
		t.str(seen[i].Path)
		t.str(shown(&seen[i]))
	})
	doc.Objects(&t.Writer, "mounts", w.a.Mounts, func(m *DirMount) {
		t.KeyStr("kind", "dir")
		t.KeyStr("label", m.Label)
		t.KeyStr("hostPath", m.HostPath)
		t.KeyStr("guestPath", m.GuestPath)
		t.KeyStr("mode", m.Mode.String())
	})
	t.Close('}')
}

// environment writes the rules of the environment; null where the caller's is passed unchanged.
func (t *template) environment() {
	w := t.w
	if w.name == nameSbx || w.name == nameNone {
		t.B = append(t.B, "null"...)
		return
	}
	e := w.a.Resolved.EnvironRules()
	t.Open('{')
	t.rows("set", len(e.Set), func(i int) {
		t.str(e.Set[i][0])
		t.str(e.Set[i][1])
	})
	t.KeyList("loaders", e.Loaders)
	if e.Pass == nil {
		t.KeyRaw("pass", "null")
	} else {
		t.KeyList("pass", e.Pass)
	}
	t.KeyBool("any", e.Any)
	t.rows("credentials", len(e.Credentials), func(i int) {
		t.str(e.Credentials[i].Glob)
		t.flag(e.Credentials[i].Pass)
		t.flag(e.Credentials[i].InURL)
	})
	t.KeyList("drop", w.a.Host.DropEnv)
	var need, engine []string
	if w.image {
		need, engine = clientsNeed[:], clientsEngine[:]
	}
	t.KeyList("clientsNeed", need)
	t.KeyList("clientsEngine", engine)
	t.KeyList("heededPrefixes", loadedPrefixes[:])
	t.KeyList("heeded", loaded[:])
	t.Close('}')
}

// audit writes the audit of the fixed words, and the tables of labels.
func (t *template) audit() {
	w := t.w
	g := &w.head
	programs, next := g.scan.State()
	t.Open('{')
	t.KeyStr("cmd", w.auditCmd(w.program()))
	t.KeyList("args", g.args)
	t.KeyInt("left", int64(g.left))
	t.KeyBool("truncated", g.truncated)
	t.KeyList("programs", programs)
	t.KeyInt("next", int64(next))
	t.KeyInt("maxArg", int64(maxAuditArg))
	t.KeyInt("maxArgs", int64(maxAuditArgs))
	t.rows("labels", len(w.labels), func(i int) {
		t.str(w.labels[i].path)
		t.str(w.labels[i].label)
		t.flag(w.labels[i].all)
	})
	t.KeyList("common", common[:])
	t.KeyList("tops", tops[:])
	t.Close('}')
}

// redact writes the rules about credentials.
func (t *template) redact(r redact.Tables) {
	t.Open('{')
	t.KeyStr("mark", r.Mark)
	t.KeyInt("maxScan", int64(r.MaxScan))
	t.KeyList("words", r.Words)
	t.KeyList("keys", r.Keys)
	t.KeyList("harmless", r.Harmless)
	t.rows("shapes", len(r.Shapes), func(i int) {
		t.str(r.Shapes[i].Prefix)
		for _, p := range r.Shapes[i].Parts {
			t.str(p.Ranges)
			t.num(p.N)
		}
	})
	t.rows("flags", len(r.Flags), func(i int) {
		t.str(r.Flags[i].Program)
		t.str(r.Flags[i].Flag)
		t.flag(r.Flags[i].Joined)
	})
	t.Close('}')
}
