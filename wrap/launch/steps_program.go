package launch

import (
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"sbx/seccomp"
	"sbx/wrap"
)

// Programs are the steps of a launch. With a pid namespace pid 1 runs Opening and then
// Setup, and the command's process runs Command; otherwise Command has all steps.
type Programs struct {
	Opening []Step
	Setup   []Step
	Command []Step
}

// Open returns the steps of an opening with a pid namespace. It is pure.
func Open(o *wrap.Opening) []Step {
	l := &list{}
	l.tieToSupervisor()
	if o.Has(wrap.UserNS) {
		l.ids(o)
	}
	if o.Processes != 0 {
		l.write(wrap.PidMaxFile, strconv.FormatUint(o.Processes, 10))
	}
	l.reserveSlots(o)
	if o.Has(wrap.NetNS) {
		l.network(o)
	}
	l.special(DoNext, "next")
	return l.steps
}

// tieToSupervisor makes the kernel kill the process when the supervisor dies, and clears the
// caller's umask.
func (l *list) tieToSupervisor() {
	l.add(unix.SYS_PRCTL, "prctl", num(unix.PR_SET_PDEATHSIG), num(int(unix.SIGKILL)))
	l.special(DoParent, "supervisor") // it may have died before the prctl; getppid(2) returns 0 in a new pid namespace
	l.add(unix.SYS_UMASK, "umask", num(0)).Save = slotUmask
}

// loaded turns a Plan into its programs, except the opening, which already runs when the
// Plan exists. It is pure.
func loaded(p *wrap.Plan, in Input) Programs {
	l := &mountList{list: list{steps: make([]Step, 0, stepsOf(p))}}
	if !p.Has(wrap.PidNS) {
		l.tieToSupervisor()
		l.setup(p, in)
		l.command(p, in)
		return Programs{Command: l.steps}
	}
	l.setup(p, in)
	l.spawn(p, in)
	return Programs{Setup: l.steps, Command: commandOf(p, in)}
}

// stepsOf estimates the number of a Plan's steps.
func stepsOf(p *wrap.Plan) int { return 112 + 3*len(p.Mounts) + 3*len(p.Landlock.Rules) }

// setup writes the steps that build the sandbox, up to the syscall filter.
func (l *mountList) setup(p *wrap.Plan, in Input) {
	if hasRenewals(p) {
		l.masks = maskSlots(p.Watch.Renew)
		l.keepNamespaces(p)
	}
	l.reserveSlots(&p.Opening)
	if l.remount = p.Remount; l.remount {
		l.descriptors()
	}
	l.mounts(p.Mounts, in.Devices)
	l.enter(p)
	if p.Notify != seccomp.NotifyNone && p.Has(wrap.PidNS) {
		l.add(unix.SYS_OPENAT, "openat", fdcwd, text("/"), num(unix.O_PATH|unix.O_CLOEXEC)).Save = slotRoot
	}
	l.restrict(p)
	l.filters(p, in)
}

// spawn writes the steps for the rest of pid 1's life.
func (l *list) spawn(p *wrap.Plan, in Input) {
	l.add(unix.SYS_PRCTL, "prctl", num(unix.PR_SET_DUMPABLE), num(0))
	l.special(DoSpawn, "clone").Save = slotCommand
	// The command has been executed: leave the shared descriptor table.
	l.add(unix.SYS_CLOSE_RANGE, "close_range", num(0), num(in.Sock-1), num(unix.CLOSE_RANGE_UNSHARE))
	l.add(unix.SYS_CLOSE_RANGE, "close_range", num(in.Sock+1), word(0xffffffff), num(0))
	if p.Filter.On && in.Late {
		l.filter(in.Own, false)
	}
	l.special(DoStarted, "started")
	l.special(DoReap, "reap").Save = slotCommand
}

// commandOf returns the steps of the command's own process.
func commandOf(p *wrap.Plan, in Input) []Step {
	l := &list{steps: make([]Step, 0, 16)}
	l.command(p, in)
	return l.steps
}

// ids maps the caller's own id, or waits for the supervisor to map all ids, which requires a
// capability outside (user_namespaces(7), "Defining user and group ID mappings").
func (l *list) ids(o *wrap.Opening) {
	if o.IDs.All {
		l.special(DoMapped, "id maps")
		return
	}
	l.write("/proc/self/setgroups", "deny")
	l.write("/proc/self/uid_map", Map(o.IDs.UIDs))
	l.write("/proc/self/gid_map", Map(o.IDs.GIDs))
}

