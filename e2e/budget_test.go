package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// budgets returns a spec with a budget.
func budgets(spec string, n int, more string) string {
	return specWith(spec, fmt.Sprintf(`"max_commands":%d%s`, n, more))
}

// Programs beyond the budget are denied with EPERM and the rest continues; without the budget they
// all run.
func TestBudgetDenies(t *testing.T) {
	needSandbox(t)
	script := "for i in 1 2 3 4 5; do /bin/true && echo ran || echo refused; done; echo end"
	for spec, status := range map[string]string{specNone: "degraded", specWW: "enforced"} {
		b := newBox(t)
		r := b.sh(spec, script).ended()
		if strings.Count(r.out, "ran\n") != 5 || r.rec.whole("commands_used") != 5 {
			t.Errorf("the control: %v", r)
		}
		for _, n := range []int{0, 4} {
			r := b.sh(budgets(spec, n, ""), script).ended()
			if strings.Count(r.out, "ran\n") != n || strings.Count(r.out, "refused\n") != 5-n || r.code != 0 {
				t.Errorf("of %d: %v", n, r)
			}
			if got := r.rec.whole("commands_used"); got != n {
				t.Errorf("of %d: %d are counted", n, got)
			}
			if got := r.rec.whole("commands", "refused"); got != 5-n {
				t.Errorf("of %d: %d were refused", n, got)
			}
			r.rec.hasStatus(t, "max_commands", status)
			if !strings.Contains(r.err, "Operation not permitted") {
				t.Errorf("of %d: the program was told %q", n, r.err)
			}
			if lines := strings.Count(r.err, "sbx: "); lines != 1 || !strings.Contains(r.err, fmt.Sprintf("max_commands: %d", n)) {
				t.Errorf("of %d: the person is told %d times: %q", n, lines, r.err)
			}
			v := r.rec.list("violations")
			if len(v) != 1 || v[0].text("kind") != "command" || v[0].text("target") != "/bin/true" || v[0].text("action") != "execute" ||
				v[0].text("rule") != fmt.Sprintf("max_commands: %d", n) || v[0].text("allow_with") != fmt.Sprintf("max_commands: %d", n+1) || v[0].whole("count") != 5-n {
				t.Errorf("of %d: violations %v", n, v)
			}
		}
	}
}

// A missing program fails with its usual error, also after the budget is used up: it would have
// started nothing.
func TestBudgetLeavesErrorsAlone(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	r := b.sh(budgets(specWW, 0, ""), "/no/such/program; echo $?; end() { echo end; }; end").ended()
	if !strings.HasPrefix(r.out, "127\n") || r.rec.whole("commands", "refused") != 0 {
		t.Errorf("%v", r)
	}
}

// kill ends everything at the first program beyond the budget.
func TestBudgetKills(t *testing.T) {
	needSandbox(t)
	for _, spec := range []string{specNone, specWW} {
		b := newBox(t)
		r := b.sh(budgets(spec, 1, `,"on_exceed":"kill"`), `sleep 1000 & until read name </proc/$!/comm && [ "$name" = sleep ]; do :; done; echo first; /bin/true; echo second`)
		if r.code != 124 || r.out != "first\n" {
			t.Errorf("%v", r)
		}
		if r.rec.text("exit", "ended_by") != "max_commands" || r.rec.whole("exit", "code") != 124 || r.rec.whole("commands_used") != 1 {
			t.Errorf("exit %v, used %v", r.rec["exit"], r.rec["commands_used"])
		}
	}
}

// record counts and denies nothing.
func TestBudgetIsRecorded(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	r := b.sh(budgets(specWW, 1, `,"on_exceed":"record"`), "/bin/true; /bin/true; /bin/true; echo end").ended()
	if r.code != 0 || r.rec.whole("commands_used") != 3 || r.err != "" {
		t.Errorf("%v", r)
	}
	r.rec.hasStatus(t, "max_commands", "observed")
}

// Without a counter a budget is refused, or reported as unavailable.
func TestBudgetNeedsACounter(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.args = []string{"--counter", "none"}
	b.sh(budgets(specWW, 1, ""), "echo end").refused("max_commands")
	r := b.sh(budgets(specWW, 1, `,"best_effort":["max_commands"]`), "/bin/true; /bin/true; echo end").ended()
	r.rec.hasStatus(t, "max_commands", "unavailable")
	if r.rec["commands_used"] != nil || r.rec["commands"] != nil {
		t.Errorf("nobody counted, and the record says %v", r.rec["commands"])
	}
	b.args = []string{"--counter", "nothing"}
	if r := b.sh(specWW, "echo end"); r.code != 2 || !strings.Contains(r.err, "--counter") {
		t.Errorf("an unknown counter: %v", r)
	}
}

// If a program reads stdout and stderr as one stream, no line of sbx's is in between. A line at the
// end says how many denials there were, and there is none if there were none.
func TestRefusalsStayOutOfAStream(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	both := func(commands int, flags ...string) string {
		t.Helper()
		b.args = flags
		script := "exec 2>/dev/null; echo '{'; /bin/true; /bin/true; echo '}'"
		words := shellWords(b.execArgs(budgets(specWW, commands, ""), "/bin/sh", "-c", script))
		return b.plain("/bin/sh", "-c", strings.Join(append([]string{sbxPath}, words...), " ")+" 2>&1 | cat").out
	}
	line := regexp.QuoteMeta("sbx: max_commands: 0: /") + "[^ ]*/true was denied.*\n"
	for _, c := range []struct {
		commands int
		flags    []string
		want     string
	}{
		{2, nil, "{\n}\n"},
		{0, nil, "{\n}\nsbx: 2 refusals: sbx show " + regexp.QuoteMeta(b.rec) + "\n"},
		{1, nil, "{\n}\nsbx: 1 refusal: sbx show " + regexp.QuoteMeta(b.rec) + "\n"},
		{0, []string{"-q"}, "{\n}\n"},
		{0, []string{"--explain"}, "{\n" + line + "}\n"},
		{0, []string{"-q", "--explain"}, "{\n}\n"},
	} {
		if out := both(c.commands, c.flags...); !regexp.MustCompile("^" + c.want + "$").MatchString(out) {
			t.Errorf("%d commands, %q: %q", c.commands, c.flags, out)
		}
	}
	b.args = []string{"-q"}
	if r := b.sh(budgets(specWW, 0, ""), "/bin/true 2>/dev/null; echo end").ended(); r.err != "" {
		t.Errorf("-q says %q", r.err)
	}
}

func shellWords(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return out
}
