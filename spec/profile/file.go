package profile

import (
	"path"
	"strings"

	"sbx/internal/doc"
	"sbx/internal/doc/decode"
	"sbx/spec"
)

// ProfilesFile is a document of profiles as it was read: the built-in one, the user's or a
// project's.
type ProfilesFile struct {
	Name     string
	Profiles []ProfileRow
	Points   []PointRow
}

// ProfileRow is a profile of a document. A field that it leaves out is that of the profile with the
// same name in the document before, or of the one that Extends names. The rows of the built-in
// document are complete.
type ProfileRow struct {
	Name          string
	Why           spec.Opt[string] // its purpose, in a few words
	Extends       spec.Opt[string]
	Agents        []Named
	AllowedTools  spec.Opt[[]string] // Claude's names and patterns
	BashPolicy    spec.Opt[[]string] // the rules that replace a bare Bash: "git:*" for Bash(git:*)
	Mode          spec.Opt[spec.PermissionMode]
	Scoped        spec.Opt[bool]              // project_scoped
	Spec          spec.Opt[*spec.SandboxSpec] // its Source says where it stands
	Make          spec.Opt[[]string]          // directories to make if missing
	WriteExisting spec.Opt[[]string]          // "*.md"
	On            doc.Pos
	Places        map[string]doc.Pos // of the members that the document has
}

// Named is a name and its place.
type Named struct {
	Name string
	On   doc.Pos
}

// PointRow is a launch point and the profile that applies there; Own means the agent's own.
type PointRow struct {
	Point, Profile string
	On             doc.Pos
}

// Own stands for the agent's own profile at a launch point.
const Own = "own"

// DecodeProfiles reads a document of profiles, as YAML or JSON according to its name. The error is
// a *DecodeError.
func DecodeProfiles(name string, b []byte) (*ProfilesFile, error) {
	root, err := doc.Parse(name, b)
	if err != nil {
		return nil, err
	}
	d := spec.NewDecoder(name)
	f := &ProfilesFile{Name: name}
	decode.Object(&d, root, profilesFields, f)
	if d.Err != nil {
		return nil, d.Err
	}
	return f, nil
}

var profilesFields = []decode.Field[ProfilesFile]{
	{Name: "profiles", Read: func(d *decode.Decoder, n *doc.Node, f *ProfilesFile) {
		d.Named(n, "an object of profiles", profileNameRule, func(m *doc.Member) {
			row := ProfileRow{Name: m.Key, On: m.KeyPos, Places: map[string]doc.Pos{}}
			decode.Object(d, m.Value, profileFields, &row)
			for i := range m.Value.Members {
				row.Places[m.Value.Members[i].Key] = m.Value.Members[i].Value.Pos
			}
			f.Profiles = append(f.Profiles, row)
		})
	}},
	{Name: "points", Read: func(d *decode.Decoder, n *doc.Node, f *ProfilesFile) {
		d.Named(n, "an object of launch points and profiles", agentNameRule, func(m *doc.Member) {
			f.Points = append(f.Points, PointRow{Point: m.Key, Profile: d.String(m.Value, profileNameRule), On: m.Value.Pos})
		})
	}},
}

var profileFields = []decode.Field[ProfileRow]{
	{Name: "why", Read: func(d *decode.Decoder, n *doc.Node, p *ProfileRow) { p.Why = spec.Some(d.String(n, lineRule)) }},
	{Name: "extends", Read: func(d *decode.Decoder, n *doc.Node, p *ProfileRow) {
		p.Extends = spec.Some(d.String(n, profileNameRule))
	}},
	{Name: "agents", Read: func(d *decode.Decoder, n *doc.Node, p *ProfileRow) {
		d.Each(n, "a list of agents", func(item *doc.Node) {
			p.Agents = append(p.Agents, Named{Name: d.String(item, agentNameRule), On: item.Pos})
		})
	}},
	{Name: "allowed_tools", Read: func(d *decode.Decoder, n *doc.Node, p *ProfileRow) {
		p.AllowedTools = spec.Some(d.Strings(n, spec.ToolRule))
	}},
	{Name: "bash_policy", Read: func(d *decode.Decoder, n *doc.Node, p *ProfileRow) { p.BashPolicy = spec.Some(d.Strings(n, bashRule)) }},
	{Name: "permission_mode", Read: func(d *decode.Decoder, n *doc.Node, p *ProfileRow) {
		p.Mode = spec.Some(decode.Word(d, n, spec.ParsePermissionMode, spec.PermissionModes))
	}},
	{Name: "project_scoped", Read: func(d *decode.Decoder, n *doc.Node, p *ProfileRow) { p.Scoped = spec.Some(d.Bool(n)) }},
	{Name: "spec", Read: func(d *decode.Decoder, n *doc.Node, p *ProfileRow) { p.Spec = spec.Some(readSpec(d, n)) }},
	{Name: "make", Read: func(d *decode.Decoder, n *doc.Node, p *ProfileRow) { p.Make = spec.Some(d.Strings(n, makeRule)) }},
	{Name: "write_existing", Read: func(d *decode.Decoder, n *doc.Node, p *ProfileRow) {
		p.WriteExisting = spec.Some(d.Strings(n, suffixRule))
	}},
}

