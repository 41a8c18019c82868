package wrap

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"sbx/landlock"
	"sbx/spec"
)

// limits decides what enforces each limit on this host.
func (b *limiter) limits() {
	l := &b.r.Spec.Limits.Value
	b.heldBy = heldBy{}
	if l.Memory.Set {
		b.memory(l.Memory.Value)
	}
	if l.CPUs.Set {
		b.cpus(l.CPUs.Value)
	}
	if l.PIDs.Set {
		b.pids(l.PIDs.Value)
	} else {
		b.processes()
	}
	if l.OpenFiles.Set {
		b.plan.Limits.Files = uint64(l.OpenFiles.Value)
		b.rlimit("limits.open_files", "RLIMIT_NOFILE")
	}
	if l.FileSize.Set {
		b.plan.Limits.FileSize = uint64(l.FileSize.Value)
		b.rlimit("limits.file_size", "RLIMIT_FSIZE")
	}
	if l.Timeout.Set {
		b.plan.Limits.Timeout = l.Timeout.Value
		b.heldBy["limits.timeout"] = "the supervisor"
	}
	b.accounting()
}

// exposed reports the limits that only the supervisor enforces as degraded if the command's
// processes can see the supervisor and signal it.
func (b *limiter) exposed() {
	if b.plan.Has(PidNS) || b.plan.Landlock.Scope&landlock.Signal != 0 {
		return
	}
	const why = "nothing keeps a process of the command's from stopping or ending the supervisor, which holds it"
	if b.plan.Limits.Timeout > 0 {
		b.fault("limits.timeout", Degraded, why)
	}
	if b.r.Spec.MaxCommands.Set && b.plan.Counter != CounterNone && b.plan.Counter != CounterOuter &&
		b.r.Spec.OnExceed.Or(spec.Deny) != spec.RecordOnly {
		b.fault("max_commands", Degraded, why)
	}
}

func (b *limiter) rlimit(f spec.Field, by string) {
	b.heldBy[f] = by
	if b.plan.Rung == RungFree && b.h.UID == 0 {
		b.fault(f, Enforced, "root without a sandbox may raise it")
	}
}

func (b *limiter) memory(bytes spec.Bytes) {
	const f = "limits.memory"
	if b.heldOutside(f, func(p *Parent) bool { return p.Memory > 0 && p.Memory <= int64(bytes) }) {
		if p := cmp.Or(b.h.Parent, b.h.FreeParent); p.SocketsApart {
			b.fault(f, Degraded, socketsApart)
		}
		return
	}
	why, help := "", ""
	if p := b.h.Parent; p != nil {
		why, help = whyNotOuter(f, p.Memory > 0, spec.Bytes(p.Memory).String())
	} else if h := &b.h.Groups[Memory]; h.State == Yes {
		b.group(f, Memory, memorySettings(h, int64(bytes)))
		switch {
		case !h.Sockets:
			b.lack(&spec.Problem{Field: f, On: b.r.At(f), Do: "cap memory at " + bytes.String(), Why: "the kernel does not count the buffers of sockets",
				Help: "start Linux without cgroup.memory=nosocket, or list \"" + string(f) + "\" in best_effort"}, Degraded)
		case h.Version == 1:
			b.fault(f, Degraded, socketsApart)
		}
		return
	} else {
		why, help = b.noGroup(f, Memory)
	}
	p := &spec.Problem{Field: f, On: b.r.At(f), Do: "cap memory at " + bytes.String(), Why: why, Help: help}
	if !b.r.AllowsLess(f) {
		b.problems = append(b.problems, p)
		return
	}
	b.heldBy[f] = "the supervisor"
	b.plan.Limits.Memory = int64(bytes)
	b.fault(f, Degraded, why+"; the supervisor checks the processes' memory four times a second and ends the largest process above the limit, so a quick one can exceed it for a moment; memory in tmpfs and in the buffers of sockets is not counted")
}

