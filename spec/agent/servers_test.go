package agent

import (
	"slices"
	"strings"
	"testing"

	"sbx/spec"
)

// found is what an agent finds in files: an empty text is one that cannot be read.
func found(a spec.Agent, files map[string]string, typed ...string) *Servers {
	env := map[string]string{"CODEX_HOME": files["$CODEX_HOME"], "CLAUDE_CONFIG_DIR": files["$CLAUDE_CONFIG_DIR"]}
	return FindServers(a, Place{
		Home: "/home/u", Start: "/p/q", Typed: ReadArgs(a, typed),
		Get: func(name string) string { return env[name] },
		Read: func(path string) ([]byte, bool, error) {
			text, there := files[path]
			if there && text == "" {
				return nil, false, &spec.DecodeError{Name: path, Why: "is not a regular file"}
			}
			return []byte(text), there, nil
		},
		There: func(path string) bool { _, there := files[path]; return there },
	})
}

func TestFindServers(t *testing.T) {
	type files = map[string]string
	const one = "[mcp_servers.one]\ncommand = 'x'\n"
	for _, c := range []struct {
		name  string
		agent spec.Agent
		files files
		typed string
		want  string // names, ? behind what a project may bring; plugins; what is unsure; roles
	}{
		{"nothing", spec.Codex, nil, "", ";;;"},
		{"the user's", spec.Codex, files{"/home/u/.codex/config.toml": one + "[mcp_servers.'t w']\n"}, "", "one t w;;;"},
		{"moved", spec.Codex, files{"$CODEX_HOME": "/c/", "/c/config.toml": one, "/home/u/.codex/config.toml": "[mcp_servers.no]\n"}, "", "one;;;"},
		{"moved, relative", spec.Codex, files{"$CODEX_HOME": "c", "/p/q/c/config.toml": one}, "", "one;;;"},
		{"a project's", spec.Codex, files{"/p/.codex/config.toml": one + "[mcp_servers.far]\nurl = 'u'\n", "/home/u/.codex/config.toml": one}, "", "one far?url;;;"},
		{"its directory", spec.Codex, files{"/d/e/.codex/config.toml": one}, "exec|-C|/d/e/f", "one?command;;;"},
		{"a relative directory", spec.Codex, files{"/p/q/sub/.codex/config.toml": one}, "--cd=sub", "one?command;;;"},
		{"a profile", spec.Codex, files{"/home/u/.codex/deep.config.toml": one, "/home/u/.codex/config.toml": "profiles.old.mcp_servers.two.command = 'x'\n"}, "-p|deep", "two one;;;"},
		{"the machine's", spec.Codex, files{"/etc/codex/config.toml": one, "/etc/codex/managed_config.toml": "model = 'x'\n"}, "", "one;;;"},
		{"managed", spec.Codex, files{"/etc/codex/managed_config.toml": one}, "", ";;/etc/codex/managed_config.toml: codex lets its servers go before flags;"},
		{"broken", spec.Codex, files{"/home/u/.codex/config.toml": "[mcp_servers\n"}, "", `;;/home/u/.codex/config.toml: line 1: "]" is missing;`},
		{"no file", spec.Codex, files{"/home/u/.codex/config.toml": ""}, "", ";;/home/u/.codex/config.toml: is not a regular file;"},
		{"plugins", spec.Codex, files{"/home/u/.codex/config.toml": "[plugins.'a@b']\nenabled = true\n"}, "", ";a@b;;"},
		{"roles", spec.Codex, files{"/home/u/.codex/agents": "/"}, "", ";;;/home/u/.codex/agents"},
		{"roles by a file", spec.Codex, files{"/home/u/.codex/config.toml": "[agents.r]\nconfig_file = 'r.toml'\n"}, "", ";;;/home/u/.codex/config.toml"},
		{"typed", spec.Codex, nil, "-c|mcp_servers.a.command=x|-c|mcp_servers.b.enabled=false|--config=mcp_servers={c={url='u'}}", "a c;;;"},

		{"claude's", spec.Claude, files{"/home/u/.claude.json": `{"mcpServers": {"one": {}}, "projects": {"/x": {"mcpServers": {"two": {}}}}}`, "/p/.mcp.json": `{"mcpServers": {"three": {}}}`}, "", "one two three;;;"},
		{"claude's, moved", spec.Claude, files{"$CLAUDE_CONFIG_DIR": "/k", "/k/.claude.json": `{"mcpServers": {"one": {}}}`, "/home/u/.claude.json": `{"mcpServers": {"no": {}}}`}, "", "one;;;"},
		{"claude's, broken", spec.Claude, files{"/home/u/.claude.json": `{`}, "", ";;/home/u/.claude.json:1:2: want a key in double quotes, got the end of the document;"},
	} {
		s := found(c.agent, c.files, words(c.typed)...)
		var names []string
		for _, one := range s.All {
			kind, _, defined := strings.Cut(one.define, "=")
			if defined {
				kind = "?" + kind
			}
			names = append(names, one.Name+kind)
		}
		if got := strings.Join([]string{strings.Join(names, " "), strings.Join(s.Plugins, " "), s.Unsure, s.Roles}, ";"); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestServersAreWithheld(t *testing.T) {
	servers := &Servers{All: []Server{{Name: "one"}, {Name: "two-3"}, {Name: "o.d"}, {Name: "q\"\n"}, {Name: "p", define: `command="false"`}}}
	const off = `-c|features.plugins=false|-c|features.apps=false|`
	const odd = `-c|mcp_servers={"o.d"={enabled=false},"q\"\u000a"={enabled=false}}|`
	for _, c := range []struct {
		agent   spec.Agent
		ask     Ask
		args    string // of them those about servers
		lacking string
	}{
		{spec.Codex, Ask{Allowed: some([]string{"Bash", "Write", "Edit"}), Inside: true},
			off + odd + `-c|mcp_servers.one.enabled=false|-c|mcp_servers.two-3.enabled=false|-c|mcp_servers.p.enabled=false|-c|mcp_servers.p.command="false"`, ""},
		{spec.Codex, Ask{Allowed: some([]string{"mcp__one__a", "mcp__one__b", "mcp__two-3", "mcp__o.d__*"}), Denied: []string{"mcp__one__b", "mcp__two-3__x"}, Access: spec.ReadOnly},
			off + `-c|mcp_servers={"q\"\u000a"={enabled=false}}|-c|mcp_servers.one.enabled_tools=["a"]|-c|mcp_servers.two-3.disabled_tools=["x"]|-c|mcp_servers.p.enabled=false|-c|mcp_servers.p.command="false"`, ""},
		{spec.Codex, Ask{Denied: []string{"mcp__two-3"}}, `-c|mcp_servers.two-3.enabled=false`, ""},
		{spec.Codex, Ask{Denied: []string{"mcp__*"}}, off + odd + `-c|mcp_servers.one.enabled=false|-c|mcp_servers.two-3.enabled=false|-c|mcp_servers.p.enabled=false|-c|mcp_servers.p.command="false"`, ""},
		{spec.Codex, Ask{Denied: []string{"mcp__one__a*"}}, ``, "mcp__one__a*"},
		{spec.Codex, Ask{Denied: []string{"mcp__p__x"}}, ``, "mcp__p"},
		{spec.Codex, Ask{Denied: []string{"mcp__other"}}, ``, ""},
		{spec.Codex, Ask{Allowed: some([]string{"Write", "Edit", "Bash", "mcp__*"}), Inside: true}, ``, ""},
		{spec.Codex, Ask{Denied: []string{"Task"}}, ``, ""},

		{spec.Claude, Ask{Allowed: some([]string{"Bash"})}, `--strict-mcp-config`, ""},
		{spec.Claude, Ask{Allowed: some([]string{"Bash", "mcp__one__a", "mcp__o_d"})}, `mcp__one__a|mcp__o_d|--disallowedTools=Write,Edit,NotebookEdit,WebFetch,WebSearch,Task,mcp__two-3,mcp__q__,mcp__p,mcp__plugin_*,mcp__claude_ai_*`, ""},
		{spec.Claude, Ask{Allowed: some([]string{"Bash", "mcp__*"})}, `mcp__*|mcp__one|mcp__two-3|mcp__o_d|mcp__q__|mcp__p`, ""},
		{spec.Claude, Ask{Allowed: some([]string{"Bash", "mcp__plugin_x"})}, `mcp__plugin_x|--disallowedTools=Write,Edit,NotebookEdit,WebFetch,WebSearch,Task,mcp__one,mcp__two-3,mcp__o_d,mcp__q__,mcp__p,mcp__claude_ai_*`, ""},

		{spec.Gemini, Ask{Denied: []string{"mcp__one"}}, ``, "mcp__one"},
		{spec.Gemini, Ask{Denied: []string{"mcp__one", "mcp__o*"}, PolicyFile: "/p"}, ``, "mcp__o*"},
		{spec.Gemini, Ask{Allowed: some([]string{"mcp__one__a"}), PolicyFile: "/p"}, ``, ""},
		{spec.Gemini, Ask{Allowed: some([]string{"mcp__one__a", "Bash", "Read", "Grep", "Glob", "WebSearch", "Task"})}, ``, "mcp__* mcp__one__a"},
	} {
		c.ask.Servers = servers
		args, kept, lacking := Flags(c.agent, c.ask)
		var about []string
		for i, a := range args {
			switch {
			case strings.Contains(a, "mcp") && !strings.Contains(a, "Bash,mcp"), strings.HasPrefix(a, "features.plugins"), strings.HasPrefix(a, "features.apps"):
				if i > 0 && args[i-1] == "-c" {
					about = append(about, "-c")
				}
				about = append(about, a)
			}
		}
		if got := strings.Join(about, "|"); got != c.args {
			t.Errorf("%s, %v, not %v:\n got %s\nwant %s", c.agent, c.ask.Allowed.Value, c.ask.Denied, got, c.args)
		}
		var tools []string
		for _, l := range lacking {
			if isMCP(l.Tool) {
				tools = append(tools, l.Tool)
			}
		}
		if got := strings.Join(tools, " "); got != c.lacking {
			t.Errorf("%s, %v, not %v: lacks %q, want %q", c.agent, c.ask.Allowed.Value, c.ask.Denied, got, c.lacking)
		}
		for _, k := range kept {
			if k.Line == "" || k.How == "" {
				t.Errorf("%+v", k)
			}
		}
	}
}

// Of servers that claude's file may name and sbx cannot read, its asking alone keeps
// it: that is said, and what turns its asking off is refused for that reason.
func TestClaudesServersUnknown(t *testing.T) {
	const why = "/home/u/.claude.json: larger than 1 MiB"
	ask := Ask{Allowed: some([]string{"mcp__one"}), Inside: true}
	for _, unsure := range []string{why, ""} {
		ask.Servers = &Servers{All: []Server{{Name: "one"}}, Unsure: unsure}
		_, kept, _ := Flags(spec.Claude, ask)
		said := slices.ContainsFunc(kept, func(k Kept) bool { return k.Servers && k.How == why })
		refused := Escalations(spec.Claude, ReadArgs(spec.Claude, []string{"--dangerously-skip-permissions"}), ask)
		if said != (unsure != "") || len(refused) > 0 != (unsure != "") {
			t.Errorf("%q: %+v, %v", unsure, kept, refused)
		}
		if len(refused) > 0 && !strings.Contains(refused[0].Why, why) {
			t.Errorf("%v", refused)
		}
	}
}

// What cannot be told is not withheld.
func TestServersUnknown(t *testing.T) {
	for _, c := range []struct {
		servers *Servers
		ask     Ask
		lacks   bool
	}{
		{nil, Ask{Allowed: some([]string{})}, true},
		{nil, Ask{Allowed: some([]string{"mcp__*"})}, false},
		{nil, Ask{Denied: []string{"Task"}}, false},
		{&Servers{Unsure: "x: y"}, Ask{Allowed: some([]string{})}, true},
		{&Servers{Unsure: "x: y"}, Ask{Denied: []string{"mcp__x"}}, true},
		{&Servers{Roles: "x"}, Ask{Denied: []string{"mcp__x"}}, true},
		{&Servers{Roles: "x"}, Ask{Denied: []string{"mcp__x", "Task"}}, false},
		{&Servers{Plugins: []string{"x"}}, Ask{Denied: []string{"mcp__x"}}, true},
		{&Servers{Plugins: []string{"x"}}, Ask{Allowed: some([]string{})}, false},
	} {
		c.ask.Servers = c.servers
		_, _, lacking := Flags(spec.Codex, c.ask)
		has := false
		for _, l := range lacking {
			has = has || l.Tool == "mcp__*"
		}
		if has != c.lacks {
			t.Errorf("%+v, %+v: %v", c.servers, c.ask, lacking)
		}
	}
}

func TestGeminiServerRules(t *testing.T) {
	for pattern, want := range map[string]string{
		"mcp__*": "*/*", "mcp__a": "a/*", "mcp__a__*": "a/*", "mcp__a__b": "a/b", "mcp__a__b__c": "a/b__c a__b/c",
		"mcp__a*": "", "mcp__a__b*": "", "mcp__a__b(x)": "", "mcp__a__b(*)": "a/b", "mcp__": "", "Bash": "",
	} {
		var all []string
		for _, n := range geminiServerNames(pattern) {
			all = append(all, n[0]+"/"+n[1])
		}
		if got := strings.Join(all, " "); got != want {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
	got := Policy(spec.Gemini, Ask{Allowed: some([]string{"mcp__a__b"}), Denied: []string{"mcp__c"}})
	for _, rule := range []string{
		"\n[[rule]]\nmcpName = \"a\"\ntoolName = \"b\"\ndecision = \"allow\"\npriority = 950\n",
		"\n[[rule]]\nmcpName = \"c\"\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 960\n",
	} {
		if !strings.Contains(got, rule) {
			t.Errorf("no %s in\n%s", rule, got)
		}
	}
}

// What the caller types may not take back what is withheld.
func TestTypedServers(t *testing.T) {
	for _, c := range []struct {
		agent   spec.Agent
		allowed string
		line    string
		refused bool
	}{
		{spec.Codex, "Bash", "-c|mcp_servers.new.command=x", true},
		{spec.Codex, "Bash", "-c|mcp_servers={new={command='x'}}", true},
		{spec.Codex, "Bash mcp__new", "-c|mcp_servers.new.command=x", false},
		{spec.Codex, "Bash", "-c|mcp_servers.one.enabled=false", false},
		{spec.Codex, "Bash", "-c|mcp_servers.one.enabled=true", true},
		{spec.Codex, "mcp__one__a", "-c|mcp_servers.one={command='x'}", true},
		{spec.Codex, "mcp__one__a", "-c|mcp_servers.one.enabled_tools=['b']", true},
		{spec.Codex, "Bash", "--enable|plugins", true},
		{spec.Codex, "Bash mcp__*", "--enable|plugins", false},
		{spec.Claude, "mcp__one__a", "--dangerously-skip-permissions", true},
		{spec.Claude, "mcp__one", "--dangerously-skip-permissions", false},
		{spec.Claude, "mcp__*", "--dangerously-skip-permissions", false},
		{spec.Claude, "Bash", "--dangerously-skip-permissions", false},
	} {
		typed := ReadArgs(c.agent, words(c.line))
		s := &Servers{All: []Server{{Name: "one"}}}
		for _, name := range typed.Servers {
			s.add(Server{Name: name})
		}
		ask := Ask{Allowed: some(strings.Fields(c.allowed)), Servers: s, Inside: true, Access: spec.WorkspaceWrite}
		if got := Escalations(c.agent, typed, ask); (len(got) > 0) != c.refused {
			t.Errorf("%s, %s, %s: %v", c.agent, c.allowed, c.line, got)
		}
	}
}
