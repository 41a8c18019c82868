package wrap

import (
	"slices"
	"strings"

	"sbx/spec"
	"sbx/wrap/defaults"
)

// Adviser finds the line of a document that would allow what was denied. It tries each
// edit: the edited document is resolved, planned for the same host, and its View asked.
type Adviser struct {
	Plan     *Plan
	Resolved *spec.Resolved
	Host     *Host
	Request  Request

	tried map[string]*attempt // by the line of the edit
	known map[Act]Advice
}

// Advice is a line of a document.
type Advice struct {
	Line  string // "" where no single line allows the act
	Opens string // the directory that it opens with all in it, where that is more than the path
}

// maxTried bounds the Plans that are kept: alike denials ask for the same few.
const maxTried = 16

// On is the smallest line that allows an act.
func (a *Adviser) On(act Act) Advice {
	found, ok := a.known[act]
	if ok {
		return found
	}
	switch act.Kind {
	case ToReach, ToReachElse:
		found.Line = a.leading(a.connecting([]string{act.Path}, act.Kind == ToReach))
	default:
		found = a.atPath(act)
	}
	if a.known == nil {
		a.known = map[Act]Advice{}
	}
	a.known[act] = found
	return found
}

// atPath is On for what is done at a path.
func (a *Adviser) atPath(act Act) Advice {
	if a.Plan.Allows(act) { // it is the host that denies it
		return Advice{}
	}
	for _, e := range a.edits(act) {
		if t := a.try(e, ""); t != nil && t.allows(e, act, a.Plan.outside(act.Path)) {
			return Advice{Line: e.line, Opens: a.opens(t.plan, e, act)}
		}
	}
	return Advice{}
}

// Alone is the line that would name a path itself, and nothing above it, if a file were
// there before the start; "" for none.
func (a *Adviser) Alone(act Act) string {
	at := a.Plan.outside(act.Path)
	e := a.writing(at)
	if t := a.try(e, at); t == nil || !t.allows(e, act, at) {
		return ""
	}
	return e.line
}

// edit is a change of a document.
type edit struct {
	line  string
	names string // the path that is added to a list; "" for a line of another kind
	apply func(*spec.SandboxSpec)

	own     bool             // it changes a line where that stands, not what narrows it
	network spec.NetworkMode // what it gives the command; 0 where it is about files
}

// edits are the changes that may allow an act, the smallest first.
func (a *Adviser) edits(act Act) (all []edit) {
	r, at := a.Resolved, a.Plan.outside(act.Path)
	switch act.Kind {
	case ToRead:
		return append(a.reading(at), a.writing(at))
	case ToConnect:
		return []edit{a.writing(at)}
	}
	all = a.loosening(act.Path)
	if r.AccessMode == spec.ReadOnly && under(at, r.WorkingDir.Real) {
		all = append(all, edit{line: "access_mode: workspace-write", apply: func(s *spec.SandboxSpec) { s.AccessMode = spec.Some(spec.WorkspaceWrite) }})
	}
	tree := a.Plan.Watch.treeOf(at)
	for dir := at; dir != "/" && dir != "."; dir = parent(dir) {
		all = append(all, a.writing(dir))
		if dir == tree { // no directory above it opens what is protected in it
			break
		}
	}
	if git := a.onlyGit(at); git != "" && act.Kind == ToTake {
		all = append(all, a.writing(git))
	}
	return all
}

// loosening are the edits of the lines that make read-only what is there.
func (a *Adviser) loosening(path string) (all []edit) {
	f := a.Plan.View.At(path).Because.Field
	if list, _, _ := strings.Cut(f, "["); list == "filesystem.mounts" && !isOption(a.Resolved, spec.Field(list)) {
		all = append(all, edit{line: f + ".mode: rw", own: true, apply: func(s *spec.SandboxSpec) {
			mounts := slices.Clone(s.Filesystem.Value.Mounts.Value)
			if i := itemOf(f); i < len(mounts) {
				mounts[i].Mode = spec.MountRW
			}
			s.Filesystem.Value.Mounts.Value = mounts
		}})
	}
	line := readonlyLine(a.Resolved)
	if isOption(a.Resolved, spec.Field(line)) {
		return all
	}
	switch line {
	case "":
	case "readonly":
		all = append(all, edit{line: line + ": false", own: true, apply: func(s *spec.SandboxSpec) { s.Readonly.Value = false }})
	default:
		all = append(all, edit{line: line + ": false", own: true, apply: func(s *spec.SandboxSpec) { s.Sandbox.Value.Readonly.Value = false }})
	}
	return all
}

// writing is the edit that adds a path to what is written.
func (a *Adviser) writing(path string) edit {
	list := a.Resolved.Spec.Filesystem.Value.Write.Value
	return edit{line: Writing(a.Resolved, path), names: path, apply: func(s *spec.SandboxSpec) {
		s.Filesystem.Set, s.Filesystem.Value.Write = true, spec.Some(append(slices.Clip(list), spelled(a.Resolved, path)))
	}}
}

