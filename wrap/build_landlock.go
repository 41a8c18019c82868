package wrap

import (
	"slices"
	"strings"

	"sbx/internal/view"
	"sbx/landlock"
	"sbx/spec"
)

// logsABI is the first whose refusals can be logged after an exec (Linux 6.15).
const logsABI = 7

// device is what may be done with a device node.
const device = landlock.ReadFile | landlock.WriteFile | landlock.ReadDir | landlock.IoctlDev

// private is what may be done in a directory of the sandbox's own.
const private = landlock.FSAll &^ (landlock.MakeChar | landlock.MakeBlock)

// landlock writes the ruleset: with mounts a second wall behind them, without
// them the only one. The scopes shut abstract sockets and signals to processes
// outside. The ruleset is downgraded to what the kernel has, and what a rung
// without namespaces loses by that is said.
func (b *rules) landlock() {
	if b.h.LandlockABI == 0 {
		b.noScopes("no Landlock: " + b.h.LandlockWhy)
		return
	}
	r := landlock.Ruleset{Scope: landlock.ScopeAll}
	if b.restricted() {
		r.FS = fileRights
		b.fileRules(&r)
		b.streamRules(&r)
	}
	if b.plan.Programs.Limited {
		b.executeRules(&r)
	}
	b.restrict(r)
}

// apart has Landlock keep the command from processes that are none of its own, and
// nothing else.
func (b *rules) apart() {
	r := landlock.Ruleset{Scope: landlock.ScopeAll}
	b.movable(&r)
	b.restrict(r)
}

// restrict downgrades a ruleset to what the kernel has.
func (b *rules) restrict(r landlock.Ruleset) {
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
	"fs.refer":                   {"moving files from directory to directory", ""},
	"fs.truncate":                {"truncate", "read-only mounts hold what it would"},
	"fs.ioctl_dev":               {"ioctl on devices", "a /dev of its own and mounts without devices hold what it would"},
	"scope.abstract_unix_socket": {"abstract sockets", ""},
	"scope.signal":               {"signals", ""},
}

// lost says on the lines what Landlock lost to the kernel's age. Rights without
// mounts are told by bare, in oldLandlock's words.
func (b *rules) lost(lost []landlock.Lost) {
	field := fieldAllow
	if b.restricted() {
		field = b.modeField()
		asked := b.r.Spec.Asked()
		if i := slices.IndexFunc(asked, func(f spec.Field) bool {
			return f.In("access_mode", "filesystem", "sandbox", "restrict", "readonly")
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
func (b *draft) oldLandlock() (text string) {
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
func (b *rules) noScopes(why string) {
	switch {
	case b.plan.Base == BaseHost:
		b.fault(FieldSideDoors, Degraded, why+": abstract sockets of other programs can be connected to, and processes of the same user signalled")
	case !b.plan.Has(NetNS):
		b.fault(FieldSideDoors, Degraded, why+": abstract sockets of the host's network can be connected to")
	default:
		b.fault(FieldSideDoors, Enforced, why+": namespaces and a process group of its own hold what it would")
	}
}

// fileRules allows at each place of the View what it says. Landlock cannot deny under
// what it allows: that is left to the mounts, and with them all may be read.
func (b *rules) fileRules(r *landlock.Ruleset) {
	if b.plan.Base != BaseHost {
		r.Rules = append(r.Rules, landlock.Rule{Path: "/", Allow: landlock.FSReadExec, Why: "what is in view may be read"},
			landlock.Rule{Path: hostShm, Allow: private, Why: "private"})
	}
	for _, path := range b.view.Places() {
		g := b.view.At(path)
		rights, why := landlock.FSAll, "writable"
		switch {
		case g.Access < view.Read || b.plan.Base != BaseHost && (g.Access == view.Read || g.File && b.h.OwnKernel(g.Source)):
			continue // hidden, or allowed with the directory that it lies in
		case path == "/proc" && g.Access == view.Read:
			rights, why = landlock.FSRead, "the host's"
		case path == "/proc":
			rights, why = landlock.FSRead|landlock.WriteFile|landlock.Truncate, "the processes' own files"
		case g.Access == view.Read:
			rights, why = landlock.FSReadExec, "what is in view may be read"
		case path == "/dev" || g.File && b.h.OwnKernel(g.Source):
			rights, why = device, "harmless devices"
		case !reaches(g):
			rights, why = private, "private"
		}
		r.Rules = append(r.Rules, landlock.Rule{Path: path, Allow: rights, File: g.File, Why: why})
	}
}

// streamRules lets a standard stream be opened again, as /dev/stdout and the like are,
// for what the caller has it open for. The file is reached by the mount that the caller
// opened it on: no other mount shows it for that.
func (b *rules) streamRules(r *landlock.Ruleset) {
	for _, s := range b.h.Streams {
		rights := landlock.IoctlDev
		if s.Read {
			rights |= landlock.ReadFile
		}
		if s.Write {
			rights |= landlock.WriteFile | landlock.Truncate
		}
		r.Rules = append(r.Rules, landlock.Rule{Path: "/proc/self/fd/" + itoa(s.FD), Allow: rights, File: true, Why: "the caller has it open"})
	}
}

// movable lets files be moved from directory to directory, which a domain that is about files
// shuts in each of its layers, be a layer about none.
func (b *rules) movable(r *landlock.Ruleset) {
	r.FS = landlock.Refer
	r.Rules = append(r.Rules, landlock.Rule{Path: "/", Allow: landlock.Refer, Why: "files may be moved"})
}

// executeRules leaves the right to execute to what commands.allow names.
func (b *rules) executeRules(r *landlock.Ruleset) {
	if r.FS == 0 {
		b.movable(r)
	}
	for i := range r.Rules {
		r.Rules[i].Allow &^= landlock.Execute
	}
	r.FS |= landlock.Execute
	for _, path := range b.plan.Programs.Files {
		r.Rules = append(r.Rules, landlock.Rule{Path: path, Allow: landlock.Execute, File: true, Exact: true, Why: "commands.allow"})
	}
	for _, path := range b.plan.Programs.Folders {
		r.Rules = append(r.Rules, landlock.Rule{Path: path, Allow: landlock.Execute, Exact: true, Why: "commands.allow"})
	}
}
