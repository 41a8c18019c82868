package seccomp

// Options are the facts about a sandbox on which its filter depends. The zero Options describe an
// ordinary user's sandbox with the host's network.
type Options struct {
	// Root: the caller is uid 0 and keeps CHOWN, DAC_OVERRIDE, FOWNER and FSETID. That opens no
	// call, and the filter additionally denies making device nodes.
	Root bool
	// Unix: pathname sockets of the host must not be reached (the network is none or allow).
	// AF_UNIX datagram sockets, which reach them without connect, cannot be created.
	Unix bool
	// NoInet: the network is none but no network namespace can be made, so the filter denies
	// AF_INET and AF_INET6 sockets.
	NoInet bool
	// NoFastOpen: a connection can only be made by connect, on which the supervisor decides.
	NoFastOpen bool
	// Notify says which calls go to the supervisor. With Uncounted, execve and execveat are not
	// among them at any level.
	Notify    Notify
	Uncounted bool
	// NotifyConnect also notifies of connect, if Unix does not do so already.
	NotifyConnect bool
	// NotifyReads also notifies, at NotifyOpens, of opens that only read and of calls that ask
	// whether a file exists.
	NotifyReads bool
	// Seal says how memory that could be executed as a file is treated.
	Seal Seal
}

// Variants lists the Options whose programs are embedded, in their order: all except those with
// Uncounted, NotifyConnect, NoFastOpen, NotifyReads or a Seal.
func Variants() []Options {
	all := make([]Options, 8*(NotifyOpens+1))
	for i := range all {
		all[i] = Options{Root: i&1 != 0, Unix: i&2 != 0, NoInet: i&4 != 0, Notify: Notify(i / 8)}
	}
	return all
}

// index returns the place of o in Variants.
func (o Options) index() int {
	i := 8 * int(o.Notify)
	for bit, on := range [...]bool{o.Root, o.Unix, o.NoInet} {
		if on {
			i |= 1 << bit
		}
	}
	return i
}

// Default returns sbx's own filter: it allows the calls that ordinary programs make, closes the
// side doors, and lets all other calls fail with EPERM. It is as broad as Docker's default profile
// for a process without capabilities; default_test.go lists the calls that differ, with the
// reasons.
func Default(o Options) Filter {
	f := Filter{Name: "default", Default: o.refuse(), Rules: append(allowed(), refused()...)}
	return WithSideDoors(f, o)
}

// WithSideDoors adds to f the rules of every sandbox, whatever its profile says: the side doors,
// and the notifications that o asks for. The strictest rule wins, so no rule of f can undo them. If
// both deny a call with different errnos, the side door's errno is the answer.
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
