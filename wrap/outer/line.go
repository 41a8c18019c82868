package outer

import (
	"slices"
	"strings"

	"sbx/internal/broker/wire"
	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap"
	"strconv"
)

// Slot is a place in a wrapped command line for something of the invocation's.
type Slot uint8

// The slots.
const (
	SlotNone   Slot = iota // the Word is its Text
	SlotCwd                // Text, the working directory inside
	SlotEnv                // Text and a variable's name, for each variable
	SlotHeeded             // Text, name and value, for each variable that the tool must not have itself
	SlotCmd                // Text, the command
	SlotArgs               // the command's arguments
)

// Word is an argument of a wrapped command line, or several.
type Word struct {
	Slot Slot
	// Text is the argument. Where the slot is one of the invocation's it is the flag
	// before it, an argument of its own; "" for none.
	Text string
}

// add appends arguments that are the same for every invocation.
func (w *wrapper) add(args ...string) {
	for _, a := range args {
		w.line = append(w.line, Word{Text: a})
	}
}

func (w *wrapper) slot(s Slot, flag string) { w.line = append(w.line, Word{s, flag}) }

// Wrap implements Wrapper.
func (w *wrapper) Wrap(inv Invocation) (Invocation, Audit, error) {
	out, rest, err := w.rewrite(&inv)
	if err != nil {
		return Invocation{}, Audit{}, err
	}
	a := w.audit(&inv, &out, rest)
	if w.name != nameNone {
		out.Args = make([]string, 0, w.same()+len(rest))
		for i := range w.line[:w.same()] {
			out.Args = append(out.Args, w.line[i].Text)
		}
		out.Args = append(out.Args, rest...)
	}
	return out, a, nil
}

// rewrite gives the invocation without its arguments, and of these what follows
// those that are the same for every invocation.
func (w *wrapper) rewrite(inv *Invocation) (out Invocation, rest []string, err error) {
	if err := w.check(inv); err != nil {
		return out, nil, err
	}
	if w.name == nameNone {
		return *inv, inv.Args, nil
	}
	out = Invocation{Cmd: w.program(), Env: inv.Env, Cwd: inv.Cwd, Mounts: inv.Mounts}
	if w.name == nameSbx { // which applies the environment's rules itself
		return out, w.fill(inv, nil, nil), nil
	}
	env := w.a.Host.Environ(w.a.Resolved.Environ(inv.Env))
	if b := &w.a.Broker; b.Socket != "" {
		env = b.Environ(env, "unix:"+wire.SocketFile)
	}
	out.Env = w.tools(env, inv.Env)
	return out, w.fill(inv, env, out.Env), nil
}

// fill puts an invocation into the line, from its first slot on; env is the
// command's environment, own that of the tool.
func (w *wrapper) fill(inv *Invocation, env, own []string) []string {
	line := w.line[w.same():]
	args := make([]string, 0, 2*len(line)+len(inv.Args)+2*len(env))
	for i := range line {
		word := &line[i]
		if (word.Slot == SlotCwd || word.Slot == SlotCmd) && word.Text != "" {
			args = append(args, word.Text)
		}
		switch word.Slot {
		case SlotNone:
			args = append(args, word.Text)
		case SlotCwd:
			args = append(args, w.dir(inv.Cwd))
		case SlotCmd:
			args = append(args, inv.Cmd)
		case SlotArgs:
			args = append(args, inv.Args...)
		case SlotEnv:
			for _, v := range env {
				name, _, _ := strings.Cut(v, "=")
				if w.image && ownsName(name) || !slices.Contains(own, v) {
					name = v // the tool's may be another, or is, or it has none
				}
				args = append(args, word.Text, name)
			}
		case SlotHeeded:
			for _, v := range env {
				if name, value, _ := strings.Cut(v, "="); heeded(name) {
					args = append(args, word.Text, name, value)
				}
			}
		}
	}
	return args
}

// dir is where the command starts: where the caller says, if that is in view, as
// sbx does it.
func (w *wrapper) dir(cwd string) string {
	if cwd == "" || w.name == nameSbx {
		cwd = w.plan.Command.Dir
	}
	if _, seen := w.view(cwd); !seen {
		return "/"
	}
	return cwd
}

// found is the tool's program on this host; nil where it has none.
func (w *wrapper) found() *wrap.Tool {
	name := w.name
	if name == nameRunsc {
		name = nameDocker
	}
	return w.a.Host.Tool(name)
}

// program is the tool's file, or its name where the host does not have it.
func (w *wrapper) program() string {
	if t := w.found(); t != nil {
		return t.Path
	}
	if w.name == nameRunsc {
		return nameDocker
	}
	return w.name
}

// check refuses an invocation that cannot be, or is more than the wrapper was
// made for.
func (w *wrapper) check(inv *Invocation) error {
	ps := inv.Check()
	if len(ps) > 0 {
		return ps
	}
	for i := range inv.Mounts {
		if p := w.unknown(&inv.Mounts[i], i); p != nil {
			ps = append(ps, p)
		}
	}
	if len(ps) > 0 {
		return ps
	}
	return nil
}

// unknown refuses a mount that the sandbox does not show so.
func (w *wrapper) unknown(m *DirMount, i int) *spec.Problem {
	if w.name == nameNone || slices.Contains(w.a.Mounts, *m) {
		return nil
	}
	rw, seen := w.view(m.HostPath)
	why := "the sandbox does not show it"
	switch {
	case seen && rw == (m.Mode == spec.MountRW):
		return nil
	case seen && rw:
		why = "the sandbox lets it be written"
	case seen:
		why = "the sandbox shows it read-only"
	}
	return &spec.Problem{Field: spec.Field("mounts[" + strconv.Itoa(i) + "]"), On: m.HostPath, Do: "mount it " + m.Mode.String(), Why: why,
		Help: "name the mount when the wrapper is made, or open it in the spec"}
}

// view tells whether a path of the host is seen inside under the same name, and
// whether it can be written there.
func (w *wrapper) view(path string) (rw, seen bool) {
	for i := len(w.nodes) - 1; i >= 0; i-- {
		n := &w.nodes[i]
		if n.Kind == wrap.NodeReadOnly || !view.Within(path, n.Path) {
			continue
		}
		how := shown(n)
		if how == "tmpfs" || how == "dir" {
			return how == "tmpfs", path == n.Path
		}
		return how == "rw", how != "no"
	}
	return false, false
}

// checkMounts refuses directories that the Plan does not show as they are asked for.
func (w *wrapper) checkMounts(all []DirMount) {
	if w.name == nameNone {
		return
	}
	for i := range all {
		m := &all[i]
		if rw, seen := w.view(w.real(m.HostPath)); seen && (rw == (m.Mode == spec.MountRW) || m.Mode == spec.MountRO && writableElsewhere(m, all)) {
			continue
		}
		w.refuse(spec.Field("mounts["+strconv.Itoa(i)+"]"), "show "+m.HostPath+" "+m.Mode.String(), "the spec does not open it so", "name it in filesystem.mounts")
	}
}

// writableElsewhere tells whether another of the mounts has the same directory to
// write: a command that is given both may.
func writableElsewhere(m *DirMount, all []DirMount) bool {
	return slices.ContainsFunc(all, func(o DirMount) bool { return o.HostPath == m.HostPath && o.Mode == spec.MountRW })
}

// real is a directory of the host with its links resolved, as the spec's mounts have
// it.
func (w *wrapper) real(path string) string {
	for i := range w.a.Resolved.Mounts {
		if s := &w.a.Resolved.Mounts[i].Source; s.Abs == path {
			return s.Real
		}
	}
	return path
}
