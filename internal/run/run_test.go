package run

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit/guard"
	"sbx/audit/listen"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/defaults"
	"sbx/wrap/launch"
	"sbx/wrap/launch/cgroup"
)

// asked is an Ask whose lines to a person are kept.
type asked struct {
	Ask
	lines []string
}

// newAsked asks for a plan of argv under a document, from a workspace and a home that
// the test owns.
func newAsked(t *testing.T, document string, argv ...string) *asked {
	t.Helper()
	dir := t.TempDir()
	home, cwd := dir+"/home", dir+"/work"
	for _, d := range []string{home, cwd} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	d, err := spec.Decode("spec.json", []byte(document))
	if err != nil {
		t.Fatal(err)
	}
	d.Source.Dir = cwd
	in := spec.Inputs{Home: home, Cwd: cwd, Environ: []string{"PATH=/usr/bin:/bin", "HOME=" + home}, UID: os.Getuid(), Paths: spec.HostPaths{}, Lists: defaults.Lists()}
	r, err := spec.Resolve(d, in)
	if err != nil {
		t.Fatal(err)
	}
	a := &asked{Ask: Ask{ID: "id", At: time.Now(), Version: "test", Argv: argv, Cwd: cwd, Documents: []*spec.SandboxSpec{d}, Inputs: in, Resolved: &r,
		Effective: spec.Some(dir + "/record.json"), Describe: wrap.DescribeAll, DryRun: true, Again: func([]string) bool { return false }}}
	a.Voice.Say = func(text string) { a.lines = append(a.lines, text) }
	a.Voice.Problem = func(p *spec.Problem) { a.lines = append(a.lines, p.Head()+": "+p.Why) }
	return a
}

// written is what of the record's file the tests look at.
type written struct {
	Exit struct {
		Code    *int
		Signal  *int
		EndedBy string `json:"ended_by"`
	}
	Error      *struct{ Reason string }
	Violations []struct {
		Kind, Rule, Target string
		AllowWith          string `json:"allow_with"`
	}
	Rung string
}

func (a *asked) written(t *testing.T) (w written) {
	t.Helper()
	text, err := os.ReadFile(a.Effective.Value)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &w); err != nil {
		t.Fatal(err)
	}
	return w
}

const guarded = `{"access_mode": "workspace-write", "best_effort": ["*"]}`

func TestPrepareMakesThePlan(t *testing.T) {
	a := newAsked(t, guarded, "true", "word")
	p, err := Prepare(&a.Ask)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Plan.Command.Argv; !slices.Equal(got, a.Argv) {
		t.Errorf("the plan executes %q", got)
	}
	if p.Plan.Command.Dir != a.Cwd || !strings.HasSuffix(p.record.Command.Executable, "bin/true") && p.record.Command.Executable != p.Program.Real {
		t.Errorf("in %s, %s", p.Plan.Command.Dir, p.record.Command.Executable)
	}
	if p.process != nil || len(a.lines) > 0 {
		t.Errorf("planning alone started a process, or said %q", a.lines)
	}
}

// TestPrepareRefuses gives each refusal its exit status, its line and its record.
func TestPrepareRefuses(t *testing.T) {
	dir, err := os.Open("/")
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	cases := map[string]struct {
		document string
		argv     string // with * for the workspace
		change   func(t *testing.T, a *asked)
		status   int
		line     string
	}{
		"no program":     {guarded, "no-such-program", nil, StatusNotFound, "it is in no directory of PATH"},
		"not executable": {guarded, "*/file", nil, StatusNoExec, "it is not executable"},
		"itself": {guarded, "*/itself", func(_ *testing.T, a *asked) {
			a.Again = func(args []string) bool { return slices.Equal(args, []string{"exec"}) }
		},
			StatusRefused, "would start this script again"},
		"a directory for the command": {guarded, "true", func(_ *testing.T, a *asked) { a.Keep = []int{int(dir.Fd())} }, StatusRefused, "a way out of the sandbox"},
		"no relay":                    {`{"access_mode": "workspace-write", "network": {"allow": ["example.com:443"]}}`, "true", nil, StatusRefused, "sbx-egress"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			a := newAsked(t, c.document)
			a.Argv = []string{strings.Replace(c.argv, "*", a.Cwd, 1)}
			own, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			for name, file := range map[string]struct {
				text string
				mode os.FileMode
			}{"file": {"", 0o644}, "itself": {"#!" + own + " exec\n", 0o755}} {
				if err := os.WriteFile(filepath.Join(a.Cwd, name), []byte(file.text), file.mode); err != nil {
					t.Fatal(err)
				}
			}
			if c.change != nil {
				c.change(t, a)
			}
			p, err := Prepare(&a.Ask)
			if err == nil {
				t.Fatal("it is planned")
			}
			ended := p.Refuse(err)
			if ended.Status != c.status {
				t.Errorf("exit status %d, want %d", ended.Status, c.status)
			}
			if all := strings.Join(a.lines, "\n"); !strings.Contains(all, c.line) {
				t.Errorf("said %q, want %q", all, c.line)
			}
			w := a.written(t)
			if w.Error == nil || !strings.Contains(w.Error.Reason, c.line) || w.Exit.EndedBy != "" || w.Rung != "" {
				t.Errorf("recorded %+v", w)
			}
		})
	}
}