// reading are the edits that put a path into view.
func (a *Adviser) reading(path string) (all []edit) {
	for _, list := range reading(a.Resolved, path) {
		all = append(all, edit{line: spec.Line(fieldRead, list), names: path, apply: func(s *spec.SandboxSpec) {
			s.Filesystem.Set, s.Filesystem.Value.Read = true, spec.Some(list)
		}})
	}
	return all
}

// attempt is what became of an edited document.
type attempt struct {
	plan  *Plan
	there bool // the path that the edit names exists
}

// try is what becomes of an edited document; nil where that is refused. Where there is not
// "", a file is taken to be there.
func (a *Adviser) try(e edit, there string) *attempt {
	key := e.line + "\x00" + there
	if e.network == spec.NetworkAllow { // whatever the list
		key = "network.allow"
	}
	if t, ok := a.tried[key]; ok || e.line == "" {
		return t
	}
	if len(a.tried) == maxTried || a.tried == nil {
		a.tried = make(map[string]*attempt, maxTried)
	}
	doc := *a.Resolved.Spec
	e.apply(&doc)
	r, err := a.Resolved.Again(&doc, there)
	if err != nil || !e.own && a.Resolved.Bound(&r) != "" {
		a.tried[key] = nil
		return nil
	}
	p := &Plan{}
	if !r.System || a.Resolved.System { // else nobody has looked what that is here
		prog := &a.Request.Program
		p, err = Build(&r, a.Host.opened(&r, append([]string{e.names, prog.Real, prog.Folder}, prog.Interpreters...)...), a.Request)
	}
	if err != nil {
		a.tried[key] = nil
		return nil
	}
	t := &attempt{p, slices.ContainsFunc(r.Write, func(w spec.Path) bool { return w.Exists && w.Real == e.names })}
	a.tried[key] = t
	return t
}

// allows reports whether an edit allows an act at a path of the host: what turns out to be
// there is not made. An outer sandbox's files have no View here.
func (t *attempt) allows(e edit, act Act, at string) bool {
	if act.Kind == ToMake && e.names == at && t.there {
		act.Kind = ToWrite
	}
	if len(t.plan.View.Places()) == 0 {
		return act.Kind != ToTake || e.names != at
	}
	return t.plan.Allows(act)
}

// opens is the directory above an act's path that an edit opens.
func (a *Adviser) opens(p *Plan, e edit, act Act) (top string) {
	at := a.Plan.outside(act.Path)
	if e.names != "" {
		if e.names != at && under(at, e.names) {
			return e.names
		}
		return ""
	}
	for up := act.Path; up != "/"; {
		if up = parent(up); p.writes(up) && !a.Plan.writes(up) {
			top = up
		}
	}
	return top
}

// onlyGit is the one git directory in which all lies that is protected under a
// directory; "" where that is not so.
func (a *Adviser) onlyGit(dir string) (git string) {
	for i := range a.Plan.Watch.Protected {
		p := &a.Plan.Watch.Protected[i]
		if p.Path == dir || !under(p.Path, dir) {
			continue
		}
		in, ok := defaults.InGitFolder(p.Path)
		at := strings.TrimSuffix(p.Path, "/"+in)
		if !ok || git != "" && git != at {
			return ""
		}
		git = at
	}
	return git
}

// opened is the host as a look at it for an edit of the document would find it: what
// the edit names is no secret any more. What else a look would find in a directory that
// the edit opens is not known.
func (h *Host) opened(r *spec.Resolved, seen ...string) *Host {
	own, all := WithOwn(r), *h
	all.Secrets = slices.DeleteFunc(slices.Clone(h.Secrets), func(s Found) bool {
		names := func(n spec.Path) bool {
			return n.Field != "" && (n.Abs == s.Path || n.Abs == s.Real || (n.Real == s.Path || n.Real == s.Real) && !own.Planted(&n))
		}
		return slices.ContainsFunc(own.Read, names) || slices.ContainsFunc(own.Write, names)
	})
	root := func(p spec.Path) bool { return p.Real == "/" }
	if h.listing("/") == nil && slices.ContainsFunc(r.Read, root) {
		all.Listing = append(slices.Clip(h.Listing), Listing{Dir: "/", Entries: topsOf(append(seen, h.Home, r.WorkingDir.Real, "/usr"))})
	}
	return &all
}

// topsOf are the names in the root directory that paths begin with.
func topsOf(paths []string) (all []Entry) {
	for _, p := range paths {
		name, _, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/")
		if e := (Entry{Name: name, Kind: Dir}); name != "" && !slices.Contains(all, e) {
			all = append(all, e)
		}
	}
	return all
}
