package cgroup

import (
	"strconv"
	"testing"

	"github.com/opencontainers/cgroups"
	"github.com/opencontainers/cgroups/fs"
	"github.com/opencontainers/cgroups/fs2"

	"sbx/spec"
	"sbx/wrap"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Use reads a group of version 2 like opencontainers/cgroups.
func TestUseV2(t *testing.T) {
	cgroups.TestMode = true
	dir := t.TempDir()
	for name, text := range map[string]string{
		"cgroup.controllers": "memory pids cpu\n", "memory.current": "1000\n", "memory.max": "max\n", "memory.peak": "67108864\n",
		"memory.stat": "anon 1\nfile 2\n", "memory.swap.current": "0\n", "memory.swap.max": "0\n", "memory.swap.peak": "0\n",
		"memory.events": "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n", "pids.current": "1\n", "pids.max": "5\n",
		"pids.events": "max 17\n", "cpu.stat": "usage_usec 900\nuser_usec 600\nsystem_usec 300\nnr_periods 0\n", "cgroup.procs": "",
	} {
		put(t, dir+"/"+name, text)
	}
	s := &Set{made: []group{{dir: dir, group: &wrap.Group{Version: 2, Controllers: []wrap.Controller{wrap.Memory, wrap.PIDs, wrap.CPU}}}}}
	got := s.Use()
	want := Use{spec.Some(int64(67108864)), spec.Some(int64(2)), spec.Some(int64(17)), spec.Some(int64(600)), spec.Some(int64(300))}
	if got != want {
		t.Errorf("%+v", got)
	}
	m, err := fs2.NewManager(&cgroups.Cgroup{Resources: &cgroups.Resources{}}, dir)
	if err != nil {
		t.Fatal(err)
	}
	stats, err := m.GetStats()
	if err != nil {
		t.Logf("the library misses files of the made-up group: %v", err)
	}
	if stats == nil || stats.MemoryStats.Usage.MaxUsage != uint64(got.MemoryPeak.Value) ||
		stats.CpuStats.CpuUsage.UsageInUsermode != uint64(got.User.Value)*1000 || stats.CpuStats.CpuUsage.UsageInKernelmode != uint64(got.System.Value)*1000 {
		t.Errorf("the library reads %+v", stats)
	}
	if n, err := m.OOMKillCount(); err != nil || n != uint64(got.OOMKills.Value) {
		t.Errorf("the library counts %d ended for memory, %v", n, err)
	}
}

// The same for version 1, whose processor time is split by samples.
func TestUseV1(t *testing.T) {
	cgroups.TestMode = true
	dir := t.TempDir()
	for name, text := range map[string]string{
		"memory.max_usage_in_bytes": "4096\n", "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n", "memory.usage_in_bytes": "1\n",
		"memory.limit_in_bytes": "8192\n", "memory.failcnt": "0\n", "memory.stat": "cache 1\n", "pids.events": "max 3\n",
		"cpuacct.usage": "1000000\n", "cpuacct.usage_user": "30000\n", "cpuacct.usage_sys": "10000\n",
	} {
		put(t, dir+"/"+name, text)
	}
	s := &Set{made: []group{{dir: dir, group: &wrap.Group{Version: 1, Controllers: []wrap.Controller{wrap.Memory, wrap.PIDs, wrap.CPUAcct}}}}}
	got := s.Use()
	if want := (Use{spec.Some(int64(4096)), spec.Some(int64(4)), spec.Some(int64(3)), spec.Some(int64(750)), spec.Some(int64(250))}); got != want {
		t.Errorf("%+v", got)
	}
	stats := cgroups.NewStats()
	if err := (&fs.MemoryGroup{}).GetStats(dir, stats); err != nil {
		t.Logf("the library misses files of the made-up group: %v", err)
	}
	if stats.MemoryStats.Usage.MaxUsage != uint64(got.MemoryPeak.Value) {
		t.Errorf("the library reads %+v", stats.MemoryStats.Usage)
	}
}

// A missing or empty file makes the value absent, not 0.
func TestUseOfNothing(t *testing.T) {
	for _, version := range []int{1, 2} {
		s := &Set{made: []group{{dir: t.TempDir(), group: &wrap.Group{Version: version, Controllers: []wrap.Controller{wrap.Memory, wrap.PIDs, wrap.CPU, wrap.CPUAcct}}}}}
		if got := s.Use(); got != (Use{}) {
			t.Errorf("version %d: %+v", version, got)
		}
	}
	if u, s := splitTime(spec.Some(int64(5)), spec.Some(int64(0)), spec.Some(int64(0))); u.Set || s.Set {
		t.Errorf("without a sample: %v, %v", u, s)
	}
}
