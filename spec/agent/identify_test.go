package agent

import (
	"strings"
	"testing"

	"sbx/spec"
)

// files are what names and paths lead to.
var files = map[string]string{
	"ai":                  "/usr/local/bin/claude", // a link
	"./tool":              "/opt/lib/node_modules/@openai/codex/bin/codex.js",
	"/usr/bin/gem":        "/usr/lib/node_modules/@google/gemini-cli/dist/index.js",
	"/home/u/bin/c":       "/home/u/.local/share/claude/versions/2.1.0",
	"dist/cli.js":         "/p/node_modules/@anthropic-ai/claude-code/cli.js",
	"./cli.js":            "/p/node_modules/@anthropic-ai/claude-code/cli.js",
	"./claude":            "/p/notes/claude.txt",
	"claude":              "/usr/bin/claude",
	"claude-code":         "/usr/bin/claude-code",
	"rg":                  "/usr/lib/node_modules/@openai/codex/node_modules/ripgrep/rg",
	"native":              "/usr/lib/node_modules/@openai/codex-linux-x64/vendor/codex-cli",
	"lookalike":           "/usr/lib/node_modules/@openai/codexfoo/cli.js",
	"other":               "/usr/lib/node_modules/@evil/openai/codex.js",
	"/usr/bin/sh":         "/usr/bin/dash",
	"/p/docs/gemini.html": "/p/docs/gemini.html",
	"":                    "/opt/@openai/codex/bin", // a directory of PATH
}

func lead(name string) string { return files[name] }

func TestIdentify(t *testing.T) {
	for _, c := range []struct {
		line string // words by |
		want spec.Agent
		args string // the agent's own
	}{
		{"claude", spec.Claude, ""},
		{"claude|-p|hello", spec.Claude, "-p|hello"},
		{"/opt/x/codex|exec", spec.Codex, "exec"},
		{"./gemini", spec.Gemini, ""},
		{"ai|-p|x", spec.Claude, "-p|x"},
		{"./tool|exec", spec.Codex, "exec"},
		{"/usr/bin/gem|-p|x", spec.Gemini, "-p|x"},
		{"/home/u/bin/c|-p", spec.Claude, "-p"},
		{"native", spec.Codex, ""},

		// Names that only look alike.
		{"claude-code|-p", 0, ""},
		{"Claude", 0, ""},
		{"claude.sh", 0, ""},
		{"claude/", 0, ""},
		{"rg|x", 0, ""},
		{"lookalike", 0, ""},
		{"other", 0, ""},
		{"echo|claude", 0, ""},
		{"/usr/bin/sh|-c|claude -p x", 0, ""},
		{"none", 0, ""},
		{"cat|/p/docs/gemini.html", 0, ""},

		// Nothing, and empty words.
		{"", 0, ""},
		{"|claude", 0, ""},
		{"env", 0, ""},
		{"env||claude", 0, ""},
		{"node||x", 0, ""},
		{"node", 0, ""},
		{"npx", 0, ""},
		{"npx||x", 0, ""},
		{"npm|exec|--", 0, ""},
		{"--", 0, ""},
		{"--|claude", 0, ""},

		// env
		{"env|claude|-p", spec.Claude, "-p"},
		{"/usr/bin/env|A=b|C=|claude|A=b", spec.Claude, "A=b"},
		{"env|-i|PATH=/bin|codex|exec", spec.Codex, "exec"},
		{"env|-|codex", spec.Codex, ""},
		{"env|-u|HOME|--unset=X|-C|/tmp|gemini|x", spec.Gemini, "x"},
		{"env|-uHOME|gemini", spec.Gemini, ""},
		{"env|--argv0|claude|gemini|x", spec.Gemini, "x"},
		{"env|--|A=b|claude|--|x", spec.Claude, "--|x"},
		{"env|env|A=b|env|claude", spec.Claude, ""},
		{"env|-u|claude", 0, ""},
		{"env|-S|claude -p x", 0, ""},
		{"env|-Sclaude", 0, ""},
		{"env|-iS|claude|claude", 0, ""},
		{"env|--split-string=claude|claude", 0, ""},
		{"env|A=claude|echo|claude", 0, ""},

		// node and bun: a script is a path, never looked up along PATH.
		{"node|dist/cli.js|-p|x", spec.Claude, "-p|x"},
		{"node|cli.js|-p|x", spec.Claude, "-p|x"},
		{"/usr/bin/node|--max-old-space-size=100|--require|./hook.js|dist/cli.js", spec.Claude, ""},
		{"nodejs|-r|x|--|dist/cli.js|y", spec.Claude, "y"},
		{"env|NODE_OPTIONS=|node|dist/cli.js|y", spec.Claude, "y"},
		{"bun|run|dist/cli.js|y", spec.Claude, "y"},
		{"bun|dist/cli.js", spec.Claude, ""},
		{"node|claude", 0, ""},
		{"node|-e|1|dist/cli.js", 0, ""},
		{"node|--eval=1|dist/cli.js", 0, ""},
		{"node|-|dist/cli.js", 0, ""},
		{"node|-p|dist/cli.js", 0, ""},
		{"node|server.js|dist/cli.js", 0, ""},
		{"bun|run", 0, ""},

		// npx and its like
		{"npx|@openai/codex|exec", spec.Codex, "exec"},
		{"npx|-y|@anthropic-ai/claude-code@2.1.0|-p|x", spec.Claude, "-p|x"},
		{"npx|--yes|--|@google/gemini-cli@latest|-p", spec.Gemini, "-p"},
		{"npx|--registry|https://r|@openai/codex", spec.Codex, ""},
		{"npx|--package|@openai/codex|codex|exec", spec.Codex, "exec"},
		{"npx|--package=@openai/codex@1|--|codex|--|x", spec.Codex, "--|x"},
		{"npx|-p|@anthropic-ai/claude-code|claude", spec.Claude, ""},
		{"npx|claude|-p", spec.Claude, "-p"},
		{"bunx|@openai/codex|x", spec.Codex, "x"},
		{"bun|x|@openai/codex|x", spec.Codex, "x"},
		{"pnpm|dlx|@openai/codex|x", spec.Codex, "x"},
		{"yarn|dlx|@openai/codex|x", spec.Codex, "x"},
		{"npx|-p|evil|claude", 0, ""},
		{"npx|-p|evil|-p|@anthropic-ai/claude-code|claude", 0, ""},
		{"npx|--package=@openai/codex|claude", 0, ""},
		{"npx|-c|claude -p x", 0, ""},
		{"npx|@openai/codexfoo", 0, ""},
		{"npx|codex-cli", 0, ""},
		{"npx|@anthropic-ai/claude-code-action", 0, ""},
		{"npx|-p|@openai/codex", 0, ""},
		{"npx|create-app|claude", 0, ""},
		{"pnpm|install|@openai/codex", 0, ""},
		{"npm|install|@openai/codex", 0, ""},

		// npm takes whatever stands before "--" for its own.
		{"npm|exec|@openai/codex|--|exec|--json", spec.Codex, "exec|--json"},
		{"npm|exec|--|@openai/codex|exec", spec.Codex, "exec"},
		{"npm|x|-y|--|claude|-p", spec.Claude, "-p"},
		{"npm|exec|--package=@openai/codex|--|codex|x", spec.Codex, "x"},
		{"npm|exec|@openai/codex|exec|--json", 0, ""},
		{"npm|exec|@openai/codex", 0, ""},
		{"npm|exec|@openai/codex|x|--|y", 0, ""},
		{"npm|exec|other|--|claude", 0, ""},
	} {
		argv := strings.Split(c.line, "|")
		if c.line == "" {
			argv = nil
		}
		got := Identify(argv, lead)
		if got.Agent != c.want || strings.Join(got.Args(argv), "|") != c.args {
			t.Errorf("%s: %s with %q, want %s with %q", c.line, got.Agent, got.Args(argv), c.want, c.args)
		}
	}
}

