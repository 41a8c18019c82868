package wrap_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/opencontainers/cgroups"
	"github.com/opencontainers/cgroups/fs"
	"github.com/opencontainers/cgroups/fs2"

	"sbx/wrap"
	"sbx/wrap/world"
)

// limitCases are limits as documents set them.
var limitCases = []struct {
	memory int64
	cpus   float64
	pids   int
}{{64 << 20, 0.5, 16}, {1, 1, 1}, {1 << 40, 1.5, 256}, {4096, 0.01, 4 << 20}, {123457, 64, 32768}, {2 << 30, 0.25, 2}}

// groupDir makes a directory with the files of a group, as the library expects it.
func groupDir(t *testing.T, files ...string) string {
	t.Helper()
	cgroups.TestMode = true
	dir := t.TempDir()
	for _, f := range files {
		if err := os.WriteFile(dir+"/"+f, []byte("0\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func holds(t *testing.T, dir string, set []wrap.Setting) {
	t.Helper()
	for _, s := range set {
		b, err := os.ReadFile(dir + "/" + s.File)
		if err != nil || strings.TrimSpace(string(b)) != s.Value {
			t.Errorf("%s: sbx writes %q, the library %q, %v", s.File, s.Value, b, err)
		}
	}
}

// sbx writes the same values into a group of version 2 as opencontainers/cgroups for the same
// limits, without swap.
func TestSettingsV2(t *testing.T) {
	for _, c := range limitCases {
		dir := groupDir(t, "memory.max", "memory.swap.max", "memory.current", "cpu.max", "pids.max")
		if err := os.WriteFile(dir+"/cgroup.controllers", []byte("memory cpu pids"), 0o644); err != nil {
			t.Fatal(err)
		}
		us, of := wrap.Quota(c.cpus)
		n := int64(c.pids)
		r := &cgroups.Resources{Memory: c.memory, MemorySwap: c.memory, CpuQuota: us, CpuPeriod: uint64(of), PidsLimit: &n}
		m, err := fs2.NewManager(&cgroups.Cgroup{Resources: r}, dir)
		if err == nil {
			err = m.Set(r)
		}
		if err != nil {
			t.Fatal(err)
		}
		h := &wrap.GroupHost{Version: 2, Swap: true}
		holds(t, dir, wrap.MemorySettings(h, c.memory))
		holds(t, dir, wrap.CPUSettings(h, c.cpus))
		holds(t, dir, wrap.PIDsSettings(c.pids))
	}
}

// The same holds for version 1.
func TestSettingsV1(t *testing.T) {
	for _, c := range limitCases {
		dir := groupDir(t, "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.usage_in_bytes", "memory.max_usage_in_bytes",
			"cpu.cfs_quota_us", "cpu.cfs_period_us", "pids.max")
		us, of := wrap.Quota(c.cpus)
		n := int64(c.pids)
		share := wrap.SocketShare(c.memory) // of which the library knows nothing
		r := &cgroups.Resources{Memory: c.memory - share, MemorySwap: c.memory - share, CpuQuota: us, CpuPeriod: uint64(of), PidsLimit: &n}
		for _, g := range []interface {
			Set(string, *cgroups.Resources) error
		}{&fs.MemoryGroup{}, &fs.CpuGroup{}, &fs.PidsGroup{}} {
			if err := g.Set(dir, r); err != nil {
				t.Fatal(err)
			}
		}
		h := &wrap.GroupHost{Version: 1, Swap: true, Sockets: true}
		set := wrap.MemorySettings(h, c.memory)
		if last := set[len(set)-1]; last != (wrap.Setting{wrap.SocketsFile, strconv.FormatInt(share, 10)}) {
			t.Errorf("%v", last)
		}
		holds(t, dir, set[:len(set)-1])
		holds(t, dir, wrap.CPUSettings(h, c.cpus))
		holds(t, dir, wrap.PIDsSettings(c.pids))
	}
}

// A quota is the requested share of a period that the scheduler accepts, and at least a
// millisecond.
func TestQuota(t *testing.T) {
	for cpus, want := range map[float64][2]int64{0.001: {1000, 1000000}, 0.005: {5000, 1000000}, 0.01: {1000, 100000}, 0.5: {50000, 100000},
		1: {100000, 100000}, 1.5: {150000, 100000}, 1e6: {1e11, 100000}} {
		if us, of := wrap.Quota(cpus); us != want[0] || of != want[1] {
			t.Errorf("%v: %d of %d, want %v", cpus, us, of, want)
		}
	}
}

// A limit above the number of processes that the kernel can have becomes that number.
func TestPIDsAreClamped(t *testing.T) {
	if s := wrap.PIDsSettings(1 << 50); s[0].Value != "4194304" {
		t.Errorf("%v", s)
	}
}

// Without the file for swap, swap is not limited, and the line says so.
func TestSwapThatIsNotCounted(t *testing.T) {
	for _, version := range []int{1, 2} {
		if set := wrap.MemorySettings(&wrap.GroupHost{Version: version}, 4096); len(set) != 1 {
			t.Errorf("version %d: %v", version, set)
		}
	}
	m, err := linesFor(t, `{"limits": {"memory": "1GiB"}}`, "group memory 2 /sys/fs/cgroup/memory")
	if e := m["limits.memory"]; err != nil || e.Status != wrap.Enforced || !strings.Contains(e.Reason, "does not count swap") {
		t.Errorf("%v, %+v", err, e)
	}
}

// If nothing counts the buffers of sockets, a limit of memory is refused, or weaker.
func TestSocketsThatAreNotCounted(t *testing.T) {
	for _, version := range []string{"1", "2"} {
		facts := "group memory " + version + " /sys/fs/cgroup/memory swap nosocket"
		if _, err := linesFor(t, `{"limits": {"memory": "1GiB"}}`, facts); err == nil || !strings.Contains(err.Error(), "buffers of sockets") {
			t.Errorf("version %s: %v", version, err)
		}
		m, err := linesFor(t, `{"limits": {"memory": "1GiB"}, "best_effort": ["limits.memory"]}`, facts)
		if e := m["limits.memory"]; err != nil || e.Status != wrap.Degraded || !strings.Contains(e.Reason, "buffers of sockets") {
			t.Errorf("version %s: %v, %+v", version, err, e)
		}
	}
}

// An inner sandbox must not rely on a limit that the outer one only watches.
func TestParentIsToldWhatHolds(t *testing.T) {
	for doc, want := range map[string][3]float64{
		`{"access_mode": "read-only", "limits": {"memory": 4096, "cpus": 0.5, "pids": 7}}`: {4096, 0.5, 7},
		`{"access_mode": "read-only"}`: {},
		`{"access_mode": "read-only", "limits": {"memory": 4096, "cpus": 2}, "best_effort": ["limits"], "working_dir": "."}`: {},
	} {
		facts := world.Hosts["groups-v2"]
		if strings.Contains(doc, "best_effort") {
			facts = world.Hosts["no-groups"]
		}
		w := world.Workstation(t, facts)
		_, plan, err := w.Build(doc)
		if err != nil {
			t.Fatal(err)
		}
		w.Inside(plan)
		p := w.Host.Parent
		if got := [3]float64{float64(p.Memory), p.CPUs, float64(p.PIDs)}; got != want {
			t.Errorf("%s: told %v, want %v", doc, got, want)
		}
	}
}
