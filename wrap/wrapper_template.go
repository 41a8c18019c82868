package wrap

import (
	"strconv"

	"sbx/spec/redact"
)

// TemplateVersion is the version of a template's format. Whoever reads one refuses
// another version: what a template says must not be half understood.
const TemplateVersion = 2

// AppendTemplate appends all that a wrapper of NewWrapper's knows, as an object on
// one line: another program wraps by it as Wrap does, without asking again. left is
// what else the audits have as not held.
//
// It is no audit: it has the host's paths and the spec's values. The error is
// spec.Problems: JSON cannot carry the line.
func AppendTemplate(dst []byte, of Wrapper, left []Lack) ([]byte, error) {
	t := template{of.(*wrapper), dst}
	if err := t.w.unsayable(); err != nil {
		return dst, err
	}
	t.lead(`{"template": `)
	t.num(TemplateVersion)
	t.lead(`, "wrapper": `)
	t.str(t.w.name)
	t.lead(`, "cmd": `)
	t.str(t.w.program())
	t.lead(`, "line": [`)
	for i := range t.w.line {
		t.more(i)
		t.word(&t.w.line[i])
	}
	t.lead(`], "folders": `)
	t.folders()
	t.lead(`, "env": `)
	t.environment()
	t.lead(`, "audit": `)
	t.audit()
	t.lead(`, "redact": `)
	t.redact(redact.Rules())
	t.lead(`, "notHeld": `)
	return append(appendLacks(t.b, append(t.w.told[:len(t.w.told):len(t.w.told)], left...)), '}'), nil
}

// template writes a wrapper down.
type template struct {
	w *wrapper
	b []byte
}

func (t *template) lead(s string) { t.b = append(t.b, s...) }
func (t *template) str(s string)  { t.b = AppendString(t.b, s) }
func (t *template) num(n int)     { t.b = strconv.AppendInt(t.b, int64(n), 10) }
func (t *template) flag(is bool)  { t.b = strconv.AppendBool(t.b, is) }
func (t *template) list(list []string) {
	t.b = append(appendList(append(t.b, '['), list), ']')
}

func (t *template) more(i int) {
	if i > 0 {
		t.lead(`, `)
	}
}

// rows writes a list of lists.
func (t *template) rows(n int, row func(i int)) {
	t.lead(`[`)
	for i := range n {
		t.more(i)
		t.lead(`[`)
		row(i)
		t.lead(`]`)
	}
	t.lead(`]`)
}

// slotNames are what a template calls the slots; a word without one is its text.
var slotNames = [...]string{SlotCwd: "cwd", SlotEnv: "env", SlotHeeded: "heeded", SlotCmd: "cmd", SlotArgs: "args"}

func (t *template) word(w *Word) {
	if w.Slot == SlotNone {
		t.str(w.Text)
		return
	}
	t.lead(`{"slot": `)
	t.str(slotNames[w.Slot])
	t.lead(`, "flag": `)
	t.str(w.Text)
	t.lead(`}`)
}

// folders is what is in view: where the command starts if nobody says, the paths
// that are the host's own, the last that holds a path deciding, and the mounts that
// were asked for.
func (t *template) folders() {
	w := t.w
	t.lead(`{"cwd": `)
	t.str(w.plan.Command.Dir)
	var seen []Node
	for _, n := range w.nodes {
		if n.Kind != NodeReadOnly && w.name != nameNone {
			seen = append(seen, n)
		}
	}
	t.lead(`, "view": `)
	t.rows(len(seen), func(i int) {
		t.str(seen[i].Path)
		t.lead(`, "` + seen[i].shown() + `"`)
	})
	t.lead(`, "mounts": [`)
	for i := range w.a.Mounts {
		m := &w.a.Mounts[i]
		t.more(i)
		t.lead(`{"kind": "dir", "label": `)
		t.str(m.Label)
		t.lead(`, "hostPath": `)
		t.str(m.HostPath)
		t.lead(`, "guestPath": `)
		t.str(m.GuestPath)
		t.lead(`, "mode": "` + m.Mode.String() + `"}`)
	}
	t.lead(`]}`)
}

