package cgroup

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/wrap"
)

// Want is the set of requested controllers.
type Want [wrap.Controllers]bool

// deny sets the answer for each requested controller to no.
func (w Want) deny(out *[wrap.Controllers]wrap.GroupHost, why string) {
	for c := range w {
		if w[c] {
			out[c] = no(why)
		}
	}
}

// Find reports for each requested controller where a group can be created. It changes
// nothing, so some failures show only in Make.
func Find(want Want) [wrap.Controllers]wrap.GroupHost { return newFinder(want).find() }

// FindInOwn is Find for one threaded controller, in the caller's own group only: a limit that nobody
// asked for must not move a command out of a session, a service or a container. Other rules of these
// (devices, addresses, which processes end with them) apply to their group, and may not be visible
// in any file.
func FindInOwn(c wrap.Controller) wrap.GroupHost {
	f := newFinder(wantOnly(c))
	f.ownGroupOnly = true
	return f.find()[c]
}

// FindIn is Find for one controller, in a group of version 2 above the caller's own.
func FindIn(dir string, c wrap.Controller) wrap.GroupHost {
	out, _, _ := newFinder(Want{}).offer(dir, false, wantOnly(c))
	return out[c]
}

func wantOnly(c wrap.Controller) (want Want) {
	want[c] = true
	return want
}

type finder struct {
	layout       layout
	want         Want
	ownGroupOnly bool // only in the caller's own group, even if it contains other processes
	ours         func(pid int) bool
	root         string // prefix of every path; "" except in tests
	out          [wrap.Controllers]wrap.GroupHost
}

func newFinder(want Want) *finder {
	mounts := read.Mounts(readText("/proc/self/mountinfo"))
	return &finder{layout: parse(readText("/proc/self/cgroup"), mounts), want: want, ours: ours}
}

func (f *finder) find() [wrap.Controllers]wrap.GroupHost {
	var unified Want
	rest := false
	for c := range wrap.Controller(wrap.Controllers) {
		switch {
		case !f.want[c]:
		case f.layout.v1[c].version == 1:
			f.out[c] = f.v1(c)
		case c != wrap.CPUAcct:
			unified[c], rest = true, true
		}
	}
	if rest {
		f.v2(unified)
	}
	return f.out
}

func no(why string) wrap.GroupHost {
	return wrap.GroupHost{Answer: wrap.Answer{State: wrap.No, Why: why}}
}

func (f *finder) noV1(why string) wrap.GroupHost {
	h := no(why)
	h.Version = 1
	return h
}

// v1 takes the caller's own group: in version 1 every group may have children.
func (f *finder) v1(c wrap.Controller) wrap.GroupHost {
	p := f.layout.v1[c]
	if p.own == "" {
		return f.noV1("the " + c.String() + " cgroup of this process is not in view under " + top)
	}
	if why := f.unwritable(p.own); why != "" {
		return f.noV1(why)
	}
	h := wrap.GroupHost{Answer: wrap.Answer{State: wrap.Yes}, Version: 1, Dir: f.root + p.own}
	h.Swap = c == wrap.Memory && exists(h.Dir+"/memory.memsw.limit_in_bytes")
	h.Sockets = c == wrap.Memory && exists(h.Dir+"/"+wrap.SocketsFile)
	return h
}

// unwritable returns why no group can be created in dir; "" if one can.
func (f *finder) unwritable(dir string) string {
	for _, path := range []string{dir, dir + "/cgroup.procs"} {
		if err := unix.Access(f.root+path, unix.W_OK); err != nil {
			return "uid " + strconv.Itoa(unix.Geteuid()) + " cannot write " + path + ": " + err.Error()
		}
	}
	return ""
}

// v2 goes up from the caller's own group. It takes the first group that offers all requested
// controllers, or else the one that offers most.
func (f *finder) v2(want Want) {
	p := f.layout.v2
	if p.own == "" {
		why := "no cgroup file system is in view at " + top
		if p.mount != "" {
			why = "the cgroup of this process is not in view under " + p.mount
		}
		want.deny(&f.out, why)
		return
	}
	best := -1
	for dir := p.own; ; dir = dir[:strings.LastIndexByte(dir, '/')] {
		here, given, wanted := f.offer(dir, dir == p.own, want)
		if given > best {
			best = given
			for c := range want {
				if want[c] {
					f.out[c] = here[c]
				}
			}
		}
		if given == wanted || f.ownGroupOnly || dir == p.mount || f.endsSearch(dir, here) {
			return
		}
	}
}

