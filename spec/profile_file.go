package spec

import (
	"strings"

	"sbx/internal/doc"
)

// ProfilesFile is a document of profiles as it was read: the built-in one, the
// user's or a project's.
type ProfilesFile struct {
	Name     string
	Profiles []ProfileRow
	Points   []PointRow
}

// ProfileRow is one profile of a document. What is absent is the same as in the
// profile of that name further out, or in the one that Extends names; the rows
// of the built-in document lack nothing.
type ProfileRow struct {
	Name          string
	Why           Opt[string] // what it is for, in a few words
	Extends       Opt[string]
	Agents        []Named
	AllowedTools  Opt[[]string] // Claude's names and patterns
	BashPolicy    Opt[[]string] // what stands in for a bare Bash: "git:*" for Bash(git:*)
	Mode          Opt[PermissionMode]
	Scoped        Opt[bool]         // project_scoped
	Spec          Opt[*SandboxSpec] // its Source tells where it stands
	Make          Opt[[]string]     // directories made if missing
	WriteExisting Opt[[]string]     // "*.md"
	On            Pos
	Places        map[string]Pos // of the members that are there
}

// Named is a name and where it stands.
type Named struct {
	Name string
	On   Pos
}

// PointRow says which profile holds at a launch point; Own is the agent's own.
type PointRow struct {
	Point, Profile string
	On             Pos
}

// Own stands for the agent's own profile at a launch point.
const Own = "own"

// DecodeProfiles reads a document of profiles, YAML or JSON by its name. The
// error is a *DecodeError.
func DecodeProfiles(name string, b []byte) (*ProfilesFile, error) {
	root, err := doc.Parse(name, b)
	if err != nil {
		return nil, err
	}
	d := decoder{name: name}
	f := &ProfilesFile{Name: name}
	object(&d, root, profilesFields, f)
	if d.err != nil {
		return nil, d.err
	}
	return f, nil
}

var profilesFields = []member[ProfilesFile]{
	{"profiles", func(d *decoder, n *Node, f *ProfilesFile) {
		d.named(n, "an object of profiles", profileNameRule, func(m *Member) {
			row := ProfileRow{Name: m.Key, On: m.KeyPos, Places: map[string]Pos{}}
			object(d, m.Value, profileFields, &row)
			for i := range m.Value.Members {
				row.Places[m.Value.Members[i].Key] = m.Value.Members[i].Value.Pos
			}
			f.Profiles = append(f.Profiles, row)
		})
	}, nil},
	{"points", func(d *decoder, n *Node, f *ProfilesFile) {
		d.named(n, "an object of launch points and profiles", agentNameRule, func(m *Member) {
			f.Points = append(f.Points, PointRow{Point: m.Key, Profile: d.string(m.Value, profileNameRule), On: m.Value.Pos})
		})
	}, nil},
}

var profileFields = []member[ProfileRow]{
	{"why", func(d *decoder, n *Node, p *ProfileRow) { p.Why = Some(d.string(n, lineRule)) }, nil},
	{"extends", func(d *decoder, n *Node, p *ProfileRow) { p.Extends = Some(d.string(n, profileNameRule)) }, nil},
	{"agents", func(d *decoder, n *Node, p *ProfileRow) {
		d.each(n, "a list of agents", func(item *Node) {
			p.Agents = append(p.Agents, Named{Name: d.string(item, agentNameRule), On: item.Pos})
		})
	}, nil},
	{"allowed_tools", func(d *decoder, n *Node, p *ProfileRow) { p.AllowedTools = d.strings(n, toolRule) }, nil},
	{"bash_policy", func(d *decoder, n *Node, p *ProfileRow) { p.BashPolicy = d.strings(n, bashRule) }, nil},
	{"permission_mode", func(d *decoder, n *Node, p *ProfileRow) {
		p.Mode = word(d, n, ParsePermissionMode, permissionModes)
	}, nil},
	{"project_scoped", func(d *decoder, n *Node, p *ProfileRow) { p.Scoped = d.bool(n) }, nil},
	{"spec", func(d *decoder, n *Node, p *ProfileRow) { p.Spec = Some(d.profileSpec(n)) }, nil},
	{"make", func(d *decoder, n *Node, p *ProfileRow) { p.Make = d.strings(n, makeRule) }, nil},
	{"write_existing", func(d *decoder, n *Node, p *ProfileRow) { p.WriteExisting = d.strings(n, suffixRule) }, nil},
}