// Map returns the text of an id map that maps every range to itself.
func Map(ranges []wrap.IDRange) string {
	s := ""
	for _, r := range ranges {
		first := strconv.FormatUint(uint64(r.First), 10)
		s += first + " " + first + " " + strconv.FormatUint(uint64(r.Count), 10) + "\n"
	}
	return s
}

// enter makes the command's directory the current one. It opens the directory in the new
// tree without following a symlink, so that a leftover descriptor of another tree cannot be
// used (CVE-2024-21626).
func (l *list) enter(p *wrap.Plan) {
	l.on, l.field = p.Command.Dir, "working_dir"
	if p.Base == wrap.BaseHost {
		l.add(unix.SYS_CHDIR, "chdir", text(p.Command.Dir))
	} else {
		fd := l.open(p.Command.Dir)
		l.add(unix.SYS_FCHDIR, "fchdir", kept(fd))
		l.close(fd)
	}
	l.on, l.field = "", ""
}

// command writes the last steps before the exec, which run in the command's own process:
// they restore what the command inherits from the caller. It closes descriptors in a
// descriptor table of its own.
func (l *list) command(p *wrap.Plan, in Input) {
	if in.KeepAll || len(in.Devices) > 0 { // a copy of the whole table
		l.add(unix.SYS_CLOSE_RANGE, "close_range", word(0xffffffff), word(0xffffffff), num(unix.CLOSE_RANGE_UNSHARE))
	}
	for _, d := range in.Devices { // replacing the caller's
		l.add(unix.SYS_DUP3, "dup3", kept(slotStream+Slot(d.FD)), num(d.FD), num(0))
	}
	if !in.KeepAll {
		l.closeOthers(in)
	}
	l.add(unix.SYS_UMASK, "umask", kept(slotUmask))
	if in.Caller.Files.Max != 0 {
		l.add(unix.SYS_PRLIMIT64, "prlimit64", num(0), num(unix.RLIMIT_NOFILE),
			data(words(in.Caller.Files.Cur, in.Caller.Files.Max)), num(0))
	}
	l.rlimits(in.Limits)
	l.special(DoDefault, "signals").Args[0] = word(in.Caller.Ignored)
	if p.OwnGroup {
		l.ownGroup(in.Terminal)
	}
	l.special(DoReady, "ready")
	l.add(unix.SYS_RT_SIGPROCMASK, "rt_sigprocmask", num(unix.SIG_SETMASK), data(words(in.Caller.Mask)), num(0), num(8))
	if p.Filter.On && in.Late {
		l.filter(in.Filter, false)
	}
	l.on = p.Command.Executable
	l.add(unix.SYS_EXECVE, "execve", text(p.Command.Executable), vector(p.Command.Argv), vector(p.Env))
	l.on = ""
}

// ownGroup gives the command a process group of its own and makes it the terminal's
// foreground if the caller's was. Every signal is blocked here, including SIGTTOU.
func (l *list) ownGroup(terminal int) {
	l.add(unix.SYS_SETPGID, "setpgid", num(0), num(0))
	if terminal < 0 {
		return
	}
	pid := l.slot()
	l.add(unix.SYS_GETPID, "getpid").Save = pid
	fg := l.add(unix.SYS_IOCTL, "ioctl", num(terminal), num(unix.TIOCSPGRP), data(words(0)))
	fg.Patch, fg.At = pid, 2
}

// closeOthers closes all descriptors above 2 except those that are kept, and the socket,
// which the exec closes.
func (l *list) closeOthers(in Input) {
	next := 3
	gap := func(until int) {
		if until >= next {
			l.add(unix.SYS_CLOSE_RANGE, "close_range", num(next), num(until), num(unix.CLOSE_RANGE_UNSHARE))
		}
	}
	stay := append(append([]int{}, in.Keep...), in.Sock)
	slices.Sort(stay)
	for _, fd := range stay {
		gap(fd - 1)
		next = fd + 1
	}
	l.add(unix.SYS_CLOSE_RANGE, "close_range", num(next), word(0xffffffff), num(unix.CLOSE_RANGE_UNSHARE))
}
