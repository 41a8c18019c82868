package host

import (
	"syscall"

	"sbx/internal/enclosing"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/defaults"
)

// Probe collects every fact about the machine and the workspace that Build needs for r. It
// changes nothing, runs nothing and waits for nothing. Facts that r does not depend on are
// left out: without file rules Probe collects the kernel's facts only.
//
// Probe does not collect what only `sbx exec` learns by trying. It does collect what only
// other sandbox tools need: the names in directories in which a name must be hidden, and
// the paths of those tools.
func Probe(r *spec.Resolved, needs ...string) wrap.Host {
	return ProbeFor(r, wrap.ToolNames(), needs...)
}

// ProbeFor is Probe for callers that want only the given tools: looking for a tool costs
// one call for every directory of PATH.
func ProbeFor(r *spec.Resolved, tools []string, needs ...string) wrap.Host {
	facts := Facts()
	facts.Overlay = wrap.Answer{State: wrap.No}
	h := Survey(r, facts, needs...)
	h.Overlay = wrap.Answer{}
	p := prober{h: h, env: syscall.Getenv}
	(&lister{prober: &p}).tools(tools)
	return p.h
}

// Facts is the part of a Host that depends on no spec and no workspace: what the kernel
// and the caller's ids allow.
func Facts() wrap.Host {
	p := prober{}
	p.kernel()
	p.h.Parent, p.h.FreeParent = enclosing.Parent(), enclosing.Free()
	return p.h
}

// Survey adds to facts what it finds in the workspace and around it. needs are the files
// of the command and the documents themselves, see secretSearch.needed.
func Survey(r *spec.Resolved, facts wrap.Host, needs ...string) wrap.Host {
	p := prober{r: wrap.WithOwn(r), h: facts, env: syscall.Getenv, root: "/", needs: needs}
	return p.probe()
}

// SurveyOf is Survey for a command with an environment of its own. The calling thread must
// have the command's root directory.
func SurveyOf(r *spec.Resolved, facts wrap.Host, env func(name string) (string, bool)) wrap.Host {
	p := prober{r: wrap.WithOwn(r), h: facts, env: env, root: "/"}
	return p.probe()
}

func (p *prober) probe() wrap.Host {
	p.h.Home = p.r.Home
	p.h.Users = []int{p.h.UID}
	p.groups()
	if p.r.Network == spec.NetworkNone || p.r.Network == spec.NetworkAllow {
		p.sockets()
	}
	if !p.r.FileRules && !p.r.SideDoors {
		return p.h
	}
	p.profile()
	p.programs()
	table, names := &mountTable{prober: p}, &lister{prober: p}
	secrets := &secretSearch{mountTable: table}
	table.mounts()
	p.places()
	names.targets()
	p.homeLayer()
	p.copyLayers()
	if p.r.System {
		(&systemSearch{p}).system()
	}
	if p.r.Private {
		secrets.secrets()
		names.listings(secrets.crowded)
		secrets.protectedNames()
	} else {
		secrets.hideState()
		if p.r.Confined {
			p.services()
		}
		secrets.hideElsewhere()
	}
	return p.h
}

// places records the sources of a private /run, /dev and /proc, and the files that exist at the
// targets of the Plan's mounts.
func (p *prober) places() {
	p.h.Paths = make(map[string]wrap.Kind, 32)
	for _, path := range defaults.ProbedPaths() {
		p.kindOf(path)
	}
	if p.r.Home != "" {
		p.kindOf(p.r.Home)
	}
	p.state()
	for i := range p.h.Mounts {
		if m := &p.h.Mounts[i]; m.Kernels() {
			p.kindOf(m.Path)
		}
	}
	p.h.Keep = p.rows(defaults.RunKept(), "/run", len("/run/"))
	p.h.Devices, p.h.Terminal = p.rows(defaults.Devices(), "/dev", len("/dev/")), terminalName()
	if p.r.Confined {
		p.h.Streams = streams()
	}
	if p.h.UID == 0 { // nobody else can write there anyway
		p.h.ProcRO, p.h.ProcMask = pathsOf(defaults.ProcReadOnly()), pathsOf(defaults.ProcMasked())
	}
}
