package outer

import (
	"slices"
	"strings"

	"sbx/internal/broker/wire"
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
	out.Env = w.ownEnviron(env, inv.Env)
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

// same is how many of the line's words are the same for every invocation, from
// its beginning on.
func (w *wrapper) same() int {
	if i := slices.IndexFunc(w.line, func(word Word) bool { return word.Slot != SlotNone }); i >= 0 {
		return i
	}
	return len(w.line)
}
