package wrap

import (
	"slices"
	"strings"

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
	r := landlock.Ruleset{Scope: landlock.ScopeAll}
	if b.restricted() {
		r.FS = fileRights
		b.readRules(&r)
		b.writeRules(&r)
		b.streamRules(&r)
	}
	if b.plan.Programs.Limited {
		b.executeRules(&r)
	}
	b.restrict(r)
}

// apart has Landlock keep the command from processes that are none of its own, and
// nothing else.
func (b *builder) apart() {
	r := landlock.Ruleset{Scope: landlock.ScopeAll}
	b.movable(&r)
	b.restrict(r)
}

// restrict downgrades a ruleset to what the kernel has.
func (b *builder) restrict(r landlock.Ruleset) {
	var lost []landlock.Lost
	b.plan.Landlock, lost = r.Downgrade(b.h.LandlockABI)
	b.lost(lost)
	b.plan.LandlockABI = b.h.LandlockABI
	b.plan.LandlockLogs = b.h.AuditReader && b.h.LandlockABI >= logsABI && b.req.Describe != DescribeNone
}

// fileRights are the rights on files that a sandbox takes away.
const fileRights = landlock.FSAll &^ landlock.ResolveUnix

// lostRights is what the loss of a right means: what stays open, and what holds it
// all the same where there are mounts.
var lostRights = map[string]struct{ open, held string }{
	"fs.refer":                   {"moving files from folder to folder", ""},
	"fs.truncate":                {"truncate", "read-only mounts hold what it would"},
	"fs.ioctl_dev":               {"ioctl on devices", "a /dev of its own and mounts without devices hold what it would"},
	"scope.abstract_unix_socket": {"abstract sockets", ""},
	"scope.signal":               {"signals", ""},
}

// lost says on the lines what Landlock lost to the kernel's age. Rights without
// mounts are told by bare, in oldLandlock's words.
func (b *builder) lost(lost []landlock.Lost) {
	field := fieldAllow
	if b.restricted() {
		field = b.modeField()
		asked := b.r.Spec.Asked()
		if i := slices.IndexFunc(asked, func(f spec.Field) bool {
			return within(f, "access_mode", "filesystem", "sandbox", "restrict", "readonly")
		}); i >= 0 {
			field = asked[i]
		}
	}
	scopes := ""
	for _, l := range lost {
		has := "Landlock ABI " + itoa(b.h.LandlockABI) + " has no "
		since := " (Linux " + landlock.Kernel(l.NeedsABI) + "): "
		switch name, scope := strings.CutPrefix(l.Right, "scope."); {
		case scope:
			scopes = has + "scopes (Linux " + landlock.Kernel(l.NeedsABI) + ")"
		case l.Stricter:
			b.fault(field, Enforced, has+name+since+l.Why)
		case b.plan.Base != BaseHost:
			b.fault(field, Enforced, has+name+since+lostRights[l.Right].held)
		}
	}
	if scopes != "" {
		b.noScopes(scopes)
	}
}

// oldLandlock names what the host's Landlock cannot do on top.
func (b *builder) oldLandlock() (text string) {
	if b.h.LandlockABI == 0 {
		return "; no Landlock either: " + b.h.LandlockWhy
	}
	_, lost := landlock.Ruleset{FS: fileRights, Scope: landlock.ScopeAll}.Downgrade(b.h.LandlockABI)
	for _, l := range lost {
		text += ", " + lostRights[l.Right].open + " (Linux " + landlock.Kernel(l.NeedsABI) + ")"
	}
	return text
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
		for _, d := range b.devices() {
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

// movable lets files be moved from folder to folder, which a domain that is about files
// shuts in each of its layers, be a layer about none.
func (b *builder) movable(r *landlock.Ruleset) {
	r.FS = landlock.Refer
	b.allow(r, "/", Dir, landlock.Refer, "files may be moved")
}

// executeRules leaves the right to execute to what commands.allow names.
func (b *builder) executeRules(r *landlock.Ruleset) {
	if r.FS == 0 {
		b.movable(r)
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