// Where a document names the agent, its arguments are found all the same.
func TestNamed(t *testing.T) {
	for line, args := range map[string]string{
		"wrapper|-p|x":           "-p|x",
		"env|A=b|wrapper|-p":     "-p",
		"node|server.js|-p":      "-p",
		"npx|@me/agent|-p":       "-p",
		"npm|exec|my|--|-p":      "-p",
		"claude|-p":              "-p",
		"node|-e|text":           "-e|text",
		"wrapper":                "",
		"env":                    "",
		"env|-S|wrapper -p|more": "",
	} {
		argv := strings.Split(line, "|")
		got := Named(spec.Gemini, argv, lead)
		if got.Agent != spec.Gemini || strings.Join(got.Args(argv), "|") != args {
			t.Errorf("%s: %+v, %q", line, got, got.Args(argv))
		}
	}
	if got := Named(spec.Codex, nil, lead); got.Agent != spec.Codex || len(got.Args(nil)) != 0 {
		t.Errorf("%+v", got)
	}
}

func FuzzIdentify(f *testing.F) {
	for _, s := range []string{"claude|-p", "env|-u|A|B=c|codex", "npx|-p|@openai/codex|--|codex", "npm|exec|x|--|y", "node|-r|a|cli.js|b", "bun|run|x", "", "|", "env|--|env|-|claude"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		argv := strings.Split(line, "|")
		asked := func(name string) string {
			if name == "" {
				t.Fatalf("%q: looked up nothing", line)
			}
			return files[name]
		}
		c := Identify(argv, asked)
		switch {
		case c.Agent == 0:
			if c.At != 0 || c.Args(argv) != nil {
				t.Fatalf("%q: %+v is nobody's", line, c)
			}
		case find(c.Agent) == nil || c.At < 1 || c.At > len(argv):
			t.Fatalf("%q: %+v", line, c)
		default:
			// Whatever stands behind is the agent's and changes nothing, but for
			// what its first word may be to npm.
			more := Identify(append(argv[:len(argv):len(argv)], "more"), asked)
			if (more.Agent != c.Agent || more.At != c.At) && base(argv[0]) != "npm" && !strings.Contains(line, "npm") {
				t.Fatalf("%q: %+v, and with one more word %+v", line, c, more)
			}
		}
		named := Named(spec.Claude, argv, asked)
		if named.Agent != spec.Claude || named.At < 1 || named.At > len(argv) {
			t.Fatalf("%q: %+v", line, named)
		}
		// No reader of arguments falls over them.
		for _, ad := range adapters {
			typed := ReadArgs(ad.agent, argv)
			for _, ask := range []Ask{asks["reading"], asks["inside"], {}} {
				Escalations(ad.agent, typed, ask)
				flags, _, _ := Flags(ad.agent, ask)
				all, _ := Rewrite(ad.agent, argv, flags)
				if len(all) > len(argv)+len(flags) {
					t.Fatalf("%q: %q", line, all)
				}
			}
		}
	})
}