// TestAScriptForAnotherProgramIsPlanned is the control of "itself" above.
func TestAScriptForAnotherProgramIsPlanned(t *testing.T) {
	a := newAsked(t, guarded)
	a.Argv = []string{a.Cwd + "/script"}
	a.Again = func([]string) bool { return true }
	if err := os.WriteFile(a.Argv[0], []byte("#!/bin/sh exec\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Prepare(&a.Ask); err != nil {
		t.Error(err)
	}
}

// TestAnEarlyRefusalIsRecorded is of a run that came to no plan.
func TestAnEarlyRefusalIsRecorded(t *testing.T) {
	a := newAsked(t, guarded, "true")
	a.Resolved = nil
	ended := Refuse(&a.Ask, &spec.Problem{Field: "network", Do: "read the spec", Why: "the reason"})
	if w := a.written(t); ended.Status != StatusRefused || w.Error == nil || w.Error.Reason == "" || len(a.lines) != 1 {
		t.Errorf("status %d, recorded %+v, said %q", ended.Status, w, a.lines)
	}
}

// TestARefusalWithoutARecordIsTold is of a record that cannot be written.
func TestARefusalWithoutARecordIsTold(t *testing.T) {
	a := newAsked(t, guarded, "true")
	a.Effective = spec.Some(a.Cwd + "/none/record.json")
	p, err := Prepare(&a.Ask)
	if err == nil {
		t.Fatal("a record without a directory is planned")
	}
	if ended := p.Refuse(err); ended.Status != StatusRefused || len(a.lines) != 1 || !strings.Contains(a.lines[0], "write the record") {
		t.Errorf("status %d, said %q", ended.Status, a.lines)
	}
}

// TestTheEnd holds exit status, lines and record together for each way a run ends.
func TestTheEnd(t *testing.T) {
	const budgeted = `{"access_mode": "workspace-write", "max_commands": 1, "best_effort": ["*"]}`
	const bounded = `{"access_mode": "workspace-write", "limits": {"timeout": "1s", "memory": "1GiB"}, "best_effort": ["*"]}`
	denied := func(x *Started) {
		x.recordDenial(&listen.Refusal{TID: os.Getpid(), Cause: listen.ReadOnly, Action: "open for writing", Target: "/etc/passwd"})
	}
	killed := launch.Exit{Code: 137, Known: true}
	outOfMemory := killed
	outOfMemory.Use = cgroup.Use{OOMKills: spec.Some(int64(1))}
	cases := map[string]struct {
		document string
		exit     launch.Exit
		while    func(x *Started) // what happens while the command runs
		status   int
		by       string
		rules    []string // of the violations
		lines    []string // how each begins
	}{
		"success": {document: guarded, exit: launch.Exit{Known: true}, status: 0, by: "command"},
		"failure": {document: guarded, exit: launch.Exit{Code: 3, Known: true}, status: 3, by: "command"},
		"signal":  {document: guarded, exit: launch.Exit{Signal: 15, Known: true}, status: 143, by: "signal"},
		"budget": {document: budgeted, exit: killed, while: func(x *Started) {
			x.recordDenial(&listen.Refusal{TID: os.Getpid(), Cause: listen.ByBudget, Action: "execute", Target: "/bin/date"})
			x.ended = "max_commands"
		}, status: StatusEnded, by: "max_commands", rules: []string{"max_commands: 1"}, lines: []string{"max_commands: 1: /bin/date was denied, as all further programs will be"}},
		"timeout": {document: bounded, exit: killed, while: func(x *Started) { x.bounds.Deadline = &launch.Deadline{Hit: true} },
			status: StatusEnded, by: "timeout", rules: []string{"limits.timeout: 1s"},
			lines: []string{"limits.timeout: 1s: the command was ended; limits.timeout: 2s would allow more"}},
		"memory": {document: bounded, exit: outOfMemory, status: 137, by: "memory", rules: []string{"limits.memory: 1GiB"},
			lines: []string{"limits.memory: 1GiB: 1 process was ended; limits.memory: 2GiB would allow more"}},
		"killed, and not for memory": {document: bounded, exit: killed, status: 137, by: "command"},
		"a file that is too large": {document: `{"access_mode": "workspace-write", "limits": {"file_size": "1MiB"}, "best_effort": ["*"]}`, exit: launch.Exit{Signal: int(unix.SIGXFSZ), Known: true},
			status: 128 + int(unix.SIGXFSZ), by: "signal", rules: []string{"limits.file_size: 1MiB"},
			lines: []string{"limits.file_size: 1MiB: a process that wrote a larger file was ended"}},
		"violation": {document: guarded, exit: launch.Exit{Code: 1, Known: true}, while: func(x *Started) { denied(x); denied(x) },
			status: 1, by: "command", rules: []string{"access_mode: workspace-write"}, lines: []string{"access_mode: workspace-write: /etc/passwd may only be read"}},
		"violation, muted": {document: guarded, exit: launch.Exit{Code: 1, Known: true}, while: func(x *Started) { x.Voice.Mixed = true; denied(x); denied(x) },
			status: 1, by: "command", rules: []string{"access_mode: workspace-write"}, lines: []string{"2 refusals: sbx show /"}},
		"violation, quiet": {document: guarded, exit: launch.Exit{Code: 1, Known: true}, while: func(x *Started) { x.Voice.Mixed, x.Voice.Quiet = true, true; denied(x) },
			status: 1, by: "command", rules: []string{"access_mode: workspace-write"}},
		"violation, explained": {document: guarded, exit: launch.Exit{Code: 1, Known: true}, while: func(x *Started) { x.Voice.Mixed, x.Voice.Explain = true, true; denied(x) },
			status: 1, by: "command", rules: []string{"access_mode: workspace-write"}, lines: []string{"access_mode: workspace-write: /etc/passwd may only be read"}},
		"success, muted": {document: guarded, exit: launch.Exit{Known: true}, while: func(x *Started) { x.Voice.Mixed = true }, by: "command"},
		"timeout, muted": {document: bounded, exit: killed, while: func(x *Started) { x.Voice.Mixed, x.bounds.Deadline = true, &launch.Deadline{Hit: true} },
			status: StatusEnded, by: "timeout", rules: []string{"limits.timeout: 1s"}, lines: []string{"1 refusal: sbx show /"}},
		"supervisor": {document: guarded, exit: launch.Exit{}, status: 137, by: "supervisor"},
		"never started": {document: guarded, exit: launch.Exit{Code: 1, Known: true}, while: func(x *Started) { x.backend.status = memfd(t, `{ "child-pid": 7 }`) },
			status: StatusRefused, by: "supervisor", lines: []string{"bwrap ended before the command was started"}},
		"started by bwrap": {document: guarded, exit: launch.Exit{Code: 1, Known: true}, while: func(x *Started) { x.backend.status = memfd(t, `{ "exit-code": 1 }`) },
			status: 1, by: "command"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			a := newAsked(t, c.document, "true")
			x := started(t, a)
			if c.while != nil {
				c.while(x)
			}
			ended := x.finish(c.exit)
			w := a.written(t)
			if ended.Status != c.status || w.Exit.Code == nil || *w.Exit.Code != c.status || w.Exit.EndedBy != c.by {
				t.Errorf("exit status %d, recorded %+v; want %d by %s", ended.Status, w.Exit, c.status, c.by)
			}
			if named := w.Exit.Signal != nil; named != (c.exit.Signal != 0) {
				t.Errorf("recorded signal %v", w.Exit.Signal)
			}
			var rules []string
			for _, v := range w.Violations {
				if rules = append(rules, v.Rule); v.AllowWith == "" {
					t.Errorf("nothing would allow %s of %s", v.Rule, v.Target)
				}
			}
			if !slices.Equal(rules, c.rules) {
				t.Errorf("recorded violations of %q, want %q", rules, c.rules)
			}
			if !slices.EqualFunc(a.lines, c.lines, strings.HasPrefix) {
				t.Errorf("said %q, want %q", a.lines, c.lines)
			}
		})
	}
}

