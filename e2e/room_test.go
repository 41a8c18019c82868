package e2e

import (
	"strings"
	"testing"
)

// If limits leave too little for the Go runtime, sbx says so before the runtime starts.
func TestStartWithoutRoom(t *testing.T) {
	prlimit := needPrograms(t, "prlimit")
	for name, row := range map[string]struct{ limit, why string }{
		"two processes":    {"--nproc=2", "leaves too few for the threads of sbx"},
		"three processes":  {"--nproc=3", "leaves too few for the threads of sbx"},
		"twelve processes": {"--nproc=12", "leaves too few for the threads of sbx"},
		"address space":    {"--as=500000000", "too small for the Go runtime"},
		"hardly any":       {"--as=50000000", "too small for the Go runtime"},
		"data":             {"--data=60000000", "too small for the Go runtime"},
		"hardly any data":  {"--data=40000000", "too small for the Go runtime"},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.HasPrefix(row.limit, "--nproc") && isRoot() {
				t.Skip("RLIMIT_NPROC does not bound root")
			}
			b := newBox(t)
			b.host = []string{prlimit, row.limit}
			r := b.run(`{}`, "/bin/sh", "-c", "echo end")
			if r.code != 125 || r.out != "" || !strings.HasPrefix(r.err, "sbx: cannot start\nsbx: why: ") || !strings.Contains(r.err, row.why) ||
				strings.Count(r.err, "\n") != 3 {
				t.Errorf("%v", r)
			}
			limit, _, _ := strings.Cut(row.limit, "=")
			b.host[1] = limit + "=" + map[string]string{"--nproc": "15000", "--as": "850000000", "--data": "100000000"}[limit]
			b.run(`{}`, "/bin/sh", "-c", "echo end").ended()
		})
	}
}
