package spec

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sbx/internal/reach"
)

// The properties are checked for random documents in a small world, in which links lead out of
// directories and a secret lies in the home. An oracle (opens) asks for each path of the world
// whether a spec opens it.

// words draws some of the words, each with a chance of one in two.
func words(rng *rand.Rand, from ...string) string {
	var some []string
	for _, w := range from {
		if rng.IntN(2) == 0 {
			some = append(some, strconv.Quote(w))
		}
	}
	return "[" + strings.Join(some, ",") + "]"
}

// groups are the parts of a random document. Restrictions of different groups are independent of
// each other.
var groups = []func(*rand.Rand) string{
	func(rng *rand.Rand) string {
		return `"tools_allowed":` + words(rng, "Read", "Bash", "Bash(git:*)", "Write") + `,"tools_denied":` + words(rng, "Bash(rm:*)", "WebFetch")
	},
	func(rng *rand.Rand) string { return `"max_commands":` + strconv.Itoa(rng.IntN(4)) },
	func(rng *rand.Rand) string { return `"max_turns":` + strconv.Itoa(rng.IntN(4)) },
	func(rng *rand.Rand) string {
		return `"limits":{"pids":` + strconv.Itoa(1+rng.IntN(3)) + `,"memory":` + strconv.Itoa(1+rng.IntN(3)) + `}`
	},
	func(rng *rand.Rand) string {
		if rng.IntN(2) == 0 {
			return `"network":{"mode":` + pick(rng, "none", "allow", "host") + `}`
		}
		return `"network":{"allow":` + words(rng, "@npm", "*.npmjs.org:443", "registry.npmjs.org:*", "localhost:*", "127.0.0.0/8:80", "10.0.0.0/8:80") + `}`
	},
	func(rng *rand.Rand) string {
		return `"environment":{"pass":` + words(rng, "PATH", "LANG", "A*", "*") + `}`
	},
	func(rng *rand.Rand) string {
		return `"commands":{"deny":` + words(rng, "/srv/f", "/p/root/file") + `}`
	},
	func(rng *rand.Rand) string {
		var s []string
		if rng.IntN(3) == 0 {
			s = append(s, `"read":`+words(rng, "@system", "/srv", "/srv/data", "/ways/link", "~/.netrc", "/p", "/p/w/src", "/srv/keys", "src", ".."))
		}
		if rng.IntN(3) == 0 {
			s = append(s, `"write":`+words(rng, "/srv/data", "/srv", "/opt", "/ways/link", "/p/w/src", "/p/root", "**/.git", "/p/w/.git"))
		}
		if rng.IntN(3) == 0 {
			s = append(s, `"hide":`+words(rng, "/srv/f", "/p/w/src", "/opt"))
		}
		if rng.IntN(4) == 0 {
			s = append(s, `"mounts":`+mountList(rng))
		}
		doc := `"filesystem":{` + strings.Join(s, ",") + `}`
		if rng.IntN(2) == 0 {
			doc += `,"access_mode":` + pick(rng, "read-only", "workspace-write", "danger-full-access")
		}
		if rng.IntN(3) == 0 {
			doc += `,"working_dir":` + pick(rng, "/p", "/p/w", "/p/w/src", "/srv/data", "/ways/link")
		}
		if rng.IntN(5) == 0 {
			doc += `,"readonly":` + pick(rng, "true", "false")
		}
		switch rng.IntN(12) {
		case 0:
			doc += `,"sandbox":{"root":` + pick(rng, "/p/w", "/p/w/src", "/p/root", "/srv", "/p/w/link", "/p") + `}`
		case 1:
			doc += `,"sandbox":{"root":` + pick(rng, "/p/w", "/srv") + `,"readonly":true}`
		}
		if rng.IntN(8) == 0 {
			doc += `,"restrict":` + pick(rng, "/", "/src", "/data", "/in")
		}
		return strings.ReplaceAll(strings.ReplaceAll(doc, `"true"`, "true"), `"false"`, "false")
	},
}