// started is a run whose command is only said to be there.
func started(t *testing.T, a *asked) *Started {
	t.Helper()
	p, err := Prepare(&a.Ask)
	if err != nil {
		t.Fatal(err)
	}
	p.held = &guard.Snapshot{}
	x := newStarted(p)
	if err := p.writeFirstRecord(); err != nil {
		t.Fatal(err)
	}
	return x
}

func memfd(t *testing.T, text string) int {
	t.Helper()
	fd, err := unix.MemfdCreate("status", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if _, err := unix.Write(fd, []byte(text)); err != nil {
		t.Fatal(err)
	}
	return fd
}

func TestWhoEndedTheCommand(t *testing.T) {
	known := launch.Exit{Known: true}
	at125 := launch.Exit{Code: 125, Known: true}
	for name, c := range map[string]struct {
		is     outcome
		by     string
		status int
	}{
		"itself":                            {outcome{Exit: known}, "command", 0},
		"a limit, before its time was over": {outcome{Exit: known, reason: "max_turns", timedOut: true}, "max_turns", StatusEnded},
		"the time, whatever it ended with":  {outcome{Exit: launch.Exit{Signal: 9, Known: true}, timedOut: true, killed: 1}, "timeout", StatusEnded},
		"the supervisor for its memory":     {outcome{Exit: launch.Exit{Signal: 9, Known: true}, killed: 1}, "memory", 137},
		"itself, though another was ended":  {outcome{Exit: launch.Exit{Code: 2, Known: true}, killed: 1}, "command", 2},
		"no room to be executed in":         {outcome{Exit: at125, tooLarge: true}, "supervisor", 125},
		"itself, by the same status":        {outcome{Exit: at125}, "command", 125},
	} {
		if by, status := c.is.endedBy(); by != c.by || status != c.status {
			t.Errorf("%s: %s, %d; want %s, %d", name, by, status, c.by, c.status)
		}
	}
}
