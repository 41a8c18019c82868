package outer

import (
	"strings"

	"sbx/internal/doc"
	"sbx/spec/redact"
)

// AuditKind is the kind of every Audit.
const AuditKind = "process-sandbox"

// Audit describes a wrapped invocation for others: without credentials, and without paths of the
// host except those that every system has.
type Audit struct {
	WrapperName string
	WrappedCmd  string
	WrappedArgs []string
	Mounts      []DirMount // the caller's own; HostPath is empty
	Truncated   bool       // arguments were cut or left out
	NotHeld     []Lack     // the restrictions that the wrapper does not enforce
}

// The bounds of an audit's arguments: bytes of one, their number, and bytes of all.
const (
	maxAuditArg  = 1 << 10
	maxAuditArgs = 1 << 10
	maxAudit     = 64 << 10
)

// auditArgs gathers the arguments of an audit.
type auditArgs struct {
	args      []string
	left      int // bytes
	most      int // arguments
	truncated bool
	scan      redact.Scanner

	labelled [2]string // the last argument of label and its result
}

// add takes the next argument, unless an earlier one was left out.
func (g *auditArgs) add(w *wrapper, arg string) {
	if g.left <= 0 || len(g.args) >= g.most {
		g.left, g.truncated = 0, true
		return
	}
	whole := g.label(w, g.scan.Next(arg))
	cut := clip(whole, min(maxAuditArg, g.left))
	g.truncated = g.truncated || cut != whole || len(arg) > redact.MaxScan
	g.left -= len(cut)
	g.args = append(g.args, cut)
}

// label labels an argument; a path bound onto itself comes twice and is labelled once.
func (g *auditArgs) label(w *wrapper, arg string) string {
	if arg != g.labelled[0] {
		g.labelled = [2]string{arg, w.labels.label(arg)}
	}
	return g.labelled[1]
}

// auditHead returns the audit of the fixed words, which is made once. They may be long: half of
// the audit is kept for the arguments after them, the command above all.
func (w *wrapper) auditHead() (g auditArgs) {
	g = auditArgs{left: maxAudit / 2, most: maxAuditArgs / 2}
	if w.name != nameNone && w.name != nameOCI {
		g.scan.Next(w.program())
	}
	args := make([]string, 0, w.fixed())
	for i, word := range w.line[:w.fixed()] {
		text := word.Text
		switch {
		case w.name == nameSbx && i == sbxDocument:
			text = string(w.a.Resolved.Redacted(redact.Mark).AppendJSON(nil, nil))
		case i > 0 && w.line[i-1].Text == nsjailPolicy:
			text = nsjailShut
		}
		args = append(args, text)
	}
	g.args = make([]string, 0, min(len(args), g.most)+1)
	for _, a := range args {
		g.add(w, a)
	}
	if len(g.args) < len(args) {
		g.args = append(g.args, "…")
	}
	g.left, g.most = g.left+maxAudit/2, maxAuditArgs
	return g
}

// audit returns the audit of a wrapped invocation; rest is rewrite's.
func (w *wrapper) audit(inv, out *Invocation, rest []string) Audit {
	if w.a.Unlisted {
		return Audit{WrapperName: w.name, WrappedCmd: w.auditCmd(out.Cmd), NotHeld: w.auditLacks}
	}
	g := w.head
	g.args = append(make([]string, 0, len(g.args)+min(len(rest), maxAuditArgs)), g.args...)
	g.scan = g.scan.Fork()
	if w.name == nameNone || w.name == nameOCI {
		g.scan.Next(out.Cmd)
	}
	for _, arg := range rest {
		g.add(w, arg)
	}
	a := Audit{WrapperName: w.name, WrappedCmd: w.auditCmd(out.Cmd), WrappedArgs: g.args, Truncated: g.truncated, NotHeld: w.auditLacks}
	for _, m := range inv.Mounts {
		a.Mounts = append(a.Mounts, DirMount{Label: m.Label, GuestPath: m.GuestPath, Mode: m.Mode})
	}
	return a
}

// auditCmd returns a program's path, or its name where the path reveals something.
func (w *wrapper) auditCmd(cmd string) string {
	if label := w.labels.label(cmd); !strings.HasPrefix(label, "<") {
		return label
	}
	return cmd[strings.LastIndexByte(cmd, '/')+1:]
}

// clip cuts s to at most n bytes, at a character, and marks that it did.
func clip(s string, n int) string {
	const mark = "…"
	if len(s) <= n {
		return s
	}
	return doc.Clip(s, max(n-len(mark), 0)) + mark
}
