package cgroup

import (
	"strconv"
	"strings"

	"sbx/spec"
	"sbx/wrap"
)

// Use is the resource usage that the groups report. A value that no group reports is absent.
type Use struct {
	MemoryPeak spec.Opt[int64] // bytes, page cache and tmpfs included
	OOMKills   spec.Opt[int64] // processes that the kernel ended for memory
	Refused    spec.Opt[int64] // forks that limits.pids refused
	User       spec.Opt[int64] // microseconds
	System     spec.Opt[int64]
}

// Use reads the groups, which must still exist.
func (s *Set) Use() Use {
	var u Use
	for i := range s.made {
		m := &s.made[i]
		for _, c := range m.group.Controllers {
			u.read(m.dir, m.group.Version, c)
		}
		if m.group.Version == 2 {
			stat := readText(m.dir + "/cpu.stat") // every group has this file, whatever its controllers
			u.User, u.System = field(stat, "user_usec"), field(stat, "system_usec")
		}
	}
	return u
}

func (u *Use) read(dir string, version int, c wrap.Controller) {
	switch {
	case c == wrap.PIDs:
		u.Refused = field(readText(dir+"/pids.events"), "max")
	case c == wrap.Memory && version == 2:
		u.MemoryPeak = number(readText(dir + "/memory.peak"))
		u.OOMKills = field(readText(dir+"/memory.events"), "oom_kill")
	case c == wrap.Memory:
		u.MemoryPeak = number(readText(dir + "/memory.max_usage_in_bytes"))
		u.OOMKills = field(readText(dir+"/memory.oom_control"), "oom_kill")
	case c == wrap.CPUAcct:
		u.User, u.System = splitTime(number(readText(dir+"/cpuacct.usage")), number(readText(dir+"/cpuacct.usage_user")), number(readText(dir+"/cpuacct.usage_sys")))
	}
}

// splitTime divides version 1's exact total, in nanoseconds, in the ratio of its user and
// system times, which are only sampled. Without a sample both are absent.
func splitTime(sum, user, system spec.Opt[int64]) (u, s spec.Opt[int64]) {
	both := user.Value + system.Value
	if !sum.Set || !user.Set || !system.Set || both <= 0 {
		return u, s
	}
	part := int64(float64(sum.Value) * float64(user.Value) / float64(both))
	return spec.Some(part / 1000), spec.Some((sum.Value - part) / 1000)
}

// number parses a file that holds one whole number.
func number(s string) (n spec.Opt[int64]) {
	if v, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64); err == nil && v >= 0 {
		return spec.Some(v)
	}
	return n
}

// field returns the value of name in a file of lines "name number".
func field(s, name string) (n spec.Opt[int64]) {
	for line := range strings.Lines(s) {
		if k, v, _ := strings.Cut(line, " "); k == name {
			return number(v)
		}
	}
	return n
}
