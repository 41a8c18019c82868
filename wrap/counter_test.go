package wrap

import (
	"os"
	"strings"
	"testing"
)

// What counts, by what is asked for and what the host has.
func TestCounter(t *testing.T) {
	text, err := os.ReadFile(plans + "/world.txt")
	if err != nil {
		t.Fatal(err)
	}
	const (
		noListener = "listener no L"
		noTracer   = "tracer no T"
		noSeccomp  = "rung user-namespace no U\nlandlock 0\nseccomp no S"
	)
	for _, row := range []struct {
		asked Counter
		host  string
		want  Counter
		why   string // of the refusal, where a budget is asked for or the counter by name
	}{
		{CounterAuto, "", CounterNotify, ""},
		{CounterAuto, noTracer, CounterNotify, ""},
		{CounterAuto, noListener, CounterPtrace, ""},
		{CounterAuto, noListener + "\n" + noTracer, CounterNone, "L; T"},
		{CounterAuto, noSeccomp, CounterNone, "S"},
		{CounterNotify, "", CounterNotify, ""},
		{CounterNotify, noListener, CounterNone, "L"},
		{CounterPtrace, "", CounterPtrace, ""},
		{CounterPtrace, noListener, CounterPtrace, ""},
		{CounterPtrace, noTracer, CounterNone, "T"},
		{CounterPtrace, noSeccomp, CounterNone, "S"},
		{CounterNone, "", CounterNone, "--counter none"},
	} {
		for _, doc := range []string{`{}`, `{"max_commands": 3}`} {
			w := newWorld(t, string(text), row.host)
			w.req.Counter = row.asked
			_, plan, err := w.build(doc)
			named := row.asked == CounterNotify || row.asked == CounterPtrace
			if row.want == CounterNone && (doc != `{}` || named) {
				if err == nil || !strings.Contains(err.Error(), row.why) {
					t.Errorf("%v with %q, %s: %v, want %q", row.asked, row.host, doc, err, row.why)
				}
				continue
			}
			if err != nil || plan.Counter != row.want {
				t.Errorf("%v with %q, %s: %v, %v; want %v", row.asked, row.host, doc, plan, err, row.want)
			} else if doc != `{}` {
				for _, e := range plan.Enforcement {
					if e.Field == "max_commands" && e.By != row.want.by() {
						t.Errorf("%+v", e)
					}
				}
			}
		}
	}
}
