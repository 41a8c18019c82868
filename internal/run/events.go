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

// events records what happens while the command runs, and reports it to a person.
type events struct {
	*Prepared
	adviser *wrap.Adviser                        // created at the first use
	ended   string                               // why sbx ended the command; "" if it did not
	end     func()                               // ends the command and all its processes
	stands  func(path string, program bool) bool // see Container.Stands; nil: this program's view is the one outside
}

// stop ends the command; reason is exit.ended_by of the record.
func (x *events) stop(reason string) {
	if x.ended == "" {
		x.ended = reason
	}
	x.end()
}

// recordDenial records a denied system call, and prints the first of each kind.
func (x *events) recordDenial(r *listen.Refusal) {
	if r.Cause == listen.OutOfView && !x.worksOutside(r.Action, r.Target) {
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
	case listen.ByInner: // the inner sbx reports it to the person
		v.Kind, v.Rule = "command", "max_commands of an sbx inside"
		x.record.Violations.Add(v)
		return
	case listen.ByNarrow: // the inner sbx reports this one, too
		v.Kind, v.Rule = "network", "network of an sbx inside"
		v.Host, v.Port = splitTarget(v.Target)
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
				by = e.Protected.By // the reason differs for each settings file
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
		v.Kind, v.Rule, v.Act = "network", NetworkRule(x.Resolved), reachAct(v.Target)
		if v.Action != listen.Connect {
			v.Act.Kind = wrap.ToReachElse
		}
		if x.Plan.Relay {
			v.Host, v.Port = splitTarget(v.Target)
		} else if strings.HasSuffix(v.Target, ":53") { // libc connects to the DNS server before it sends the name
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
	searched := r.Cause == listen.OutOfView && x.isOnPath(v.Target) // a later directory of PATH may have the program
	if !searched && !x.isOwnHistory(&v) {
		x.printOnce(v.Kind+v.Rule+by, v, what)
	}
}

// isOwnHistory reports whether a shell or an interpreter wrote its history file in the
// home directory, as bash writes .bash_history when it ends. The record has the denial,
// but a person need not act on it.
func (x *events) isOwnHistory(v *audit.Violation) bool {
	name, ok := strings.CutPrefix(v.Target, x.Inputs.Home+"/.")
	program := strings.TrimRight(v.Program, "0123456789.")
	return ok && program != "" && strings.HasPrefix(name, program) && strings.Contains(name, "history") && !strings.Contains(name, "/")
}

// printOnce prints a line about a kind of denial the first time that it occurs.
func (x *events) printOnce(kind string, v audit.Violation, what string) {
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
		if alone := x.adviser.OnlyPath(v.Act); alone != "" {
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

// explain adds the rule of the spec that denied the act, and the line that would allow it.
func (x *events) explain(v *audit.Violation) (e wrap.Refusal) {
	if v.Action != listen.OpenInRoot && strings.HasPrefix(v.Target, "/") { // otherwise a directory on the path is denied
		v.Act = wrap.Act{Kind: listen.KindOf(v.Action), Path: v.Target}
		e = x.Plan.Explain(x.Resolved, v.Act)
	}
	v.Rule = cmp.Or(e.Rule, v.Rule, string(wrap.FieldProtected))
	return e
}

// advice returns the line of the spec that would allow an act.
func (x *events) advice(act wrap.Act) wrap.Advice {
	if x.adviser == nil {
		x.adviser = x.newAdviser()
	}
	return x.adviser.Advise(act)
}

// worksOutside reports whether an act that failed inside because nothing is there would
// succeed on the host: the program, or the directory to write in, exists and is not in
// view.
func (x *events) worksOutside(action, target string) bool {
	if !x.Resolved.Visible || !x.Host.Shares(target) {
		return false
	}
	switch {
	case action == listen.Execute:
		return x.hasProgram(target)
	case x.stands != nil:
		return x.stands(target, false)
	}
	return sys.MayWrite(path.Dir(target))
}

// hasProgram reports whether there is a program outside at a path, which a spec can name.
func (x *events) hasProgram(path string) bool {
	if x.stands != nil {
		return x.stands(path, true)
	}
	_, found := host.LookUp(path, x.Resolved)
	return found == host.Found
}

// programRule returns the line of the spec that denied a program, and the line that would
// allow it.
func (x *events) programRule(cause listen.Cause, path string) (rule, allow string) {
	switch cause {
	case listen.ByDeny:
		return "commands.deny", wrap.Undenied(x.Resolved, x.programName(path))
	case listen.ByLoader:
		if !x.Resolved.Limited {
			return "commands.deny", "" // the program that it tried to load may be started by itself
		}
		return "commands.allow", wrap.Starting(x.Resolved, path)
	}
	if !x.hasProgram(path) { // removed, without a name or in a private directory
		return "commands.allow", ""
	}
	return "commands.allow", wrap.Starting(x.Resolved, x.programName(path))
}

// isOnPath reports whether a program lies in a directory of the command's PATH.
func (x *events) isOnPath(program string) bool {
	return slices.Contains(strings.Split(sys.Variable(x.Resolved.Env, "PATH"), ":"), path.Dir(program))
}

// programName names a program as a spec would: by its base name if PATH leads to it,
// otherwise by its path from the working directory.
func (x *events) programName(path string) string {
	for i := range x.Host.Deny {
		if e := &x.Host.Deny[i]; e.Real == path || e.Path == path {
			return e.Asked
		}
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	is, _ := host.LookUp(path, x.Resolved)
	if prog, found := host.LookUp(name, x.Resolved); name != "" && found == host.Found && prog.Real == is.Real {
		return spec.SpelledProgram(name, path)
	}
	if rel := wrap.Relative(x.Resolved, path); rel != path {
		return "./" + rel
	}
	return path
}