// socketsApart explains how version 1 counts the buffers of sockets. It grants every connection a
// first packet of up to 64 KiB, however many connections there are.
const socketsApart = "version 1 counts the buffers of sockets apart: a sixteenth of the limit is for them, and each end of a connection may have 64 KiB beyond it"

func (b *limiter) cpus(cpus float64) {
	const f = "limits.cpus"
	if b.heldOutside(f, func(p *Parent) bool { return p.CPUs > 0 && p.CPUs <= cpus }) {
		return
	}
	why, help := "", ""
	if p := b.h.Parent; p != nil {
		why, help = whyNotOuter(f, p.CPUs > 0, strconv.FormatFloat(p.CPUs, 'g', -1, 64))
	} else if h := &b.h.Groups[CPU]; h.State == Yes {
		b.group(f, CPU, cpuSettings(h, cpus))
		return
	} else {
		why, help = b.noGroup(f, CPU)
	}
	p := &spec.Problem{Field: f, On: b.r.At(f), Do: "cap the processors' time at " + b.askedText(f), Why: why, Help: help}
	if !b.r.AllowsLess(f) {
		b.problems = append(b.problems, p)
		return
	}
	b.heldBy[f] = "the supervisor"
	b.fault(f, Observed, why+"; usage has the time that was used")
}

// pids prefers a control group, which counts its own denials. The user namespace's own process
// limit works too, except for root, whom the kernel exempts (setrlimit(2), RLIMIT_NPROC).
func (b *limiter) pids(n int) {
	const f = "limits.pids"
	if b.heldOutside(f, func(p *Parent) bool { return p.PIDs > 0 && p.PIDs <= int64(n) }) {
		return
	}
	why, help := "", ""
	if p := b.h.Parent; p != nil {
		why, help = whyNotOuter(f, p.PIDs > 0, strconv.FormatInt(p.PIDs, 10))
	} else if b.h.Groups[PIDs].State == Yes {
		b.group(f, PIDs, pidsSettings(n))
		return
	} else {
		why, help = b.noGroup(f, PIDs)
		switch {
		case b.h.UID == 0:
			why += "; RLIMIT_NPROC does not count uid 0"
		case !b.plan.Has(UserNS):
			why += "; RLIMIT_NPROC counts all of the user's processes where the sandbox has no user namespace"
			if b.plan.Rung == RungFree {
				help = "set an access_mode, or " + help
			}
		case b.h.Kernel.Less(Version{5, 14}):
			why += "; RLIMIT_NPROC counts all of the user's processes before Linux 5.14"
		default:
			b.plan.Limits.Procs = uint64(n) + 1 // pid 1 counts, too
			b.heldBy[f] = "RLIMIT_NPROC of the user namespace"
			return
		}
	}
	b.lack(&spec.Problem{Field: f, On: b.r.At(f), Do: "cap processes at " + strconv.Itoa(n), Why: why, Help: help}, Unavailable)
}

// heldOutside reports whether an outer sandbox enforces a limit. If an outer sandbox without mounts
// only watches the limit, and no document inside sets it, the limit is reported as degraded instead
// of enforced again.
func (b *limiter) heldOutside(f spec.Field, holds func(*Parent) bool) bool {
	p := cmp.Or(b.h.Parent, b.h.FreeParent)
	switch {
	case p == nil:
		return false
	case holds(p):
	case p.Free && b.fromOutside(f):
		b.fault(f, Degraded, "the outer sandbox watches it, and no more")
	default:
		return false
	}
	b.heldBy[f] = "parent"
	return true
}

// whyNotOuter says why an outer sandbox does not enforce a limit of this one.
func whyNotOuter(f spec.Field, has bool, what string) (why, help string) {
	why = "the outer sandbox holds no " + string(f)
	if has {
		why = "the outer sandbox has " + what
	}
	return why + ", and no group can be made in it",
		"ask for no less than the outer sandbox holds, set it in the outer spec, or list \"" + string(f) + "\" in best_effort"
}

