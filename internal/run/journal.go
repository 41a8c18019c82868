package run

import (
	"slices"
	"strings"
	"time"

	"sbx/audit"
	"sbx/internal/sys"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/host"
)

// journal is the record of a run as it grows, where it lies, and of what a person was
// told.
type journal struct {
	*Ask
	record    audit.Record
	sink      *audit.Sink // nil before the record's place is opened
	later     string      // where the record will stand, links resolved, before sink is there
	unmadeWhy string      // why there is no state directory, and none could be made
	specs     []string    // the files of a broker's tools' specs, links resolved
	told      []string    // the kinds of refusals that a person was told of
	refusals  int         // that a person is told of, or would be
}

func newJournal(a *Ask) *journal { return &journal{Ask: a, record: a.record()} }

// place decides where the record goes. In the state directory, once that is there,
// the run's own directory can wait until the child is busy with its mounts.
func (x *journal) place() error {
	state := audit.StateDir(x.Inputs.Environ, x.Inputs.Home)
	if x.isNamed() {
		x.makeState(state)
		return x.open()
	}
	if !sys.Exists(state + "/runs") {
		return x.open()
	}
	runs, err := spec.Real(state+"/runs", spec.HostPaths{})
	if err != nil {
		return x.open()
	}
	x.later = runs + "/" + x.ID + "/effective.json"
	return nil
}

// isNamed tells whether the caller says where the record goes.
func (x *journal) isNamed() bool {
	return x.Effective.Set || sys.Variable(x.Inputs.Environ, "SBX_EFFECTIVE") != ""
}

// bound keeps the state directory from growing for ever, once the record is written.
func (x *journal) bound() {
	if !x.isNamed() {
		audit.Bound(audit.StateDir(x.Inputs.Environ, x.Inputs.Home), x.ID)
	}
}

// open opens the record's place.
func (x *journal) open() error {
	if x.sink != nil {
		return nil
	}
	folder, err := x.recordFolder(x.Effective.Or(sys.Variable(x.Inputs.Environ, "SBX_EFFECTIVE")))
	if err != nil {
		return err
	}
	sink, err := audit.Open(x.Effective, folder, x.Inputs.Environ, x.Inputs.Home, x.ID)
	if err == nil {
		x.sink = sink
	}
	return err
}

// makeState makes sbx's own state directory where the record goes elsewhere, and the
// command could make it: what that left there would be believed.
func (x *journal) makeState(state string) {
	writes := func(path string) bool { return wrap.Writes(x.Resolved, path) }
	if state == "" || sys.Exists(state) || x.DryRun || !slices.ContainsFunc(host.Leads(state), writes) {
		return
	}
	if err := audit.MakeState(state); err != nil {
		x.unmadeWhy = err.Error()
	}
}

// recordFolder is the directory of the record that is named, links resolved; "" where
// that is the current one. No link that an earlier command may have left leads there:
// who left it would choose what sbx writes to. That holds for the record of a spec
// that is refused, too: who left the link may have brought that about.
func (x *journal) recordFolder(named string) (string, error) {
	i := strings.LastIndexByte(named, '/')
	if i < 0 {
		return "", nil
	}
	if x.Inputs.Cwd == "" && named[0] != '/' {
		return "", nil // which cannot be opened
	}
	docs := x.Documents
	if x.Resolved != nil {
		docs = append(docs[:len(docs):len(docs)], x.Resolved.Spec)
	}
	p, refusal := Follow(named[:i+1], x.Inputs, docs)
	switch {
	case refusal == nil && !p.Exists:
		refusal = &spec.Problem{Why: "its directory cannot be opened: " + spec.NoEntry.Error(), Help: "make the directory first, sbx does not"}
	case refusal == nil:
		return p.Real, nil
	case refusal.Help == "":
		refusal.Why = "its directory cannot be opened: " + refusal.Why
	}
	refusal.On, refusal.Do = named, "write the record"
	return "", refusal
}

