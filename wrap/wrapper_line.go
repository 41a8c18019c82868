package wrap

import (
	"slices"
	"strings"

	"sbx/spec"
)

// Slot is a place in a wrapped command line for something of the invocation's.
type Slot uint8

// The slots.
const (
	SlotNone Slot = iota // the Word is its Text
	SlotCwd              // Text, the working directory inside
	SlotEnv              // Text and a variable's name, for each variable
	SlotCmd              // Text, the command
	SlotArgs             // the command's arguments
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
	if err := w.check(&inv); err != nil {
		return Invocation{}, Audit{}, err
	}
	out := Invocation{Cmd: w.program(), Cwd: inv.Cwd, Mounts: inv.Mounts}
	switch w.name {
	case nameNone:
		out = inv
	case nameSbx: // which applies the environment's rules itself
		out.Env, out.Args = inv.Env, w.fill(&inv, nil)
	default:
		env := environment(w.a.Resolved.Environ(inv.Env), w.a.Host.DropEnv)
		out.Env, out.Args = w.clients(env, inv.Env), w.fill(&inv, env)
	}
	return out, w.audit(&inv, &out), nil
}

// fill puts an invocation into the line.
func (w *wrapper) fill(inv *Invocation, env []string) []string {
	args := make([]string, 0, len(w.line)+len(inv.Args)+2*len(env))
	for i := range w.line {
		word := &w.line[i]
		if word.Slot != SlotNone && word.Slot != SlotArgs && word.Slot != SlotEnv && word.Text != "" {
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
				if w.image && ownsName(name) {
					name = v // the client's may be another
				}
				args = append(args, word.Text, name)
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

// clients is the environment of the tool itself. Most hand theirs on, and have
// the command's; the client of an engine has besides what it needs to find that.
func (w *wrapper) clients(env, callers []string) []string {
	if !w.image {
		return env
	}
	var own []string
	for _, v := range callers {
		if name, _, _ := strings.Cut(v, "="); ownsName(name) || strings.HasPrefix(name, "DOCKER_") || strings.HasPrefix(name, "CONTAINER_") || strings.HasPrefix(name, "CONTAINERS_") {
			own = append(own, v)
		}
	}
	for _, v := range env {
		if name, _, _ := strings.Cut(v, "="); !ownsName(name) && !slices.Contains(own, v) {
			own = append(own, v)
		}
	}
	return own
}

// ownsName tells whether a variable is one that a client of an engine keeps the
// caller's value of, whatever the command's is.
func ownsName(name string) bool {
	return name == "PATH" || name == "HOME" || name == "XDG_RUNTIME_DIR"
}

// found is the tool's program on this host; nil where it has none.
func (w *wrapper) found() *Tool {
	name := w.name
	if name == nameRunsc {
		name = nameDocker
	}
	for i := range w.a.Host.Tools {
		if t := &w.a.Host.Tools[i]; t.Name == name && t.Path != "" {
			return t
		}
	}
	return nil
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
	return &spec.Problem{Field: spec.Field("mounts[" + itoa(i) + "]"), On: m.HostPath, Do: "mount it " + m.Mode.String(), Why: why,
		Help: "name the mount when the wrapper is made, or open it in the spec"}
}

// view tells whether a path of the host is seen inside under the same name, and
// whether it can be written there.
func (w *wrapper) view(path string) (rw, seen bool) {
	for i := len(w.nodes) - 1; i >= 0; i-- {
		n := &w.nodes[i]
		if n.Kind == NodeReadOnly || !under(path, n.Path) {
			continue
		}
		if n.Kind == NodeTmpfs || n.Kind == NodeDir {
			return n.Kind == NodeTmpfs, path == n.Path
		}
		return n.Kind == NodeBind && n.Mode != ModeRO, n.Kind == NodeBind
	}
	return false, false
}

// checkMounts refuses folders that the Plan does not show as they are asked for.
func (w *wrapper) checkMounts(all []DirMount) {
	if w.name == nameNone {
		return
	}
	for i := range all {
		m := &all[i]
		if rw, seen := w.view(w.real(m.HostPath)); seen && (rw == (m.Mode == spec.MountRW) || m.Mode == spec.MountRO && writableElsewhere(m, all)) {
			continue
		}
		w.refuse(spec.Field("mounts["+itoa(i)+"]"), "show "+m.HostPath+" "+m.Mode.String(), "the spec does not open it so", "name it in filesystem.mounts")
	}
}

// writableElsewhere tells whether another of the mounts has the same folder to
// write: a command that is given both may.
func writableElsewhere(m *DirMount, all []DirMount) bool {
	return slices.ContainsFunc(all, func(o DirMount) bool { return o.HostPath == m.HostPath && o.Mode == spec.MountRW })
}

// real is a folder of the host with its links resolved, as the spec's mounts have
// it.
func (w *wrapper) real(path string) string {
	for i := range w.a.Resolved.Mounts {
		if s := &w.a.Resolved.Mounts[i].Source; s.Abs == path {
			return s.Real
		}
	}
	return path
}
