package wrap_test

import (
	"slices"
	"strings"
	"testing"

	"sbx/wrap"
	"sbx/wrap/world"
)

// Without limits.pids the number of processes is still bounded, by whatever the host supports, and
// the line says if nothing bounds it.
func TestProcessesAreBounded(t *testing.T) {
	const mode, free = `{"access_mode": "read-only"}`, `{}`
	no := wrap.Answer{State: wrap.No, Why: "no pid_max"}
	for name, row := range map[string]struct {
		spec, host   string
		most, others uint64
		pidMax       wrap.Answer
		rlimit, max  uint64
		line         string
	}{
		"user":               {mode, "", 4 << 20, 70000, no, 16384, 0, "pid namespace, RLIMIT_NPROC"},
		"small machine":      {mode, "", 4000, 70, no, 2000, 0, "pid namespace, RLIMIT_NPROC"},
		"before 5.14":        {mode, "kernel 5", 32768, 70, no, 16454, 0, "pid namespace, RLIMIT_NPROC"},
		"user, free":         {free, "", 32768, 70, wrap.Answer{}, 16454, 0, "subreaper, RLIMIT_NPROC"},
		"user, bare":         {`{"access_mode": "read-only", "best_effort": ["*"]}`, world.Hosts["no-userns"], 32768, 70, no, 16454, 0, "subreaper, RLIMIT_NPROC"},
		"root":               {mode, "root", 32768, 70, wrap.Answer{}, 0, 16384, "pid namespace, pid_max"},
		"root before 6.14":   {mode, "root", 32768, 70, no, 0, 0, "pid namespace: not bounded: no pid_max, and no control group of this host was found"},
		"root, no group":     {mode, "root\n" + world.Hosts["no-groups"], 32768, 70, no, 0, 0, "pid namespace: not bounded: no pid_max, and uid 1000 cannot write /sys/fs/cgroup: permission denied"},
		"root, free":         {free, "root", 32768, 70, wrap.Answer{}, 0, 0, "subreaper: not bounded: RLIMIT_NPROC does not count uid 0, and no control group of this host was found"},
		"not known":          {mode, "", 0, 0, no, 0, 0, "pid namespace"},
		"inside another":     {free, `parent {"version": 1, "network": "none", "access_mode": "read-only"}`, 32768, 70, wrap.Answer{}, 0, 0, "subreaper"},
		"asked for":          {`{"access_mode": "read-only", "limits": {"pids": 20000}}`, "", 32768, 70, no, 20001, 0, "pid namespace"},
		"asked for, as root": {`{"access_mode": "read-only", "limits": {"pids": 20000}}`, "root\n" + world.Hosts["groups-v2"], 32768, 70, wrap.Answer{}, 0, 0, "pid namespace"},
	} {
		w := world.Workstation(t, row.host)
		w.Host.Processes, w.Host.Running, w.Host.PidMax = row.most, row.others, row.pidMax
		_, p, err := w.Build(row.spec)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		line := ""
		for _, e := range p.Enforcement {
			if e.Field == wrap.FieldProcesses {
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

// A control group bounds root's processes if nothing else does, and none is made if something else
// does.
func TestProcessesInAGroup(t *testing.T) {
	const mode, free = `{"access_mode": "read-only"}`, `{}`
	session := "group pids 2 /sys/fs/cgroup/user.slice/session-3.scope enable threaded"
	v1, leaf, noRung := world.Hosts["groups-v1"], world.Hosts["groups-leaf"], "\n"+world.Hosts["no-userns"]+"\nrung namespaces-as-root no root lacks CAP_SYS_ADMIN here"
	yes, no := wrap.Answer{}, wrap.Answer{State: wrap.No, Why: "no pid_max"}
	for name, row := range map[string]struct {
		spec, host string
		pidMax     wrap.Answer
		most, line string
	}{
		"before 6.14, v1":   {mode, "root\n" + v1, no, "16384", "pid namespace, pids cgroup, v1"},
		"before 6.14, v2":   {mode, "root\n" + leaf, no, "16384", "pid namespace, pids cgroup, v2"},
		"free, v1":          {free, "root\n" + v1, yes, "16384", "subreaper, pids cgroup, v1"},
		"free, v2":          {`{"access_mode": "danger-full-access"}`, "root\n" + leaf, yes, "16384", "subreaper, pids cgroup, v2"},
		"beside others, v2": {free, "root\n" + session, yes, "16384", "subreaper, pids cgroup, v2"},
		"bare":              {`{"access_mode": "read-only", "best_effort": ["*"]}`, "root\n" + v1 + noRung, yes, "16384", "subreaper, pids cgroup, v1"},
		"asked for":         {`{"limits": {"pids": 100}}`, "root\n" + v1, no, "100", "subreaper"},
		"asked for more":    {`{"access_mode": "read-only", "limits": {"pids": 20000}}`, "root\n" + v1, no, "20000", "pid namespace"},
		"by pid_max":        {mode, "root\n" + v1, yes, "", "pid namespace, pid_max"},
		"by RLIMIT_NPROC":   {free, v1, yes, "", "subreaper, RLIMIT_NPROC"},
		"inside another":    {free, "root\n" + v1 + "\n" + `parent {"version": 1, "network": "none", "access_mode": "read-only"}`, no, "", "subreaper"},
		"beside the memory": {`{"limits": {"memory": "1GiB"}}`, "root\n" + leaf, yes, "16384", "subreaper, pids cgroup, v2"},
	} {
		w := world.Workstation(t, row.host)
		w.Host.Processes, w.Host.PidMax = 32768, row.pidMax
		r, p, err := w.Build(row.spec)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		most := ""
		for _, g := range p.Limits.Groups {
			for _, s := range g.Write {
				if s.File == "pids.max" {
					most += s.Value
				}
			}
		}
		i := slices.IndexFunc(p.Enforcement, func(e wrap.Enforcement) bool { return e.Field == wrap.FieldProcesses })
		if e := p.Enforcement[i]; most != row.most || e.By != row.line || strings.Contains(e.Reason, "not bounded") {
			t.Errorf("%s: pids.max %q, by %q: %s", name, most, e.By, e.Reason)
		}
		if name == "beside others, v2" {
			if g := p.Limits.Groups[0]; !g.Threaded || g.Leaf || !slices.Equal(g.Enable, []wrap.Controller{wrap.PIDs}) || !strings.Contains(string(p.AppendJSON(nil)), `"threaded": true`) {
				t.Errorf("%s: %+v", name, g)
			}
		}
		if groups := len(p.Limits.Groups); name == "beside the memory" && groups != 1 {
			t.Errorf("%s: %d groups", name, groups)
		}
		if asks := w.Host.Unbounded(r); asks != (row.most == "16384") {
			t.Errorf("%s: a group is looked for: %v", name, asks)
		}
	}
}