// Follow resolves a path that a command line names, for a start in in.Cwd under the
// documents.
func Follow(path string, in spec.Inputs, docs []*spec.SandboxSpec) (spec.Path, *spec.Problem) {
	if !strings.HasPrefix(path, "/") {
		path = in.Cwd + "/" + path
	}
	trees := spec.TreesOf(in, docs...)
	return trees.Follow(path)
}

// sourcePaths are the files that made the spec, a broker's and its tools' with them,
// links resolved.
func (x *journal) sourcePaths() []string {
	files := SourceFiles(x.Documents)
	if x.Resolved == nil {
		return files
	}
	for _, p := range []*spec.Path{&x.Resolved.Broker.File, &x.Resolved.Broker.Plan} {
		if p.Exists {
			files = append(files, p.Real)
		}
	}
	return append(files, x.specs...)
}

// SourceFiles are the files that documents were read from, links resolved.
func SourceFiles(docs []*spec.SandboxSpec) []string {
	var files []string
	for _, d := range docs {
		src := &d.Source
		if src.Name == "-" || strings.HasPrefix(src.Name, "--") {
			continue
		}
		if real, err := spec.Real(src.Dir+"/"+src.Name[strings.LastIndexByte(src.Name, '/')+1:], spec.HostPaths{}); err == nil {
			files = append(files, real)
		}
	}
	return files
}

// shownAs is what `sbx show` finds the record by, once it is written.
func (x *journal) shownAs() string {
	named := x.Effective.Or(sys.Variable(x.Inputs.Environ, "SBX_EFFECTIVE"))
	switch {
	case named == "":
		return "last"
	case !strings.ContainsRune(named, '/') && !strings.HasSuffix(named, ".json"): // else it is taken for an id
		named = "./" + named
	}
	return spec.Name(named)
}

// RecordPath is where the record will stand, links resolved.
func (x *journal) RecordPath() string {
	if x.sink == nil {
		return x.later
	}
	path := x.sink.Path()
	if !strings.HasPrefix(path, "/") {
		cwd, err := sys.Getwd()
		if err != nil {
			return ""
		}
		path = cwd + "/" + path
	}
	i := strings.LastIndexByte(path, '/')
	dir, err := spec.Real(path[:i+1], spec.HostPaths{})
	if err != nil {
		return path
	}
	return strings.TrimRight(dir, "/") + path[i:]
}

// weaken says in the record's line of a field why it held less.
func (x *journal) weaken(f spec.Field, why string) {
	for i := range x.record.Enforcement {
		if e := &x.record.Enforcement[i]; e.Field == f {
			e.Weaken(wrap.Degraded, why)
		}
	}
}

// maxTold bounds the kinds that are remembered: an agent's stream may name any.
const maxTold = 1000

// toldOf tells whether a kind was met before, and remembers it.
func (x *journal) toldOf(kind string) bool {
	if slices.Contains(x.told, kind) {
		return true
	}
	if len(x.told) < maxTold {
		x.told = append(x.told, kind)
	}
	return false
}

// Refuse ends a run that came to no plan: a person and the record are told why.
func Refuse(a *Ask, err error) Ended { return newJournal(a).refuse(err) }

// refuse tells why the command does not start, to the person and the record.
func (x *journal) refuse(err error) Ended {
	status := StatusRefused
	if u, ok := err.(*unstarted); ok {
		status = u.status
	}
	problems := spec.AsProblems(err)
	for _, p := range problems {
		x.Voice.Problem(p)
	}
	x.record.Error = audit.Refused(problems[0])
	// Nothing ran, so nothing held.
	x.record.Enforcement, x.record.AccessMode, x.record.Rung = nil, spec.AccessUnset, spec.Opt[wrap.Rung]{}
	x.record.EndedAt = time.Now()
	if x.open() == nil { // else it is told already, or the refusal is about that
		x.record.Supervisor = audit.Self()
		if err := x.sink.Close(x.record); err != nil && !x.Voice.Quiet {
			x.Voice.Problem(spec.AsProblems(err)[0])
		}
		x.bound()
	}
	return Ended{Status: status, Record: x.record}
}

// unstarted is why the command could not be executed, with the exit status that says
// so.
type unstarted struct {
	*spec.Problem
	status int
}

func (u *unstarted) Unwrap() error { return u.Problem }
