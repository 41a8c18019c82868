package outer

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sbx/internal/doc"
	"sbx/spec"
)

// Answers makes the answers of one wrapper: {"wrapped": {cmd, args, env, cwd?},
// "audit": {…}} on one line. The text that all answers share is made once.
type Answers struct {
	w     *wrapper
	args  []byte // the beginning of the arguments, from the bracket on
	audit []byte // and as the audit has them
	left  []byte // the end of the audit: notHeld

	unsayable error
}

// NewAnswers returns the Answers of a wrapper that NewWrapper made; left is added to notHeld of
// its audits.
func NewAnswers(of Wrapper, left []Lack) *Answers {
	w := of.(*wrapper)
	a := &Answers{w: w, unsayable: w.unsayable(), left: appendLacks(nil, append(w.auditLacks[:len(w.auditLacks):len(w.auditLacks)], left...))}
	head := make([]string, 0, w.fixed())
	for i := range w.line[:w.fixed()] {
		head = append(head, w.line[i].Text)
	}
	a.args, a.audit = appendList(room(head), head), appendList(room(w.head.args), w.head.args)
	return a
}

// room returns a buffer into which the list fits unless most of it is escaped.
func room(list []string) []byte {
	n := 0
	for _, s := range list {
		n += len(s) + len(`"", `)
	}
	return make([]byte, 0, n+n/16)
}

// unsayable refuses a line that JSON cannot carry, since a path need not be UTF-8.
func (w *wrapper) unsayable() error {
	for i := range w.line {
		if text := w.line[i].Text; !utf8.ValidString(text) {
			return spec.Problems{{On: strconv.QuoteToASCII(text), Do: "answer in JSON", Why: "it has bytes that are not UTF-8, which JSON cannot carry",
				Help: "let the spec name no such path"}}
		}
	}
	return nil
}

// Append appends the answer to an invocation, without the end of its line. The
// error is spec.Problems.
func (a *Answers) Append(dst []byte, inv *Invocation) ([]byte, error) {
	out, rest, err := a.w.rewrite(inv)
	if err == nil {
		err = a.unsayable
	}
	if err != nil {
		return dst, err
	}
	audit := a.w.audit(inv, &out, rest)
	const others = 2 << 10 // mostly enough for the invocation's own part
	dst = slices.Grow(dst, len(a.args)+len(a.audit)+len(a.left)+others)
	dst = append(dst, `{"wrapped": {"cmd": `...)
	dst = doc.AppendShown(dst, out.Cmd)
	dst = append(dst, `, "args": [`...)
	dst = appendMore(append(dst, a.args...), rest)
	dst = appendEnv(append(dst, `], "env": {`...), out.Env)
	if out.Cwd != "" {
		dst = append(dst, `, "cwd": `...)
		dst = doc.AppendShown(dst, out.Cwd)
	}
	dst = append(dst, `}, "audit": `...)
	dst = audit.appendStart(dst)
	dst = appendMore(append(dst, a.audit...), audit.WrappedArgs[len(a.w.head.args):])
	dst = audit.appendEnd(dst)
	return append(append(dst, a.left...), "}}"...), nil
}

// appendEnv appends the members of an environment, and the brace behind them.
func appendEnv(dst []byte, env []string) []byte {
	for i, v := range env {
		if i > 0 {
			dst = append(dst, `, `...)
		}
		name, value, _ := strings.Cut(v, "=")
		dst = doc.AppendShown(dst, name)
		dst = append(dst, `: `...)
		dst = doc.AppendShown(dst, value)
	}
	return append(dst, '}')
}

// AppendJSON appends the audit as an object on one line.
func (a *Audit) AppendJSON(dst []byte) []byte {
	dst = appendList(a.appendStart(dst), a.WrappedArgs)
	return append(appendLacks(a.appendEnd(dst), a.NotHeld), '}')
}

// appendStart appends an audit up to the bracket of its arguments.
func (a *Audit) appendStart(dst []byte) []byte {
	dst = append(dst, `{"kind": "`+AuditKind+`", "wrapperName": `...)
	dst = doc.AppendShown(dst, a.WrapperName)
	dst = append(dst, `, "wrappedCmd": `...)
	dst = doc.AppendShown(dst, a.WrappedCmd)
	return append(dst, `, "wrappedArgs": [`...)
}

// appendEnd appends the audit from after its arguments up to notHeld.
func (a *Audit) appendEnd(dst []byte) []byte {
	dst = append(dst, `], "mounts": [`...)
	for i := range a.Mounts {
		m := &a.Mounts[i]
		if i > 0 {
			dst = append(dst, `, `...)
		}
		dst = append(dst, `{"label": `...)
		dst = doc.AppendShown(dst, m.Label)
		dst = append(dst, `, "guestPath": `...)
		dst = doc.AppendShown(dst, m.GuestPath)
		dst = append(dst, `, "mode": "`+m.Mode.String()+`"}`...)
	}
	dst = append(dst, `], "truncated": `...)
	dst = strconv.AppendBool(dst, a.Truncated)
	return append(dst, `, "notHeld": `...)
}

func appendLacks(dst []byte, lacks []Lack) []byte {
	dst = append(dst, '[')
	for i, l := range lacks {
		if i > 0 {
			dst = append(dst, `, `...)
		}
		dst = append(dst, `{"field": `...)
		dst = doc.AppendShown(dst, string(l.Field))
		dst = append(dst, `, "reason": `...)
		dst = doc.AppendShown(dst, l.Why)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// appendList appends the items of a list, without its brackets.
func appendList(dst []byte, list []string) []byte {
	for i, s := range list {
		if i > 0 {
			dst = append(dst, `, `...)
		}
		dst = doc.AppendShown(dst, s)
	}
	return dst
}

// appendMore appends further items to a list that may be empty.
func appendMore(dst []byte, list []string) []byte {
	if len(list) > 0 && dst[len(dst)-1] != '[' {
		dst = append(dst, `, `...)
	}
	return appendList(dst, list)
}

// AppendAnswer appends one answer, of a line that no Answers made.
func AppendAnswer(dst []byte, out *Invocation, audit *Audit) []byte {
	dst = append(dst, `{"wrapped": {"cmd": `...)
	dst = doc.AppendShown(dst, out.Cmd)
	dst = appendList(append(dst, `, "args": [`...), out.Args)
	dst = appendEnv(append(dst, `], "env": {`...), out.Env)
	if out.Cwd != "" {
		dst = doc.AppendShown(append(dst, `, "cwd": `...), out.Cwd)
	}
	return append(audit.AppendJSON(append(dst, `}, "audit": `...)), '}')
}
