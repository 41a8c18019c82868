package agent

import (
	"strings"
	"testing"

	"sbx/spec"
)

func TestShellWords(t *testing.T) {
	cases := map[string]string{
		`/bin/bash -lc 'ls | wc -l'`:     "/bin/bash|-lc|ls | wc -l",
		`/bin/bash -lc "cat 'NOTE.txt'"`: "/bin/bash|-lc|cat 'NOTE.txt'",
		`bash -lc "a \"b\" \$c \x"`:      `bash|-lc|a "b" $c \x`,
		`a\ b ''`:                        "a b|",
		`a"b"'c'`:                        "abc",
		"":                               "",
		`a 'b`:                           "no", `a "b`: "no", `a $b`: "no", `a "$b"`: "no", `a | b`: "no", `a\`: "no", "a `b`": "no", `a > b`: "no",
	}
	for in, want := range cases {
		words, ok := shellWords(in)
		got := strings.Join(words, "|")
		if !ok {
			got = "no"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		`/bin/bash -lc 'ls'`: "ls", `sh -c "a b"`: "a b", `ls -lc x`: "ls -lc x", `bash script`: "bash script", `bash -lc 'a' b`: `bash -lc 'a' b`,
	} {
		if got := shellScript(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestShellCommands(t *testing.T) {
	cases := []struct {
		in    string
		want  string
		plain bool
	}{
		{"git status", "git status", true},
		{"ls | wc -l; git  status\t--short && cat 'a  b' || x & y\nz |& w", "ls|wc -l|git status --short|cat 'a  b'|x|y|z|w", true},
		{"", "", true},
		{"# nothing\n a # more; rm\nb#c", "a|b#c", true},
		{"a 2>&1 >/dev/null </dev/null", "a", true},
		{"a &>/dev/null; b 2> /dev/null", "a|b", true},
		{"echo a2>/dev/null", "echo a2", true}, // a2 is a word, and its end no descriptor
		{"a > b", "a", false}, {"a >> b", "a", false}, {"a < b", "a", false}, {"a >/dev/nullx", "a", false}, {`a >/dev/null"x"`, `a "x"`, false},
		{"a >&f", "a", false}, {"a &> f", "a", false},
		{"a <<E\nrm x\nE", "a|rm x|E", false}, {"a <<</dev/null", "a", false},
		{"a $(b)", "a $|b", false}, {"a `b`", "a|b", false}, {`a "$(b)"`, `a "$(b)"`, false}, {`a "${b:-$(c)}"`, `a "${b:-$(c)}"`, false}, {"a ${b}", "a ${b}", false}, {"a $'b'", "a $'b'", false},
		{`a $b "$c"`, `a $b "$c"`, true}, {"a '$(b)'", "a '$(b)'", true}, {`a "\$(b)"`, `a "\$(b)"`, true}, {`a \; b`, `a \; b`, true},
		{"(a)", "a", false}, {"a <(b)", "a|b", false}, {"{ a; }", "{ a|}", false}, {"if a; then b; fi", "if a|then b|fi", false}, {"! a", "! a", false},
		{"a 'b", "a 'b", false}, {`a "b`, `a "b`, false}, {"a \\\nb", "a b", true}, {"a\\", "a\\", true},
	}
	for _, c := range cases {
		commands, plain := shellCommands(c.in)
		if got := strings.Join(commands, "|"); got != c.want || plain != c.plain {
			t.Errorf("%q: %q %v, want %q %v", c.in, got, plain, c.want, c.plain)
		}
	}
}

func FuzzShell(f *testing.F) {
	for _, s := range []string{"ls | wc -l; git status", "a \"$(b)\" 'c' \\", "a 2>&1 >/dev/null <<E\nx\nE", "bash -lc 'bash -c \"rm\"'", "{ a & } # b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		commands, _ := shellCommands(script)
		for _, c := range commands {
			if c == "" || strings.TrimSpace(c) != c {
				t.Errorf("%q has the command %q", script, c)
			}
		}
		shellSuspects(script, 0)
		shellWords(script)
	})
}

func TestJudge(t *testing.T) {
	bash := func(s string) Wish { return Wish{Name: "Bash", As: []string{"Bash"}, Targets: []string{s}} }
	file := func(name, p string) Wish { return Wish{Name: name, As: []string{name}, Targets: []string{p}} }
	change := func(as ...string) Wish {
		return Wish{Name: "file_change", As: as, Targets: []string{"/w/src/a", "/w/src/b"}}
	}
	cases := []struct {
		allowed, denied string // "-" for absent
		wish            Wish
		rule            string // "" for inside
	}{
		{"-", "-", bash("rm x"), ""},
		{"", "-", bash("ls"), "tools_allowed"},
		{"Bash", "-", bash("anything $(at all)"), ""},
		{"Read", "-", bash("ls"), "tools_allowed"},
		{"Bash(git:*)", "-", bash("git status"), ""},
		{"Bash(git:*)", "-", bash("git status && rm x"), "tools_allowed"},
		{"Bash(git:*)|Bash(ls:*)", "-", bash("ls; git log 2>&1 | ls"), ""},
		{"Bash(git:*)", "-", bash("git log $(rm x)"), "tools_allowed"},
		{"Bash(git:*)", "-", bash("git log > /etc/x"), "tools_allowed"},
		{"Bash(git:*)", "-", bash("X=1 git log"), "tools_allowed"},
		{"Bash(npm test && npm run x)", "-", bash("npm test && npm run x"), ""},
		{"Bash(git:*)", "-", Wish{Name: "Bash", As: []string{"Bash"}, Targets: []string{"git log"}, Cut: true}, "tools_allowed"},
		{"Bash(git:*)", "-", Wish{Name: "Bash", As: []string{"Bash"}}, "tools_allowed"},
		{"Bash(git:*)", "-", bash("# nothing"), ""},

		{"-", "Bash", bash("ls"), "tools_denied: [\"Bash\"]"},
		{"Bash", "Bash(rm:*)", bash("ls"), ""},
		{"Bash", "Bash(rm:*)", bash("ls; rm x"), "tools_denied: [\"Bash(rm:*)\"]"},
		{"Bash", "Bash(rm:*)", bash("echo rm x"), ""},
		{"Bash", "Bash(rm:*)", bash(`r\m x`), "tools_denied: [\"Bash(rm:*)\"]"},
		{"Bash", "Bash(rm:*)", bash(`"rm" x`), "tools_denied: [\"Bash(rm:*)\"]"},
		{"Bash", "Bash(rm:*)", bash("/bin/rm x"), "tools_denied: [\"Bash(rm:*)\"]"},
		{"Bash", "Bash(rm:*)", bash("A=1 sudo -n rm x"), "tools_denied: [\"Bash(rm:*)\"]"},
		{"Bash", "Bash(rm:*)", bash("timeout 5 rm x"), "tools_denied: [\"Bash(rm:*)\"]"},
		{"Bash", "Bash(rm:*)", bash("ls | xargs rm"), "tools_denied: [\"Bash(rm:*)\"]"},
		{"Bash", "Bash(rm:*)", bash("echo $(rm x)"), "tools_denied: [\"Bash(rm:*)\"]"},
		{"Bash", "Bash(rm:*)", bash("echo \"`rm x`\""), "tools_denied: [\"Bash(rm:*)\"]"},
		{"Bash", "Bash(rm:*)", bash("if true; then rm x; fi"), "tools_denied: [\"Bash(rm:*)\"]"},
		{"Bash", "Bash(rm:*)", bash(`bash -c 'sh -c "rm x"'`), "tools_denied: [\"Bash(rm:*)\"]"},
		{"Bash", "Bash(rm:*)", Wish{Name: "Bash", As: []string{"Bash"}, Cut: true}, "tools_denied: [\"Bash(rm:*)\"]"},
		{"Bash(git:*)", "Bash(git push:*)", bash("git push"), "tools_denied: [\"Bash(git push:*)\"]"},

		{"Edit", "-", change("Edit"), ""}, {"Edit", "-", change("Write"), "tools_allowed"}, {"Edit", "-", change("Edit", "Write"), "tools_allowed"},
		{"Edit|Write", "-", change("Edit", "Write"), ""}, {"Edit(src/**)", "-", change("Edit"), ""}, {"Edit(src/a)", "-", change("Edit"), "tools_allowed"},
		{"-", "Write", change("Edit"), ""}, {"-", "Edit(src/b)", change("Edit"), "tools_denied: [\"Edit(src/b)\"]"}, {"file_change", "-", change("Write"), ""},
		{"Read(//etc)", "-", file("Read", "/etc/../root/x"), "tools_allowed"}, {"Read(src/**)", "-", file("Read", "src/a"), ""},
		{"-", "Read(~/.ssh)", file("Read", "/home/u/.ssh/id"), "tools_denied: [\"Read(~/.ssh)\"]"},
		{"Grep(src)", "-", Wish{Name: "Grep", As: []string{"Grep"}}, "tools_allowed"}, {"Grep(//w)", "-", Wish{Name: "Grep", As: []string{"Grep"}}, ""},
		{"mcp__s", "-", Wish{Name: "mcp__s__t", As: []string{"mcp__s__t"}}, ""}, {"mcp__s__u", "-", Wish{Name: "mcp__s__t", As: []string{"mcp__s__t"}}, "tools_allowed"},
		{"Task(Explore)", "-", Wish{Name: "Agent", As: []string{"Task"}, Targets: []string{"Explore"}}, ""},
		{"-", "Agent(Explore)", Wish{Name: "Agent", As: []string{"Task"}}, ""},
	}
	list := func(s string) spec.Opt[[]string] {
		switch s {
		case "-":
			return spec.Opt[[]string]{}
		case "":
			return spec.Some([]string{})
		}
		return spec.Some(strings.Split(s, "|"))
	}
	for _, c := range cases {
		r := NewRules(spec.Claude, list(c.allowed), list(c.denied), spec.Place{Dir: "/w", Home: "/home/u"})
		if v := r.Judge(c.wish); v.Rule != c.rule || v.Outside != (c.rule != "") {
			t.Errorf("allowed %q, denied %q: %+v: %+v, want %q", c.allowed, c.denied, c.wish, v, c.rule)
		}
	}
}

func TestJudgeServersOfGemini(t *testing.T) {
	w := Wish{Name: "mcp_my_server_tool", As: []string{"mcp_my_server_tool"}}
	for pattern, inside := range map[string]bool{"mcp__my_server__tool": true, "mcp__my_server": true, "mcp__*": true, "mcp__other": false, "mcp__my_serv": false} {
		r := NewRules(spec.Gemini, spec.Some([]string{pattern}), spec.Opt[[]string]{}, spec.Place{Dir: "/w"})
		if r.Judge(w).Outside == inside {
			t.Errorf("%s: inside %v", pattern, !inside)
		}
	}
}

// TestJudgeSamples judges the tools that recorded agents requested, by the agents' names for them.
func TestJudgeSamples(t *testing.T) {
	cases := []struct {
		file, allowed string
		outside       string // "name line" of each
	}{
		{"claude-basic.jsonl", "Bash|Read", `Write tools_allowed: ["Bash", "Read", "Write"]`},
		{"codex-basic.jsonl", "Bash|Read", `file_change tools_allowed: ["Bash", "Read", "Write"]`},
		{"gemini-basic.jsonl", "Bash|Read", `write_file tools_allowed: ["Bash", "Read", "Write"]`},
		{"codex-basic.jsonl", "Bash(ls:*)|Bash(wc:*)|Bash(git:*)|Bash(cat:*)|Write", ""},
		{"gemini-basic.jsonl", "Bash(ls:*)|Bash(wc:*)|Bash(git:*)|Bash(cat:*)|Write|Read(*.txt)", ""},
		{"claude-basic.jsonl", "Bash(ls:*)|Bash(git:*)|Write|Read", `Bash tools_allowed: ["Bash(ls:*)", "Bash(git:*)", "Write", "Read", "Bash"]`},
		{"claude-subagent.jsonl", "Bash", `Agent tools_allowed: ["Bash", "Task"]`},
		{"codex-subagent.jsonl", "Bash", `collab_tool_call tools_allowed: ["Bash", "Task"]`},
		{"gemini-subagent.jsonl", "Bash", `invoke_agent tools_allowed: ["Bash", "Task"]`},
	}
	for _, c := range cases {
		a := agentOf(t, c.file)
		r := NewRules(a, spec.Some(strings.Split(c.allowed, "|")), spec.Opt[[]string]{}, spec.Place{Dir: "/home/user/project"})
		var got []string
		s, _ := New(a, Hooks{Tool: func(w Wish) {
			if v := r.Judge(w); v.Outside {
				got = append(got, w.Name+" "+v.AllowWith)
			}
		}})
		s.Write(load(t, "testdata/"+c.file))
		s.Close()
		if text := strings.Join(got, "; "); text != c.outside {
			t.Errorf("%s under %s: %s, want %s", c.file, c.allowed, text, c.outside)
		}
	}
}