// elsewhere lists fields that the spec of a profile may not set, and where the same is set instead.
var elsewhere = []struct{ field, where string }{
	{"profile", "write \"extends\" beside spec"},
	{"working_dir", "it is the project"},
	{"tools_allowed", "write \"allowed_tools\" beside spec"},
	{"sandbox", "it belongs to a workshop"},
	{"restrict", "it belongs to a worker"},
	{"agent", "a profile is any agent's"},
}

// readSpec reads the spec of a profile.
func readSpec(d *decode.Decoder, n *doc.Node) *spec.SandboxSpec {
	outer := d.Path
	s := &spec.SandboxSpec{Source: spec.Source{Name: d.Name, Root: n}}
	spec.ReadFields(d, n, s)
	if d.Err != nil {
		return nil
	}
	for _, e := range elsewhere {
		if v := n.Get(e.field); v != nil {
			d.Path = doc.Join(outer, e.field)
			d.FailMeant(v.Pos, "a profile does not say this in its spec", "", e.where)
			return nil
		}
	}
	if spec.AcrossFields(d, n); d.Err != nil {
		d.Err.Field = doc.Join(outer, d.Err.Field)
	}
	return s
}

// agentNameRule is the rule for names of agents and launch points.
func agentNameRule(s string) (why, meant, help string) {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '-' && c != '_' && c != '.' && c != ':') {
			return "want a name of letters, digits and -_.:, got " + doc.Quote(doc.Cut(s)), "", ""
		}
	}
	if s == "" {
		return "want a name, got an empty string", "", ""
	}
	return "", "", ""
}

// profileNameRule is the rule for a profile's name.
func profileNameRule(s string) (why, meant, help string) {
	if why, meant, help = agentNameRule(s); why != "" {
		return why, meant, help
	}
	if name := ProfileName(s); name != s {
		return "want a name in lower case with dashes, got " + doc.Quote(doc.Cut(s)), name, ""
	}
	return "", "", ""
}

// ProfileName returns s as a profile's name: READ_ONLY means read-only.
func ProfileName(s string) string {
	return strings.ReplaceAll(strings.ToLower(s), "_", "-")
}

// bashRule is the rule for the text inside Bash( ).
func bashRule(s string) (why, meant, help string) {
	if inner, ok := strings.CutPrefix(s, "Bash("); ok {
		return "want what stands between the parentheses, got " + doc.Quote(doc.Cut(s)), strings.TrimSuffix(inner, ")"), ""
	}
	if why, _, _ := spec.ToolRule("Bash(" + s + ")"); s == "" || why != "" {
		return "want a pattern of commands, got " + doc.Quote(doc.Cut(s)), "", `as in "git log:*"`
	}
	return "", "", ""
}

// makeRule is the rule for a directory of the project that is made if missing.
func makeRule(s string) (why, meant, help string) {
	if why, meant, help = spec.ListedPathRule(s); why != "" {
		return why, meant, help
	}
	if c := path.Clean(s); s[0] == '/' || s[0] == '~' || c == "." || c == ".." || strings.HasPrefix(c, "../") {
		return "want a directory inside the project, got " + doc.Quote(doc.Cut(s)), "", `as in "docs"`
	}
	return "", "", ""
}

// suffixRule is the rule for the endings by which files are found.
func suffixRule(s string) (why, meant, help string) {
	end, ok := strings.CutPrefix(s, "*.")
	if !ok || end == "" || strings.ContainsAny(end, "*?/\x00") {
		return "want * and how a name ends, got " + doc.Quote(doc.Cut(s)), "", `as in "*.md"`
	}
	return "", "", ""
}

// lineRule is the rule for text that is shown on one line.
func lineRule(s string) (why, meant, help string) {
	for i := range len(s) {
		if s[i] < ' ' {
			return "want one line of text", "", ""
		}
	}
	return "", "", ""
}
