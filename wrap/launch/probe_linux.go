package launch

import (
	"strings"
	"syscall"

	"sbx/spec"
	"sbx/wrap"
)

// Probe finds every fact of machine and workspace that Build needs for r. It
// changes nothing, runs nothing and waits for nothing. What r does not ask
// about is not looked at: without file rules only the kernel's facts are.
//
// The workspace may have been written by an earlier command of a sandbox:
// searches in it are bounded in number, depth and size, and follow a link only
// to protect what it leads to.
func Probe(r *spec.Resolved) wrap.Host {
	p := prober{r: r, env: syscall.Getenv, root: "/"}
	return p.probe()
}

// prober collects a Host.
type prober struct {
	r    *spec.Resolved
	h    wrap.Host
	env  func(string) (string, bool)
	dirs []byte // the buffer of getdents64

	trees []string // writable trees: absolute, links resolved, none beneath another
	root  string   // "/" but in tests: where the absolute paths of tables begin
}

func (p *prober) probe() wrap.Host {
	p.kernel()
	p.h.Home = p.r.Home
	p.h.Users = []int{p.h.UID}
	if p.r.Network == spec.NetworkNone || p.r.Network == spec.NetworkAllow {
		p.sockets()
	}
	if !p.r.FileRules {
		return p.h
	}
	p.mounts()
	p.places()
	if p.r.System {
		p.system()
	}
	if p.r.Private {
		p.secrets()
		p.listings()
		p.protectedNames()
	}
	return p.h
}

// places fills in what a private /run, /dev and /proc are made from, and what
// stands where a Plan mounts.
func (p *prober) places() {
	p.h.Paths = make(map[string]wrap.Kind, 32)
	for _, path := range wrap.Looked() {
		p.look(path)
	}
	if p.r.Home != "" {
		p.look(p.r.Home)
	}
	p.h.Keep = p.rows(wrap.RunKept(), "")
	p.h.Devices = p.rows(wrap.Devices(), "")
	for _, f := range p.rows(wrap.ProcReadOnly(), "/proc") {
		p.h.ProcRO = append(p.h.ProcRO, f.Path[len("/proc/"):])
	}
	for _, f := range p.rows(wrap.ProcMasked(), "/proc") {
		p.h.ProcMask = append(p.h.ProcMask, f.Path[len("/proc/"):])
	}
}

func (p *prober) look(path string) {
	if kind := kindAt(path); kind != wrap.Absent {
		p.h.Paths[path] = kind
	}
}

// system fills in what @system is here.
func (p *prober) system() { p.h.System = p.rows(wrap.System(), "") }

// rows is what of a table stands here. The table's paths are absolute, or
// relative to dir.
func (p *prober) rows(table []wrap.Row, dir string) (found []wrap.Found) {
	if dir == "" {
		dir = p.root
	}
	look := lookup{p: p, n: len(table), path: func(i int) string {
		return strings.TrimPrefix(table[i].Path, "/")
	}, emit: func(i int, f wrap.Found) {
		f.Why = table[i].Why
		found = append(found, f)
	}}
	look.from(dir)
	return found
}
