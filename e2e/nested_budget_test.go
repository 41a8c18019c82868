package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// The budget of an sbx inside is kept by the outer supervisor, whatever the
// outer spec constrains; the outer count has each program once.
func TestNestedBudget(t *testing.T) {
	needSandbox(t)
	const script = "for i in 1 2 3 4; do /bin/true && echo ran; done; end() { echo end; }; end"
	for _, outer := range []string{specNone, specWW} {
		n := newNest(t)
		r, inner := n.run(outer, `{}`, script)
		// The inner sbx, its shell, four programs; cat by the outer shell.
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
		// The outer budget holds for both, and nobody inside can have a bigger one.
		r = n.box.run(budgets(outer, 4, ""), "/bin/sh", "-c", n.inner+` exec --spec-json '{"max_commands":4}' -- /bin/sh -c "$1"`, "sh", script)
		if strings.Count(r.out, "ran\n") != 2 || r.rec.whole("commands_used") != 4 {
			t.Errorf("%v; outside %v", r, r.rec["commands"])
		}
	}
}

// However far down the tree a program is, it is beneath the inner budget.
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

// Nobody else can ask of a budget, and a request that makes no sense is no
// program that starts.
func TestNestedBudgetRequests(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "python3")
	b := newBox(t)
	r := b.run(specWW, "python3", "-c", `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def ask(what):
    n = libc.syscall(59 if os.uname().machine == "x86_64" else 221, b"/proc/self/sbx/budget/1/" + what, None, None)
    return n if n >= 0 else -ctypes.get_errno()
print(ask(b"here"), ask(b"nonsense"), ask(b"open/x/deny"), ask(b"open/1/nonsense"), ask(b"open/-1/deny"), ask(b"started/1"), flush=True)
first = ask(b"open/0/deny")
print(first, ask(b"started/%d" % first), ask(b"started/0"), ask(b"started/99"), ask(b"refused/"), flush=True)
if os.fork() == 0:
    print(ask(b"started/%d" % first), flush=True)
    os._exit(0)
os.wait()
print([ask(b"open//deny") for i in range(20)][-1], flush=True)
`)
	if want := "0 -2 -22 -22 -22 -2\n1 0 -2 -2 -2\n-2\n-11\n"; r.out != want {
		t.Errorf("got %q, want %q; %s", r.out, want, r.err)
	}
	if strings.Contains(quoted(fmt.Sprint(r.rec["commands"])), "deny") {
		t.Errorf("a request is counted: %v", r.rec["commands"])
	}
}
