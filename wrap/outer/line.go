package outer

import (
	"slices"
	"strings"

	"sbx/internal/broker/wire"
)

// Slot is a place in a wrapped command line for a part of the invocation.
type Slot uint8

// The slots.
const (
	SlotNone   Slot = iota // the Word is its Text
	SlotCwd                // Text, the working directory inside
	SlotEnv                // Text and a variable's name, for each variable
	SlotHeeded             // Text, name and value, for each variable that the tool itself must not have
	SlotCmd                // Text, the command
	SlotArgs               // the command's arguments
)

// Word stands for one or more arguments of a wrapped command line.
type Word struct {
	Slot Slot
	// Text is the argument of SlotNone. For any other slot Text is the flag before it, a
	// separate argument; "" for none.
	Text string
}

// add appends arguments that are the same for every invocation.
func (w *wrapper) add(args ...string) {
	for _, a := range args {
		w.line = append(w.line, Word{Text: a})
	}
}

func (w *wrapper) slot(s Slot, flag string) { w.line = append(w.line, Word{s, flag}) }

// rewrite returns the wrapped invocation without its arguments, and the arguments after the
// fixed ones.
func (w *wrapper) rewrite(inv *Invocation) (out Invocation, rest []string, err error) {
	if err := w.check(inv); err != nil {
		return out, nil, err
	}
	if w.name == nameNone {
		return *inv, inv.Args, nil
	}
	out = Invocation{Cmd: w.program(), Env: inv.Env, Cwd: inv.Cwd, Mounts: inv.Mounts}
	if w.name == nameSbx { // sbx applies the rules of the environment itself
		return out, w.fill(inv, nil, nil), nil
	}
	env := w.a.Host.Environ(w.a.Resolved.Environ(inv.Env))
	if b := &w.a.Broker; b.Socket != "" {
		env = b.Environ(env, "unix:"+wire.SocketFile)
	}
	out.Env = w.ownEnviron(env, inv.Env)
	return out, w.fill(inv, env, out.Env), nil
}

// fill returns the arguments from the first slot on, with the invocation's parts in the
// slots; env is the command's environment, own the tool's.
func (w *wrapper) fill(inv *Invocation, env, own []string) []string {
	line := w.line[w.fixed():]
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
					name = v // with its value: the tool has another, or none
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

// dir returns the directory in which the command starts: the caller's if it is in view, else
// the Plan's, as sbx itself chooses.
func (w *wrapper) dir(cwd string) string {
	if cwd == "" || w.name == nameSbx {
		cwd = w.plan.Command.Dir
	}
	if _, seen := w.view(cwd); !seen {
		return "/"
	}
	return cwd
}

// fixed returns how many words at the line's beginning are the same for every invocation.
func (w *wrapper) fixed() int {
	if i := slices.IndexFunc(w.line, func(word Word) bool { return word.Slot != SlotNone }); i >= 0 {
		return i
	}
	return len(w.line)
}