// noGroup says why no control group can be made, and how the caller could get one.
func (b *limiter) noGroup(f spec.Field, c Controller) (why, help string) {
	why = b.h.Groups[c].Why
	if why == "" {
		why = "no control group of this host was found"
	}
	return why, GroupHelp(b.h.UID, c, b.h.Groups[c].Version) + ", or list \"" + string(f) + "\" in best_effort"
}

// GroupHelp says how the caller can get a control group with controller c. version is the version
// of control groups that has c on the host, 0 for none.
func GroupHelp(uid int, c Controller, version int) string {
	switch {
	case uid == 0:
		return "start it where " + groupTop + " can be written and has the " + c.String() + " controller, or under systemd-run --scope -p Delegate=yes"
	case version == 1:
		return "have root make a group in " + groupTop + "/" + c.String() + ", give it and its cgroup.procs to this user and start sbx in it"
	}
	return "start it under systemd-run --user --scope -p Delegate=yes"
}

const groupTop = "/sys/fs/cgroup"

// group adds a controller's settings to the group that sbx makes in the directory found on this
// host.
func (b *limiter) group(f spec.Field, c Controller, set []Setting) {
	h := &b.h.Groups[c]
	b.heldBy[f] = c.String() + " cgroup, v" + strconv.Itoa(h.Version)
	g := b.groupIn(h)
	g.Controllers = append(g.Controllers, c)
	if h.Enable {
		g.Enable = append(g.Enable, c)
	}
	g.Leaf, g.Threaded = g.Leaf || h.Leaf, g.Threaded || h.Threaded
	g.Write = append(g.Write, set...)
	if c == Memory && !h.Swap {
		b.fault(f, Enforced, "the kernel does not count swap")
	}
	if b.plan.Rung == RungFree {
		b.fault(f, Enforced, "without a sandbox a command that may write the host's control groups can leave its own")
	}
}

func (b *limiter) groupIn(h *GroupHost) *Group {
	groups := &b.plan.Limits.Groups
	at := slices.IndexFunc(*groups, func(g Group) bool { return g.Dir == h.Dir })
	if at < 0 {
		at = len(*groups)
		*groups = append(*groups, Group{Version: h.Version, Dir: h.Dir})
	}
	return &(*groups)[at]
}

// accounting adds the controller of version 1 that counts processor time. In version 2 every group
// counts it.
func (b *limiter) accounting() {
	h := &b.h.Groups[CPUAcct]
	if len(b.plan.Limits.Groups) == 0 || h.State != Yes {
		return
	}
	g := b.groupIn(h)
	g.Soft = len(g.Controllers) == 0
	g.Controllers = append(g.Controllers, CPUAcct)
}

// tmpfsSize returns the size limit of each tmpfs, from limits.memory; 0 means the kernel's default,
// half of the machine's memory.
func (b *draft) tmpfsSize() int64 {
	if l := b.r.Spec.Limits.Value.Memory; l.Set {
		return max(int64(l.Value), minTmpfs)
	}
	return 0
}

// minTmpfs is the size that the sandbox's own files in a tmpfs need.
const minTmpfs = 1 << 20

// keepInGroups makes the host's control groups read-only if nothing else does: a command that can
// write them can leave its own group.
func (b *layers) keepInGroups() {
	if len(b.plan.Limits.Groups) == 0 || b.restricted() || b.h.Kind("/sys") != Dir {
		return
	}
	b.add(item{path: "/sys", source: "/sys", kind: Dir, mode: ModeRO, field: "limits"})
}

// warnLimits warns about limits that are not fully enforced, if the documents accept that: a
// command without a limit may never end.
func (b *draft) warnLimits() {
	for i := range b.plan.Enforcement {
		if e := &b.plan.Enforcement[i]; e.Field.In("limits") && e.Status != Enforced && b.r.AllowsLess(e.Field) {
			why, _, _ := strings.Cut(e.Reason, "; ") // the record has the whole reason
			b.plan.Warnings = append(b.plan.Warnings, spec.Warning{Field: e.Field, On: b.r.At(e.Field), Text: string(e.Field) + " is " + e.Status.String() + ": " + why})
		}
	}
}
