package spec

import (
	"strings"

	"sbx/internal/view"
)

// Wider lists where child lets the command do more than parent, a Problem each;
// none means that child is no wider. It is the one order on what documents ask
// for, both with everything filled in. The order of each field, narrower first,
// is in docs/reference/narrowing.md.
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

// orders has for each field what a child asks for beyond its parent, in the order in
// which that is told. nil is a field by which a child cannot widen anything, since the
// documents are merged.
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

// Lists are the lists of the rooms above that say what a path or name is to
// them. A nil one knows nothing.
type Lists struct {
	// Secret tells whether an absolute path is, or lies in, what is hidden by
	// default. home is the caller's.
	Secret func(path, home string) bool
	// Holds tells whether something that is hidden by default may lie beneath
	// an absolute path.
	Holds func(path, home string) bool
	// Private are the directories that the sandbox has its own of, empty ones, where
	// an access_mode or filesystem.read is set and nothing opens the host's.
	Private []string
	// Protected tells whether a path relative to a writable tree is a protected
	// name, lies beneath one or leads to one.
	Protected func(rel string) bool
	// System tells whether @system shows an absolute path.
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

// wider notes that field f asks for more. asked and has are the two values,
// where what gives the parent's.
func (o *order) wider(f Field, asked, has, where string) {
	if len(o.problems) > 0 && o.problems[len(o.problems)-1].Field == f {
		return // one is enough
	}
	o.refuse(f, o.on(f), "have "+asked, by(has, where))
}

// refuse notes that f, which stands at on, would do what the parent does not, which has
// something else.
func (o *order) refuse(f Field, on, do, has string) {
	o.problems = append(o.problems, &Problem{Field: f, On: on, Do: do, Why: "the parent has " + has, Help: NarrowHelp})
}

// item refuses one item of a list; where is where the parent says so.
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

// startsInView refuses another working directory that the parent does not show: it
// comes into view where the command starts in it.
func (o *order) startsInView() {
	c := &o.c.WorkingDir
	if o.in.Inside || c.Real == "" || c.Real == o.p.WorkingDir.Real || o.p.Visible {
		return // the lists have it there
	}
	if why := o.ground.unseen(c.Real); why != "" {
		o.widerPath(c, "in view", why)
	}
}
