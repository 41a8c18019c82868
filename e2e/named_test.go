package e2e

import (
	"os"
	"strings"
	"testing"
)

// namingFiles are settings by which a program of the workspace runs by itself, each with that
// program, and with a file that it also names and nothing runs.
var namingFiles = []struct{ settings, text, program, free string }{
	{".claude/settings.json", `{"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/p/lint.sh --fix"}]}]},
		"permissions": {"allow": ["Bash(p/free:*)"]}}`, "p/lint.sh", "p/free"},
	{".claude/settings.local.json", `{"statusLine": {"type": "command", "command": "p/status"}, "permissions": {"deny": ["Read(./p/free)"]}}`, "p/status", "p/free"},
	{".claude/hooks/check.py", "#!/usr/bin/env python3\nrun(['sh', 'p/check'])\nopen('p/free')\n", "p/check", "p/free"},
	{".mcp.json", `{"mcpServers": {"a": {"command": "python3", "args": ["p/server.py", "--db", "p/free.db"]}}}`, "p/server.py", "p/free.db"},
	{".cursor/mcp.json", `{"mcpServers": {"a": {"command": "uv", "args": ["--directory", "${workspaceFolder}/p/in", "run", "server.py"]}}}`, "p/in/server.py", "p/free"},
	{".vscode/tasks.json", "{ // tasks\n\"tasks\": [{\"command\": \"${workspaceFolder}/p/open.sh\", \"label\": \"p/free\", \"runOptions\": {\"runOn\": \"folderOpen\",},},],}", "p/open.sh", "p/free"},
	{".devcontainer/devcontainer.json", `{"initializeCommand": ["sh", "p/init.sh"], "postCreateCommand": "p/free"}`, "p/init.sh", "p/free"},
	{".devcontainer/a/devcontainer.json", `{"initializeCommand": {"a": "p/init"}, "onCreateCommand": "p/free"}`, "p/init", "p/free"},
	{".envrc", "# p/free\nsource_env p/env\ndotenv p/free\n", "p/env", "p/free"},
	{".husky/pre-commit", "npx lint-staged && ./p/hook\ngit add p/free\n", "p/hook", "p/free"},
	{".codex/config.toml", "model = \"p/free\"\nnotify = [\"python3\", \"p/notify.py\"]\n", "p/notify.py", "p/free"},
	{"mise.toml", "[tasks.a]\nrun = 'p/free'\n[hooks]\nenter = 'sh p/enter.sh'\n", "p/enter.sh", "p/free"},
	{".aider.conf.yml", "read: p/free\nlint-cmd:\n  - p/lint.py\n", "p/lint.py", "p/free"},
	{".git/hooks/pre-commit", "#!/bin/sh\nexec p/commit \"$@\"\n", "p/commit", "p/free"},
	{".claude/settings.json", `{"hooks": {"a": "python3 $CLAUDE_PROJECT_DIR/p/main.py; npx tsc -p p/tsconfig.json"}}`, "p/main.py", "p/tsconfig.json"},
	{".claude/settings.json", `{"hooks": {"a": "$CLAUDE_PROJECT_DIR/p/lint.sh; jq -r .name package.json"}}`, "p/lint.sh", "package.json"},
	{".envrc", "source_env $PWD/p/env\n", "p/env", "p/free"},
	{".husky/pre-commit", "cd p && ./hook\n", "p/hook", "p/free"},
	{".mcp.json", `{"a": {"command": "npx", "args": ["-p", "p/free.json", "tsx", "p/run.ts"]}}`, "p/run.ts", "p/free.json"},
	{".mcp.json", `{"a": {"command": "node", "args": ["node_modules/x/p.js", "p/run.js"]}}`, "p/run.js", "node_modules/x/p.js"},
}

// A program that settings name is protected like the settings: a command that changes it would have
// it run on the host. A document opens it by its name.
func TestProgramsThatSettingsName(t *testing.T) {
	needSandbox(t)
	for _, c := range namingFiles {
		t.Run(strings.ReplaceAll(c.settings, "/", "_"), func(t *testing.T) {
			eachPlace(t, func(t *testing.T, b *box) {
				b.repository(b.ws)
				b.write(b.ws+"/"+c.settings, c.text)
				program, free := b.write(b.ws+"/"+c.program, "kept\n"), b.write(b.ws+"/"+c.free, "free\n")
				dir := b.ws + "/" + strings.SplitN(c.program, "/", 2)[0]
				tries := []string{"write|" + program, "unlink|" + program, "rename|" + b.ws + "/file|" + program, "rename|" + dir + "|" + b.ws + "/away"}
				got := b.tries(specWW, append(tries, "write|"+free)...)
				for _, try := range tries {
					if !oneOf(got[try], "EROFS EBUSY EXDEV") {
						t.Errorf("%s: %s", try, got[try])
					}
				}
				if got["write|"+free] != "ok" {
					t.Errorf("%s, which nothing runs: %s", free, got["write|"+free])
				}
				b.holds(program, "kept\n")
				opened := specWith(specWW, `"filesystem":{"write":["`+c.program+`"]}`)
				for what, got := range map[string]string{"opened": b.tries(opened, tries[0])[tries[0]], "the control": b.control(tries[0])[tries[0]]} {
					if got != "ok" {
						t.Errorf("%s: %s", what, got)
					}
				}
			})
		})
	}
}

