package launch

import (
	"golang.org/x/sys/unix"

	"sbx/landlock"
	"sbx/seccomp"
	"sbx/wrap"
)

// secureBits remove the privileges of uid 0: neither being root nor becoming root gives a
// capability, and this cannot be undone (capabilities(7), "The securebits flags").
const secureBits = 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<5 // NOROOT, NO_SETUID_FIXUP, both locked, KEEP_CAPS locked

const lastCap = 40 // CAP_CHECKPOINT_RESTORE, Linux 5.9

// restrict writes the steps by which the process gives up the rights that the command must
// not have; all of them also apply to pid 1.
func (l *list) restrict(p *wrap.Plan) {
	if p.NoNewPrivs {
		l.field = wrap.FieldNoNewPrivs
		l.add(unix.SYS_PRCTL, "prctl", num(unix.PR_SET_NO_NEW_PRIVS), num(1))
	}
	if p.Landlock.FS != 0 || p.Landlock.Net != 0 || p.Landlock.Scope != 0 {
		l.landlock(p.Landlock, p.LandlockABI, p.LandlockLogs)
	}
	l.flush()
	if !p.KeepCaps {
		l.capabilities(p.Caps, p.Bounding)
	}
	l.on, l.field = "", ""
}

// filters loads the syscall filters that must apply before the command starts.
func (l *list) filters(p *wrap.Plan, in Input) {
	l.flush()
	if p.Counter == wrap.CounterPtrace { // first, since the next filter may deny seccomp(2)
		l.filter(in.Count, false)
	}
	if in.Beside != "" {
		l.filter(in.Beside, false)
	}
	notify := p.Notify != seccomp.NotifyNone
	if p.Filter.On && !in.Late {
		l.filter(in.Filter, notify)
	} else if in.Count != "" {
		l.filter(in.Count, notify)
	}
}

// filter loads a seccomp program. Only one filter of a process can have a listener; its
// descriptor also becomes the supervisor's, since the table is still shared.
func (l *list) filter(program string, listener bool) {
	flags := 0
	if listener {
		flags, l.on = seccomp.ListenerFlags, "the listener"
	}
	l.field = wrap.FieldSideDoors
	s := l.add(unix.SYS_SECCOMP, "seccomp", num(unix.SECCOMP_SET_MODE_FILTER), num(flags), Arg{Kind: ArgFilter, Text: program})
	if listener {
		s.Save = slotListener
	}
	l.on, l.field = "", ""
}

func (l *list) landlock(r landlock.Ruleset, abi int, logs bool) {
	l.field = "access_mode"
	rs := l.slot()
	a := r.Attr()
	attr := words(uint64(a.HandledFS), uint64(a.HandledNet), uint64(a.Scoped))[:landlock.AttrSize(abi)]
	l.add(landlock.CreateRuleset, "landlock_create_ruleset", data(attr), num(len(attr))).Save = rs
	for i := range r.Rules {
		rule := &r.Rules[i]
		l.on = rule.Path
		at := l.slot()
		if rule.Exact {
			l.openAt(at, rule.Path)
		} else {
			l.add(unix.SYS_OPENAT, "openat", fdcwd, text(rule.Path), num(unix.O_PATH|unix.O_CLOEXEC)).Save = at
		}
		o := &l.steps[len(l.steps)-1]
		o.Expected, o.Skip = Errno(unix.ENOENT), 2
		add := l.add(landlock.AddRule, "landlock_add_rule", kept(rs), num(landlock.PathBeneath),
			data(words(uint64(rule.Attr(0).Allowed), 0)[:landlock.PathBeneathSize]))
		add.Patch, add.At, add.Off = at, 2, uint8(landlock.PathBeneathParent)
		add.Expected = Errno(unix.EBADFD) // a pipe, which can be reopened under any rules
		l.close(at)
	}
	l.on = ""
	flags := 0
	if logs {
		flags = landlock.LogNewExec
	}
	l.add(landlock.RestrictSelf, "landlock_restrict_self", kept(rs), num(flags))
	l.close(rs)
}

// capabilities keeps the capabilities in keep and drops the rest from every set. Those kept
// become ambient, so that the command has them after its exec although uid 0 gives none.
//
// Without CAP_SETPCAP the bounding set and the securebits stay unchanged. At root's exec the
// kernel then computes the capabilities from the whole bounding set, but no_new_privs
// limits them to those that the process had before (capabilities(7), "no_new_privs"): none.
func (l *list) capabilities(keep []wrap.Cap, bounding bool) {
	l.field = wrap.FieldSideDoors
	var mask uint64
	for _, c := range keep {
		mask |= 1 << c
	}
	if bounding {
		l.add(unix.SYS_PRCTL, "prctl", num(unix.PR_SET_SECUREBITS), num(secureBits))
	}
	for c := 0; bounding && c <= lastCap; c++ {
		if mask&(1<<c) == 0 { // EINVAL: the kernel does not know this capability
			l.add(unix.SYS_PRCTL, "prctl", num(unix.PR_CAPBSET_DROP), num(c)).Expected = Errno(unix.EINVAL)
		}
	}
	lo, hi := mask&0xffffffff, mask>>32
	header := words(unix.LINUX_CAPABILITY_VERSION_3) // version, pid 0
	sets := words(lo|lo<<32, lo|hi<<32, hi|hi<<32)   // effective, permitted, inheritable; then their high halves
	l.add(unix.SYS_CAPSET, "capset", data(header), data(sets))
	for _, c := range keep {
		l.add(unix.SYS_PRCTL, "prctl", num(unix.PR_CAP_AMBIENT), num(unix.PR_CAP_AMBIENT_RAISE), num(int(c)))
	}
}
