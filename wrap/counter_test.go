package wrap_test

import (
	"strings"
	"testing"

	"sbx/wrap"
	"sbx/wrap/world"
)

// The counter depends on what is requested and on what the host supports.
func TestCounter(t *testing.T) {
	const (
		noListener = "listener no L"
		noTracer   = "tracer no T"
		noSeccomp  = "rung user-namespace no U\nlandlock 0\nseccomp no S"
	)
	for _, row := range []struct {
		asked wrap.Counter
		host  string
		want  wrap.Counter
		why   string // of the refusal, if a budget or a counter is requested
	}{
		{wrap.CounterAuto, "", wrap.CounterNotify, ""},
		{wrap.CounterAuto, noTracer, wrap.CounterNotify, ""},
		{wrap.CounterAuto, noListener, wrap.CounterPtrace, ""},
		{wrap.CounterAuto, noListener + "\n" + noTracer, wrap.CounterNone, "L; T"},
		{wrap.CounterAuto, noSeccomp, wrap.CounterNone, "S"},
		{wrap.CounterNotify, "", wrap.CounterNotify, ""},
		{wrap.CounterNotify, noListener, wrap.CounterNone, "L"},
		{wrap.CounterPtrace, "", wrap.CounterPtrace, ""},
		{wrap.CounterPtrace, noListener, wrap.CounterPtrace, ""},
		{wrap.CounterPtrace, noTracer, wrap.CounterNone, "T"},
		{wrap.CounterPtrace, noSeccomp, wrap.CounterNone, "S"},
		{wrap.CounterNone, "", wrap.CounterNone, "--counter none"},
	} {
		for _, doc := range []string{`{}`, `{"max_commands": 3}`} {
			w := world.Workstation(t, row.host)
			w.Req.Counter = row.asked
			_, plan, err := w.Build(doc)
			named := row.asked == wrap.CounterNotify || row.asked == wrap.CounterPtrace
			if row.want == wrap.CounterNone && (doc != `{}` || named) {
				if err == nil || !strings.Contains(err.Error(), row.why) {
					t.Errorf("%v with %q, %s: %v, want %q", row.asked, row.host, doc, err, row.why)
				}
				continue
			}
			if err != nil || plan.Counter != row.want {
				t.Errorf("%v with %q, %s: %v, %v; want %v", row.asked, row.host, doc, plan, err, row.want)
			} else if doc != `{}` {
				for _, e := range plan.Enforcement {
					if e.Field == "max_commands" && e.By != row.want.By() {
						t.Errorf("%+v", e)
					}
				}
			}
		}
	}
}
