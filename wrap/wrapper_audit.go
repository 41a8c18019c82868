package wrap

import (
	"slices"
	"strings"
	"unicode/utf8"

	"sbx/spec"
	"sbx/spec/redact"
)

// AuditKind is the kind of every Audit.
const AuditKind = "process-sandbox"

// Audit is what a wrapped invocation may tell others: no credentials, and no
// paths of the host but those that every system has.
type Audit struct {
	WrapperName string
	WrappedCmd  string
	WrappedArgs []string
	Mounts      []DirMount // the caller's own; HostPath is empty
	Truncated   bool       // arguments were cut or left out
	NotHeld     []Lack     // what the wrapper does not hold
}

// How much of the arguments an audit keeps: bytes of one, how many of them, and
// bytes of them all.
const (
	maxAuditArg  = 1 << 10
	maxAuditArgs = 1 << 10
	maxAudit     = 64 << 10
)

// audit is the audit of a wrapped invocation.
func (w *wrapper) audit(inv, out *Invocation) Audit {
	a := Audit{WrapperName: w.name, WrappedCmd: w.label(out.Cmd), NotHeld: w.lacks}
	if strings.HasPrefix(a.WrappedCmd, "<") {
		a.WrappedCmd = out.Cmd[strings.LastIndexByte(out.Cmd, '/')+1:]
	}
	args := out.Args
	if w.name == nameSbx && len(args) > 2 {
		args = slices.Clone(args)
		args[2] = string(w.a.Resolved.Redacted(redact.Mark).AppendJSON(nil, nil))
	}
	argv := redact.Args(append([]string{out.Cmd}, args...))[1:]
	a.WrappedArgs = make([]string, 0, min(len(argv), maxAuditArgs))
	left := maxAudit
	for _, arg := range argv {
		if len(a.WrappedArgs) == maxAuditArgs || left <= 0 {
			a.Truncated = true
			break
		}
		whole := w.label(arg)
		cut := clip(whole, min(maxAuditArg, left))
		a.Truncated = a.Truncated || cut != whole
		left -= len(cut)
		a.WrappedArgs = append(a.WrappedArgs, cut)
	}
	for _, m := range inv.Mounts {
		a.Mounts = append(a.Mounts, DirMount{Label: m.Label, GuestPath: m.GuestPath, Mode: m.Mode})
	}
	return a
}

// clip cuts s to at most n bytes, at a character, and marks that it did.
func clip(s string, n int) string {
	const mark = "…"
	if len(s) <= n {
		return s
	}
	n = max(n-len(mark), 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + mark
}

// alias is what an audit calls a folder of the host; all tells that it calls what
// lies in it the same, whose names are nobody's business.
type alias struct {
	path, label string
	all         bool
}

// aliases are the folders that have a name for others, the deepest first.
func (w *wrapper) aliases() []alias {
	var all []alias
	r := w.a.Resolved
	add := func(path, label string) {
		if path == "" || path == "/" || label == "" {
			return
		}
		if !slices.ContainsFunc(all, func(a alias) bool { return a.path == path }) {
			all = append(all, alias{path: path, label: label, all: label == "<home>"})
		}
	}
	for _, m := range w.a.Mounts {
		add(m.HostPath, "<"+m.Label+">")
	}
	for _, m := range w.a.Mounts {
		add(m.GuestPath, m.GuestPath)
	}
	for i := range r.Mounts {
		m := &r.Mounts[i]
		add(m.Source.Real, "<"+m.Label+">")
		add(m.Source.Abs, "<"+m.Label+">")
	}
	if r.Job != nil {
		add(r.Job.Input.Real, "<input>")
		add(r.Job.Output.Real, "<output>")
		for _, dir := range []string{"/input", "/output", "/work"} {
			add(dir, dir)
		}
	}
	for _, p := range []spec.Path{r.WorkingDir, r.Root} {
		add(p.Real, "<cwd>")
		add(p.Abs, "<cwd>")
	}
	add(w.a.Host.Home, "<home>")
	add(w.a.Host.HomeReal, "<home>")
	for i := range all {
		if all[i].label == "<>" {
			all[i].label = "<mount>"
		}
	}
	slices.SortStableFunc(all, func(a, b alias) int { return len(b.path) - len(a.path) })
	return all
}

// common are the folders that every system has: their paths tell nothing.
var common = [...]string{"/bin", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/sbin", "/sys", "/usr"}

// label is an argument with the paths of the host in it replaced.
func (w *wrapper) label(arg string) string {
	if strings.IndexByte(arg, '/') < 0 {
		return arg
	}
	var b strings.Builder
	for i := 0; i < len(arg); {
		if arg[i] != '/' || i > 0 && !strings.ContainsRune("=:,;\"'`()[]{}<>|&@! \t\n", rune(arg[i-1])) {
			b.WriteByte(arg[i])
			i++
			continue
		}
		n, name := w.named(arg[i:], i == 0)
		b.WriteString(name)
		i += n
	}
	return b.String()
}

// named is how much of text is a path, and what it is called. A path that is
// the whole argument may have any character.
func (w *wrapper) named(text string, whole bool) (int, string) {
	ends := ":,;\"'`()[]{}<>|&\\ \t\n"
	if whole {
		ends = ":,;\"'`"
	}
	end := strings.IndexAny(text, ends)
	if end < 0 {
		end = len(text)
	}
	for _, a := range w.hide {
		if n := len(a.path); strings.HasPrefix(text, a.path) && (len(text) == n || text[n] == '/' || strings.IndexByte(ends, text[n]) >= 0) {
			end = n + max(strings.IndexAny(text[n:]+ends[:1], ends), 0)
			if a.all {
				return end, a.label
			}
			return end, a.label + text[n:end]
		}
	}
	path := strings.TrimRight(text[:end], "/")
	switch path {
	case "", "/tmp", "/var/tmp", "/run", "/var/run", "/home", "/root", "/var", "/opt", "/srv", "/boot":
		return end, text[:end]
	}
	if strings.HasPrefix(text, "//") { // of a URL
		return end, text[:end]
	}
	for _, dir := range common {
		if under(path, dir) {
			return end, text[:end]
		}
	}
	return end, "<path>"
}
