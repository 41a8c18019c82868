package spec

import (
	"strings"

	"sbx/internal/view"
)

// Wider returns a Problem for each field in which child allows the command more than parent does;
// no Problem means that child is not wider. Only Wider compares two resolved documents.
// docs/reference/narrowing.md lists the order of each field, narrower first.
func Wider(parent, child *Resolved, in Inputs) Problems {
	o := order{p: parent, c: child, in: in}
	o.files()
	for i := range orders {
		if o.f = orders[i].field; orders[i].wider != nil {
			orders[i].wider(&o)
		}
	}
	return o.problems
}

// orders holds the comparison of each field, in the order in which problems are reported. nil
// marks a field by which a child cannot widen anything, because the two documents are merged.
var orders = []struct {
	field Field
	wider func(*order)
}{
	{"access_mode", accessMode},
	{"readonly", readOnly},
	{"working_dir", workingDir},
	{"restrict", restrict},
	{"max_turns", func(o *order) { atMost(o, o.p.Spec.MaxTurns, o.c.Spec.MaxTurns) }},
	{"max_commands", func(o *order) { atMost(o, o.p.Spec.MaxCommands, o.c.Spec.MaxCommands) }},
	{"on_exceed", onExceed},
	{"limits.pids", pids},
	{"limits.open_files", func(o *order) { atMost(o, o.p.limits().OpenFiles, o.c.limits().OpenFiles) }},
	{"limits.memory", func(o *order) { atMost(o, o.p.limits().Memory, o.c.limits().Memory) }},
	{"limits.cpus", func(o *order) { atMost(o, o.p.limits().CPUs, o.c.limits().CPUs) }},
	{"limits.file_size", func(o *order) { atMost(o, o.p.limits().FileSize, o.c.limits().FileSize) }},
	{"limits.timeout", func(o *order) { atMost(o, o.p.limits().Timeout, o.c.limits().Timeout) }},
	{"tools_allowed", toolsAllowed},
	{"tools_denied", toolsDenied},
	{"agent", agent},
	{"best_effort", bestEffort},
	{"require_available", nil}, // compared as best_effort
	{"filesystem.read", filesRead},
	{"filesystem.write", filesWrite},
	{"filesystem.mounts", filesMounts},
	{"filesystem.hide", filesHide},
	{"sandbox.root", nil},     // the merge rejects a second root; the files of a root are compared like all others
	{"sandbox.readonly", nil}, // compared as readonly
	{"network.mode", networkMode},
	{"network.allow", networkAllow},
	{"network.listen", networkListen},
	{"broker.file", brokerFile},
	{"broker.plan", brokerPlan},
	{"broker.grant", brokerGrant},
	{"environment.pass", variables},
	{"environment.set", nil}, // compared by environment.pass
	{"commands.allow", commandsAllow},
	{"commands.deny", commandsDeny},
	{"syscalls", nil}, // all lists apply
	{"profile", nil},  // replaced by its document
}

// Lists gives access to the path tables of the packages above. A nil member matches nothing.
type Lists struct {
	// Secret reports whether an absolute path is hidden by default or lies in a directory that is
	// hidden by default. home is the caller's home directory.
	Secret func(path, home string) bool
	// Holds reports whether a path that is hidden by default may lie under an absolute path.
	Holds func(path, home string) bool
	// Private lists the directories for which the sandbox has empty ones of its own if an
	// access_mode or filesystem.read is set and no document opens the host's.
	Private []string
	// Protected reports whether a path relative to a writable tree is a protected name, lies under
	// one, or is a directory that leads to one.
	Protected func(rel string) bool
	// System reports whether @system makes an absolute path visible.
	System func(path string) bool
}

// order compares two resolved specs.
type order struct {
	p, c     *Resolved
	in       Inputs
	f        Field   // the row of orders that is being compared
	ground   *ground // the parent's
	more     []view.Difference
	problems Problems
}

// wider records that field f allows more. asked and has are the child's and the parent's value;
// where is the place of the parent's.
func (o *order) wider(f Field, asked, has, where string) {
	if len(o.problems) > 0 && o.problems[len(o.problems)-1].Field == f {
		return // one problem per field is enough
	}
	o.refuse(f, o.on(f), "have "+asked, by(has, where))
}

// refuse records that field f, set at place on, asks to do something that the parent does not
// allow; has is the parent's value.
func (o *order) refuse(f Field, on, do, has string) {
	o.problems = append(o.problems, &Problem{Field: f, On: on, Do: do, Why: "the parent has " + has, Help: NarrowHelp})
}

// item rejects the ith item of a list; where is the place of the parent's value has.
func (o *order) item(i int, asked, has, where string) {
	f := item(o.f, i)
	o.refuse(f, o.c.At(f), "have "+odd(asked), by(orElse(has, "none"), where))
}

// by returns the parent's value together with its place.
func by(has, where string) string {
	if where != "" {
		has += " (" + where + ")"
	}
	return has
}

// on returns the place where the child sets f, or else of the access_mode that implies f.
func (o *order) on(f Field) string {
	at := o.c.At(f)
	if at == "" && (f == "working_dir" || strings.HasPrefix(string(f), "filesystem.")) {
		_, at = o.byRoot()
	}
	if at == "" && byMode(f) {
		at = o.c.At("access_mode")
	}
	return at
}

// byRoot returns the field, and its place, by which a child with a workshop of its own decides
// where the command starts and which files it sees; "" if the child has no such workshop.
func (o *order) byRoot() (f Field, at string) {
	if o.c.Root.Abs == "" || o.p.Root.Abs != "" {
		return "", ""
	}
	if at := o.c.At("restrict"); at != "" {
		return "restrict", at
	}
	return "sandbox.root", o.c.At("sandbox.root")
}

// byMode reports whether an access_mode implies f if no document sets it.
func byMode(f Field) bool {
	outer, _, _ := strings.Cut(string(f), ".")
	return outer == "network" || outer == "filesystem" || outer == "environment" || outer == "working_dir"
}

func orElse(s, without string) string {
	if s == "" {
		return without
	}
	return s
}

// workingDir compares the working directories if they affect access to files or a document names
// one.
func workingDir(o *order) {
	p, c := &o.p.WorkingDir, &o.c.WorkingDir
	if o.p.Job != nil || p.Real == "" {
		return
	}
	o.startsInView()
	base := p.Real
	if n := lookUp(o.c.Spec.node(), "working_dir"); o.in.Inside && n != nil && n.Pos.Line == 0 {
		return // a program inside may have any current directory
	}
	switch {
	case o.p.Spec.WorkingDir.Set, o.p.AccessMode == WorkspaceWrite && o.p.Root.Real == "":
	case o.p.Root.Real != "":
		base = o.p.Restricted.Real
	default:
		return
	}
	if !under(c.Real, base) {
		o.wider("working_dir", odd(c.Abs), odd(base), o.p.origin("working_dir"))
	}
}

func restrict(o *order) {
	if r := o.p.Restricted.Real; r != "" && !under(o.c.Restricted.Real, r) {
		o.wider("restrict", odd(o.c.Restricted.Abs), odd(o.p.Restricted.Abs), o.p.origin("restrict"))
	}
}

// startsInView rejects a working directory that differs from the parent's and is not visible under
// the parent: starting the command there would make it visible.
func (o *order) startsInView() {
	c := &o.c.WorkingDir
	if o.in.Inside || c.Real == "" || c.Real == o.p.WorkingDir.Real || o.p.Visible {
		return // the comparison of the lists covers it
	}
	if why := o.ground.unseen(c.Real); why != "" {
		o.widerPath(c, "in view", why)
	}
}
