package e2e

import (
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// The runtime of sbx schedules over two processors at most, whatever the machine or the caller's
// GOMAXPROCS says, and the command gets the caller's variable.
func TestProcessorsOfSbx(t *testing.T) {
	several := "2"
	if runtime.NumCPU() == 1 {
		several = "1"
	}
	for _, c := range []struct{ name, set, has, procs string }{
		{"absent", "", "unset", several},
		{"empty", "GOMAXPROCS=", "", several},
		{"more", "GOMAXPROCS=128", "128", several},
		{"fewer", "GOMAXPROCS=1", "1", "1"},
		{"another variable", "GOMAXPROCSX=1", "unset", several},
		{"no number", "GOMAXPROCS=1x", "1x", several},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBox(t)
			b.env = append(b.env, "GODEBUG=schedtrace=10") // a line on stderr as long as it runs
			if c.set != "" {
				b.env = append(b.env, c.set)
			}
			r := b.run(`{}`, "/bin/sh", "-c", `sleep 0.3; echo "${GOMAXPROCS-unset}"; echo end`)
			if got := strings.TrimSuffix(r.out, "\nend\n"); got != c.has {
				t.Errorf("the command has %q: %v", got, r)
			}
			lines := regexp.MustCompile(`gomaxprocs=(\d+) `).FindAllStringSubmatch(r.err, -1)
			if len(lines) == 0 {
				t.Fatalf("the runtime says nothing: %v", r)
			}
			for _, line := range lines {
				if line[1] != c.procs {
					t.Fatalf("%s processors, not %s", line[1], c.procs)
				}
			}
		})
	}
	t.Run("an affinity mask of one", func(t *testing.T) {
		b := newBox(t)
		b.host = []string{needPrograms(t, "taskset"), "0x1"}
		b.env = append(b.env, "GODEBUG=schedtrace=10")
		r := b.run(`{}`, "/bin/sh", "-c", "sleep 0.3; echo end").ended()
		if !strings.Contains(r.err, "gomaxprocs=1 ") || strings.Contains(r.err, "gomaxprocs=2 ") {
			t.Errorf("%v", r)
		}
	})
}
