package spec

import (
	"slices"
	"strconv"
	"strings"
)

// Wider lists where child lets the command do more than parent, a Problem each;
// none means that child is no wider. It is the one order on what documents ask
// for, both with everything filled in. The order of each field, narrower first,
// is in docs/reference/narrowing.md.
func Wider(parent, child *Resolved, in Inputs) Problems {
	o := order{p: parent, c: child, lists: in.Lists, paths: in.Paths, inside: in.Inside}
	o.modes()
	o.workingDir()
	o.budgets()
	o.limits()
	o.tools()
	o.agents()
	o.leniency()
	o.view()
	o.writes()
	o.mounts()
	o.hidden()
	o.network()
	o.broker()
	o.variables()
	o.commands()
	return o.problems
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
	lists    Lists
	paths    Paths
	inside   bool
	problems Problems
}

// wider notes that field f asks for more. asked and has are the two values,
// where what gives the parent's.
func (o *order) wider(f Field, asked, has, where string) {
	if len(o.problems) > 0 && o.problems[len(o.problems)-1].Field == f {
		return // one is enough
	}
	why := has
	if where != "" {
		why += " (" + where + ")"
	}
	o.problems = append(o.problems, &Problem{Field: f, On: o.on(f), Do: "have " + asked, Why: "the parent has " + why, Help: NarrowHelp})
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

// at is where the parent sets f or, where it follows from its access_mode, that.
func (o *order) at(f Field) string {
	at := o.p.At(f)
	if at == "" && byMode(f) && o.p.AccessMode != AccessUnset {
		return "from access_mode " + o.p.AccessMode.String() + ", " + o.p.At("access_mode")
	}
	return at
}

func (o *order) modes() {
	if p, c := o.p.AccessMode, o.c.AccessMode; p != AccessUnset && (c == AccessUnset || c > p) {
		o.wider("access_mode", orElse(c.String(), "no access_mode"), p.String(), o.at("access_mode"))
	}
	if why := o.p.whyReadOnly(); why != "" && o.p.AccessMode != ReadOnly && !o.c.ReadOnly {
		o.wider("readonly", "what may be written", "what may only be read", why)
	}
}

func orElse(s, without string) string {
	if s == "" {
		return without
	}
	return s
}

// workingDir is compared where it decides over files or a document names it.
func (o *order) workingDir() {
	p, c := &o.p.WorkingDir, &o.c.WorkingDir
	if o.p.Job != nil || p.Real == "" {
		return
	}
	o.startsInView()
	base := p.Real
	if n := lookUp(o.c.Spec.node(), "working_dir"); o.inside && n != nil && n.Pos.Line == 0 {
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
		o.wider("working_dir", odd(c.Abs), odd(base), o.at("working_dir"))
	}
	if r := o.p.Restricted.Real; r != "" && !under(o.c.Restricted.Real, r) {
		o.wider("restrict", odd(o.c.Restricted.Abs), odd(o.p.Restricted.Abs), o.at("restrict"))
	}
}

// startsInView refuses another working directory that the parent does not show: it
// comes into view where the command starts in it.
func (o *order) startsInView() {
	c := &o.c.WorkingDir
	if o.inside || c.Real == "" || c.Real == o.p.WorkingDir.Real || o.p.Visible {
		return // the lists have it there
	}
	if why := o.unseen(c.Real); why != "" {
		o.widerPath(c, "in view", why)
	}
}

func (o *order) budgets() {
	p, c := o.p.Spec, o.c.Spec
	o.count("max_turns", p.MaxTurns, c.MaxTurns)
	o.count("max_commands", p.MaxCommands, c.MaxCommands)
	if !p.OnExceed.Set && !p.MaxCommands.Set && !p.MaxTurns.Set {
		return
	}
	// The values stand in another order: deny, kill, record.
	rank := func(e OnExceed) int { return slices.Index([]OnExceed{Kill, Deny, RecordOnly}, e) }
	if has, asked := p.OnExceed.Or(Deny), c.OnExceed.Or(Deny); rank(asked) > rank(has) {
		o.wider("on_exceed", asked.String(), has.String(), o.at("on_exceed"))
	}
}

func (o *order) count(f Field, p, c Opt[int]) {
	if p.Set && (!c.Set || c.Value > p.Value) {
		asked := "no bound"
		if c.Set {
			asked = strconv.Itoa(c.Value)
		}
		o.wider(f, asked, strconv.Itoa(p.Value), o.at(f))
	}
}

func (o *order) limits() {
	p, c := &o.p.Spec.Limits.Value, &o.c.Spec.Limits.Value
	o.count("limits.pids", p.PIDs, c.PIDs)
	if !p.PIDs.Set && c.PIDs.Value > MostPIDs {
		o.wider("limits.pids", strconv.Itoa(c.PIDs.Value), strconv.Itoa(MostPIDs)+", as each without one", "")
	}
	o.count("limits.open_files", p.OpenFiles, c.OpenFiles)
	o.limit("limits.memory", p.Memory.Set, c.Memory.Set && c.Memory.Value <= p.Memory.Value)
	o.limit("limits.cpus", p.CPUs.Set, c.CPUs.Set && c.CPUs.Value <= p.CPUs.Value)
	o.limit("limits.file_size", p.FileSize.Set, c.FileSize.Set && c.FileSize.Value <= p.FileSize.Value)
	o.limit("limits.timeout", p.Timeout.Set, c.Timeout.Set && c.Timeout.Value <= p.Timeout.Value)
}

func (o *order) limit(f Field, limited, keeps bool) {
	if limited && !keeps {
		o.wider(f, orElse(o.c.Spec.Text(f), "no limit"), o.p.Spec.Text(f), o.at(f))
	}
}

func (o *order) agents() {
	if p, c := o.p.Spec.Agent, o.c.Spec.Agent; p.Set && (!c.Set || c.Value != p.Value) {
		o.wider("agent", orElse(c.Value.String(), "no agent"), p.Value.String(), o.at("agent"))
	}
	if o.p.Agent == 0 && o.c.Agent != 0 && o.p.AccessMode.Guards() {
		o.wider("agent", "what "+o.c.Agent.String()+" needs of its own opened", "no agent, by the command's name", "")
	}
}

// leniency compares best_effort and require_available. A parent that asks for
// nothing says nothing about how well it is to be enforced.
func (o *order) leniency() {
	if o.inside || len(o.p.Spec.Asked()) == 0 {
		return // nothing here loosens what an outer sandbox holds
	}
	for _, f := range o.c.BestEffort {
		if !o.p.AllowsLess(f) {
			from := Field("best_effort")
			if o.c.At(from) == "" {
				from = "require_available"
			}
			o.wider(from, string(f)+" by best effort", "it enforced", orElse(o.at(from), o.p.At(o.p.Spec.Asked()[0])))
		}
	}
}
