package wrap

import (
	"slices"
	"strings"

	"sbx/internal/view"
	"sbx/landlock"
	"sbx/spec"
)

// logsABI is the first Landlock ABI whose denials can be logged after an exec (Linux 6.15).
const logsABI = 7

// device are the rights on a device node.
const device = landlock.ReadFile | landlock.WriteFile | landlock.ReadDir | landlock.IoctlDev

// private are the rights in a directory of the sandbox's own.
const private = landlock.FSAll &^ (landlock.MakeChar | landlock.MakeBlock)

// landlock writes the ruleset. It repeats what the mounts enforce; without mounts it is the only
// enforcement. The scopes deny connections to abstract sockets outside and signals to processes
// outside. The ruleset is downgraded to the host's ABI. The Enforcement says what a fallback level
// without namespaces loses by that.
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

// separate lets Landlock separate the command from processes outside, and enforce nothing else.
func (b *rules) separate() {
	r := landlock.Ruleset{Scope: landlock.ScopeAll}
	b.movable(&r)
	b.restrict(r)
}

// restrict puts a ruleset into the Plan, downgraded to the host's ABI.
func (b *rules) restrict(r landlock.Ruleset) {
	var lost []landlock.Lost
	b.plan.Landlock, lost = r.Downgrade(b.h.LandlockABI)
	b.lost(lost)
	b.plan.LandlockABI = b.h.LandlockABI
	b.plan.LandlockLogs = b.h.AuditReader && b.h.LandlockABI >= logsABI && b.req.Describe != DescribeNone
}

// fileRights are the rights on files that a sandbox restricts.
const fileRights = landlock.FSAll &^ landlock.ResolveUnix

// lostRights says for a right that the host's ABI lacks which operation stays open, and what denies
// that operation anyway if there are mounts.
var lostRights = map[string]struct{ open, held string }{
	"fs.refer":                   {"moving files from directory to directory", ""},
	"fs.truncate":                {"truncate", "read-only mounts hold what it would"},
	"fs.ioctl_dev":               {"ioctl on devices", "a /dev of its own and mounts without devices hold what it would"},
	"scope.abstract_unix_socket": {"abstract sockets", ""},
	"scope.signal":               {"signals", ""},
}

// lost writes into the Enforcement which rights the host's ABI lacks. Without mounts, bare reports
// the rights on files, as oldLandlock lists them.
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

// oldLandlock lists what the host's Landlock ABI cannot restrict.
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

// noScopes reports what stays open without Landlock's scopes.
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

// fileRules adds a rule for each place of the View. Landlock cannot deny access under a directory
// that it allows. With mounts, Landlock therefore allows reading everywhere and leaves the rest to
// the mounts.
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
			continue // hidden, or allowed with the directory above
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

// streamRules lets the command open a standard stream again, as through /dev/stdout, with the
// access mode that the caller opened it with. The rule names /proc/self/fd, because only that leads
// to the file on the mount where the caller opened it.
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

// movable lets files be moved between directories. Every layer of Landlock that restricts files
// denies such moves unless a rule allows them, even in a ruleset that restricts nothing else about
// files.
func (b *rules) movable(r *landlock.Ruleset) {
	r.FS = landlock.Refer
	r.Rules = append(r.Rules, landlock.Rule{Path: "/", Allow: landlock.Refer, Why: "files may be moved"})
}

// executeRules allows only the programs of commands.allow to be executed.
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
	for _, path := range b.plan.Programs.Dirs {
		r.Rules = append(r.Rules, landlock.Rule{Path: path, Allow: landlock.Execute, Exact: true, Why: "commands.allow"})
	}
}
