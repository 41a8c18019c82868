package spec

import (
	"slices"
	"strconv"

	"sbx/internal/reach"
)

// Inputs holds what Resolve needs to know about its caller.
type Inputs struct {
	Home    string   // absolute, see HomeDir; "" when the caller has none
	Cwd     string   // absolute
	Environ []string // NAME=value
	UID     int      // the caller's, for decisions of later packages
	Paths   Paths
	Job     *JobAsk     // nil without --input and --output
	Agent   *AgentNeeds // the command's agent; nil if it is not a known agent
	// Inside says that an outer sandbox enforces the first document already. The working directory
	// of the next document defaults to the current directory.
	Inside bool
	// Learn says that a confined command's writes outside of Write go to a separate copy, for
	// review.
	Learn bool
	// unseenCwd says that starting in the current directory makes nothing visible: no document
	// names the directory, or the outer sandbox does not show it.
	unseenCwd bool
	listed    bool // see Resolved
	// BestEffort lists fields for which the caller accepts weaker enforcement than requested,
	// in addition to the documents' best_effort.
	BestEffort []Field
	Lists      Lists // the path tables of the packages above
	// Find searches dir for the paths that match an item of filesystem.hide. why is the reason if
	// it could not search everywhere.
	Find func(dir, glob string) (paths []string, why string)
	// WrittenDirs are additional directories whose contents an earlier command may have created. Chain
	// adds the directories of its documents.
	WrittenDirs []string
}

// JobAsk holds the values of --input and --output as given; "" for a missing one.
type JobAsk struct{ Input, Output string }

// Resolve computes everything that follows from the document alone. It looks only at paths that the
// spec names, and only through in.Paths. The error is a *Problem, or Problems if there are several.
func Resolve(s *SandboxSpec, in Inputs) (Resolved, error) {
	r := resolver{spec: s, in: in}
	r.out = Resolved{Spec: s, in: in, AccessMode: s.AccessMode.Or(AccessUnset), Home: in.Home}
	r.bestEffort()
	r.out.NotYet = s.notYet()
	r.workshop()
	r.job()
	r.workingDir()
	if len(r.problems) > 0 { // all other paths are relative to the working directory
		return Resolved{}, r.problems.one()
	}
	r.agent()
	r.modes()
	r.files()
	r.out.Learn = r.in.Learn && r.out.Confined
	r.restricted()
	r.commands()
	r.network()
	r.syscalls()
	r.broker()
	r.astray()
	r.environment()
	r.agentReach()
	if len(r.problems) > 0 {
		return Resolved{}, r.problems.one()
	}
	return r.out, nil
}

// resolver builds a Resolved, step by step in the order of Resolve.
type resolver struct {
	spec     *SandboxSpec
	in       Inputs
	need     *AgentNeeds // the needs of the agent that are allowed; nil for none
	out      Resolved
	led      []led
	anywhere int // the number of items of filesystem.hide so far that match at any depth
	problems Problems
}

func (r *resolver) refuse(f Field, do, why, help string) {
	r.problems = append(r.problems, &Problem{Field: f, On: r.at(f), Do: do, Why: why, Help: help})
}

func (r *resolver) note(f Field, text string) {
	r.out.Notes = append(r.out.Notes, Note{Field: f, Text: text})
}

// at is the place of a field, or of an item of it, in the document.
func (r *resolver) at(f Field) string { return r.spec.At(f) }

func (r *resolver) bestEffort() {
	r.out.BestEffort = slices.Clone(r.in.BestEffort)
	for _, f := range r.spec.BestEffort.Value {
		if !slices.Contains(r.out.BestEffort, Field(f)) {
			r.out.BestEffort = append(r.out.BestEffort, Field(f))
		}
	}
	if !r.spec.RequireAvailable.Or(true) && !slices.Contains(r.out.BestEffort, "*") {
		r.out.BestEffort = append(r.out.BestEffort, "*")
	}
}

