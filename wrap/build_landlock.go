package wrap

import (
	"slices"

	"sbx/landlock"
	"sbx/spec"
)

// logsABI is the first whose refusals can be logged after an exec (Linux 6.15).
const logsABI = 7

// device is what may be done with a device node.
const device = landlock.ReadFile | landlock.WriteFile | landlock.ReadDir | landlock.IoctlDev

// landlock writes the ruleset: with mounts a second wall behind them, without
// them the only one. The scopes shut abstract sockets and signals to processes
// outside. The ruleset is downgraded to what the kernel has, and what a rung
// without namespaces loses by that is said.
func (b *builder) landlock() {
	if b.h.LandlockABI == 0 {
		b.noScopes("no Landlock: " + b.h.LandlockWhy)
		return
	}
	if b.h.LandlockABI < scopesABI {
		b.noScopes("Landlock ABI " + itoa(b.h.LandlockABI) + " has no scopes (Linux 6.12)")
	}
	r := landlock.Ruleset{Scope: landlock.ScopeAll}
	if b.restricted() {
		r.FS = landlock.FSAll &^ landlock.ResolveUnix
		b.readRules(&r)
		b.writeRules(&r)
		b.streamRules(&r)
	}
	if b.plan.Programs.Limited {
		b.executeRules(&r)
	}
	// What an old Landlock lacks is held by namespaces and mounts, or named by
	// bare and noScopes.
	b.plan.Landlock, _ = r.Downgrade(b.h.LandlockABI)
	b.plan.LandlockABI = b.h.LandlockABI
	b.plan.LandlockLogs = b.h.AuditReader && b.h.LandlockABI >= logsABI && b.req.Describe != DescribeNone
}

// noScopes says what stays open without Landlock's scopes.
func (b *builder) noScopes(why string) {
	switch {
	case b.plan.Base == BaseHost:
		b.fault(FieldSideDoors, Degraded, why+": abstract sockets of other programs can be connected to, and processes of the same user signalled")
	case !b.plan.Has(NetNS):
		b.fault(FieldSideDoors, Degraded, why+": abstract sockets of the host's network can be connected to")
	default:
		b.fault(FieldSideDoors, Enforced, why+": namespaces and a process group of its own hold what it would")
	}
}

func (b *builder) allow(r *landlock.Ruleset, path string, kind Kind, rights landlock.FSSet, why string) {
	r.Rules = append(r.Rules, landlock.Rule{Path: path, Allow: rights, File: kind != Dir, Why: why})
}

// readRules grants reading: all of an in-place root, else what is in view.
func (b *builder) readRules(r *landlock.Ruleset) {
	if !b.r.Visible || b.prefix != "" {
		b.allow(r, "/", Dir, landlock.FSReadExec, "what is in view may be read")
		return
	}
	for _, s := range b.h.System {
		b.allow(r, s.Real, s.Kind, landlock.FSReadExec, s.Why)
	}
	for _, p := range append([]spec.Path{b.r.Restricted}, b.r.Read...) {
		if p.Real != "" {
			b.allow(r, p.Real, pathKind(p), landlock.FSReadExec, "filesystem.read")
		}
	}
	b.allow(r, "/proc", Dir, landlock.FSRead, "without namespaces there is no other")
}

func pathKind(p spec.Path) Kind {
	if p.IsDir {
		return Dir
	}
	return File
}

// writeRules grants writing where the mounts let it be.
func (b *builder) writeRules(r *landlock.Ruleset) {
	for _, w := range b.writables() {
		b.allow(r, w.Real, pathKind(w), landlock.FSAll, "writable")
	}
	if b.plan.Base == BaseHost {
		for _, d := range b.h.Devices {
			b.allow(r, d.Real, Device, device, "a harmless device")
		}
		if b.plan.Rung == RungParent {
			for _, dir := range b.h.Parent.Private {
				if slices.ContainsFunc(b.h.Parent.Writable, func(w string) bool { return under(w, dir) && !b.inWritable(w) }) {
					continue // Landlock cannot deny beneath what it grants
				}
				b.allow(r, dir, Dir, landlock.FSAll&^(landlock.MakeChar|landlock.MakeBlock), "private to the outer sandbox")
			}
		}
		return
	}
	for _, dir := range b.private {
		b.allow(r, dir, Dir, landlock.FSAll&^(landlock.MakeChar|landlock.MakeBlock), "private")
	}
	b.allow(r, "/dev", Dir, device, "harmless devices")
	b.allow(r, "/dev/shm", Dir, landlock.FSAll&^(landlock.MakeChar|landlock.MakeBlock), "private")
	b.allow(r, "/proc", Dir, landlock.FSRead|landlock.WriteFile|landlock.Truncate, "the processes' own files")
	if b.home == homeOverlay || b.home == homeRebuilt {
		b.allow(r, b.h.HomeReal, Dir, landlock.FSAll&^(landlock.MakeChar|landlock.MakeBlock), "the agent's home is its own")
	}
	if b.prefix != "" && b.h.Home != "" && !b.inView(b.h.Home) {
		b.allow(r, b.h.Home, Dir, landlock.FSAll, "a private home")
	}
	if b.r.Job != nil {
		b.allow(r, "/work", Dir, landlock.FSAll, "private")
	}
	for i := range b.binds {
		m := &b.binds[i]
		switch m.Mode {
		case spec.MountTmpfs:
			b.allow(r, m.Target, Dir, landlock.FSAll, m.Label)
		case spec.MountRW:
			b.allow(r, m.Target, pathKind(m.Source), landlock.FSAll, m.Label)
		}
	}
}

// streamRules lets a standard stream be opened again, as /dev/stdout and the like are,
// for what the caller has it open for. The file is reached by the mount that the caller
// opened it on: no other mount shows it for that.
func (b *builder) streamRules(r *landlock.Ruleset) {
	for _, s := range b.h.Streams {
		rights := landlock.IoctlDev
		if s.Read {
			rights |= landlock.ReadFile
		}
		if s.Write {
			rights |= landlock.WriteFile | landlock.Truncate
		}
		b.allow(r, "/proc/self/fd/"+itoa(s.FD), Other, rights, "the caller has it open")
	}
}

// executeRules leaves the right to execute to what commands.allow names.
func (b *builder) executeRules(r *landlock.Ruleset) {
	if r.FS == 0 { // else a domain that is about files shuts moving them from folder to folder
		r.FS = landlock.Refer
		b.allow(r, "/", Dir, landlock.Refer, "files may be moved")
	}
	for i := range r.Rules {
		r.Rules[i].Allow &^= landlock.Execute
	}
	r.FS |= landlock.Execute
	exact := func(path string, kind Kind) {
		b.allow(r, path, kind, landlock.Execute, "commands.allow")
		r.Rules[len(r.Rules)-1].Exact = true
	}
	for _, path := range b.plan.Programs.Files {
		exact(path, File)
	}
	for _, path := range b.plan.Programs.Folders {
		exact(path, Dir)
	}
}
