package seccomp

import "golang.org/x/sys/unix"

// Notify says which calls go to the supervisor. Each level has more calls than the one before it.
type Notify uint8

// These are the levels. From NotifyExec on, Options.Unix also notifies of connect and bind, which
// reach sockets by their paths.
const (
	NotifyNone    Notify = iota
	NotifyExec           // execve, execveat
	NotifyNames          // also calls that create a name
	NotifyRefused        // also calls that remove a name, and calls that the filter would deny with EPERM
	NotifyOpens          // also opens that can write, truncate
)

// String returns the level's name in a plan.
func (n Notify) String() string {
	return [...]string{"none", "exec", "names", "refused", "opens"}[n]
}

// refuse returns the action that denies a call with EPERM, if a user may want to know about the
// denial. The supervisor answers such a call with EPERM and never lets it continue.
func (o Options) refuse() Action {
	if o.Notify >= NotifyRefused {
		return Action{Kind: KindNotify}
	}
	return Fail(unix.EPERM)
}

// writing are the flags of open(2) with which a file can be changed or created.
const writing = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC

// notifications returns the rules of Options.Notify.
func (o Options) notifications() []Rule {
	notify := Action{Kind: KindNotify}
	var rules []Rule
	add := func(level Notify, why string, calls ...string) {
		if o.Notify >= level {
			rules = append(rules, Rule{Calls: calls, Do: notify, Why: why})
		}
	}
	if !o.Uncounted {
		add(NotifyExec, "the supervisor counts the programs that are started", "execve", "execveat")
	}
	if o.Unix {
		add(NotifyExec, "the supervisor tells sockets of the sandbox from others", "connect", "bind")
	}
	if o.NotifyConnect && !o.Unix {
		add(NotifyExec, "the supervisor notes when an agent first connects to something", "connect")
	}
	add(NotifyNames, "a protected name must not be created", "mkdir", "mkdirat", "mknod", "mknodat",
		"symlink", "symlinkat", "link", "linkat", "rename", "renameat", "renameat2")
	add(NotifyNames, "its flags lie in memory: it may make a protected name", "openat2")
	add(NotifyRefused, "the supervisor notes what is denied", "unlink", "unlinkat", "rmdir")
	if o.Notify >= NotifyOpens {
		why := "the supervisor notes what is denied, and keeps protected names from being made"
		flags := func(arg int) []Arg {
			if o.NotifyReads {
				return nil
			}
			return []Arg{{Index: arg, Op: AnyBits, Mask: writing}}
		}
		rules = append(rules, Rule{Calls: []string{"open"}, Do: notify, Args: flags(1), Why: why},
			Rule{Calls: []string{"openat"}, Do: notify, Args: flags(2), Why: why})
		add(NotifyOpens, why, "creat", "truncate")
	}
	if o.NotifyReads {
		add(NotifyOpens, "the supervisor notes who looks for what is hidden", "access", "faccessat", "faccessat2", "lstat",
			"newfstatat", "readlink", "readlinkat", "stat", "statx")
	}
	return rules
}

// Beside returns the filter of the calls that o denies and a caller's profile may allow, for a
// chain in which that profile is loaded as well.
func Beside(o Options) Filter {
	f := Filter{Name: "beside", Default: Action{Kind: Allow}, Rules: o.seal()}
	if o.NoInet {
		f.Rules = append(f.Rules, inet()...)
	}
	if o.NoFastOpen {
		f.Rules = append(f.Rules, fastOpen()...)
	}
	return f
}

// Notifications returns a filter that only notifies, for a chain in which another filter denies.
func Notifications(o Options) Filter {
	return Filter{Name: "notifications", Default: Action{Kind: Allow}, Rules: append(o.notifications(), o.seal()...)}
}
