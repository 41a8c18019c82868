package spec

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func tool(t *testing.T, s string) Tool {
	t.Helper()
	p, ok := ParseTool(s)
	if !ok {
		t.Fatalf("%q is no pattern", s)
	}
	return p
}

func TestParseTool(t *testing.T) {
	for in, want := range map[string]string{
		"Read": "Read", "Bash(*)": "Bash", "Bash(git:*)": "Bash(git:*)", "mcp__*": "mcp__*", "*": "*",
		"Bash(a (b) c)": "Bash(a (b) c)", "Edit(//etc/**)": "Edit(//etc/**)",
	} {
		if got := tool(t, in).String(); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	for _, bad := range []string{"", "Bash()", "Bash(git", "(git)", "Bash (git)", "Bash(a\nb)", "two words"} {
		if p, ok := ParseTool(bad); ok {
			t.Errorf("%q became %q", bad, p)
		}
	}
}

func TestToolNamesMatch(t *testing.T) {
	cases := []struct {
		pattern, name string
		want          bool
	}{
		{"Bash", "Bash", true}, {"Bash", "bash", false}, {"Bash", "BashOutput", false},
		{"Task", "Agent", true}, {"Agent", "Task", true}, {"Edit", "MultiEdit", true}, {"Edit", "Write", false},
		{"mcp__*", "mcp__a__b", true}, {"mcp__a", "mcp__a__b", true}, {"mcp__a", "mcp__ab__c", false}, {"mcp__a__b", "mcp__a__b", true},
		{"mcp__a__b", "mcp__a__bc", false}, {"mcp__a__*", "mcp__a__b", true}, {"mcp__a__b", "mcp__a__b__c", false},
		{"*", "Anything", true}, {"T*k", "Agent", true}, {"Web*", "WebFetch", true}, {"Web*", "Bash", false},
	}
	for _, c := range cases {
		if got := tool(t, c.pattern).Names(c.name); got != c.want {
			t.Errorf("%s names %s: %v", c.pattern, c.name, got)
		}
	}
}

func TestToolMatches(t *testing.T) {
	at := Place{Dir: "/w", Home: "/home/u"}
	cases := []struct{ pattern, yes, no string }{
		{"Bash(git status)", "git status", "git status -s|git|git statusx"},
		{"Bash(git:*)", "git|git status|git -c a=b push", "gitk|/usr/bin/git|git\tx| git|echo git"},
		{"Bash(git *)", "git|git status", "gitk|echo git x"},
		{"Bash(git status:*)", "git status|git status -s", "git statusx|git"},
		{"Bash(ls*)", "ls|lsof|ls -l", "xls"},
		{"Bash(git * main)", "git push main|git a b main", "git main|git push main x|git"},
		{"Bash(* *)", "a b", "a"},
		{`Bash(echo \*)`, "echo *", "echo x"},
		{"Bash(a*b:*)", "a*b|a*b c", "axb c"},
		{"Bash(npm  run build)", "npm run build", "npm  run build"},
		{"run_shell_command(git:*)", "git status", "gitk"},
		{"Read(src/**)", "/w/src/a|/w/src/a/b", "/w/src|/w/srcs/a|/src/a|/w/a/src/b"},
		{"Read(src/*.go)", "/w/src/a.go|/w/src/x.go/y", "/w/src/a/b.go|/w/src/a.c"},
		{"Read(.env)", "/w/.env|/w/a/b/.env|/w/.env/x", "/w/.envrc|/home/u/.env"},
		{"Read(*.pem)", "/w/a.pem|/w/x/a.pem", "/w/a.pem2"},
		{"Read(//etc/**)", "/etc/a|/etc/a/b", "/w/etc/a|/etcetera"},
		{"Read(~/.ssh)", "/home/u/.ssh|/home/u/.ssh/id", "/w/.ssh|/home/u/.sshx"},
		{"Read(/docs/)", "/w/docs|/w/docs/a", "/docs/a"},
		{"Read(./a/**/b)", "/w/a/b|/w/a/x/b|/w/a/x/y/b", "/w/ab|/w/a/xb"},
		{"Read(a?c)", "/w/abc", "/w/a/c|/w/ac"},
		{"WebFetch(domain:example.com)", "https://example.com|http://EXAMPLE.com:80/x|https://a:b@example.com./", "https://a.example.com|https://example.com.evil.org|https://example.com@evil.org/|https://evil.org/example.com|example.com|https://evil.org\\@example.com"},
		{"WebFetch(domain:*.example.com)", "https://a.example.com/x|https://a.b.example.com", "https://example.com|https://aexample.com"},
		{"Task(Explore)", "Explore", "Plan|"},
		{"Skill(team:*)", "team:x", "other"},
		{"mcp__a__b(x*)", "xy", "y"},
	}
	for _, c := range cases {
		p := tool(t, c.pattern)
		for _, s := range strings.Split(c.yes, "|") {
			if !p.Matches(s, at) {
				t.Errorf("%s does not match %q", p, s)
			}
		}
		for _, s := range strings.Split(c.no, "|") {
			if p.Matches(s, at) {
				t.Errorf("%s matches %q", p, s)
			}
		}
	}
}

func TestToolCovers(t *testing.T) {
	cases := []struct {
		a, b string
		want bool
	}{
		{"Bash", "Bash", true}, {"Bash", "Bash(git:*)", true}, {"Bash(*)", "Bash", true},
		{"Bash(git:*)", "Bash(git status:*)", true}, {"Bash(git:*)", "Bash(git *)", true}, {"Bash(git *)", "Bash(git:*)", true},
		{"Bash(git:*)", "Bash(git status)", true}, {"Bash(git:*)", "Bash(git)", true}, {"Bash(git:*)", "Bash(git * main)", true},
		{"Bash(git status:*)", "Bash(git:*)", false}, {"Bash(git:*)", "Bash", false}, {"Bash(git:*)", "Bash(git*)", false},
		{"Bash(git*)", "Bash(git:*)", true}, {"Bash(git:*)", "Bash(gitk)", false}, {"Bash(* main)", "Bash(git * main)", true},
		{"Bash(a*c)", "Bash(a*b*c)", true}, {"Bash(a*b*c)", "Bash(a*c)", false}, {"Bash(* *)", "Bash(a *)", false}, // "a" alone
		{"Edit", "Write", false}, {"Edit", "MultiEdit", true}, {"Task", "Agent(Explore)", true}, {"Task(Explore)", "Agent(Explore)", true},
		{"mcp__*", "mcp__a", true}, {"mcp__*", "mcp__a__*", true}, {"mcp__a", "mcp__a__*", true}, {"mcp__a", "mcp__*", false},
		{"mcp__a__*", "mcp__a", false}, {"*", "Bash(x)", true}, {"*", "*", true}, {"Bash", "*", false}, {"Bash*", "Bash", true},
		{"Read(src/**)", "Read(src/a/*.go)", true}, {"Read(src)", "Read(src/**)", true}, {"Read(src/*)", "Read(src/**)", false},
		{"Read(src/**)", "Read(//w/src/a)", false}, {"Read(//etc)", "Read(//etc/ssl/**)", true}, {"Read(*.go)", "Read(src/x.go)", true},
		{"Read(~/a)", "Read(a)", false}, {"Read(/a)", "Read(./a)", true}, {"Read(a/*)", "Read(a/?)", true}, {"Read(a/?)", "Read(a/*)", false},
		{"Read(src/**)", "Edit(src/a)", false}, {"Read(src/**)", "Read", false},
		{"WebFetch(domain:*.a.com)", "WebFetch(domain:b.a.com)", true}, {"WebFetch(domain:a.com)", "WebFetch(domain:b.a.com)", false},
		{"WebFetch", "WebFetch(domain:a.com)", true}, {"*(x)", "Bash(x)", false},
	}
	for _, c := range cases {
		if got := tool(t, c.a).Covers(tool(t, c.b)); got != c.want {
			t.Errorf("%s covers %s: %v", c.a, c.b, got)
		}
	}
}

// TestCoversIsSound checks that a pattern which covers another matches everything that the other
// matches, and that covering is reflexive and transitive.
func TestCoversIsSound(t *testing.T) {
	d := rand.New(rand.NewPCG(7, 7))
	piece := func(of ...string) string {
		var b strings.Builder
		for range 1 + d.IntN(4) {
			b.WriteString(of[d.IntN(len(of))])
		}
		return b.String()
	}
	kinds := []struct {
		name   string
		rule   func() string
		target func() string
	}{
		{"Bash", func() string { return piece("a", "b", " ", "*", ":*", " *", "a*") }, func() string { return piece("a", "b", " ", "ab", " a") }},
		{"Read", func() string { return piece("a", "b", "/", "*", "**", "**/", "?", "/**") }, func() string { return "/w/" + piece("a", "b", "/", "/a", "ab") }},
		{"Task", func() string { return piece("a", "b", "*") }, func() string { return piece("a", "b") }},
	}
	covering := 0
	for range 60_000 {
		k := kinds[d.IntN(len(kinds))]
		a, b, c := Tool{k.name, k.rule()}, Tool{k.name, k.rule()}, Tool{k.name, k.rule()}
		if !a.Covers(a) {
			t.Fatalf("%s does not cover itself", a)
		}
		if !a.Covers(b) {
			continue
		}
		covering++
		at := Place{Dir: "/w", Home: "/h"}
		for range 20 {
			if target := k.target(); b.Matches(target, at) && !a.Matches(target, at) {
				t.Fatalf("%s covers %s and does not match %q", a, b, target)
			}
		}
		if b.Covers(c) && !a.Covers(c) {
			t.Fatalf("%s covers %s, which covers %s", a, b, c)
		}
	}
	if covering < 1000 {
		t.Errorf("only %d pairs said anything", covering)
	}
}
