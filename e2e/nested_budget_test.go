package e2e

import (
	"strings"
	"testing"
)

// The outer supervisor enforces the budget of an sbx inside, whatever the outer spec constrains;
// the outer count has each program once.
func TestNestedBudget(t *testing.T) {
	needSandbox(t)
	const script = "for i in 1 2 3 4; do /bin/true && echo ran; done; end() { echo end; }; end"
	for _, outer := range []string{specNone, specWW} {
		n := newNest(t)
		r, inner := n.run(outer, `{}`, script)
		// The inner sbx, its shell, and four programs; cat is run by the outer shell.
		if strings.Count(r.out, "ran\n") != 4 || inner.whole("commands_used") != 4 || r.rec.whole("commands_used") != 7 {
			t.Errorf("the control: %v; inside %v", r, inner["commands"])
		}
		r, inner = n.run(outer, `{"max_commands":2}`, script)
		if strings.Count(r.out, "ran\n") != 2 || !strings.Contains(r.out, "end\n") || inner.whole("commands_used") != 2 || inner.whole("commands", "refused") != 2 {
			t.Errorf("%v; inside %v", r, inner["commands"])
		}
		if inner.text("commands", "by") != "outer supervisor" || inner.by("max_commands") != "outer supervisor" || r.rec.whole("commands_used") != 5 {
			t.Errorf("inside %v, outside %v", inner["commands"], r.rec["commands"])
		}
		if !inner.refused("command", "") || !r.rec.refused("command", "/bin/true") {
			t.Errorf("violations: inside %v, outside %v", inner["violations"], r.rec["violations"])
		}
		r, inner = n.run(outer, `{"max_commands":1,"on_exceed":"kill"}`, `sleep 1000 & until read name </proc/$!/comm && [ "$name" = sleep ]; do :; done; `+script)
		if r.code != 124 || inner.text("exit", "ended_by") != "max_commands" || strings.Contains(r.out, "ran\n") {
			t.Errorf("%v; inside %v", r, inner["exit"])
		}
		// The outer budget applies to both, and nothing inside can have a bigger one.
		r = n.box.run(budgets(outer, 4, ""), "/bin/sh", "-c", n.inner+` exec --spec-json '{"max_commands":4}' -- /bin/sh -c "$1"`, "sh", script)
		if strings.Count(r.out, "ran\n") != 2 || r.rec.whole("commands_used") != 4 {
			t.Errorf("%v; outside %v", r, r.rec["commands"])
		}
	}
}

// An sbx that makes a sandbox of its own, inside an outer one without mounts, cannot be looked into
// from then on. It still asks for its budget, and its requests are not taken for programs.
func TestNestedBudgetOfASandbox(t *testing.T) {
	needSandbox(t)
	const script = "for i in 1 2 3; do /bin/true && echo ran; done; :"
	for range 5 { // the child closes that memory at some moment of the start
		n := newNest(t)
		r, inner := n.run(specNone, specWW, script)
		if strings.Count(r.out, "ran\n") != 3 || inner.whole("commands_used") != 3 || inner.whole("commands", "refused") != 0 || r.rec.whole("commands_used") != 6 {
			t.Errorf("%v; inside %v, outside %v", r, inner["commands"], r.rec["commands"])
		}
		r, inner = n.run(specNone, budgets(specWW, 2, ""), script)
		if strings.Count(r.out, "ran\n") != 2 || inner.whole("commands_used") != 2 || inner.whole("commands", "refused") != 1 || r.rec.whole("commands_used") != 5 {
			t.Errorf("with a budget: %v; inside %v, outside %v", r, inner["commands"], r.rec["commands"])
		}
		r, inner = n.run(specNone, budgets(specWW, 2, `,"on_exceed":"kill"`), script)
		if r.code != 124 || inner.text("exit", "ended_by") != "max_commands" || inner.whole("commands_used") != 2 {
			t.Errorf("ended at the budget: %v; inside %v", r, inner["exit"])
		}
	}
}

// However deep in the tree a program is, it counts against the inner budget.
func TestNestedBudgetDeepDown(t *testing.T) {
	needPrograms(t, "gcc")
	n := newNest(t)
	n.inBox("x", 0o755)
	for depth, want := range map[string]string{"0": "ran 2\n", "10": "ran 2\n", "700": "ran 2\n"} {
		r, inner := n.run(specWW, `{"max_commands":3}`, "./x fork-deep "+depth)
		if !strings.HasPrefix(r.out, want) || inner.whole("commands_used") != 3 {
			t.Errorf("depth %s: %v; inside %v", depth, r, inner["commands"])
		}
	}
}

// No other process can use a budget, and an invalid request does not count as a program that
// starts.
func TestNestedBudgetRequests(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "python3")
	b := newBox(t)
	r := b.run(specWW, "python3", "-c", `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
execveat = 322 if os.uname().machine == "x86_64" else 281
here, open_, attempted, started, refused, exceeded = range(6)
def ask(request, number=0, on=0, flags=0x73620078):
    n = libc.syscall(execveat, ctypes.c_long(on), None, ctypes.c_long(request), ctypes.c_long(number), ctypes.c_long(flags), None)
    return n if n >= 0 else -ctypes.get_errno()
deny, none = 1, -1
print(ask(here), ask(99), ask(open_, 1, 0), ask(open_, 1, 99), ask(open_, -5, deny), ask(started, 1), ask(here, flags=0x73620079), flush=True)
first = ask(open_, 0, deny)
print(first, ask(started, first), ask(started, 0), ask(started, 99), ask(refused, -1), flush=True)
if os.fork() == 0:
    print(ask(started, first), flush=True)
    os._exit(0)
os.wait()
print([ask(open_, none, deny) for i in range(20)][-1], flush=True)
`)
	if want := "0 -2 -22 -22 -22 -2 -22\n1 0 -2 -2 -2\n-2\n-11\n"; r.out != want {
		t.Errorf("got %q, want %q; %s", r.out, want, r.err)
	}
	control := b.run(specWW, "python3", "-c", "import ctypes")
	if n := r.rec.whole("commands", "attempted") - control.rec.whole("commands", "attempted"); n != 1 { // the one with unknown flags
		t.Errorf("requests are counted: %v, and without any %v", r.rec["commands"], control.rec["commands"])
	}
}
