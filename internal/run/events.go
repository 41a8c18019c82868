package run

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"sbx/audit"
	"sbx/audit/listen"
	"sbx/internal/sys"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/host"
)

// events are what happens while the command runs, noted in the record and told to a
// person.
type events struct {
	*Prepared
	adviser *wrap.Adviser                        // nil before the first question
	ended   string                               // why sbx ended everything; "" where it did not
	end     func()                               // ends everything
	stands  func(path string, program bool) bool // see Container.Stands; nil: this program's view is the one outside
}

// stop ends everything, for a reason that the record has as exit.ended_by.
func (x *events) stop(reason string) {
	if x.ended == "" {
		x.ended = reason
	}
	x.end()
}

// refused notes a call that does not succeed, and tells of the first of a kind.
func (x *events) refused(r *listen.Refusal) {
	if r.Cause == listen.OutOfView && !x.standsOutside(r.Action, r.Target) {
		return
	}
	v := audit.Violation{At: time.Now(), Action: r.Action, Target: strings.Clone(r.Target)}
	v.PID, v.Program = audit.CallerOf(r.TID)
	what, by := spec.Name(v.Target), ""
	switch r.Cause {
	case listen.ByBudget:
		n := x.Resolved.Spec.MaxCommands.Value
		v.Kind, v.Rule, v.AllowWith = "command", "max_commands: "+strconv.Itoa(n), "max_commands: "+strconv.Itoa(n+1)
		what += " was denied, as all further programs will be"
	case listen.ByInner: // who tells the person itself
		v.Kind, v.Rule = "command", "max_commands of an sbx inside"
		x.record.Violations.Add(v)
		return
	case listen.ByNarrow: // likewise
		v.Kind, v.Rule = "network", "network of an sbx inside"
		v.Host, v.Port = apart(v.Target)
		x.record.Violations.Add(v)
		return
	case listen.ByName, listen.ReadOnly:
		v.Kind = "filesystem"
		e := x.explain(&v)
		switch {
		case v.Action == listen.OpenInRoot:
			what += ": an open with RESOLVE_IN_ROOT may not write"
		case v.Target == "":
			what = "a program that cannot be looked at may not " + v.Action
		case r.Cause == listen.ByName && v.Rule == string(wrap.FieldProtected):
			what += " is a protected name"
		default:
			what += " may only be read"
			if e.Protected != nil {
				by = e.Protected.By // each settings file is another reason
				what += spec.Shown(e.Protected.Reason())
			}
		}
	case listen.BySocket:
		v.Kind, v.Rule, v.Act = "network", NetworkRule(x.Resolved), wrap.Act{Kind: wrap.ToReachElse}
		if v.Target != "" {
			v.Act = wrap.Act{Kind: wrap.ToConnect, Path: v.Target}
			what += " is a socket from outside"
		} else {
			what = "a program that cannot be looked at may not connect"
		}
	case listen.ByNetwork:
		v.Kind, v.Rule, v.Act = "network", NetworkRule(x.Resolved), reaching(v.Target)
		if v.Action != listen.Connect {
			v.Act.Kind = wrap.ToReachElse
		}
		if x.Plan.Relay {
			v.Host, v.Port = apart(v.Target)
		} else if strings.HasSuffix(v.Target, ":53") { // libc connects first, and then sends the name
			v.Action, v.Act.Kind = "look up a name", wrap.ToReach
			what = "the name server " + what
		}
		what += " is out of reach"
	case listen.BySideDoor:
		v.Kind, v.Rule = "syscall", string(wrap.FieldSideDoors)
		what = r.Action + " is denied"
	case listen.ByAllow, listen.ByDeny, listen.ByLoader:
		v.Kind = "command"
		v.Rule, v.AllowWith = x.programRule(r.Cause, v.Target)
		what += " may not be started"
	case listen.Hidden:
		v.Kind, v.Rule = "filesystem", string(wrap.FieldSecrets)
		what += " is hidden"
	case listen.OutOfView:
		v.Kind = "filesystem"
		if v.Action == listen.Execute {
			v.Kind = "command"
		}
		x.explain(&v)
		what += " is out of view"
	}
	x.record.Violations.Add(v)
	searched := r.Cause == listen.OutOfView && x.isOnPath(v.Target) // and what comes after it in PATH may do
	if !searched && !x.isOwnHistory(&v) {
		x.once(v.Kind+v.Rule+by, v, what)
	}
}