// shown is what view makes of a node.
func (n *Node) shown() string {
	switch {
	case n.Kind == NodeBind && n.Mode == ModeRO:
		return "ro"
	case n.Kind == NodeBind:
		return "rw"
	case n.Kind == NodeTmpfs:
		return "tmpfs"
	case n.Kind == NodeDir:
		return "dir"
	}
	return "no"
}

// environment is null where the command's environment is the caller's.
func (t *template) environment() {
	w := t.w
	if w.name == nameSbx || w.name == nameNone {
		t.lead(`null`)
		return
	}
	e := w.a.Resolved.EnvironRules()
	t.lead(`{"set": `)
	t.rows(len(e.Set), func(i int) {
		t.str(e.Set[i][0])
		t.lead(`, `)
		t.str(e.Set[i][1])
	})
	t.lead(`, "loaders": `)
	t.list(e.Loaders)
	t.lead(`, "pass": `)
	if e.Pass == nil {
		t.lead(`null`)
	} else {
		t.list(e.Pass)
	}
	t.lead(`, "any": `)
	t.flag(e.Any)
	t.lead(`, "credentials": `)
	t.rows(len(e.Credentials), func(i int) {
		t.str(e.Credentials[i].Glob)
		t.lead(`, `)
		t.flag(e.Credentials[i].Pass)
		t.lead(`, `)
		t.flag(e.Credentials[i].InURL)
	})
	t.lead(`, "drop": `)
	t.list(w.a.Host.DropEnv)
	var need, engine []string
	if w.image {
		need, engine = clientsNeed[:], clientsEngine[:]
	}
	t.lead(`, "clientsNeed": `)
	t.list(need)
	t.lead(`, "clientsEngine": `)
	t.list(engine)
	t.lead(`, "heededPrefixes": `)
	t.list(loadedPrefixes[:])
	t.lead(`, "heeded": `)
	t.list(loaded[:])
	t.lead(`}`)
}

// audit is the audit of the line's beginning, and what labels go by.
func (t *template) audit() {
	w := t.w
	g := &w.head
	programs, next := g.scan.State()
	t.lead(`{"cmd": `)
	t.str(w.auditCmd(w.program()))
	t.lead(`, "args": `)
	t.list(g.args)
	t.lead(`, "left": `)
	t.num(g.left)
	t.lead(`, "truncated": `)
	t.flag(g.truncated)
	t.lead(`, "programs": `)
	t.list(programs)
	t.lead(`, "next": `)
	t.num(next)
	t.lead(`, "maxArg": `)
	t.num(maxAuditArg)
	t.lead(`, "maxArgs": `)
	t.num(maxAuditArgs)
	t.lead(`, "labels": `)
	t.rows(len(w.hide), func(i int) {
		t.str(w.hide[i].path)
		t.lead(`, `)
		t.str(w.hide[i].label)
		t.lead(`, `)
		t.flag(w.hide[i].all)
	})
	t.lead(`, "common": `)
	t.list(common[:])
	t.lead(`, "tops": `)
	t.list(tops[:])
	t.lead(`}`)
}

// redact is the rules about credentials.
func (t *template) redact(r redact.Tables) {
	t.lead(`{"mark": `)
	t.str(r.Mark)
	t.lead(`, "maxScan": `)
	t.num(r.MaxScan)
	t.lead(`, "words": `)
	t.list(r.Words)
	t.lead(`, "keys": `)
	t.list(r.Keys)
	t.lead(`, "harmless": `)
	t.list(r.Harmless)
	t.lead(`, "shapes": `)
	t.rows(len(r.Shapes), func(i int) {
		t.str(r.Shapes[i].Prefix)
		for _, p := range r.Shapes[i].Parts {
			t.lead(`, `)
			t.str(p.Ranges)
			t.lead(`, `)
			t.num(p.N)
		}
	})
	t.lead(`, "flags": `)
	t.rows(len(r.Flags), func(i int) {
		t.str(r.Flags[i].Program)
		t.lead(`, `)
		t.str(r.Flags[i].Flag)
		t.lead(`, `)
		t.flag(r.Flags[i].Joined)
	})
	t.lead(`}`)
}
