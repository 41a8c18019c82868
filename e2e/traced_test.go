package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// A ptrace counter stands between the programs and the kernel for each of their signals, stops and
// ends: everything that works without it must work with it.
func TestUnderPtrace(t *testing.T) {
	counter = "ptrace"
	defer func() { counter = "" }()
	for _, test := range []struct {
		name string
		run  func(*testing.T)
		long bool
	}{
		{"Counts", TestCommandsAreCountedAsStraceDoes, true},
		{"CountsOfThreadsAndSignals", TestCommandsAreCountedUnderThreadsAndSignals, true},
		{"ExitStatus", TestExitStatus, false},
		{"StatusOfWhatCannotRun", TestStatusOfWhatCannotRun, false},
		{"StopAndContinue", TestStopAndContinue, false},
		{"StopTwiceThenInterrupt", TestStopTwiceThenInterrupt, false},
		{"JobControlInside", TestJobControlInside, false},
		{"KeysArriveOnce", TestKeysArriveOnce, false},
		{"InterruptEndsTheCommand", TestInterruptEndsTheCommand, false},
		{"SignalsReachTheCommandOnce", TestSignalsReachTheCommandOnce, false},
		{"ForwardedSignalEndsTheCommand", TestForwardedSignalEndsTheCommand, false},
		{"CallersState", TestCallersStateIsTheCommands, false},
		{"NothingOutlivesTheCommand", TestNothingOutlivesTheCommand, false},
		{"NothingOutlivesTheSupervisor", TestNothingOutlivesTheSupervisor, false},
		{"CompilerAndMake", TestCompilerAndMake, true},
		{"Python", TestPython, true},
		{"Node", TestNode, true},
		{"GoBuild", TestGoBuild, true},
	} {
		if !test.long || !testing.Short() {
			t.Run(test.name, test.run)
		}
	}
}

// Without a pid namespace the kernel ends all tracees together with the tracer, so that even
// SIGKILL of the supervisor leaves nothing behind.
func TestTracedEndWithTheSupervisor(t *testing.T) {
	for by, want := range map[string]bool{"ptrace": true, "none": false} {
		b, name := newBox(t), uniqueName(t)
		b.args = append(b.args, "--counter", by)
		s := b.start(specNone, b.probe(), "orphans", "stay", name)
		s.expect("ready")
		must(t, s.cmd.Process.Signal(syscall.SIGKILL))
		s.wait()
		if want {
			eventually(t, "nothing is left", func() bool { return len(withArg(name)) == 0 })
		}
		if left := endAll(name); !want && left == 0 {
			t.Error("the control: nothing is left without a tracer either")
		}
	}
}

// A debugger inside fails, and sbx says why, once.
func TestDebuggerUnderPtrace(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "strace")
	for _, spec := range []string{specNone, specWW} {
		b := newBox(t)
		b.args = []string{"--counter", "ptrace"}
		r := b.sh(spec, "strace true 2>err; strace true 2>>err; grep -c 'Operation not permitted' err >/dev/null && echo refused").ended()
		if r.out != "refused\nend\n" || strings.Count(r.err, "ptrace is denied inside") != 1 || !strings.Contains(r.err, "hint: --counter notify") {
			t.Errorf("%v", r)
		}
		b.args = []string{"--counter", "none"}
		if r := b.sh(spec, "strace -o trace true && echo traced").ended(); r.out != "traced\nend\n" || r.err != "" {
			t.Errorf("the control: %v", r)
		}
	}
}

// These are budgets under ptrace, as the record shows them.
func TestBudgetUnderPtrace(t *testing.T) {
	needSandbox(t)
	script := "/bin/true; nosuchprogram 2>/dev/null; /nonexistent/x 2>/dev/null; /bin/true; echo $?; /bin/true 2>/dev/null; echo $?"
	for _, row := range []struct {
		spec, out          string
		code               int
		used, refused      int
		ended, observation string
	}{
		{`{"max_commands":2}`, "0\n126\nend\n", 0, 2, 1, "command", "degraded"},
		{`{"access_mode":"workspace-write","max_commands":2}`, "0\n126\nend\n", 0, 2, 1, "command", "enforced"},
		{`{"access_mode":"workspace-write","max_commands":3}`, "0\n0\nend\n", 0, 3, 0, "command", "enforced"},
		{`{"access_mode":"workspace-write","max_commands":2,"on_exceed":"kill"}`, "0\n", 124, 2, 1, "max_commands", "enforced"},
		{`{"access_mode":"workspace-write","max_commands":2,"on_exceed":"record"}`, "0\n0\nend\n", 0, 3, 0, "command", "observed"},
	} {
		b := newBox(t)
		b.args = []string{"--counter", "ptrace"}
		r := b.sh(row.spec, script)
		if r.code != row.code || r.out != row.out {
			t.Errorf("%s: %v", row.spec, r)
		}
		if got := r.rec.whole("commands_used"); got != row.used {
			t.Errorf("%s: used %d, want %d", row.spec, got, row.used)
		}
		if got := r.rec.whole("commands", "refused"); got != row.refused {
			t.Errorf("%s: refused %d, want %d", row.spec, got, row.refused)
		}
		if got := r.rec.whole("commands", "overcharged"); got != 0 {
			t.Errorf("%s: overcharged %d", row.spec, got)
		}
		if got := r.rec.text("exit", "ended_by"); got != row.ended {
			t.Errorf("%s: ended by %q", row.spec, got)
		}
		if got := r.rec.status("max_commands") + " " + r.rec.by("max_commands"); got != row.observation+" ptrace" {
			t.Errorf("%s: the record's line is %q", row.spec, got)
		}
	}
}

// In a sandbox in a sandbox, one of them counts by ptrace.
func TestNestedUnderPtrace(t *testing.T) {
	script := "/bin/true; /bin/true; exit 4"
	for name, row := range map[string]struct {
		outer, inner string // --counter
		budget       int    // of the outer
		code, used   int    // of the outer
		innerUsed    int    // -1 for none
		word         string // on stderr
	}{
		// The inner listener comes before the outer tracer: a call that it lets through is counted,
		// and killed if the budget is used up.
		"notify inside":         {"ptrace", "notify", 99, 4, 3, 2, ""},
		"notify inside, budget": {"ptrace", "notify", 2, 4, 2, 2, "max_commands"},
		"ptrace inside ptrace":  {"ptrace", "ptrace", 99, 125, 0, -1, "cannot trace the command"},
		"ptrace inside notify":  {"notify", "ptrace", 99, 125, 1, -1, "a listener outside"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			b.args = []string{"--counter", row.outer}
			r := b.run(fmt.Sprintf(`{"max_commands":%d}`, row.budget), sbxPath, "exec", "--counter", row.inner, "--spec-json", `{"max_commands":50}`,
				"--effective", b.base+"/inner.json", "--", "/bin/sh", "-c", script)
			if got := r.rec.whole("commands_used"); r.code != row.code || got != row.used || !strings.Contains(r.err, row.word) {
				t.Errorf("outside %d were counted: %v", got, r)
			}
			inner, _ := readRecord(b.base + "/inner.json")
			if got := inner.whole("commands_used"); got != row.innerUsed {
				t.Errorf("inside %d were counted: %v", got, r)
			}
		})
	}
}
