package e2e

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// few returns words that, before a command line, make a machine of 1000 processes.
func few(t *testing.T) []string {
	t.Helper()
	const most = `echo 1000 > /proc/sys/kernel/pid_max && test "$(cat /proc/sys/kernel/pid_max)" = 1000 && exec "$@"`
	words := []string{needPrograms(t, "unshare"), "--pid", "--fork", "--mount-proc"}
	if !isRoot() {
		words = append(words, "--user", "--map-current-user", "--keep-caps")
	}
	if before := settingOf(t, "pid_max"); before <= 1000 || !pidMaxApart() {
		lacks(t, "a pid namespace has no pid_max of its own before Linux 6.14")
	}
	return append(words, "/bin/sh", "-c", most, "sh")
}

// pidMaxApart reports whether each pid namespace has a pid_max of its own.
func pidMaxApart() bool {
	text, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	v := strings.SplitN(string(text), ".", 3)
	major, _ := strconv.Atoi(v[0])
	minor, _ := strconv.Atoi(v[1])
	return major > 6 || major == 6 && minor >= 14
}

func settingOf(t *testing.T, name string) int {
	t.Helper()
	text, err := os.ReadFile("/proc/sys/kernel/" + name)
	must(t, err)
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	must(t, err)
	return n
}

// A command that forks without end leaves half of the machine's processes to others.
func TestForksAreBounded(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	host := few(t)
	b.host = host
	forks := func(r result) int {
		n, err := strconv.Atoi(r.lines()["all"])
		if err != nil {
			t.Fatalf("%v", r)
		}
		return n
	}
	r := b.plain(append(host, b.probe(), "forks", "700")...).ended()
	if forks(r) < 700 {
		t.Fatalf("control: %v", r)
	}
	for name, spec := range map[string]string{"read-only": specRO, "workspace-write": specWW, "a rule on the network": `{"network": {"mode": "none"}}`} {
		t.Run(name, func(t *testing.T) {
			r := b.run(spec, b.probe(), "forks", "700").ended()
			if got := r.lines(); got["forks"] != "EAGAIN" || forks(r) > 500 || forks(r) < 400 {
				t.Errorf("%v", r)
			}
			by := map[bool]string{true: "pid_max", false: "RLIMIT_NPROC"}[isRoot()]
			if got := r.rec.by("processes"); got != "pid namespace, "+by {
				t.Errorf("it is bounded by %q", got)
			}
		})
	}
	// This is root in a pid namespace without a pid_max of its own, as before Linux 6.14.
	if isRoot() {
		b.host = append(slices.Clone(host), "/bin/sh", "-c", `mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"`, "/proc/sys/kernel/pid_max")
		r := b.run(specRO, b.probe(), "forks", "700").ended()
		boundByGroup(t, b, r, "pid namespace", "pid_max: read-only file system")
		b.host = host
		// Another tool's sandbox has none either.
		if _, err := exec.LookPath("bwrap"); err == nil {
			b.args = []string{"--backend", "bwrap"}
			r := b.run(specRO, b.probe(), "forks", "700").ended()
			b.args = nil
			if got := r.lines(); !strings.Contains(r.rec.reason("processes"), "bwrap sets no pid_max, and ") && (got["forks"] != "EAGAIN" || forks(r) > 500 || forks(r) < 400) {
				t.Errorf("%v", r)
			}
		}
	}
	// A spec that requests more gets it.
	if !isRoot() || grouped(t, newBox(t)) {
		if r := b.run(`{"access_mode": "read-only", "limits": {"pids": 800}}`, b.probe(), "forks", "700").ended(); forks(r) < 700 {
			t.Errorf("%v", r)
		}
	}
}

// boundByGroup fails unless root's forks, of the 700 that were tried on a machine of 1000, ended at
// half of it in a control group. If none can be made in the caller's own group the record must say
// why.
func boundByGroup(t *testing.T, b *box, r result, ends, why string) {
	t.Helper()
	by, reason := r.rec.by("processes"), r.rec.reason("processes")
	if !strings.HasPrefix(by, ends+", pids cgroup") {
		asked := b.run(`{"limits": {"pids": 600}, "best_effort": ["limits.pids"]}`, "echo", "end").ended().rec.by("limits.pids")
		if by != ends || strings.Contains(asked, "v1") || !strings.Contains(reason, "how many there are is not bounded: ") || !strings.Contains(reason, why+", and ") {
			t.Errorf("by %q: %s", by, reason)
		}
		return
	}
	got := r.lines()
	if all, err := strconv.Atoi(got["all"]); got["forks"] != "EAGAIN" || err != nil || all != 500 || strings.Contains(reason, "not bounded") {
		t.Errorf("%v: %s", r, reason)
	}
	r.breaks("limits.pids: the default")
	noGroupsLeft(t)
}

// Without a pid namespace RLIMIT_NPROC limits an ordinary user's processes, and a control group
// limits root's. A lower limit of the spec applies.
func TestForksWithoutASandbox(t *testing.T) {
	for name, spec := range map[string]string{"danger-full-access": specFull, "nothing": `{}`} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			if isRoot() {
				b.host = few(t)
				if got := b.plain(append(b.host, b.probe(), "forks", "700")...).ended().lines(); got["forks"] != "ok" {
					t.Fatalf("control: %v", got)
				}
				boundByGroup(t, b, b.run(spec, b.probe(), "forks", "700").ended(), "subreaper", "RLIMIT_NPROC does not count uid 0")
				if grouped(t, b) {
					r := b.run(`{"limits": {"pids": 30}}`, b.probe(), "forks", "700").ended()
					if got := r.lines(); got["all"] != "30" {
						t.Errorf("limits.pids: %v", r)
					}
				}
				return
			}
			const ask = "ulimit -Hu; echo end"
			bash := needPrograms(t, "bash")
			own := b.plain(bash, "-c", ask).ended().out
			r := b.run(spec, bash, "-c", ask).ended()
			n, err := strconv.Atoi(strings.TrimSuffix(r.out, "\nend\n"))
			if most := min(settingOf(t, "pid_max"), settingOf(t, "threads-max")); err != nil || n <= min(16384, most/2) || n > most || r.rec.by("processes") != "subreaper, RLIMIT_NPROC" {
				t.Errorf("%v: without it is %q", r, own)
			}
		})
	}
}