// named reads an object whose members have names of the writer's choice.
func (d *decoder) named(n *Node, what string, r rule, read func(*Member)) {
	if !d.want(n, Object, what) {
		return
	}
	outer := d.path
	for i := range n.Members {
		m := &n.Members[i]
		d.path = doc.Join(outer, odd(cut(m.Key)))
		if why, meant, help := r(m.Key); why != "" {
			d.failMeant(m.KeyPos, why, meant, help)
			return
		}
		if read(m); d.err != nil {
			return
		}
	}
	d.path = outer
}

// elsewhere are fields of a spec that a profile's has no use for, and where the
// same is said.
var elsewhere = []struct{ field, where string }{
	{"profile", "write \"extends\" beside spec"},
	{"working_dir", "it is the project"},
	{"tools_allowed", "write \"allowed_tools\" beside spec"},
	{"sandbox", "it belongs to a workshop"},
	{"restrict", "it belongs to a worker"},
	{"agent", "a profile is any agent's"},
}

// profileSpec reads the spec of a profile.
func (d *decoder) profileSpec(n *Node) *SandboxSpec {
	outer := d.path
	s := &SandboxSpec{Source: Source{Name: d.name, Root: n}}
	object(d, n, specFields, s)
	if d.err != nil {
		return nil
	}
	for _, e := range elsewhere {
		if v := n.Get(e.field); v != nil {
			d.path = doc.Join(outer, e.field)
			d.failMeant(v.Pos, "a profile does not say this in its spec", "", e.where)
			return nil
		}
	}
	if d.acrossFields(n); d.err != nil {
		d.err.Field = doc.Join(outer, d.err.Field)
	}
	return s
}

// agentNameRule is the rule of the names of agents and launch points.
func agentNameRule(s string) (why, meant, help string) {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '-' && c != '_' && c != '.' && c != ':') {
			return "want a name of letters, digits and -_.:, got " + quote(cut(s)), "", ""
		}
	}
	if s == "" {
		return "want a name, got an empty string", "", ""
	}
	return "", "", ""
}

// profileNameRule is the rule of a profile's name.
func profileNameRule(s string) (why, meant, help string) {
	if why, meant, help = agentNameRule(s); why != "" {
		return why, meant, help
	}
	if name := ProfileName(s); name != s {
		return "want a name in lower case with dashes, got " + quote(cut(s)), name, ""
	}
	return "", "", ""
}

// ProfileName is s as profiles are called: READ_ONLY is read-only.
func ProfileName(s string) string {
	return strings.ReplaceAll(strings.ToLower(s), "_", "-")
}

// bashRule is the rule of what stands in Bash( ).
func bashRule(s string) (why, meant, help string) {
	if inner, ok := strings.CutPrefix(s, "Bash("); ok {
		return "want what stands between the parentheses, got " + quote(cut(s)), strings.TrimSuffix(inner, ")"), ""
	}
	if why, _, _ := toolRule("Bash(" + s + ")"); s == "" || why != "" {
		return "want a pattern of commands, got " + quote(cut(s)), "", `as in "git log:*"`
	}
	return "", "", ""
}

// makeRule is the rule of a directory of the project that is made if missing.
func makeRule(s string) (why, meant, help string) {
	if why, meant, help = listedPath(s); why != "" {
		return why, meant, help
	}
	if c := clean(s); s[0] == '/' || s[0] == '~' || c == "." || c == ".." || strings.HasPrefix(c, "../") {
		return "want a directory inside the project, got " + quote(cut(s)), "", `as in "docs"`
	}
	return "", "", ""
}

// suffixRule is the rule of files that are found by how their names end.
func suffixRule(s string) (why, meant, help string) {
	end, ok := strings.CutPrefix(s, "*.")
	if !ok || end == "" || strings.ContainsAny(end, "*?/\x00") {
		return "want * and how a name ends, got " + quote(cut(s)), "", `as in "*.md"`
	}
	return "", "", ""
}

// lineRule is the rule of text that is shown on one line.
func lineRule(s string) (why, meant, help string) {
	for i := range len(s) {
		if s[i] < ' ' {
			return "want one line of text", "", ""
		}
	}
	return "", "", ""
}
