package cgroup

import (
	"testing"

	"sbx/internal/read"
	"sbx/wrap"
)

const hybrid = `31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
41 31 0:37 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
`

const unified = "31 23 0:28 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		cgroup, mounts           string
		memory, cpu, acct, pids2 string
		version2                 string
	}{
		"unified": {"0::/user.slice/a b\n", unified, "", "", "", "", "/sys/fs/cgroup/user.slice/a b"},
		"hybrid": {"9:name=systemd:/\n4:memory:/job\n2:cpu,cpuacct:/x\n0::/u\n", hybrid,
			"/sys/fs/cgroup/memory/job", "/sys/fs/cgroup/cpu,cpuacct/x", "/sys/fs/cgroup/cpu,cpuacct/x", "", "/sys/fs/cgroup/unified/u"},
		"top":        {"4:memory:/\n0::/\n", hybrid, "/sys/fs/cgroup/memory", "", "", "", "/sys/fs/cgroup/unified"},
		"a colon":    {"0::/a:b\n", unified, "", "", "", "", "/sys/fs/cgroup/a:b"},
		"outside":    {"0::/../other\n", unified, "", "", "", "", ""},
		"above":      {"0::/..\n", unified, "", "", "", "", ""},
		"no mount":   {"0::/a\n4:memory:/a\n", "", "", "", "", "", ""},
		"elsewhere":  {"0::/a\n", "31 23 0:28 / /mnt/cgroup rw - cgroup2 cgroup2 rw\n", "", "", "", "", ""},
		"a part":     {"0::/docker/1/in\n", "31 23 0:28 /docker/1 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "", "", "", "", "/sys/fs/cgroup/in"},
		"other part": {"0::/docker/12\n", "31 23 0:28 /docker/1 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "", "", "", "", ""},
		"escaped":    {"0::/a\n", "31 23 0:28 / /sys/fs/cgroup/with\\040space rw - cgroup2 cgroup2 rw\n", "", "", "", "", "/sys/fs/cgroup/with space/a"},
	} {
		l := parse(c.cgroup, read.Mounts(c.mounts))
		for what, p := range map[string][2]string{"memory": {l.v1[wrap.Memory].own, c.memory}, "cpu": {l.v1[wrap.CPU].own, c.cpu},
			"cpuacct": {l.v1[wrap.CPUAcct].own, c.acct}, "pids": {l.v1[wrap.PIDs].own, c.pids2}, "version 2": {l.v2.own, c.version2}} {
			if p[0] != p[1] {
				t.Errorf("%s: %s is at %q, want %q", name, what, p[0], p[1])
			}
		}
	}
}

func TestCountsSockets(t *testing.T) {
	for line, want := range map[string]bool{"": true, "quiet cgroup.memory=nokmem": true, "cgroup.memory=nokmem,nosocket quiet\n": false, "x=cgroup.memory=nosocket": true} {
		if got := countsSockets(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}