// isOwnHistory tells of a shell or an interpreter that keeps what was typed to it in the
// home, as bash does in .bash_history when it ends: the record has that, and nobody has
// to act on it.
func (x *events) isOwnHistory(v *audit.Violation) bool {
	name, ok := strings.CutPrefix(v.Target, x.Inputs.Home+"/.")
	program := strings.TrimRight(v.Program, "0123456789.")
	return ok && program != "" && strings.HasPrefix(name, program) && strings.Contains(name, "history") && !strings.Contains(name, "/")
}

// once tells a person of a kind of refusal the first time that it is met, in a
// line.
func (x *events) once(kind string, v audit.Violation, what string) {
	x.refusals++
	if x.toldOf(kind) || x.Voice.Muted() {
		return
	}
	by := ""
	if v.Program != "" {
		by = " (" + spec.Name(v.Program) + ")"
	}
	line := v.Rule + ": " + what + by
	advice := wrap.Advice{Line: v.AllowWith}
	if v.Act.Kind != 0 {
		advice = x.advice(v.Act)
	}
	line += wouldAllow(advice)
	if advice.Opens != "" && v.Act.Kind == wrap.ToMake {
		if alone := x.adviser.Alone(v.Act); alone != "" {
			line += "\nhint: where " + spec.Name(v.Target) + " is there before the start, " + spec.Shown(alone) + " is enough"
		}
	}
	x.Voice.Say(line)
}

func wouldAllow(a wrap.Advice) (text string) {
	if a.Line != "" {
		text = "; " + spec.Shown(a.Line) + " would allow it"
	}
	if a.Opens != "" {
		text += ", and every change in " + spec.Name(a.Opens)
	}
	return text
}

// explain adds to what was attempted the line by which the sandbox denies it, and asks
// for the one that would allow it.
func (x *events) explain(v *audit.Violation) (e wrap.Refusal) {
	if v.Action != listen.OpenInRoot && strings.HasPrefix(v.Target, "/") { // else it is the way there that is denied
		v.Act = wrap.Act{Kind: listen.KindOf(v.Action), Path: v.Target}
		e = x.Plan.Explain(x.Resolved, v.Act)
	}
	v.Rule = cmp.Or(e.Rule, v.Rule, string(wrap.FieldProtected))
	return e
}

// advice is the line that would allow an act.
func (x *events) advice(act wrap.Act) wrap.Advice {
	if x.adviser == nil {
		x.adviser = x.newAdviser()
	}
	return x.adviser.On(act)
}

// standsOutside tells whether what failed inside, since nothing is there, would not fail
// on the host: the program, or the directory to write in, is there and not in view.
func (x *events) standsOutside(action, target string) bool {
	if !x.Resolved.Visible || !x.Host.Shares(target) {
		return false
	}
	if x.stands != nil {
		return x.stands(target, action == listen.Execute)
	}
	if action == listen.Execute {
		_, found := host.LookUp(target, x.Resolved)
		return found == host.Found
	}
	return sys.MayWrite(path.Dir(target))
}

// programRule is the line of the spec by which a program may not be started,
// and the one that would let it be.
func (x *events) programRule(cause listen.Cause, path string) (rule, allow string) {
	switch cause {
	case listen.ByDeny:
		return "commands.deny", wrap.Undenied(x.Resolved, x.programName(path))
	case listen.ByLoader:
		if !x.Resolved.Limited {
			return "commands.deny", "" // what it was to load may be started itself
		}
		return "commands.allow", wrap.Starting(x.Resolved, path)
	}
	return "commands.allow", wrap.Starting(x.Resolved, x.programName(path))
}

// isOnPath tells whether a program lies where the command looks for names.
func (x *events) isOnPath(program string) bool {
	return slices.Contains(strings.Split(sys.Variable(x.Resolved.Env, "PATH"), ":"), path.Dir(program))
}

// programName is a program as a spec would name it: by its name alone where
// that leads to it, else by its path from the working directory.
func (x *events) programName(path string) string {
	for i := range x.Host.Deny {
		if e := &x.Host.Deny[i]; e.Real == path || e.Path == path {
			return e.Asked
		}
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	is, _ := host.LookUp(path, x.Resolved)
	if prog, found := host.LookUp(name, x.Resolved); name != "" && found == host.Found && prog.Real == is.Real {
		return name
	}
	if rel := wrap.Relative(x.Resolved, path); rel != path {
		return "./" + rel
	}
	return path
}
