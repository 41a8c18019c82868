package life

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sbx/audit"
	"sbx/dispatch"
	"sbx/spec"
)

// Driver holds the arguments with which Intercore calls its dispatch.sh.
type Driver struct {
	Ledger  string // --db; "" to search for it
	Dir     string // -C: the project
	Output  string // -o
	Prompt  string // --prompt-file
	Name    string // -n
	Model   string // -m
	Sandbox spec.Opt[string]
	Timeout time.Duration
	// LeaveStatus leaves the row's status to Intercore, whose own poll sets it from the
	// verdict.
	LeaveStatus bool
}

// Drive runs the agent of the row with this output file in the calling process, and
// returns the exit status. It runs nothing without the row, which holds the sandbox_spec.
func (w *World) Drive(d Driver) int {
	k, err := w.drive(d)
	if err != nil {
		for _, p := range spec.AsProblems(err) {
			for _, line := range spec.Told(p) {
				fmt.Fprintf(w.Errors, "sbx-dispatch: %s\n", line)
			}
		}
		w.decline(d, spec.AsProblems(err)[0])
		return 125
	}
	return k.keep()
}

// project returns the directory that the driver was told to start in, cwd without one.
func (d *Driver) project(cwd string) string {
	if d.Dir == "" {
		return cwd
	}
	return Absolute(d.Dir, cwd)
}

// decline writes a verdict file that nothing was run, since Intercore reads only the files.
func (w *World) decline(d Driver, why *spec.Problem) {
	cwd, err := os.Getwd()
	if err != nil || d.Output == "" {
		return
	}
	t, err := w.openTarget(&Job{Cwd: cwd, Project: d.project(cwd)}, Absolute(d.Output, cwd))
	if err != nil {
		return
	}
	defer func() { _ = t.Close() }()
	_ = t.replace(".verdict", []byte(verdict{"fail", oneLine("it was refused: " + why.Error())}.text())) // the exit status says so too
}

// drive finds the ledger and the row, and makes the calling process the row's keeper.
func (w *World) drive(d Driver) (*keeper, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, problem("the current directory", "find it", err.Error(), "")
	}
	if d.Output == "" {
		return nil, problem("-o", "find the dispatch", "the output file, by which its row is found, is not named", "dispatch.sh -C DIR -o OUT --prompt-file F")
	}
	project := d.project(cwd)
	at, err := w.ledgerOf(d.Ledger, filepath.Clean(project), cwd)
	if err != nil {
		return nil, err
	}
	l, err := dispatch.Open(at, dispatch.Alter)
	if err != nil {
		return nil, err
	}
	row, err := byOutput(l, []string{d.Dir, filepath.Clean(project)}, d.Output, Absolute(d.Output, cwd))
	if err == nil {
		var k *keeper
		if k, err = w.take(l, at, d, row, cwd, project); err == nil {
			return k, nil
		}
	}
	_ = l.Close()
	return nil, err
}

// ledgerOf returns the project's ledger, else that of the current directory, where
// Intercore searches too. The caller's own ledger has no rows of Intercore's.
func (w *World) ledgerOf(named, project, cwd string) (dispatch.Place, error) {
	if named != "" {
		named = Absolute(named, cwd)
	}
	for _, dir := range []string{project, cwd} {
		at, err := w.Ledger(named, &Job{Cwd: cwd, Project: dir})
		if err != nil || !at.Home {
			return at, err
		}
	}
	return dispatch.Place{}, problem(project, "find the project's ledger", "there is no .clavain/intercore.db from there upwards",
		"name it: SBX_DISPATCH_DB=FILE, or --db FILE")
}

// byOutput returns the newest dispatch with one of the names as its output file that has
// not ended. It prefers those of the project: nested projects share a ledger, and a
// relative name is a different file in each.
func byOutput(l *dispatch.Ledger, projects []string, names ...string) (dispatch.Dispatch, error) {
	ended := ""
	var found []dispatch.Dispatch
	for i, name := range names {
		if i > 0 && name == names[0] {
			continue
		}
		list, err := l.List(dispatch.Filter{Output: spec.Some(name)})
		if err != nil {
			return dispatch.Dispatch{}, err
		}
		for _, row := range list {
			if !row.Status.Ended() && !row.SandboxEffective.Set {
				found = append(found, row)
				continue
			}
			ended = ", but for " + row.ID + ", which has ended"
		}
	}
	for _, row := range found {
		if slices.Contains(projects, row.ProjectDir) {
			return row, nil
		}
	}
	if len(found) > 0 {
		return found[0], nil
	}
	return dispatch.Dispatch{}, problem(l.Path(), "find the dispatch by its output "+names[0], "there is none with this output"+ended,
		"start it by ic dispatch spawn, or run the command by sbx exec")
}

// longest is the longest timeout in seconds; longer ones are cut to it.
const longest = 1 << 31

// take makes the calling process the keeper of a row.
func (w *World) take(l *dispatch.Ledger, at dispatch.Place, d Driver, row dispatch.Dispatch, cwd, project string) (*keeper, error) {
	j := &Job{Ledger: at, ID: row.ID, Project: project, Cwd: cwd, Agent: row.AgentType, Name: row.Name.Or(d.Name), Model: d.Model, Driver: true, LeaveStatus: d.LeaveStatus,
		Prompt: Absolute(d.Prompt, cwd), Output: Absolute(d.Output, cwd), Timeout: d.Timeout,
		Spec: row.SandboxSpec.Value, HasSpec: row.SandboxSpec.Set}
	if row.ProjectDir != "" {
		j.Project = Absolute(row.ProjectDir, cwd)
	}
	if d.Model == "" {
		j.Model = row.Model.Value
	}
	if j.Prompt == "" {
		j.Prompt = Absolute(row.PromptFile.Value, cwd)
	}
	if d.Timeout == 0 && row.TimeoutSec.Value > 0 {
		j.Timeout = time.Duration(min(row.TimeoutSec.Value, longest)) * time.Second
	}
	if mode := row.Sandbox; mode.Set {
		j.Sandbox, j.HasSandbox = mode.Value, true
	} else {
		j.Sandbox, j.HasSandbox = d.Sandbox.Value, d.Sandbox.Set
	}
	if w.StateDir == "" {
		return nil, problem("the state directory", "find it", "there is no home directory, and XDG_STATE_HOME is not set to an absolute path", "set HOME")
	}
	w.step("driver: row found")
	f := w.dirOf(l.Path(), row.ID)
	if err := f.makeWith(j, audit.Self()); isThere(err) {
		return nil, problem(row.ID, "run the dispatch", "it was run already, or runs now", "look at it: sbx dispatch poll "+row.ID)
	} else if err != nil {
		return nil, problem(string(f), "make the dispatch's directory", dispatch.WithoutPath(err), "make room, or set XDG_STATE_HOME to a directory that can be written")
	}
	w.step("driver: directory made")
	if l.Own() {
		if _, err := l.Claim(row.ID, os.Getpid(), time.Now()); err != nil {
			return nil, err
		}
	}
	return &keeper{World: w, f: f, j: j, inLedger: inLedger{ledger: l, own: l.Own()}}, nil
}
