package host

import (
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/landlock"
	"sbx/wrap"
)

// kernel records what the kernel and the caller's ids allow, without trying any of
// it: a launch learns the rest from the step that fails.
func (p *prober) kernel() {
	h := &p.h
	h.Arch = runtime.GOARCH
	var uts unix.Utsname
	if unix.Uname(&uts) == nil {
		h.Release = unix.ByteSliceToString(uts.Release[:])
		h.Kernel = version(h.Release)
	}
	h.UID, h.GID = unix.Geteuid(), unix.Getegid()
	if h.UID == 0 { // other users can map only their own ids
		h.UIDs, h.GIDs = idRanges("/proc/self/uid_map"), idRanges("/proc/self/gid_map")
	}
	caps := EffectiveCaps()
	h.SysAdmin = caps&(1<<unix.CAP_SYS_ADMIN) != 0
	// The kernel delivers audit messages only in the initial user namespace, which is the one
	// that has all ids.
	const readers = 1<<unix.CAP_AUDIT_READ | 1<<unix.CAP_AUDIT_CONTROL
	h.AuditReader = caps&readers == readers && len(h.UIDs) == 1 && h.UIDs[0] == wrap.IDRange{Count: 1<<32 - 1}
	if support := landlock.Probe(); support.State == landlock.Available {
		h.LandlockABI = support.ABI
	} else {
		h.LandlockWhy = support.State.String()
	}
	h.Seccomp = seccompAnswer(unix.SECCOMP_RET_ERRNO, "the kernel has no seccomp filters (CONFIG_SECCOMP_FILTER)")
	if h.Listener = readsMemory(); h.Kernel.Less(wrap.Version{6, 0}) {
		h.Listener = no("the kernel's notifications are interrupted by signals (before Linux 6.0)")
	}
	if h.Kernel.Less(wrap.Version{5, 3}) {
		h.Tracer = no("the kernel does not describe a call to a tracer (before Linux 5.3)")
	}
	if h.Kernel.Less(wrap.Version{5, 12}) {
		h.SetAttr = no("mount_setattr needs Linux 5.12")
	}
	h.Copies = copiesSockets()
	h.Container = container()
	p.processes()
	h.Overlay = overlay(h.Kernel, h.SysAdmin)
	h.Rungs = rungs(h)
}

// processes records how many processes the machine can have, and whether root can
// limit those of a pid namespace: before Linux 6.14 pid_max applies to the whole machine.
func (p *prober) processes() {
	h := &p.h
	h.Processes = min(sysctlNumber(wrap.PidMaxFile), sysctlNumber("/proc/sys/kernel/threads-max"))
	b, _ := read.Proc("/proc/loadavg", maxFile) // sysinfo(2) has only 16 bits for this number
	_, all, _ := strings.Cut(string(b), "/")
	all, _, _ = strings.Cut(all, " ")
	h.Running, _ = strconv.ParseUint(all, 10, 32)
	if h.Kernel.Less(wrap.Version{6, 14}) {
		h.PidMax = no("a pid namespace has no pid_max of its own before Linux 6.14")
	} else if err := unix.Faccessat(unix.AT_FDCWD, wrap.PidMaxFile, unix.W_OK, unix.AT_EACCESS); h.UID == 0 && err != nil {
		h.PidMax = no(wrap.PidMaxFile + ": " + err.Error())
	}
}

// sysctlNumber reads a whole number from a file of /proc/sys; 0 if the file is absent.
func sysctlNumber(path string) uint64 {
	n, _ := strconv.ParseUint(sysctl(path), 10, 32)
	return n
}

// version parses the first two numbers of a release such as "6.18.44-custom".
func version(release string) (v wrap.Version) {
	for i := range v {
		for release != "" && release[0] >= '0' && release[0] <= '9' && v[i] < 1<<20 {
			v[i] = v[i]*10 + int(release[0]-'0')
			release = release[1:]
		}
		release = strings.TrimPrefix(release, ".")
	}
	return v
}

// idRanges reads a file such as /proc/self/uid_map and returns the ids that the caller's user
// namespace has, from the first and the last column.
func idRanges(path string) (ranges []wrap.IDRange) {
	b, ok := read.Proc(path, maxFile)
	if !ok {
		return nil
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) == 3 {
			ranges = append(ranges, wrap.IDRange{First: parseUint32(f[0]), Count: parseUint32(f[2])})
		}
	}
	return ranges
}

// parseUint32 parses a number as the kernel prints it, and returns the largest uint32 for a
// larger number.
func parseUint32(s string) uint32 {
	var n uint64
	for i := 0; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		n = min(n*10+uint64(s[i]-'0'), 1<<32-1)
	}
	return uint32(n)
}

// EffectiveCaps returns the caller's effective capabilities, bit n for number n; none if the kernel
// does not tell.
func EffectiveCaps() uint64 {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if unix.Capget(&head, &data[0]) != nil {
		return 0
	}
	return uint64(data[0].Effective) | uint64(data[1].Effective)<<32
}

func no(why string) wrap.Answer { return wrap.Answer{State: wrap.No, Why: why} }

// overlay answers what the kernel's version implies. Only the mount itself shows whether
// the file system is present and a security module allows it.
func overlay(v wrap.Version, admin bool) wrap.Answer {
	if v.Less(wrap.Version{5, 11}) && !admin {
		return no("overlay mounts in a user namespace need Linux 5.11")
	}
	return wrap.Answer{}
}

// copiesSockets calls pidfd_getfd(2) with an invalid descriptor. An error other than EBADF
// comes from a container's syscall filter, which allows the call only with CAP_SYS_PTRACE.
func copiesSockets() wrap.Answer {
	if _, err := unix.PidfdGetfd(-1, -1, 0); err != unix.EBADF {
		return no("no socket of the command's can be copied: pidfd_getfd: " + err.Error())
	}
	return wrap.Answer{}
}

// rungs answers which fallback levels certainly cannot be used on this host.
func rungs(h *wrap.Host) (r [3]wrap.Answer) {
	switch root := h.UID == 0; {
	case sysctl("/proc/sys/user/max_user_namespaces") == "0":
		r[wrap.RungUser] = no("user namespaces are switched off: user.max_user_namespaces is 0")
	case !root && sysctl("/proc/sys/kernel/unprivileged_userns_clone") == "0":
		r[wrap.RungUser] = no("user namespaces are root's alone: kernel.unprivileged_userns_clone is 0")
	case !h.SysAdmin && sysctl("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
		// An AppArmor profile may still allow this program; the first mount shows whether it does.
		r[wrap.RungUser].Why = "AppArmor restricts user namespaces: kernel.apparmor_restrict_unprivileged_userns is 1"
	}
	switch {
	case h.UID != 0:
		r[wrap.RungRoot] = no("the caller is not root")
	case !h.SysAdmin:
		r[wrap.RungRoot] = no("root lacks CAP_SYS_ADMIN here, as in a container")
	}
	r[wrap.RungBare].State = wrap.Yes
	return r
}
