package wrap

import (
	"slices"
	"strings"

	"sbx/spec"
	"sbx/wrap/defaults"
)

// Adviser finds the line of a document that would allow a denied act. It tries edits of the
// document: it resolves the edited document, plans it for the same host and asks its View.
type Adviser struct {
	Plan     *Plan
	Resolved *spec.Resolved
	Host     *Host
	Request  Request

	tried map[string]*attempt // by the line of the edit
	known map[Act]Advice
}

// Advice is a line that would allow an act.
type Advice struct {
	Line  string // "" if no single line allows the act
	Opens string // a directory that the line opens as a whole, if that is more than the act's path
}

// maxTried bounds how many Plans are kept: similar denials lead to the same few edits.
const maxTried = 16

// Advise returns the smallest line that allows an act.
func (a *Adviser) Advise(act Act) Advice {
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

// atPath is On for an act at a path.
func (a *Adviser) atPath(act Act) Advice {
	if a.Plan.Allows(act) { // then the host denies it
		return Advice{}
	}
	for _, e := range a.edits(act) {
		if t := a.try(e, ""); t != nil && t.allows(e, act, a.Plan.outside(act.Path)) {
			return Advice{Line: e.line, Opens: a.opens(t.plan, e, act)}
		}
	}
	return Advice{}
}

// OnlyPath returns the line that names only the act's path, and no directory above it, if it would
// allow the act on a file that existed before the start; "" if not.
func (a *Adviser) OnlyPath(act Act) string {
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
	names string // the path that it adds to a list; "" for an edit that adds none
	apply func(*spec.SandboxSpec)

	own     bool             // it changes an existing line where it stands, so it need not stay within other documents' bounds
	network spec.NetworkMode // the network that it gives the command; 0 if it is about files
}

// edits returns the changes that may allow an act, the smallest first.
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
		if dir == tree { // naming a directory above a tree does not open the protected names in it
			break
		}
	}
	if git := a.onlyGit(at); git != "" && act.Kind == ToTake {
		all = append(all, a.writing(git))
	}
	return all
}

// loosening returns edits of the lines that make existing paths read-only.
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

// writing returns the edit that adds a path to filesystem.write.
func (a *Adviser) writing(path string) edit {
	list := a.Resolved.Spec.Filesystem.Value.Write.Value
	return edit{line: Writing(a.Resolved, path), names: path, apply: func(s *spec.SandboxSpec) {
		s.Filesystem.Set, s.Filesystem.Value.Write = true, spec.Some(append(slices.Clip(list), spelled(a.Resolved, path)))
	}}
}

// reading returns the edits that put a path into view.
func (a *Adviser) reading(path string) (all []edit) {
	for _, list := range reading(a.Resolved, path) {
		all = append(all, edit{line: spec.Line(fieldRead, list), names: path, apply: func(s *spec.SandboxSpec) {
			s.Filesystem.Set, s.Filesystem.Value.Read = true, spec.Some(list)
		}})
	}
	return all
}

// attempt is the result of trying an edit.
type attempt struct {
	plan  *Plan
	there bool // the path that the edit names exists
}

// try resolves and plans an edited document; it returns nil if that fails. If there is not "", try
// assumes that a file exists at that path.
func (a *Adviser) try(e edit, there string) *attempt {
	key := e.line + "\x00" + there
	if e.network == spec.NetworkAllow { // every list leads to the same Plan here
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
	if !r.System || a.Resolved.System { // else Probe has not looked for the paths of @system
		prog := &a.Request.Program
		p, err = Build(&r, a.Host.opened(&r, append([]string{e.names, prog.Real, prog.Dir}, prog.Interpreters...)...), a.Request)
	}
	if err != nil {
		a.tried[key] = nil
		return nil
	}
	t := &attempt{p, slices.ContainsFunc(r.Write, func(w spec.Path) bool { return w.Exists && w.Real == e.names })}
	a.tried[key] = t
	return t
}

// allows reports whether an edit allows an act at a path of the host. An act that creates a file
// counts as a write if the file turns out to exist. A Plan inside an outer sandbox has no View of
// the files.
func (t *attempt) allows(e edit, act Act, at string) bool {
	if act.Kind == ToMake && e.names == at && t.there {
		act.Kind = ToWrite
	}
	if len(t.plan.View.Places()) == 0 {
		return act.Kind != ToTake || e.names != at
	}
	return t.plan.Allows(act)
}

// opens returns the directory above an act's path that an edit opens.
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

// onlyGit returns the one git directory that holds every protected path under dir; "" if there is
// no such directory.
func (a *Adviser) onlyGit(dir string) (git string) {
	for i := range a.Plan.Watch.Protected {
		p := &a.Plan.Watch.Protected[i]
		if p.Path == dir || !under(p.Path, dir) {
			continue
		}
		in, ok := defaults.InGitDir(p.Path)
		at := strings.TrimSuffix(p.Path, "/"+in)
		if !ok || git != "" && git != at {
			return ""
		}
		git = at
	}
	return git
}

// opened returns the host as Probe would find it for an edited document: paths that the edit names
// are not secrets any more. Whatever else Probe would find in a directory that the edit opens is
// unknown.
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

// topsOf returns the names in the root directory with which paths begin.
func topsOf(paths []string) (all []Entry) {
	for _, p := range paths {
		name, _, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/")
		if e := (Entry{Name: name, Kind: Dir}); name != "" && !slices.Contains(all, e) {
			all = append(all, e)
		}
	}
	return all
}