func pick(rng *rand.Rand, from ...string) string { return strconv.Quote(from[rng.IntN(len(from))]) }

func mountList(rng *rand.Rand) string {
	var all []string
	for _, target := range []string{"/opt", "/srv/data", "/mnt"} {
		switch rng.IntN(4) {
		case 0:
			all = append(all, `{"target":"`+target+`","mode":"tmpfs"}`)
		case 1:
			all = append(all, `{"target":"`+target+`","source":`+pick(rng, "/srv", "/srv/data", "/p/w", "/home/u")+`,"mode":`+pick(rng, "ro", "rw")+`}`)
		}
	}
	return "[" + strings.Join(all, ",") + "]"
}

func document(rng *rand.Rand, of []func(*rand.Rand) string) string {
	var parts []string
	for _, g := range of {
		if rng.IntN(3) == 0 {
			parts = append(parts, g(rng))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// opens returns which paths of the host can be read and written under r, by any name, and which
// variables the command gets.
func opens(r *Resolved, lists Lists) (read, write map[string]bool) {
	read, write = map[string]bool{}, map[string]bool{}
	names := []string{"/mnt"}
	for path, what := range host {
		if !strings.HasPrefix(what, "->") && !under(path, "/shut") {
			names = append(names, path)
		}
		for _, source := range []string{"/srv", "/srv/data", "/opt", "/p/w", "/home/u"} {
			for _, target := range []string{"/mnt", "/mnt/data", "/opt", "/srv", "/srv/data"} {
				names = append(names, target+strings.TrimPrefix(path, source))
			}
		}
	}
	for _, name := range names {
		at, writable, seen := stands(r, name, lists)
		if what, there := host[at]; !there || !seen || strings.HasPrefix(what, "->") {
			continue
		}
		read[at] = true
		if writable {
			write[at] = true
		}
	}
	return read, write
}

// stands returns what the sandbox shows at a name: hide beats mounts, mounts beat write, write
// beats read; within one list the longest path wins.
func stands(r *Resolved, name string, lists Lists) (at string, writable, seen bool) {
	for _, h := range r.Hide {
		if under(name, h.Real) {
			return "", false, false
		}
	}
	best := -1
	for i, m := range r.Mounts {
		if under(name, m.Target) && (best < 0 || len(m.Target) > len(r.Mounts[best].Target)) {
			best = i
		}
	}
	if best >= 0 {
		m := r.Mounts[best]
		if m.Mode == MountTmpfs {
			return "", false, false
		}
		return m.Source.Real + strings.TrimPrefix(name, m.Target), m.Mode == MountRW, true
	}
	named := func(list []Path) bool {
		return slices.ContainsFunc(list, func(p Path) bool { return under(name, p.Real) })
	}
	if r.Private && lists.Secret(name, r.Home) {
		own := func(p Path) bool {
			return p.Field != "" && under(name, p.Real) && (lists.Secret(p.Abs, r.Home) || lists.Secret(p.Real, r.Home) && !byLeftLink(r, &p))
		}
		if !slices.ContainsFunc(r.Read, own) && !slices.ContainsFunc(r.Write, own) {
			return "", false, false
		}
	}
	seen = !r.Visible || named(r.Read) || named(r.Write) || r.System && lists.System(name)
	return name, seen && (!r.Confined || named(r.Write)), seen
}

// byLeftLink reports whether p leads through a link in a directory in which a command works, of r
// or of a document above it.
func byLeftLink(r *Resolved, p *Path) bool {
	dirs := append(slices.Clone(r.Earlier), r.WorkingDir.Real)
	for _, w := range r.Write {
		dirs = append(dirs, w.Real)
	}
	return slices.ContainsFunc(p.Links, func(l Link) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return under(l.Path, dir) })
	})
}

