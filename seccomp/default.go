package seccomp

// Options are the facts about a sandbox that its filter depends on. The zero
// Options are an ordinary user's sandbox with the host's network.
type Options struct {
	// Root: the caller is uid 0 and keeps CHOWN, DAC_OVERRIDE, FOWNER and
	// FSETID. No call is opened for it; device nodes are refused besides.
	Root bool
	// Unix: pathname sockets of the host must not be reached (the network is
	// none or allow). AF_UNIX datagram sockets, which need no connect for
	// that, cannot be made.
	Unix bool
	// NoInet: the network is none and no network namespace could be had, so
	// that AF_INET and AF_INET6 sockets themselves are refused.
	NoInet bool
	// NoFastOpen: a connection is made by connect alone, which somebody rules on.
	NoFastOpen bool
	// Notify says which calls go to the supervisor, Uncounted that execve and
	// execveat are not among them, whatever the level.
	Notify    Notify
	Uncounted bool
	// NotifyConnect also notifies of connect where Unix does not.
	NotifyConnect bool
	// NotifyReads also notifies, at NotifyOpens, of opens that only read and of calls that ask
	// whether something is there.
	NotifyReads bool
	// Seal says what becomes of memory that could be executed as a file.
	Seal Seal
}

// Variants lists the Options whose programs are embedded, in their order: all
// but those with Uncounted, NotifyConnect, NoFastOpen, NotifyReads or a Seal.
func Variants() []Options {
	all := make([]Options, 8*(NotifyOpens+1))
	for i := range all {
		all[i] = Options{Root: i&1 != 0, Unix: i&2 != 0, NoInet: i&4 != 0, Notify: Notify(i / 8)}
	}
	return all
}

// index is the place of o in Variants.
func (o Options) index() int {
	i := 8 * int(o.Notify)
	for bit, on := range [...]bool{o.Root, o.Unix, o.NoInet} {
		if on {
			i |= 1 << bit
		}
	}
	return i
}

// Default is sbx's own filter: the calls that ordinary programs make are
// allowed, the side doors are shut, the rest fails with EPERM. Its breadth is
// that of Docker's default profile for a process with no capability; where it
// differs, default_test.go lists the call and the reason.
func Default(o Options) Filter {
	f := Filter{Name: "default", Default: o.refuse(), Rules: append(allowed(), refused()...)}
	return WithSideDoors(f, o)
}

// WithSideDoors adds to f what holds in every sandbox whatever its profile
// says: the side doors, and the notifications that o asks for. Since the
// strictest rule holds, none of f's can undo them; of two refusals with
// different errnos the side door's is the answer.
func WithSideDoors(f Filter, o Options) Filter {
	rules := sideDoors(o.refuse())
	if o.Root {
		rules = append(rules, deviceNodes()...)
	}
	if o.Unix {
		rules = append(rules, pathnames()...)
	}
	if o.NoInet {
		rules = append(rules, inet()...)
	}
	if o.NoFastOpen {
		rules = append(rules, fastOpen()...)
	}
	rules = append(rules, o.seal()...)
	f.Rules = append(append(rules, o.notifications()...), f.Rules...)
	return f
}
