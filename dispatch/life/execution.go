package life

import (
	"path/filepath"
	"slices"
	"strings"

	"sbx/spec"
)

// execution is one call of sbx exec, as data.
type execution struct {
	args  []string // after the program's name
	stdin carried
	text  string // the spec, where it goes by stdin or by a file
	agent spec.Agent
	spec  *spec.SandboxSpec
	argv  []string // the command itself
}

// carried is what stands on the stdin of sbx exec.
type carried struct {
	spec bool   // the spec; the command has nothing
	file string // a file for the command; "" for nothing
}

// progressFD is where sbx exec tells what was used so far: the first descriptor
// after the three.
const progressFD = "3"

// place is what an execution needs to know of the host.
type place struct {
	folder folder
	prompt string // the prompt's text
	root   bool
	real   func(program string) string // the file that a program's name leads to
	ledger kept
}

// execution says how a job is run. The spec goes by stdin, where the command
// does not need that: the arguments of a process are everybody's to read.
func (j *Job) execution(at place) (*execution, error) {
	text, s, err := j.document()
	if err != nil {
		return nil, err
	}
	argv, input, err := j.command(s, at.prompt, at.root)
	if err != nil {
		return nil, err
	}
	x := &execution{spec: s, text: text, argv: argv, agent: watched(s, argv, at.real)}
	x.args = []string{"exec", "--effective", at.folder.path(recordFile), "--progress", progressFD}
	switch {
	case input == "":
		x.stdin.spec = true
		x.args = append(x.args, "--spec", "-")
	case standsAlone(s):
		x.stdin.file = input
		x.args = append(x.args, "--spec", at.folder.path(specFile))
	case len(text) <= maxWord:
		x.stdin.file = input
		x.args = append(x.args, "--spec-json", text)
	default:
		return nil, problem("sandbox_spec", "hand it on", "it is larger than 100 KiB, has a relative path, and stdin has the prompt",
			"write working_dir as an absolute path")
	}
	if doc := beside(s, j.Timeout, at.ledger); doc != "" {
		x.args = append(x.args, "--spec-json", doc)
	}
	if !s.RequireAvailable.Or(false) {
		for _, f := range advisory {
			x.args = append(x.args, "--best-effort", f)
		}
	}
	x.args = append(append(x.args, "--"), argv...)
	return x, nil
}

// guards tells whether a spec has any rule on files, so that hiding the ledger
// from the command takes nothing from it that it was to have.
func guards(s *spec.SandboxSpec) bool {
	return s.AccessMode.Value.Guards() || s.Profile.Set || s.Filesystem.Set || s.Sandbox.Set || s.Restrict.Set || s.Readonly.Set
}

// closable tells whether a directory is to be made read-only for a command, and can
// be: it is not one of those that it writes as a whole, the spec has it in view, and does not
// keep it from being written already. What is out of view needs no closing, and
// could not be asked for.
func closable(s *spec.SandboxSpec, project, dir string, trees []shown) bool {
	start := project
	if s.WorkingDir.Set {
		start = filepath.Clean(Absolute(s.WorkingDir.Value, project))
	}
	covers := func(entry string) bool {
		at := filepath.Clean(Absolute(entry, start))
		return at == dir || beneath(dir, at)
	}
	elsewhere := func(t shown) bool { return t.at == t.source && beneath(dir, t.source) }
	files := &s.Filesystem.Value
	switch {
	case dir == start || slices.Contains(trees, shown{dir, dir}) || slices.ContainsFunc(files.Hide.Value, covers):
		return false
	case !beneath(dir, start) && !slices.ContainsFunc(trees, elsewhere):
		return false
	case s.AccessMode.Set:
		return s.AccessMode.Value == spec.WorkspaceWrite
	case s.Profile.Set:
		return s.Profile.Value == spec.ProfileWrite
	case !files.Read.Set:
		return true
	}
	return slices.ContainsFunc(files.Read.Value, covers) || slices.ContainsFunc(files.Write.Value, covers) || slices.ContainsFunc(trees, elsewhere)
}

// beneath tells whether path lies in dir.
func beneath(path, dir string) bool { return strings.HasPrefix(path, strings.TrimRight(dir, "/")+"/") }
