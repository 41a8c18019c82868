package e2e

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// goesOn returns a run in the state directory that has started a program, was denied a call, and
// waits.
func (b *box) goesOn() *started {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	cmd := b.command(ctx, specWW, "true")
	cmd.Args = []string{sbxPath, "exec", "-q", "--max-commands", "9", "--spec-json", specWW, "--", "/bin/sh", "-c",
		"/bin/ls >/dev/null; echo >../denied; echo ready; read x; /bin/date >/dev/null; exit 3"}
	s := b.launch(cmd, cancel)
	s.expect("ready")
	return s
}

// follows starts an sbx that follows a run, with its output in a pipe.
func (b *box) follows(args ...string) *started {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	cmd := b.command(ctx, "", "true")
	cmd.Args = append([]string{sbxPath}, args...)
	return b.launch(cmd, cancel)
}

// has waits for a line that contains all of the texts; its newline counts.
func (s *started) has(texts ...string) {
	s.t.Helper()
	if !s.out.wait(func(l string) bool {
		for _, text := range texts {
			if !strings.Contains(l+"\n", text) {
				return false
			}
		}
		return true
	}) {
		s.t.Fatalf("no line with %q came: %q; stderr %q", texts, s.out.all(), s.err.String())
	}
}

// sbx watch shows what a run does while it runs, in a pipe and on a terminal, and shows its end.
func TestWatchRun(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	s := b.goesOn()
	piped := b.follows("watch", "last")
	x := b.onTerminal(sbxPath, "watch")
	piped.has("/bin/sh -c")
	piped.has(" /bin/ls\n")
	piped.has("denied: create", b.base+"/denied", "(sh)", "access_mode: workspace-write")
	x.expect(" /bin/ls\r\n")
	x.expect("1 program of 9, 1 denial")
	if r := b.plain(sbxPath, "show", "--json", "last"); !strings.Contains(r.out, `"running"`) || !strings.Contains(r.out, `"commands_used": 1`) || strings.Contains(r.out, `"program": "/bin/date"`) {
		t.Errorf("while it goes on: %v", r)
	}
	s.say("go")
	piped.has(" /bin/date\n")
	piped.has("ended with status 3 after", "1 denial: sbx show 2")
	x.expect("ended with status 3")
	if code := s.wait(); code != 3 {
		t.Errorf("the run ended with %d", code)
	}
	if code := piped.wait(); code != 0 || strings.ContainsAny(strings.Join(piped.out.all(), ""), "\x1b\r") {
		t.Errorf("in a pipe: %d %q", code, piped.out.all())
	}
	if code := x.wait(); code != 0 {
		t.Errorf("on a terminal: %d %q", code, x.all())
	}
	next := b.follows("watch") // a run that is about to start
	time.Sleep(300 * time.Millisecond)
	other := b.goesOn()
	next.has("/bin/sh -c")
	next.has(" /bin/ls\n")
	other.say("go")
	other.wait()
	next.has("ended with status 3")
	if code := next.wait(); code != 0 {
		t.Errorf("of the next: %d", code)
	}
	again := b.follows("watch", "-2") // one that has ended
	again.has("ended with status 3")
	if code := again.wait(); code != 0 {
		t.Errorf("of one that has ended: %d", code)
	}
}

// A run whose supervisor is killed is shown as lost, and its record contains everything up to then.
func TestWatchLost(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	s := b.goesOn()
	w := b.follows("watch")
	w.has(" /bin/ls\n")
	must(t, s.cmd.Process.Signal(unix.SIGKILL))
	s.wait()
	w.has("lost: nobody saw it")
	if code := w.wait(); code != 0 {
		t.Errorf("status %d", code)
	}
	r := b.plain(sbxPath, "show", "--json", "last")
	for _, want := range []string{`"lost"`, `"commands_used":1`, `"program":"/bin/ls"`, `"kind":"filesystem"`} {
		if !strings.Contains(strings.ReplaceAll(r.out, `": `, `":`), want) {
			t.Errorf("no %s: %v", want, r)
		}
	}
}

// A record with a name of the user's is not written while the command runs, since the command may
// see it.
func TestNamedRecordIsWrittenTwice(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	s := b.start(specWW, "/bin/sh", "-c", "/bin/ls >/dev/null; echo ready; read x; sleep 1.5; echo later; read x; exit 0")
	s.expect("ready")
	before, err := os.Stat(b.rec)
	must(t, err)
	s.say("go")
	s.expect("later")
	now, err := os.Stat(b.rec)
	must(t, err)
	if !os.SameFile(before, now) {
		t.Error("it was replaced")
	}
	if code := s.wait(); code != 0 {
		t.Errorf("status %d", code)
	}
	after, err := os.Stat(b.rec)
	must(t, err)
	if os.SameFile(before, after) {
		t.Error("control: it was not replaced at the end either")
	}
}