// endsSearch reports whether a group has limits of its own. The search ends there: a sandbox
// does not leave such a group, whose limits the caller must keep. The reason is added to the
// denials.
func (f *finder) endsSearch(dir string, here [wrap.Controllers]wrap.GroupHost) bool {
	for _, file := range []string{"memory.max", "memory.high", "pids.max", "cpu.max"} {
		v := firstLine(f.root + dir + "/" + file)
		if word, _, _ := strings.Cut(v, " "); word == "" || word == "max" {
			continue
		}
		for c := range here {
			if o := &f.out[c]; o.State == wrap.No {
				o.Why += "; and " + dir + " has a limit of its own (" + file + "), which no sandbox leaves"
			}
		}
		return true
	}
	return false
}

// offer returns which of the requested controllers a group offers, and how many.
func (f *finder) offer(dir string, own bool, want Want) (out [wrap.Controllers]wrap.GroupHost, given, wanted int) {
	for c := range want {
		if want[c] {
			wanted++
		}
	}
	if why := f.unwritable(dir); why != "" {
		want.deny(&out, why)
		return out, 0, wanted
	}
	kind := firstLine(f.root + dir + "/cgroup.type")
	threaded := kind == "threaded" || kind == "domain threaded"
	if kind != "" && kind != "domain" && !(threaded && f.ownGroupOnly) {
		want.deny(&out, dir+" is a "+kind+" group")
		return out, 0, wanted
	}
	has, on := strings.Fields(firstLine(f.root+dir+"/cgroup.controllers")), strings.Fields(firstLine(f.root+dir+"/cgroup.subtree_control"))
	enable, leaf, why := f.enables(dir, own)
	threaded = threaded || f.ownGroupOnly && !enable
	for c := range want {
		name := wrap.Controller(c).String()
		switch {
		case !want[c]:
			continue
		case !slices.Contains(has, name):
			out[c] = no(dir + " does not have the " + name + " controller")
			continue
		case threaded:
			out[c] = wrap.GroupHost{Enable: true, Threaded: true}
		case slices.Contains(on, name):
			out[c] = wrap.GroupHost{}
		case enable:
			out[c] = wrap.GroupHost{Enable: true, Leaf: leaf}
		default:
			out[c] = no(dir + " does not hand the " + name + " controller down: " + why)
			continue
		}
		out[c].State, out[c].Version, out[c].Dir = wrap.Yes, 2, f.root+dir
		out[c].Swap = c == int(wrap.Memory) && exists("/proc/swaps")
		out[c].Sockets = c == int(wrap.Memory) && countsSockets(readText("/proc/cmdline"))
		given++
	}
	return out, given, wanted
}

// countsSockets reports whether a kernel with this command line counts socket buffers as
// memory (Documentation/admin-guide/kernel-parameters.txt, cgroup.memory).
func countsSockets(cmdline string) bool {
	for _, word := range strings.Fields(cmdline) {
		if list, found := strings.CutPrefix(word, "cgroup.memory="); found && slices.Contains(strings.Split(list, ","), "nosocket") {
			return false
		}
	}
	return true
}

// enables reports whether sbx may enable controllers for a group's children, whether the
// supervisor must move out of the group first, and the reason if it may not.
func (f *finder) enables(dir string, own bool) (enable, leaf bool, why string) {
	isTop := !exists(f.root + dir + "/cgroup.events") // the root group, which may contain processes
	procs := strings.Fields(readText(f.root + dir + "/cgroup.procs"))
	switch {
	case isTop:
		return true, false, ""
	case own:
		for _, pid := range procs {
			if n, err := strconv.Atoi(pid); err != nil || !f.ours(n) {
				return false, false, "other processes are in it"
			}
		}
		return true, true, ""
	case len(procs) > 0:
		return false, false, "there are processes in it"
	case !delegated(f.root + dir):
		return false, false, "it is not delegated"
	}
	return true, false, ""
}

// delegated reports whether systemd has delegated a group to the processes in it.
func delegated(dir string) bool {
	var b [8]byte
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		if n, err := unix.Getxattr(dir, name, b[:]); err == nil && n == 1 && b[0] == '1' {
			return true
		}
	}
	return false
}

// ours reports whether a process is this one or its child.
func ours(pid int) bool {
	self := unix.Getpid()
	return pid == self || read.Parent(pid) == self
}