func subset(t *testing.T, what string, inner, outer map[string]bool) bool {
	t.Helper()
	for p := range inner {
		if !outer[p] {
			t.Errorf("%s: %s", what, p)
			return false
		}
	}
	return true
}

const propertyRounds = 10_000

func TestTheMeetIsBelowBoth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	in, met := listed(), 0
	for range propertyRounds {
		p, c := document(rng, groups), document(rng, groups)
		parent, err := narrowed(t, p)
		if err != nil {
			continue
		}
		m, err := narrowed(t, p, c)
		if err != nil {
			continue
		}
		met++
		ok := opensNoMore(t, &m, &parent, in.Lists)
		ok = ok && below(t, "the parent", m.Spec, parent.Spec) && below(t, "the child", m.Spec, decodeAt(t, c))
		ok = ok && opensNoMoreThanAlone(t, &m, p, c)
		if m.Network > parent.Network || !ok || !reachesNoMore(t, &m, &parent) {
			t.Fatalf("%s under %s", c, p)
		}
		for _, name := range m.Passed {
			if !slices.Contains(parent.Passed, name) {
				t.Fatalf("%s under %s passes %s", c, p, name)
			}
		}
		if wider := Wider(&parent, &m, in); len(wider) > 0 {
			t.Fatalf("%s under %s: %v", c, p, wider)
		}
	}
	if met < propertyRounds/20 {
		t.Errorf("only %d of %d pairs have a meet", met, propertyRounds)
	}
}

// reachesNoMore reports whether every allowed connection is one that the parent allows.
func reachesNoMore(t *testing.T, m, parent *Resolved) bool {
	t.Helper()
	if parent.Network == NetworkHost {
		return true
	}
	for _, name := range []string{"registry.npmjs.org", "registry.yarnpkg.com", "a.npmjs.org", "npmjs.org", "localhost"} {
		for _, port := range []int{80, 443} {
			_, may := m.Reach.Name(name, port)
			if _, mayToo := parent.Reach.Name(name, port); may && !mayToo {
				t.Errorf("reaches %s:%d, and its parent does not", name, port)
				return false
			}
		}
	}
	for _, ip := range []reach.IP{reach.V4(127, 0, 0, 1), {15: 1}, reach.V4(127, 0, 0, 2), reach.V4(10, 1, 1, 1), reach.V4(1, 1, 1, 1)} {
		for _, port := range []int{80, 443} {
			_, may := m.Reach.Addr(ip, port)
			if _, mayToo := parent.Reach.Addr(ip, port); may && !mayToo {
				t.Errorf("reaches %v port %d, and its parent does not", ip, port)
				return false
			}
		}
	}
	return true
}

// opensNoMore reports whether everything that can be read or written is allowed by the parent.
func opensNoMore(t *testing.T, m, parent *Resolved, lists Lists) bool {
	t.Helper()
	pr, pw := opens(parent, lists)
	mr, mw := opens(m, lists)
	return subset(t, "reads more than its parent", mr, pr) && subset(t, "writes more than its parent", mw, pw)
}

// opensNoMoreThanAlone reports whether everything that can be read or written would also be allowed
// by the child alone, started in the same directory, as far as the child sets or implies anything
// about it. If it sets nothing, it inherits mounts, and writable paths in addition to its list of
// readable ones.
func opensNoMoreThanAlone(t *testing.T, m *Resolved, parent, child string) bool {
	t.Helper()
	in := listed()
	in.Cwd = m.WorkingDir.Abs
	d := decodeAt(t, child)
	alone, err := Resolve(d, in)
	root, fs := d.Sandbox.Value.Root.Set, &d.Filesystem.Value
	if err != nil || strings.Contains(parent, "mounts") && !root && !fs.Mounts.Set {
		return true
	}
	mr, mw := opens(m, in.Lists)
	ar, aw := opens(&alone, in.Lists)
	ok := true
	if root || alone.AccessMode.Guards() || fs.Write.Set {
		ok = subset(t, "writes more than the child", mw, aw)
	}
	// A workshop of the parent stays in view.
	if root || !strings.Contains(parent, "sandbox") && (alone.AccessMode.Guards() && !fs.Read.Set || fs.Read.Set && fs.Write.Set) {
		ok = ok && subset(t, "reads more than the child", mr, ar)
	}
	return ok
}

