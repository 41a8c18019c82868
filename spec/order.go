package spec

import (
	"strings"

	"sbx/internal/view"
)

// Wider returns a Problem for each field in which child allows the command more than parent
// does; none means that child is not wider. It is the only place that compares two documents,
// both resolved. docs/reference/narrowing.md has the order of each field, narrower first.
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
	{"require_available", nil}, // which is best_effort
	{"filesystem.read", filesRead},
	{"filesystem.write", filesWrite},
	{"filesystem.mounts", filesMounts},
	{"filesystem.hide", filesHide},
	{"sandbox.root", nil},     // the merge refuses a second one; what it shows is asked of the files
	{"sandbox.readonly", nil}, // which is readonly
	{"network.mode", networkMode},
	{"network.allow", networkAllow},
	{"network.listen", networkListen},
	{"broker.file", brokerFile},
	{"broker.plan", brokerPlan},
	{"broker.grant", brokerGrant},
	{"environment.pass", variables},
	{"environment.set", nil}, // by whose names environment.pass asks
	{"commands.allow", commandsAllow},
	{"commands.deny", commandsDeny},
	{"syscalls", nil}, // all lists apply
	{"profile", nil},  // a document of its own
}

// Lists gives access to the path tables of the packages above. A nil member matches nothing.
type Lists struct {
	// Secret reports whether an absolute path is hidden by default or lies in a directory that
	// is. home is the caller's home directory.
	Secret func(path, home string) bool
	// Holds reports whether a path that is hidden by default may lie beneath an absolute path.
	Holds func(path, home string) bool
	// Private lists the directories that the sandbox replaces by empty ones of its own if an
	// access_mode or filesystem.read is set and nothing opens the host's.
	Private []string
	// Protected reports whether a path relative to a writable tree is a protected name, lies
	// beneath one, or is a directory on the way to one.
	Protected func(rel string) bool
	// System reports whether @system makes an absolute path visible.
	System func(path string) bool
}

// order compares two resolved specs.
type order struct {
	p, c     *Resolved
	in       Inputs
	f        Field   // whose row is asked
	ground   *ground // the parent's
	more     []view.Difference
	problems Problems
}

// wider records that field f asks for more. asked and has are the child's and the parent's
// value; where is the place of the latter.
func (o *order) wider(f Field, asked, has, where string) {
	if len(o.problems) > 0 && o.problems[len(o.problems)-1].Field == f {
		return // one is enough
	}
	o.refuse(f, o.on(f), "have "+asked, by(has, where))
}

// refuse records that field f, at place on, asks to do something that the parent, which has
// has, does not allow.
func (o *order) refuse(f Field, on, do, has string) {
	o.problems = append(o.problems, &Problem{Field: f, On: on, Do: do, Why: "the parent has " + has, Help: NarrowHelp})
}

// item rejects the ith item of a list; where is the place of the parent's value has.
func (o *order) item(i int, asked, has, where string) {
	f := item(o.f, i)
	o.refuse(f, o.c.At(f), "have "+odd(asked), by(orElse(has, "none"), where))
}

// by is what the parent has, and where it says so.
func by(has, where string) string {
	if where != "" {
		has += " (" + where + ")"
	}
	return has
}

// on is where the child sets f or, where it follows from its access_mode, that.
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

// byRoot is the field, and its place, by which a child that brings a workshop says
// where the command starts and what it sees; "" where it brings none.
func (o *order) byRoot() (f Field, at string) {
	if o.c.Root.Abs == "" || o.p.Root.Abs != "" {
		return "", ""
	}
	if at := o.c.At("restrict"); at != "" {
		return "restrict", at
	}
	return "sandbox.root", o.c.At("sandbox.root")
}

// byMode tells whether an access_mode implies f where no document sets it.
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

// workingDir is compared where it decides over files or a document names it.
func workingDir(o *order) {
	p, c := &o.p.WorkingDir, &o.c.WorkingDir
	if o.p.Job != nil || p.Real == "" {
		return
	}
	o.startsInView()
	base := p.Real
	if n := lookUp(o.c.Spec.node(), "working_dir"); o.in.Inside && n != nil && n.Pos.Line == 0 {
		return // the current directory of a program inside, wherever that is
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

// startsInView rejects a different working directory that is not visible under the parent:
// starting the command there would make it visible.
func (o *order) startsInView() {
	c := &o.c.WorkingDir
	if o.in.Inside || c.Real == "" || c.Real == o.p.WorkingDir.Real || o.p.Visible {
		return // the lists have it there
	}
	if why := o.ground.unseen(c.Real); why != "" {
		o.widerPath(c, "in view", why)
	}
}
