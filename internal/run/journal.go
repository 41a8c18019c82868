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

// journal is the record of a run while it grows, the place where it is written, and the
// messages that a person has seen.
type journal struct {
	*Ask
	record    audit.Record
	sink      *audit.Sink // nil until open
	later     string      // the record's path, links resolved, while sink is nil
	unmadeWhy string      // why the state directory is missing and could not be made
	specs     []string    // the spec files of the broker's tools, links resolved
	told      []string    // the kinds of denials that were printed
	refusals  int         // the denials that were printed, or would have been
}

func newJournal(a *Ask) *journal { return &journal{Ask: a, record: a.record()} }

// place decides where the record is written. The run's own directory in an existing state
// directory is made later, while the child makes its mounts.
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

// isNamed reports whether the caller chose the record's place.
func (x *journal) isNamed() bool {
	return x.Effective.Set || sys.Variable(x.Inputs.Environ, "SBX_EFFECTIVE") != ""
}

// bound removes old records from the state directory, after this one was written.
func (x *journal) bound() {
	if !x.isNamed() {
		audit.Bound(audit.StateDir(x.Inputs.Environ, x.Inputs.Home), x.ID)
	}
}

// open creates the file of the record.
func (x *journal) open() error {
	if x.sink != nil {
		return nil
	}
	dir, err := x.recordDir(x.Effective.Or(sys.Variable(x.Inputs.Environ, "SBX_EFFECTIVE")))
	if err != nil {
		return err
	}
	sink, err := audit.Open(x.Effective, dir, x.Inputs.Environ, x.Inputs.Home, x.ID)
	if err == nil {
		x.sink = sink
	}
	return err
}

// makeState makes the state directory if the record is written elsewhere and the command
// could make that directory: sbx would later believe records that the command left in it.
func (x *journal) makeState(state string) {
	writes := func(path string) bool { return wrap.Writes(x.Resolved, path) }
	if state == "" || sys.Exists(state) || x.DryRun || !slices.ContainsFunc(host.Leads(state), writes) {
		return
	}
	if err := audit.MakeState(state); err != nil {
		x.unmadeWhy = err.Error()
	}
}

// recordDir returns the directory of a record whose place the caller chose, links
// resolved; "" for the current directory. It refuses a path with a link that an earlier
// command may have created: such a command would choose the file that sbx writes. This
// holds for the record of a refused spec, too, since the link may be why it is refused.
func (x *journal) recordDir(named string) (string, error) {
	i := strings.LastIndexByte(named, '/')
	if i < 0 {
		return "", nil
	}
	if x.Inputs.Cwd == "" && named[0] != '/' {
		return "", nil // opening it will fail
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

// Follow resolves a path of a command line, for a run that starts in in.Cwd under the
// documents.
func Follow(path string, in spec.Inputs, docs []*spec.SandboxSpec) (spec.Path, *spec.Problem) {
	if !strings.HasPrefix(path, "/") {
		path = in.Cwd + "/" + path
	}
	trees := spec.TreesOf(in, docs...)
	return trees.Follow(path)
}

// sourcePaths returns the files that the spec was read from, with those of the broker and
// its tools, links resolved.
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

// SourceFiles returns the files that documents were read from, links resolved.
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

// shownAs returns the argument by which `sbx show` finds the record.
func (x *journal) shownAs() string {
	named := x.Effective.Or(sys.Variable(x.Inputs.Environ, "SBX_EFFECTIVE"))
	switch {
	case named == "":
		return "last"
	case !strings.ContainsRune(named, '/') && !strings.HasSuffix(named, ".json"): // without a / or .json, sbx show takes it for an id
		named = "./" + named
	}
	return spec.Name(named)
}

// RecordPath returns where the record will be written, links resolved.
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

// weaken lowers the enforcement of a field in the record, and adds the reason.
func (x *journal) weaken(f spec.Field, why string) {
	for i := range x.record.Enforcement {
		if e := &x.record.Enforcement[i]; e.Field == f {
			e.Weaken(wrap.Degraded, why)
		}
	}
}

// maxTold bounds the remembered kinds of messages: an agent's stream may produce any
// number.
const maxTold = 1000

// toldOf reports whether a kind of message was printed before, and remembers it.
func (x *journal) toldOf(kind string) bool {
	if slices.Contains(x.told, kind) {
		return true
	}
	if len(x.told) < maxTold {
		x.told = append(x.told, kind)
	}
	return false
}

// Refuse ends a run that has no plan, and reports the reason to the person and in the
// record.
func Refuse(a *Ask, err error) Ended { return newJournal(a).refuse(err) }

// refuse reports to the person and in the record why the command does not start.
func (x *journal) refuse(err error) Ended {
	status := StatusRefused
	if u, ok := err.(*unstarted); ok {
		status = u.status
	}
	problems := spec.AsProblems(err)
	for _, p := range problems {
		x.Voice.Problem(p)
	}
	x.record.Error = audit.RefusalOf(problems[0])
	// Nothing ran, so nothing was enforced.
	x.record.Enforcement, x.record.AccessMode, x.record.Rung = nil, spec.AccessUnset, spec.Opt[wrap.Rung]{}
	x.record.EndedAt = time.Now()
	if x.open() == nil { // otherwise the reason has been reported already
		x.record.Supervisor = audit.Self()
		if err := x.sink.Close(x.record); err != nil && !x.Voice.Quiet {
			x.Voice.Problem(spec.AsProblems(err)[0])
		}
		x.bound()
	}
	return Ended{Status: status, Record: x.record}
}

// unstarted is the reason why the command could not be executed, with the exit status for
// it.
type unstarted struct {
	*spec.Problem
	status int
}

func (u *unstarted) Unwrap() error { return u.Problem }