// modes derives defaults from the access mode and the presence of rules, by the table in
// docs/reference/spec.md, "access_mode".
func (r *resolver) modes() {
	s, out := r.spec, &r.out
	fs := s.Filesystem.Value
	workshop := out.Root.Abs != ""
	guarded := out.AccessMode.Guards()
	down := s.downgraded()

	out.Visible = fs.Read.Set || workshop || out.Job != nil
	out.System = workshop || out.Job != nil || slices.Contains(fs.Read.Value, System)
	out.Private = guarded || out.Visible
	out.Confined = guarded || down || fs.Write.Set || out.Visible
	out.ReadOnly = out.Confined && (down || !r.workspaceWritable())
	// An empty list of hidden paths or mounts has no effect; an empty list of readable or
	// writable paths denies everything.
	out.FileRules = out.Confined || len(fs.Hide.Value) > 0 || len(fs.Mounts.Value) > 0
}

// downgraded reports whether readonly makes writable paths read-only.
func (s *SandboxSpec) downgraded() bool {
	return s.Readonly.Or(false) || s.Sandbox.Value.Readonly.Or(false)
}

// workspaceWritable reports whether the working directory, the workshop's tree or the job's output
// would be writable without readonly.
func (r *resolver) workspaceWritable() bool {
	switch r.out.AccessMode {
	case ReadOnly:
		return false
	case WorkspaceWrite:
		return true
	}
	return r.out.Root.Abs != "" && !r.in.listed || r.out.Job != nil
}

func (r *resolver) network() {
	n, out := r.spec.Network.Value, &r.out
	switch {
	case n.Mode.Set:
		out.Network = n.Mode.Value
	case n.Allow.Set:
		out.Network = NetworkAllow
	case r.need != nil:
		out.Network, out.AgentNetwork = NetworkAllow, true
	case out.AccessMode == ReadOnly, out.AccessMode == WorkspaceWrite:
		out.Network = NetworkNone
		r.note("network.mode", "none follows from access_mode "+out.AccessMode.String())
	default:
		out.Network = NetworkHost
	}
	if out.Network == NetworkAllow {
		r.reach(n.Allow.Value)
	}
	r.listen(n.Listen.Value)
	out.SideDoors = out.FileRules || out.Network != NetworkHost || r.spec.Syscalls.Set || out.Limited || len(out.Deny) > 0
}

// maxPorts is the maximal number of ports that a document may publish.
const maxPorts = 128

// listen resolves network.listen.
func (r *resolver) listen(ports []reach.Listen) {
	const f Field = "network.listen"
	switch {
	case len(ports) == 0:
	case r.out.Network == NetworkHost:
		r.refuse(f, "publish ports", "the command has the host's network, and listens at the host's own ports itself",
			`leave network.listen out, or give the command a network of its own: network.mode: none or allow`)
	case len(ports) > maxPorts:
		r.refuse(f, "publish more than "+strconv.Itoa(maxPorts)+" ports", "each is a socket of the host's", "publish those that are needed")
	}
	r.out.Listen = slices.Clone(ports)
}

// maxRules is the maximal number of endpoints that a document may allow: each connect is compared
// with all of them.
const maxRules = 1024

// reach resolves network.allow.
func (r *resolver) reach(allow []string) {
	const f Field = "network.allow"
	for i, asked := range allow {
		at := item(f, i)
		rules, err := reach.Expand(asked, string(at))
		if err != nil { // of a spec made in Go
			r.refuse(at, "allow "+odd(cut(asked)), err.Error(), err.Help)
			return
		}
		if r.out.Reach = append(r.out.Reach, rules...); len(r.out.Reach) > maxRules {
			r.refuse(f, "allow more than "+strconv.Itoa(maxRules)+" endpoints", "each connection would be compared with all of them", "name ranges and *.domains")
			return
		}
	}
}

func (r *resolver) syscalls() {
	r.out.Syscalls = "default"
	if asked := r.spec.Syscalls.Or("default"); asked != "default" {
		if p, ok := r.mustExist("syscalls", "use the profile "+odd(asked), asked, r.out.WorkingDir.Abs); ok {
			r.out.Syscalls = p.Real
		}
	}
}

// notYet lists the fields that the document sets but that nothing enforces yet; the planner rejects
// them.
func (s *SandboxSpec) notYet() (later []Field) {
	for i := range fields {
		if f := &fields[i]; f.Later && lookUp(s.Node(), f.Field) != nil {
			later = append(later, f.Field)
		}
	}
	return later
}