// TestMountsOpenNoMore tries pairs that are rare among random documents: mounts on the very
// directories that they show.
func TestMountsOpenNoMore(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	in, met := listed(), 0
	document := func() string {
		var all []string
		for _, target := range []string{"/opt", "/srv", "/srv/data", "/mnt", "/mnt/data"} {
			switch mode := pick(rng, "ro", "rw", "tmpfs", "", ""); mode {
			case `""`:
			case `"tmpfs"`:
				all = append(all, `{"target":"`+target+`","mode":"tmpfs"}`)
			default:
				all = append(all, `{"target":"`+target+`","source":`+pick(rng, "/srv", "/srv/data", "/opt")+`,"mode":`+mode+`}`)
			}
		}
		doc := `{"filesystem":{"mounts":[` + strings.Join(all, ",") + `]`
		if rng.IntN(3) == 0 {
			doc += `,"read":` + words(rng, "@system", "/srv")
		}
		if rng.IntN(3) == 0 {
			doc += `,"hide":` + words(rng, "/srv/data", "/opt", "/mnt/data")
		}
		if rng.IntN(3) == 0 {
			doc += `,"write":` + words(rng, "/srv/data", "/opt", "/srv")
		}
		doc += "}"
		if rng.IntN(3) == 0 {
			doc += `,"access_mode":"workspace-write","working_dir":"/srv"`
		}
		return doc + "}"
	}
	for range propertyRounds {
		p, c := document(), document()
		parent, err := narrowed(t, p)
		if err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		m, err := narrowed(t, p, c)
		if err != nil {
			continue
		}
		met++
		if !opensNoMore(t, &m, &parent, in.Lists) {
			t.Fatalf("%s under %s", c, p)
		}
	}
	if met < propertyRounds/20 {
		t.Errorf("only %d of %d pairs have a meet", met, propertyRounds)
	}
}

// below compares fields with plain values that have an order of their own.
func below(t *testing.T, whom string, m, d *SandboxSpec) bool {
	t.Helper()
	less := func(what string, m, d Opt[int]) bool {
		if d.Set && (!m.Set || m.Value > d.Value) {
			t.Errorf("%s is wider than %s says", what, whom)
			return false
		}
		return true
	}
	number := func(b Opt[Bytes]) Opt[int] { return Opt[int]{int(b.Value), b.Set} }
	mode := func(a Opt[AccessMode]) Opt[int] { return Opt[int]{int(a.Value), a.Set} }
	ok := less("max_turns", m.MaxTurns, d.MaxTurns) && less("max_commands", m.MaxCommands, d.MaxCommands) &&
		less("limits.pids", m.Limits.Value.PIDs, d.Limits.Value.PIDs) && less("limits.memory", number(m.Limits.Value.Memory), number(d.Limits.Value.Memory)) &&
		less("access_mode", mode(m.AccessMode), mode(d.AccessMode))
	for _, denied := range d.ToolsDenied.Value {
		ok = ok && slices.Contains(m.ToolsDenied.Value, denied)
	}
	for _, hidden := range d.Filesystem.Value.Hide.Value {
		ok = ok && slices.Contains(m.Filesystem.Value.Hide.Value, hidden)
	}
	if !ok {
		t.Errorf("%+v", m)
	}
	return ok
}

// TestNarrowTwice covers every field except a workshop, which has one root, and restrict, which
// continues from its caller's subtree.
func TestNarrowTwice(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range propertyRounds {
		p, c := document(rng, groups), document(rng, groups)
		once, err := narrowed(t, p, c)
		if err != nil || strings.Contains(c, "sandbox") || strings.Contains(c, "restrict") {
			continue
		}
		twice, err := narrowed(t, p, c, c)
		if err != nil {
			t.Fatalf("%s under %s, again: %v", c, p, err)
		}
		if a, b := all(&once), all(&twice); a != b {
			t.Fatalf("%s under %s\nonce  %s\ntwice %s", c, p, a, b)
		}
	}
}

