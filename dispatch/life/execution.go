package life

import (
	"path/filepath"
	"slices"

	"sbx/internal/view"
	"sbx/spec"
)

// execution is one call of sbx exec, as data.
type execution struct {
	args  []string // after the program's name
	input string   // the file for the command's stdin; "" if sbx exec reads the spec from stdin
	text  string   // the spec
	agent spec.Agent
}

// progressFD is the descriptor on which sbx exec reports what was used so far.
const progressFD = "3"

// surroundings is what an execution depends on besides its job.
type surroundings struct {
	dir    jobDir
	prompt string                      // the prompt's text
	root   bool                        // the caller is root
	real   func(program string) string // returns the executable file of a program's name
	ledger keptLedger
}

// execution decides how a job is run. The spec is passed on stdin unless the command needs
// that, since other users can read the arguments of a process.
func (j *Job) execution(at surroundings) (*execution, error) {
	text, s, err := j.document()
	if err != nil {
		return nil, err
	}
	argv, input, err := j.command(s, at.prompt, at.root)
	if err != nil {
		return nil, err
	}
	x := &execution{text: text, input: input, agent: watched(s, argv, at.real)}
	x.args = []string{"exec", "--effective", at.dir.path(recordFile), "--progress", progressFD}
	switch {
	case input == "":
		x.args = append(x.args, "--spec", "-")
	case standsAlone(s):
		x.args = append(x.args, "--spec", at.dir.path(specFile))
	case len(text) <= maxWord:
		x.args = append(x.args, "--spec-json", text)
	default:
		return nil, problem("sandbox_spec", "hand it on", "it is larger than 100 KiB, has a relative path, and stdin has the prompt",
			"write working_dir as an absolute path")
	}
	if doc := narrowing(s, j.Timeout, at.ledger); doc != "" {
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

// guards reports whether a spec has rules on files. Without any, the command is meant to
// have access to all files, the ledger included.
func guards(s *spec.SandboxSpec) bool {
	return s.AccessMode.Value.Guards() || s.Profile.Set || s.Filesystem.Set || s.Sandbox.Set || s.Restrict.Set || s.Readonly.Set
}

// closable reports whether the directory dir should be made read-only for a command, and
// can be: the spec shows it to the command and lets it be written, but not as one of the
// trees that must stay writable as a whole. A narrowing document may not name a directory
// that the command cannot see.
func closable(s *spec.SandboxSpec, project, dir string, trees []shown) bool {
	start := project
	if s.WorkingDir.Set {
		start = filepath.Clean(Absolute(s.WorkingDir.Value, project))
	}
	covers := func(entry string) bool {
		return view.Within(dir, filepath.Clean(Absolute(entry, start)))
	}
	elsewhere := func(t shown) bool { return t.at == t.source && view.Within(dir, t.source) }
	files := &s.Filesystem.Value
	switch {
	case dir == start || slices.Contains(trees, shown{dir, dir}) || slices.ContainsFunc(files.Hide.Value, covers):
		return false
	case !view.Within(dir, start) && !slices.ContainsFunc(trees, elsewhere):
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
