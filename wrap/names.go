package wrap

func (s State) String() string { return [...]string{"unknown", "yes", "no"}[s] }

func (r Rung) String() string {
	return [...]string{"user namespace", "namespaces as root", "landlock and seccomp alone", "an outer sandbox", "no sandbox"}[r]
}

func (k Kind) String() string {
	return [...]string{"absent", "directory", "file", "socket", "link", "device", "other"}[k]
}

func (b Base) String() string { return [...]string{"host", "in place", "empty"}[b] }

func (n Namespace) String() string {
	return [...]string{"user", "mount", "pid", "net", "ipc", "uts", "cgroup"}[n]
}

func (o Op) String() string {
	return [...]string{"private", "scratch", "mkdir", "file", "symlink", "content", "clone", "attach", "bind", "pin",
		"read-only", "tmpfs", "proc", "devpts", "whiteout", "overlay", "open", "place", "seal", "read", "copy", "pivot"}[o]
}

func (m Mode) String() string { return [...]string{"keep", "ro", "rw", "device"}[m] }

func (s Status) String() string {
	return [...]string{"enforced", "guarded", "degraded", "observed", "unavailable"}[s]
}

// elsewhere returns the views whose name inside is not the host's.
func (x *Watch) elsewhere() (views []string) {
	for _, v := range x.Views {
		if v.Inside != v.Tree {
			views = append(views, v.Inside+" is "+v.Tree)
		}
	}
	return views
}

func (c Counter) String() string {
	return [...]string{"none", "notify", "ptrace", "outer supervisor", "auto"}[c]
}

// ParseCounter returns the counter that a word of the command line names.
func ParseCounter(word string) (Counter, bool) {
	for c := CounterNone; c <= CounterPtrace; c++ {
		if c.String() == word {
			return c, true
		}
	}
	return CounterNone, false
}

func (c Controller) String() string { return [...]string{"memory", "cpu", "pids", "cpuacct"}[c] }
