package host

import (
	"strings"

	"golang.org/x/sys/unix"

	"sbx/wrap"
	"sbx/wrap/defaults"
)

// tools finds other sandbox programs along PATH, and the files of /proc that must be named
// to them one by one.
func (p *lister) tools(wanted []string) {
	path, _ := p.env("PATH")
	for _, name := range wanted {
		t := wrap.Tool{Name: name, Path: onPath(name, path)}
		if name == "podman" && t.Path != "" {
			p.podman(&t, path)
		}
		p.h.Tools = append(p.h.Tools, t)
	}
	p.listAll("/") // for tools that build a root directory of their own
	p.h.Files, p.h.Procs = limitOf(unix.RLIMIT_NOFILE), limitOf(unix.RLIMIT_NPROC)
	if p.h.Paths == nil {
		p.h.Paths = map[string]wrap.Kind{}
	}
	for _, name := range append(pathsOf(defaults.ProcReadOnly()), pathsOf(defaults.ProcMasked())...) {
		p.kindOf("/proc/" + name)
	}
}

// podman finds the options that podman needs on this host. Its default runtime crun
// supports only cgroups version 2. Its default init program is seldom installed, and exits
// with 1 if a program is not found.
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

// onPath returns the first executable file called name along path; "" for none. Relative
// directories are skipped.
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
