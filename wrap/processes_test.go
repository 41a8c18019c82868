package wrap

import (
	"os"
	"strings"
	"testing"
)

// The number of processes is bounded where no limits.pids says so, by what the host
// has for it, and the line tells where nothing bounds it.
func TestProcessesAreBounded(t *testing.T) {
	const mode, free = `{"access_mode": "read-only"}`, `{}`
	no := Answer{No, "no pid_max"}
	text, err := os.ReadFile(plans + "/world.txt")
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		spec, host   string
		most, others uint64
		pidMax       Answer
		rlimit, max  uint64
		line         string
	}{
		"user":               {mode, "", 4 << 20, 70000, no, 16384, 0, "pid namespace, RLIMIT_NPROC"},
		"small machine":      {mode, "", 4000, 70, no, 2000, 0, "pid namespace, RLIMIT_NPROC"},
		"before 5.14":        {mode, "kernel 5", 32768, 70, no, 16454, 0, "pid namespace, RLIMIT_NPROC"},
		"user, free":         {free, "", 32768, 70, Answer{}, 16454, 0, "subreaper, RLIMIT_NPROC"},
		"user, bare":         {`{"access_mode": "read-only", "best_effort": ["*"]}`, noUser, 32768, 70, no, 16454, 0, "subreaper, RLIMIT_NPROC"},
		"root":               {mode, "root", 32768, 70, Answer{}, 0, 16384, "pid namespace, pid_max"},
		"root before 6.14":   {mode, "root", 32768, 70, no, 0, 0, "pid namespace: not bounded: no pid_max; limits.pids bounds them"},
		"root, free":         {free, "root", 32768, 70, Answer{}, 0, 0, "subreaper: not bounded: RLIMIT_NPROC does not count uid 0; limits.pids bounds them"},
		"not known":          {mode, "", 0, 0, no, 0, 0, "pid namespace"},
		"inside another":     {free, `parent {"version": 1, "network": "none", "access_mode": "read-only"}`, 32768, 70, Answer{}, 0, 0, "subreaper"},
		"asked for":          {`{"access_mode": "read-only", "limits": {"pids": 20000}}`, "", 32768, 70, no, 20001, 0, "pid namespace"},
		"asked for, as root": {`{"access_mode": "read-only", "limits": {"pids": 20000}}`, "root\n" + groupsV2, 32768, 70, Answer{}, 0, 0, "pid namespace"},
	} {
		w := newWorld(t, string(text), row.host)
		w.host.Processes, w.host.Running, w.host.PidMax = row.most, row.others, row.pidMax
		_, p, err := w.build(row.spec)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		line := ""
		for _, e := range p.Enforcement {
			if e.Field == FieldProcesses {
				line = e.By
				if _, why, found := strings.Cut(e.Reason, "how many there are is "); found {
					why, _, _ = strings.Cut(why, "; no pid namespace")
					line += ": " + why
				}
			}
		}
		if p.Limits.Procs != row.rlimit || p.Processes != row.max || line != row.line {
			t.Errorf("%s: RLIMIT_NPROC %d, pid_max %d, %q", name, p.Limits.Procs, p.Processes, line)
		}
	}
}
