package host

import (
	"strings"

	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// tools finds the programs of other sandboxes along PATH, and what of /proc they
// have to be told of one by one.
func (p *lister) tools(wanted []string) {
	path, _ := p.env("PATH")
	for _, name := range wanted {
		t := wrap.Tool{Name: name, Path: onPath(name, path)}
		if name == "podman" && t.Path != "" {
			p.podman(&t, path)
		}
		p.h.Tools = append(p.h.Tools, t)
	}
	p.listAll("/") // for who wants a root of its own
	p.h.Files, p.h.Procs = limitOf(unix.RLIMIT_NOFILE), limitOf(unix.RLIMIT_NPROC)
	if p.h.Paths == nil {
		p.h.Paths = map[string]wrap.Kind{}
	}
	for _, name := range append(pathsOf(wrap.ProcReadOnly()), pathsOf(wrap.ProcMasked())...) {
		p.kindOf("/proc/" + name)
	}
}

// podman learns what podman must be told on this host: crun, its first choice,
// wants control groups of version 2 alone, and its own first process is seldom
// installed, and gives 1 where a program is not found.
func (p *prober) podman(t *wrap.Tool, path string) {
	if kindAt("/sys/fs/cgroup/cgroup.controllers") == wrap.Absent {
		if p.h.UID != 0 {
			t.Drops = wrap.GroupLimits()
		}
		t.Options = append(t.Options, "--cgroup-manager", "cgroupfs")
		if onPath("runc", path) != "" {
			t.Options = append(t.Options, "--runtime", "runc")
		}
	}
	for _, init := range []string{"/usr/bin/docker-init", "/usr/libexec/docker/docker-init", "/usr/libexec/podman/catatonit", "/usr/bin/catatonit"} {
		if unix.Access(init, unix.X_OK) == nil {
			t.Init = init
			return
		}
	}
}

func limitOf(resource int) wrap.Rlimit {
	var r unix.Rlimit
	if unix.Getrlimit(resource, &r) != nil {
		return wrap.Rlimit{}
	}
	return wrap.Rlimit{Soft: r.Cur, Hard: r.Max}
}

// onPath is the first file of that name along path that may be executed; "" for
// none. Directories that are relative are passed over.
func onPath(name, path string) string {
	for dir := range strings.SplitSeq(path, ":") {
		if !strings.HasPrefix(dir, "/") {
			continue
		}
		file := join(dir, name)
		var st unix.Stat_t // of what a link leads to
		if unix.Stat(file, &st) == nil && kindOf(st.Mode) == wrap.File && unix.Access(file, unix.X_OK) == nil {
			return file
		}
	}
	return ""
}