// A denial says which settings name the program, and so does the record of a run without denials.
func TestProgramsThatSettingsNameAreTold(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.write("ws/.mcp.json", `{"a": {"command": "sh", "args": ["one.sh"]}}`)
	b.write("ws/.claude/settings.json", `{"hooks": {"a": "sh two.sh"}}`)
	for _, name := range []string{"one.sh", "two.sh"} {
		b.write("ws/"+name, "")
	}
	r := b.sh(specWW, "(echo >.mcp.json; echo >one.sh; echo >two.sh) 2>/dev/null; true").ended()
	for _, want := range []string{
		"/one.sh may only be read, since .mcp.json names it: an agent starts the servers in it (sh); filesystem.write: [\"one.sh\"] would allow it",
		"/two.sh may only be read, since .claude/settings.json names it: ",
	} {
		if !strings.Contains(r.err, want) {
			t.Errorf("stderr lacks %q: %v", want, r)
		}
	}
	const list = "read-only too, since settings name them as programs: one.sh (.mcp.json), two.sh (.claude/settings.json)"
	if r := b.sh(specWW, "true").ended(); !strings.Contains(r.rec.reason("protected_names"), list) {
		t.Errorf("the record lacks %q: %v", list, r)
	}
	if r := b.sh(specWith(specWW, `"filesystem":{"write":["one.sh"]}`), "true").ended(); strings.Contains(r.rec.reason("protected_names"), "one.sh") {
		t.Errorf("the record tells of what the document opens: %v", r)
	}
	b.write("ws/.mcp.json", `{"a": {"args": ["one.sh"]}}`+strings.Repeat(" ", 256<<10))
	r = b.sh(specWW, "echo x >one.sh").ended()
	if want := "not all programs that settings name were looked for: " + b.ws + "/.mcp.json"; !strings.Contains(r.rec.reason("protected_names"), want) {
		t.Errorf("the record lacks %q: %v", want, r)
	}
	b.holds(b.ws+"/one.sh", "x\n")
}

// The programs that a hook's script runs are found, and the ones that these run; the search ends at
// programs in other languages.
func TestProgramsThatScriptsName(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.repository(b.ws)
		b.write(b.ws+"/.git/hooks/pre-commit", "#!/bin/sh\n\"$(git rev-parse --show-toplevel)\"/s/first.sh\n")
		b.write(b.ws+"/s/first.sh", `. "$(dirname "$0")/second.sh"; python3 s/third.py`)
		b.write(b.ws+"/s/second.sh", "s/fourth.sh\n")
		b.write(b.ws+"/s/third.py", "run('s/fourth.sh')\n")
		b.write(b.ws+"/s/fourth.sh", "s/fifth.sh\n")
		b.write(b.ws+"/s/fifth.sh", "\n")
		must(t, os.Symlink("s/second.sh", b.ws+"/link"))
		got := b.tries(specWW, "write|"+b.ws+"/s/first.sh", "write|"+b.ws+"/s/second.sh", "write|"+b.ws+"/s/third.py", "write|"+b.ws+"/link", "write|"+b.ws+"/s/fifth.sh")
		for try, want := range map[string]string{"/s/first.sh": "EROFS", "/s/second.sh": "EROFS", "/s/third.py": "EROFS", "/link": "EROFS", "/s/fifth.sh": "ok"} {
			if got["write|"+b.ws+try] != want {
				t.Errorf("%s: %s, want %s", try, got["write|"+b.ws+try], want)
			}
		}
	})
}

// A commit on the host runs what its hook runs, but nothing that the inside wrote there.
func TestCommitByAHook(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.repository(b.ws)
		must(t, os.Chmod(b.write(b.ws+"/.git/hooks/pre-commit", "#!/bin/sh\nsh s/check\n"), 0o755))
		b.write(b.ws+"/s/check", "exit 0\n")
		const script = `(echo 'touch ran' >s/check; rm s/check; mv s away; mkdir s; echo 'touch ran' >s/check) 2>/dev/null`
		ran := func() bool {
			b.git(b.ws, "commit", "-qm", "x", "--allow-empty")
			return exists(b.ws + "/ran")
		}
		b.sh(specWW, script).ended()
		if ran() {
			t.Error("the hook ran what the command wrote")
		}
		b.sh(specNone, script).ended()
		if !ran() {
			t.Error("the control: the hook did not run it")
		}
	})
}