func TestAbsentInherits(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range propertyRounds / 4 {
		p := document(rng, groups)
		alone, err := narrowed(t, p)
		if err != nil {
			continue
		}
		under, err := narrowed(t, p, "{}")
		if err != nil {
			t.Fatalf("{} under %s: %v", p, err)
		}
		if a, b := all(&alone), all(&under); a != b {
			t.Fatalf("%s\nalone %s\nunder %s", p, a, b)
		}
		if over, err := narrowed(t, "{}", p); err != nil || all(&over) != all(&alone) {
			t.Fatalf("%s under {}: %v\n%s\n%s", p, err, all(&over), all(&alone))
		}
	}
}

// TestOrderOfIndependentRestrictions narrows a document by two others of different groups, in both
// orders.
func TestOrderOfIndependentRestrictions(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range propertyRounds {
		mine, others := []func(*rand.Rand) string{}, []func(*rand.Rand) string{}
		// An access_mode implies a network and an environment, so it is not independent.
		files := len(groups) - 1
		for i, g := range groups {
			if side := rng.IntN(2); side == 0 && i != 4 && i != 5 || i == files {
				mine = append(mine, g)
			} else if i != 4 && i != 5 {
				others = append(others, g)
			}
		}
		p, b, c := document(rng, groups), document(rng, mine), document(rng, others)
		bc, err1 := narrowed(t, p, b, c)
		cb, err2 := narrowed(t, p, c, b)
		switch {
		case err1 == nil && err2 == nil:
			if all(&bc) != all(&cb) {
				t.Fatalf("%s, %s under %s\n%s\n%s", b, c, p, all(&bc), all(&cb))
			}
		case err1 == nil || err2 == nil:
			t.Fatalf("%s, %s under %s: %v, %v", b, c, p, err1, err2)
		}
	}
}

// all returns everything that is in force, without places, the order of unions, and remarks on how
// it came about.
func all(r *Resolved) string {
	x := *r
	sorted := func(l []string) []string { return slices.Sorted(slices.Values(l)) }
	s := summary(x) + " env=" + strings.Join(sorted(x.Env), ",") + " best=" + strings.Join(fieldTexts(x.BestEffort), ",")
	for _, l := range [][]ProgramAt{x.Allow, x.Deny} {
		var real []string
		for _, p := range l {
			real = append(real, p.Name+p.Path.Real)
		}
		s += " programs=" + strings.Join(sorted(real), ",")
	}
	v := reflect.ValueOf(*r.Spec)
	for _, name := range []string{"ToolsAllowed", "MaxTurns", "MaxCommands", "Limits", "OnExceed"} {
		if f := v.FieldByName(name); f.FieldByName("Set").Bool() {
			s += " " + name + "=" + strings.TrimSpace(strings.ReplaceAll(strings.Trim(toText(f.FieldByName("Value")), "{}"), "\n", " "))
		}
	}
	return s + " denied=" + strings.Join(sorted(r.Spec.ToolsDenied.Value), ",")
}

func fieldTexts(all []Field) []string {
	var s []string
	for _, f := range all {
		s = append(s, string(f))
	}
	return s
}

func toText(v reflect.Value) string {
	if l, ok := v.Interface().(Limits); ok {
		return strconv.Itoa(l.PIDs.Value) + "/" + l.Memory.Value.String()
	}
	if l, ok := v.Interface().([]string); ok {
		return strings.Join(l, ",")
	}
	return strconv.FormatInt(reflectInt(v), 10)
}

func reflectInt(v reflect.Value) int64 {
	if v.CanInt() {
		return v.Int()
	}
	return int64(v.Uint())
}
