package outer

import (
	"slices"
	"strings"

	"sbx/internal/doc"
	"sbx/spec"
	"strconv"
)

// DecodeInvocation reads {cmd, args, env, cwd, mounts: [{kind, label, hostPath, guestPath, mode}]},
// JSON as strict as a spec's. Only cmd is required. env is an object. A mount's kind is "dir", and
// its label is by default the last name of its guest path. hasEnv reports whether env was there.
// The error is spec.Problems.
func DecodeInvocation(name string, text []byte) (inv Invocation, hasEnv bool, err error) {
	return decodeInvocation(name, text, "cmd", "args", "env", "cwd", "mounts")
}

// DecodeDirs reads {cwd, mounts} of future invocations.
func DecodeDirs(name string, text []byte) (inv Invocation, err error) {
	inv, _, err = decodeInvocation(name, text, "cwd", "mounts")
	return inv, err
}

func decodeInvocation(name string, text []byte, fields ...string) (inv Invocation, hasEnv bool, err error) {
	root, err := doc.ParseJSON(name, text)
	if err != nil {
		return inv, false, Unread(err)
	}
	d := invocationReader{name: name}
	for _, m := range d.object("", root, fields...) {
		if !slices.Contains(fields, m.Key) {
			continue
		}
		switch m.Key {
		case "cmd":
			inv.Cmd = d.str("cmd", m.Value)
		case "args":
			inv.Args = []string{}
			for i, a := range d.list("args", m.Value) {
				inv.Args = append(inv.Args, d.str(spec.Field("args["+strconv.Itoa(i)+"]"), a))
			}
		case "env":
			inv.Env, hasEnv = d.env(m.Value), true
		case "cwd":
			inv.Cwd = cleanEnd(d.str("cwd", m.Value))
		case "mounts":
			for i, n := range d.list("mounts", m.Value) {
				inv.Mounts = append(inv.Mounts, d.mount("mounts["+strconv.Itoa(i)+"]", n))
			}
		}
	}
	if len(d.problems) == 0 {
		d.problems = inv.check(slices.Contains(fields, "cmd"))
	}
	if len(d.problems) > 0 {
		return inv, hasEnv, d.problems
	}
	return inv, hasEnv, nil
}

// Unread returns a parser's error as a problem of an invocation, since package spec calls every
// document a spec.
func Unread(err error) error {
	all := spec.AsProblems(err)
	for _, p := range all {
		p.Do = "read the invocation"
	}
	return all
}

// invocationReader reads a document and collects its problems.
type invocationReader struct {
	name     string
	problems spec.Problems
}

func (d *invocationReader) refuse(f spec.Field, n *spec.Node, why, help string) {
	if len(d.problems) == maxProblems {
		return
	}
	on := d.name
	if n != nil && n.Pos.Line > 0 {
		on += ":" + strconv.Itoa(n.Pos.Line) + ":" + strconv.Itoa(n.Pos.Col)
	}
	d.problems = append(d.problems, &spec.Problem{Field: f, On: on, Do: "take the invocation", Why: why, Help: help})
}

// kind refuses a value of another kind.
func (d *invocationReader) kind(f spec.Field, n *spec.Node, want spec.Kind) bool {
	if n.Kind == want {
		return true
	}
	d.refuse(f, n, "it is "+n.Kind.String()+", and not "+want.String(), "")
	return false
}

// object returns the members of an object, whose keys must be known.
func (d *invocationReader) object(f spec.Field, n *spec.Node, known ...string) []spec.Member {
	if !d.kind(f, n, spec.Object) {
		return nil
	}
	for _, m := range n.Members {
		if f == "" && m.Key == "$schema" { // which editors read
			d.kind("$schema", m.Value, spec.String)
			continue
		}
		if !slices.Contains(known, m.Key) {
			help := "the fields are " + strings.Join(known, ", ")
			if near := doc.Nearest(m.Key, known); near != "" {
				help = "did you mean " + near + "?"
			}
			at := spec.Field(m.Key)
			if f != "" {
				at = f + "." + at
			}
			d.refuse(at, m.Value, "there is no such field", help)
		}
	}
	return n.Members
}

func (d *invocationReader) str(f spec.Field, n *spec.Node) string {
	if !d.kind(f, n, spec.String) {
		return ""
	}
	return n.Text
}

func (d *invocationReader) list(f spec.Field, n *spec.Node) []*spec.Node {
	if !d.kind(f, n, spec.List) {
		return nil
	}
	return n.Items
}

// env reads an object of names and values, sorted by name, since an object has no order.
func (d *invocationReader) env(n *spec.Node) []string {
	env := []string{}
	if !d.kind("env", n, spec.Object) {
		return env
	}
	for _, m := range n.Members {
		f := spec.Field("env." + m.Key)
		if m.Key == "" || strings.ContainsAny(m.Key, "=\x00") {
			d.refuse("env", m.Value, "a variable's name is empty, or has = or a NUL byte", "")
			continue
		}
		value := d.str(f, m.Value)
		if strings.IndexByte(value, 0) >= 0 { // Check would name its number
			d.refuse(f, m.Value, "it has a NUL byte, which ends a variable", "")
		}
		env = append(env, m.Key+"="+value)
	}
	slices.Sort(env)
	return env
}

func (d *invocationReader) mount(at string, n *spec.Node) (m DirMount) {
	keys := []string{"kind", "label", "hostPath", "guestPath", "mode"}
	f, have := spec.Field(at), map[string]string{}
	for _, v := range d.object(f, n, keys...) {
		if !slices.Contains(keys, v.Key) {
			continue
		}
		field := f + "." + spec.Field(v.Key)
		text := d.str(field, v.Value)
		have[v.Key] = text
		switch {
		case v.Key == "kind" && text != "dir":
			d.refuse(field, v.Value, "the one kind is dir", "")
		case v.Key == "mode" && text != "ro" && text != "rw":
			d.refuse(field, v.Value, "it is neither ro nor rw", "")
		}
	}
	for _, key := range []string{"hostPath", "guestPath", "mode"} {
		if _, ok := have[key]; n.Kind == spec.Object && !ok {
			d.refuse(f+"."+spec.Field(key), n, "it is missing", "")
		}
	}
	m = DirMount{Label: have["label"], HostPath: cleanEnd(have["hostPath"]), GuestPath: cleanEnd(have["guestPath"])}
	m.Mode, _ = spec.ParseMountMode(have["mode"])
	if m.Label == "" {
		m.Label = strings.Trim(m.GuestPath[strings.LastIndexByte(m.GuestPath, '/')+1:], "/")
	}
	return m
}

// cleanEnd removes the slashes at the end of a path.
func cleanEnd(path string) string {
	if trimmed := strings.TrimRight(path, "/"); trimmed != "" || path == "" {
		return trimmed
	}
	return "/"
}
