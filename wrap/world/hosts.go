package world

import "strings"

// Hosts are the machines for which golden Plans are built, as lines that are read after the world's
// own.
var Hosts = map[string]string{
	"all":        "",
	"root":       "root",
	"abi0":       "landlock 0",
	"abi1":       "landlock 1",
	"abi3":       "landlock 3",
	"abi6":       "landlock 6",
	"newest":     "landlock 10",
	"root-audit": "root\naudit",
	"no-overlay": "overlay no an overlay cannot be mounted",
	"no-setattr": noSetAttr,
	"no-layer":   "layer no an overlay cannot be written",
	"linux-5.10": "linux 5.10\nlandlock 0\nlistener no the kernel's notifications are interrupted by signals (before Linux 6.0)\n" +
		"overlay no overlay mounts in a user namespace need Linux 5.11\n" + noSetAttr,
	"no-userns":      noUser,
	"no-userns-root": "root\n" + noUser,
	"no-userns-abi0": noUser + "\nlandlock 0",
	"no-userns-abi1": noUser + "\nlandlock 1",
	"no-userns-abi3": noUser + "\nlandlock 3",
	"no-userns-abi6": noUser + "\nlandlock 6",
	"no-listener":    "listener no a listener outside has the notifications already\ntracer no a listener outside is asked before a tracer",
	"old":            "listener no the kernel's notifications are interrupted by signals (before Linux 6.0)",
	"root-linked":    "root\nlinked /usr/bin/make",
	"old-kernel":     "linux 6.1\nlandlock 2",
	"groups-v1": "group memory 1 /sys/fs/cgroup/memory/job swap\ngroup cpu 1 /sys/fs/cgroup/cpu,cpuacct/job\n" +
		"group pids 1 /sys/fs/cgroup/pids/job\ngroup cpuacct 1 /sys/fs/cgroup/cpu,cpuacct/job",
	"root-groups-v2": "root\n" + groupsV2,
	"groups-v2":      groupsV2,
	"groups-leaf":    strings.ReplaceAll(groupsV2, "/app.slice", "/app.slice/run.scope enable leaf"),
	"groups-hybrid":  "group memory 1 /sys/fs/cgroup/memory\ngroup cpu 2 /sys/fs/cgroup/unified/job\ngroup pids 2 /sys/fs/cgroup/unified/job",
	"no-groups":      noGroups,
	"no-groups-root": "root\n" + noGroups,
	"no-groups-old":  "kernel 5\n" + noGroups,
	"nested-tight":   `parent {"version": 1, "network": "none", "access_mode": "read-only", "memory": 67108864, "cpus": 0.5, "pids": 16}`,
	"nested-loose":   `parent {"version": 1, "network": "none", "access_mode": "read-only", "memory": 9999999999, "pids": 17}`,
	"docker":         "container docker\nrung user-namespace no clone on namespaces: operation not permitted\n" + noCopies,
	"no-copies":      "container docker\n" + noCopies,
	"nothing":        noUser + "\nlandlock 0\nseccomp no the kernel has no seccomp filters",
}

const groupsV2 = "group memory 2 /sys/fs/cgroup/user.slice/app.slice swap\ngroup cpu 2 /sys/fs/cgroup/user.slice/app.slice\ngroup pids 2 /sys/fs/cgroup/user.slice/app.slice"

const noGroups = "group memory no uid 1000 cannot write /sys/fs/cgroup: permission denied\n" +
	"group cpu no /sys/fs/cgroup does not have the cpu controller\ngroup pids no uid 1000 cannot write /sys/fs/cgroup: permission denied"

const noSetAttr = "setattr no mount_setattr needs Linux 5.12"

const noCopies = "copies no no socket of the command's can be copied: pidfd_getfd: operation not permitted"

const noUser = "rung user-namespace no user namespaces are switched off"
