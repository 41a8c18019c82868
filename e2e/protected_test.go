package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// git runs git with the box's home.
func (b *box) git(dir string, args ...string) {
	b.t.Helper()
	r := b.plain(append([]string{"git", "-C", dir}, args...)...)
	if r.code != 0 {
		b.t.Fatalf("git %q: %v", args, r)
	}
}

// repository makes a repository with a commit, and the home's settings.
func (b *box) repository(dir string) {
	b.t.Helper()
	needPrograms(b.t, "git")
	b.write(b.home+"/.gitconfig", "[user]\n\tname = Tester\n\temail = tester@example.com\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n[advice]\n\tdetachedHead = false\n")
	b.env = append(b.env, "GIT_CONFIG_GLOBAL="+b.home+"/.gitconfig", "GIT_CONFIG_SYSTEM=/dev/null")
	must(b.t, os.MkdirAll(dir, 0o755))
	b.git(dir, "init", "-q")
	b.write(dir+"/file", "one\n")
	b.write(dir+"/.gitignore", "probe.bin\n")
	b.git(dir, "add", ".")
	b.git(dir, "commit", "-qm", "one")
}

// withConfig adds git's settings to the view of a sandbox under /tmp.
func (b *box) withConfig(spec string) string {
	if !b.private() {
		return spec
	}
	return specWith(spec, `"filesystem":{"mounts":[{"label":"settings","source":`+quoted(b.home+"/.gitconfig")+`,"target":`+quoted(b.home+"/.gitconfig")+`,"mode":"ro"}]}`)
}

func TestGitDirsAreProtected(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.repository(b.ws)
		b.write(b.ws+"/.git/hooks/pre-commit", "#!/bin/sh\nexit 0\n")
		git := b.ws + "/.git"
		b.write(git+"/config.worktree", "")
		config, err := os.ReadFile(git + "/config")
		must(t, err)
		attempts := []string{
			"write|" + git + "/config", "append|" + git + "/config", "truncate|" + git + "/config", "chmod|" + git + "/config",
			"unlink|" + git + "/config", "rename|" + git + "/config|" + git + "/config.old",
			"write|" + git + "/hooks/pre-commit", "create|" + git + "/hooks/post-commit", "unlink|" + git + "/hooks/pre-commit",
			"rename|" + git + "/hooks|" + git + "/hooks.old", "rename|" + git + "|" + b.ws + "/old", "exchange|" + git + "|" + b.ws + "/dir",
			"write|" + git + "/config.worktree", "link|" + git + "/config|" + b.ws + "/linked", "rmdir|" + git + "/hooks",
			"symlink|x|" + git + "/hooks/post-merge", "mkdir|" + git + "/hooks/d", "utimes|" + git + "/config", "setxattr|" + git + "/config",
		}
		must(t, os.Mkdir(b.ws+"/dir", 0o755))
		got := b.tries(specWW, attempts...)
		for _, a := range attempts {
			if !oneOf(got[a], "EROFS EBUSY EXDEV") {
				t.Errorf("%s: %s", a, got[a])
			}
		}
		b.holds(git+"/config", string(config))
		b.holds(git+"/hooks/pre-commit", "#!/bin/sh\nexit 0\n")
		b.absent(git + "/hooks/post-commit")
		// The control: the same attempts, one after the other, in a copy of the repository.
		for i, a := range attempts {
			copy := b.base + "/copy"
			os.RemoveAll(copy)
			b.plain("cp", "-a", b.ws, copy).t.Helper()
			a = strings.ReplaceAll(a, b.ws, copy)
			if got := b.control(a)[a]; got != "ok" && !strings.HasPrefix(a, "rmdir") {
				t.Errorf("control %d: %s: %s", i, a, got)
			}
		}
	})
}

func TestWhatConfigurationNamesIsProtected(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.repository(b.ws)
	for _, f := range []string{"myhooks/pre-commit", "extra.config", "watcher.sh", "attrs", "scripts/real-hook", "free"} {
		b.write(b.ws+"/"+f, "kept\n")
	}
	b.git(b.ws, "config", "core.hooksPath", "myhooks")
	b.git(b.ws, "config", "include.path", "../extra.config")
	b.git(b.ws, "config", "core.fsmonitor", b.ws+"/watcher.sh")
	b.git(b.ws, "config", "core.attributesFile", b.ws+"/attrs")
	must(t, os.Symlink("../../scripts/real-hook", b.ws+"/.git/hooks/post-commit"))
	attempts := map[string]string{
		"write|" + b.ws + "/myhooks/pre-commit":                   "EROFS",
		"create|" + b.ws + "/myhooks/post-commit":                 "EROFS",
		"rename|" + b.ws + "/myhooks|" + b.ws + "/x":              "EBUSY EXDEV EROFS",
		"write|" + b.ws + "/extra.config":                         "EROFS",
		"rename|" + b.ws + "/free|" + b.ws + "/extra.config":      "EBUSY EXDEV EROFS",
		"write|" + b.ws + "/watcher.sh":                           "EROFS",
		"unlink|" + b.ws + "/watcher.sh":                          "EBUSY EROFS",
		"write|" + b.ws + "/attrs":                                "EROFS",
		"write|" + b.ws + "/scripts/real-hook":                    "EROFS",
		"rename|" + b.ws + "/scripts|" + b.ws + "/scripts2":       "EBUSY EXDEV EROFS",
		"rename|" + b.ws + "/file|" + b.ws + "/file2":             "ok",
		"create|" + b.ws + "/.git/refs/heads/" + uniqueName(t):    "ok",
		"mkdir|" + b.ws + "/.git/objects/zz":                      "ok",
		"create|" + b.ws + "/.git/index.lock":                     "ok",
		"rename|" + b.ws + "/.git/index|" + b.ws + "/.git/index2": "ok",
	}
	var argv []string
	for a := range attempts {
		argv = append(argv, a)
	}
	got := b.tries(specWW, argv...)
	for a, want := range attempts {
		if !oneOf(got[a], want) {
			t.Errorf("%s: %s, want %s", a, got[a], want)
		}
	}
}

func TestToolSettingsAreProtected(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		files := []string{".vscode/tasks.json", ".idea/workspace.xml", ".zed/tasks.json", ".cursor/mcp.json", ".devcontainer/devcontainer.json",
			".direnv/bin/ls", ".direnv/flake-profile-0.rc", ".envrc", ".envrc.local", ".mcp.json", ".husky/pre-commit", ".claude/settings.json", ".claude/settings.local.json", ".claude/hooks/h", ".claude/commands/c.md",
			".claude/agents/a.md", ".claude/skills/s/SKILL.md", ".codex/config.toml", ".gemini/settings.json",
			".claude/launch.json", ".claude/workflows/w.js", ".agents/skills/s/SKILL.md", ".aider.conf.yml", ".config/mise.toml", ".config/mise/conf.d/x.toml",
			".continue/mcpServers/m.yaml", ".crush.json", "crush.json", ".devcontainer.json", ".github/hooks/h.json", ".helix/languages.toml",
			".jj/workspace-config.toml", ".kiro/hooks/h", ".kiro/settings/mcp.json", ".mise.toml", ".mise/config.local.toml", "mise.toml", "mise.dev.toml",
			"mise/config.toml", ".opencode/plugins/p.ts", "opencode.jsonc", ".qwen/settings.json", ".roo/mcp.json", ".sbx/profiles.yaml", ".windsurf/hooks.json",
			".amazonq/cli-agents/a.json", ".amazonq/mcp.json", ".amp/settings.json", ".clinerules/hooks/PreToolUse", ".factory/settings.json",
			".kilo/kilo.json", ".kilocode/mcp.json", ".kiro/agents/a.json", ".pi/extensions/e.ts", ".shadowenv.d/500.lisp", "kilo.jsonc", "p.code-workspace",
			".augment/settings.json", ".codebuddy/settings.json", ".continue/agents/a.yaml", ".continuerc.json", ".devin/hooks.json", ".github/agents/a.md",
			".github/extensions/e/extension.mjs", ".github/mcp.json", ".gitlab/duo/mcp.json", ".iflow/settings.json", ".junie/mcp/mcp.json", ".kimi-code/mcp.json",
			".lazygit.yml", ".openhands/setup.sh", ".pijul/config", ".prototools", ".tabnine/mcp_servers.json", ".trae/mcp.json", ".vibe/config.toml",
			".vim-lsp-settings/settings.json", ".vim/coc-settings.json", "_darcs/prefs/defaults", "p.sublime-project"}
		for _, f := range files {
			b.write(b.ws+"/"+f, "kept\n")
		}
		b.write(b.ws+"/.claude/notes.md", "free\n")
		b.write(b.ws+"/new", "new\n")
		script := ""
		for _, f := range files {
			script += "(echo x >" + f + ") 2>/dev/null && echo wrote " + f + "\n"
			script += "mv new " + f + " 2>/dev/null && echo replaced " + f + "\n"
			script += "rm -f " + f + " 2>/dev/null && echo removed " + f + "\n"
			top := strings.SplitN(f, "/", 2)[0]
			script += "mv " + top + " away 2>/dev/null && echo moved " + top + "\n"
		}
		script += "echo y >.claude/notes.md"
		r := b.sh(specWW, script).ended()
		if r.out != "end\n" {
			t.Errorf("%v", r)
		}
		for _, f := range files {
			b.holds(b.ws+"/"+f, "kept\n")
		}
		b.holds(b.ws+"/.claude/notes.md", "y\n")
		b.sh(specWith(specWW, `"filesystem":{"write":[".envrc",".vscode"]}`), "echo z >.envrc; mkdir -p .vscode; echo z >.vscode/tasks.json").ended()
		b.holds(b.ws+"/.envrc", "z\n")
		b.holds(b.ws+"/.vscode/tasks.json", "z\n")
		// The control does not include the moves, after which nothing would be left to try.
		var open []string
		for _, l := range strings.Split(script, "\n") {
			if !strings.HasPrefix(l, "mv ") && !strings.HasPrefix(l, "rm ") {
				open = append(open, l)
			}
		}
		if r := b.sh(specNone, strings.Join(open, "\n")).ended(); strings.Count(r.out, "wrote") != len(files) {
			t.Errorf("control: %v", r)
		}
	})
}

// A name that only a pattern matches is protected, also if it is the only one.
func TestNamesByPatternAlone(t *testing.T) {
	needSandbox(t)
	for _, name := range []string{"p.code-workspace", "p.sublime-project", "mise.toml", ".envrc.local"} {
		eachPlace(t, func(t *testing.T, b *box) {
			file := b.write("ws/"+name, "kept\n")
			script := "(echo x >" + name + ") 2>/dev/null || echo refused"
			if r := b.sh(specWW, script).ended(); r.out != "refused\nend\n" || len(r.rec.moved()) != 0 {
				t.Errorf("%v; moved %v", r, r.rec.moved())
			}
			b.holds(file, "kept\n")
			b.sh(specWith(specWW, `"filesystem":{"write":["`+name+`"]}`), script).ended()
			b.holds(file, "x\n")
		})
	}
}

func TestGitWorksInside(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "git")
	eachPlace(t, func(t *testing.T, b *box) {
		b.repository(b.base + "/origin")
		b.git(b.base, "clone", "-q", b.base+"/origin", b.base+"/clone")
		must(t, os.Remove(b.ws))
		must(t, os.Rename(b.base+"/clone", b.ws))
		b.git(b.ws, "remote", "set-url", "origin", b.base+"/origin")
		b.write(b.base+"/origin/late", "late\n")
		b.git(b.base+"/origin", "add", ".")
		b.git(b.base+"/origin", "commit", "-qm", "late")
		b.git(b.base+"/origin", "tag", "v0")
		b.git(b.ws, "worktree", "add", "-q", b.ws+"/wt", "-b", "side")
		spec := specWW
		if b.private() {
			spec = specWith(spec, `"filesystem":{"mounts":[{"label":"s","source":`+quoted(b.home+"/.gitconfig")+`,"target":`+quoted(b.home+"/.gitconfig")+`,"mode":"ro"},`+
				`{"label":"o","source":`+quoted(b.base+"/origin")+`,"target":`+quoted(b.base+"/origin")+`,"mode":"ro"}]}`)
		}
		r := b.sh(spec, `
			step() { "$@" >log 2>&1 || { echo "failed: $*"; cat log; }; }
			rm -f log; echo log >.git/info/exclude
			echo two >two; step git add two; step git commit -qm two
			echo more >>two; step git commit -qam more --amend
			step git checkout -qb topic; echo t >t; step git add t; step git commit -qm t
			step git switch -q main; echo m >m; step git add m; step git commit -qm m
			step git merge -q --no-edit topic
			step git checkout -qb topic2 HEAD~1; echo u >u; step git add u; step git commit -qm u
			step git rebase -q main
			step git switch -q main; step git cherry-pick topic2
			echo s >>two; step git stash -q; step git stash pop -q; step git checkout -q -- two
			step git tag v1; step git tag -a v2 -m two; step git notes add -m note
			step git reset -q --hard HEAD; step git branch throwaway; step git branch -qD throwaway
			step git repack -qad; step git gc -q; step git fsck; step git reflog
			step git fetch -q; step git fetch -q --tags origin; step git pull -q --no-rebase --no-edit
			step git worktree remove --force wt; test -e wt && echo not removed
			step git status --porcelain; step git log --oneline; step git mv m m2; step git rm -q m2 --force; step git clean -qfd
			test -e late || echo no late; git rev-parse v0 >/dev/null || echo no tag`).ended()
		if r.out != "end\n" {
			t.Errorf("%v", r)
		}
		b.git(b.ws, "fsck")
		b.git(b.ws, "status")
		if r.rec.status("protected_names") == "" {
			t.Error("the record has no line for protected names")
		}
		if moved := r.rec.moved(); len(moved) != 0 {
			t.Errorf("moved away: %v", moved)
		}
	})
}

func TestGitRefusedInside(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.repository(b.base + "/origin")
	b.repository(b.ws)
	config, err := os.ReadFile(b.ws + "/.git/config")
	must(t, err)
	for _, c := range []string{"config core.fsmonitor /bin/false", "remote add evil " + b.base + "/origin", "config --unset core.bare"} {
		if r := b.sh(b.withConfig(specWW), "git "+c+" 2>/dev/null && echo done").ended(); strings.Contains(r.out, "done") {
			t.Errorf("git %s: %v", c, r)
		}
		b.holds(b.ws+"/.git/config", string(config))
	}
	b.absent(b.ws + "/.git/config.lock")
	r := b.sh(specNone, "git remote add evil "+b.base+"/origin && git config core.abbrev 9 && echo done").ended()
	if !strings.Contains(r.out, "done") {
		t.Errorf("control: %v", r)
	}
}

func TestSubmodulesAndWorktrees(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.repository(b.base + "/lib")
		main := b.base + "/main"
		b.repository(main)
		b.git(main, "-c", "protocol.file.allow=always", "submodule", "-q", "add", b.base+"/lib", "sub")
		b.git(main, "commit", "-qm", "sub")
		sub := main + "/.git/modules/sub"
		got := b.triesIn(main, b.withConfig(specWW),
			"write|"+sub+"/config", "create|"+sub+"/hooks/evil", "rename|"+main+"/.git/modules|"+main+"/.git/m2", "rename|"+sub+"|"+main+"/.git/sub2",
			"write|"+main+"/sub/.git", "unlink|"+main+"/sub/.git", "write|"+main+"/sub/file", "create|"+sub+"/x.lock", "rename|"+main+"/sub|"+main+"/sub2")
		for a, want := range map[string]string{
			"write|" + sub + "/config":                              "EROFS",
			"create|" + sub + "/hooks/evil":                         "EROFS",
			"rename|" + main + "/.git/modules|" + main + "/.git/m2": "EBUSY EXDEV",
			"rename|" + sub + "|" + main + "/.git/sub2":             "EBUSY EXDEV",
			"write|" + main + "/sub/file":                           "ok",
			"create|" + sub + "/x.lock":                             "ok",
		} {
			if !oneOf(got[a], want) {
				t.Errorf("%s: %s, want %s", a, got[a], want)
			}
		}
		os.Remove(sub + "/x.lock")
		if r := b.runIn(main+"/sub", "", b.withConfig(specWith(specWW, `"working_dir":"`+main+`"`)), "/bin/sh", "-c", "cd sub && echo y >y && git add y && git commit -qm y && echo end"); r.code != 0 {
			t.Errorf("a commit in a submodule: %v", r)
		}

		wt, other := b.base+"/wt", b.base+"/wt2"
		b.git(main, "worktree", "add", "-q", "-b", "side", wt)
		b.git(main, "worktree", "add", "-q", "-b", "side2", other)
		got = b.triesIn(wt, b.withConfig(specWW),
			"write|"+main+"/.git/config", "create|"+main+"/.git/hooks/evil", "write|"+main+"/.git/worktrees/wt/commondir", "write|"+main+"/.git/worktrees/wt/gitdir",
			"create|"+main+"/.git/worktrees/wt2/x", "rename|"+main+"/.git|"+main+"/g2", "create|"+main+"/x", "create|"+wt+"/x")
		for a, want := range map[string]string{
			"write|" + main + "/.git/config":                 "EROFS",
			"create|" + main + "/.git/hooks/evil":            "EROFS",
			"write|" + main + "/.git/worktrees/wt/commondir": "EROFS",
			"write|" + main + "/.git/worktrees/wt/gitdir":    "EROFS",
			"create|" + main + "/.git/worktrees/wt2/x":       "EROFS",
			"rename|" + main + "/.git|" + main + "/g2":       "EROFS EBUSY EXDEV",
			"create|" + main + "/x":                          "EROFS ENOENT ok",
			"create|" + wt + "/x":                            "ok",
		} {
			if !oneOf(got[a], want) {
				t.Errorf("%s: %s, want %s", a, got[a], want)
			}
		}
		b.absent(main + "/x")
		r := b.runIn(wt, "", b.withConfig(specWW), "/bin/sh", "-c", "rm -f probe.bin; echo z >z && git add z && git commit -qm z && git log --oneline | wc -l && git status --porcelain && echo end")
		if r.code != 0 || lastLine(r.out) != "end" {
			t.Errorf("a commit in a linked worktree: %v", r)
		}
		b.git(main, "fsck")
		b.git(wt, "status")
	})
}

// triesIn is tries in another directory, with the probe in it.
func (b *box) triesIn(dir, spec string, attempts ...string) map[string]string {
	b.t.Helper()
	probe := b.copyProbe(dir + "/probe.bin")
	return b.runIn(dir, "", spec, append([]string{probe, "try"}, attempts...)...).ended().lines()
}

// A repository, or another protected name, that is created inside is denied or moved away, and the
// record says so.
func TestPlantedNamesDoNotStay(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "git")
	eachPlace(t, func(t *testing.T, b *box) {
		b.repository(b.ws)
		planted := []string{"a/b/c/.git", "ev/.git", ".vscode", ".envrc", ".claude/settings.json", "late/.git"}
		script := `mkdir -p a/b/c && git init -q a/b/c 2>/dev/null
			git init -q ev 2>/dev/null; git -C ev config core.fsmonitor /bin/false 2>/dev/null
			mkdir .vscode 2>/dev/null && echo x >.vscode/tasks.json; (echo x >.envrc) 2>/dev/null; mkdir .claude && (echo x >.claude/settings.json) 2>/dev/null
			mkdir tmp.git && mkdir late && mv tmp.git late/.git 2>/dev/null
			mkdir -p /tmp/free/.git && echo free`
		r := b.sh(specWW, script).ended()
		if !strings.Contains(r.out, "free\n") {
			t.Errorf("the private /tmp is not free: %v", r)
		}
		for _, p := range planted {
			b.absent(b.ws + "/" + p)
		}
		b.absent("/tmp/free/.git")
		told := strings.Join(r.rec.moved(), " ")
		for _, m := range r.rec.list("swept") {
			if to := m.text("moved_to"); to == "" || strings.HasPrefix(to, b.ws) {
				t.Errorf("%v was moved to %q", m["path"], to)
			} else if _, err := os.Lstat(to); err != nil {
				t.Errorf("%v: what was moved is not there: %v", m["path"], err)
			}
		}
		for _, v := range r.rec.list("violations") {
			told += " " + v.text("target")
		}
		for _, p := range []string{"a/b/c/.git", "ev/.git", ".envrc"} {
			if !strings.Contains(told, p) {
				t.Errorf("the record does not tell of %s: %s", p, told)
			}
		}
		r.rec.hasStatus(t, "protected_names", "enforced")
		if out := b.plain("git", "-C", b.ws, "status", "--porcelain", "--ignored"); strings.Contains(out.out, ".git/") || strings.Contains(out.out, ".envrc") {
			t.Errorf("git status on the host: %v", out)
		}
		// It is allowed by name, and at any depth.
		os.RemoveAll(b.ws + "/ev")
		r = b.sh(specWith(specWW, `"filesystem":{"write":["**/.git"]}`), "git init -q ev && git init -q deep/er && echo made").ended()
		if !strings.Contains(r.out, "made") || !exists(b.ws+"/ev/.git/config") || !exists(b.ws+"/deep/er/.git/config") || len(r.rec.moved()) != 0 {
			t.Errorf("**/.git in write: %v", r)
		}
		empty := b.base + "/empty"
		must(t, os.Mkdir(empty, 0o755))
		r = b.runIn(empty, "", specWith(specWW, `"filesystem":{"write":[".git"]}`), "/bin/sh", "-c", "git init -q . && ! git init -q sub && echo end").ended()
		if !exists(empty+"/.git/config") || exists(empty+"/sub/.git") || !r.rec.refused("filesystem", empty+"/sub/.git") || len(r.rec.moved()) != 0 {
			t.Errorf(".git in write: %v; moved %v", r, r.rec.moved())
		}
		// Opens that are not examined are left to the watch and the sweep.
		b.args = append(b.args, "--violations", "names")
		r = b.sh(specWW, "echo x >.mcp.json && ! mkdir .idea 2>/dev/null && echo end").ended()
		if exists(b.ws+"/.mcp.json") || exists(b.ws+"/.idea") || !slices.Contains(r.rec.moved(), b.ws+"/.mcp.json") {
			t.Errorf("--violations names: %v; moved %v", r, r.rec.moved())
		}
	})
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// The sandbox leaves on the host only what the command wrote.
func TestNoDroppings(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.repository(b.ws)
		tree := func() string {
			r := b.plain("find", b.base, "-mindepth", "1", "-path", b.base+"/state", "-prune", "-o", "-name", "rec.json", "-prune", "-o", "-printf", "%P %y %m %s %T@\n")
			lines := strings.Split(r.out, "\n")
			slices.Sort(lines)
			return strings.Join(lines, "\n")
		}
		before := tree()
		b.sh(specWW, "true").ended()
		b.sh(specRO+"", "true")
		if after := tree(); after != before {
			t.Errorf("before:\n%s\nafter:\n%s", before, after)
		}
	})
}

// The host's own work on protected files continues while a sandbox runs, and the record reports it.
func TestHostChangesProtectedFiles(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.repository(b.ws)
		b.write(b.ws+"/.git/hooks/pre-push", "#!/bin/sh\n")
		s := b.start(specWW, "/bin/sh", "-c", `echo ready; read go
			i=0; while [ $i -lt 100 ] && (echo x >.git/config.probe; echo x >>.git/config) 2>/dev/null; do i=$((i+1)); sleep 0.05; done
			echo "wrote $i"; (echo x >.git/hooks/evil) 2>/dev/null && echo planted; echo done; read go; echo end`)
		s.expect("ready")
		b.git(b.ws, "config", "core.abbrev", "11")
		b.git(b.ws, "config", "core.abbrev", "12")
		s.say("go")
		s.expect("done")
		s.say("go")
		if code := s.wait(); code != 0 {
			t.Fatalf("status %d: %q %s", code, s.out.all(), s.err)
		}
		// A mount is lost when the host renames a file over the one that it covers: from then on
		// the file can be written, and the record has to say so. The directory of hooks, which the
		// host did not touch, stays read-only.
		if slices.Contains(s.out.all(), "planted") {
			t.Errorf("the inside: %q", s.out.all())
		}
		text, _ := os.ReadFile(b.ws + "/.git/config")
		rec, err := readRecord(b.rec)
		if err != nil {
			t.Error(err)
		}
		told := false
		for _, p := range rec.list("protected") {
			told = told || strings.HasSuffix(p.text("path"), "/.git/config")
		}
		if !told {
			t.Errorf("the record does not tell of .git/config: %v", rec["protected"])
		}
		if strings.Contains(string(text), "x\n") && !told {
			t.Errorf("the inside wrote to it: %q", text)
		}
		if r := b.plain("git", "-C", b.ws, "config", "core.abbrev"); r.out != "12\n" {
			t.Errorf("the host's setting: %v", r)
		}
		// The host removes the hooks' directory while a sandbox runs.
		s = b.start(specWW, "/bin/sh", "-c", "echo ready; read go; ls .git >/dev/null; echo end")
		s.expect("ready")
		must(t, os.RemoveAll(b.ws+"/.git/hooks"))
		s.say("go")
		if code := s.wait(); code != 0 || lastLine(strings.Join(s.out.all(), "\n")) != "end" {
			t.Errorf("status %d: %q %s", code, s.out.all(), s.err)
		}
		rec, _ = readRecord(b.rec)
		told = false
		for _, p := range rec.list("protected") {
			told = told || strings.Contains(p.text("path"), "/.git/hooks")
		}
		if !told {
			t.Errorf("the record does not tell of .git/hooks: %v", rec["protected"])
		}
		b.git(b.ws, "status")
		if left, _ := filepath.Glob(b.ws + "/.git/*.lock"); len(left) != 0 {
			t.Errorf("locks are left: %v", left)
		}
	})
}

// Other activity in the workspace while the command runs does not disturb it.
func TestABusyWorkspaceDisturbsNothing(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	s := b.start(specWW, "/bin/sh", "-c", "echo ready; read go; exit 7")
	s.expect("ready")
	for i := 0; i < 10000; i++ {
		if err := os.Mkdir(b.ws+"/d", 0o755); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
		os.Remove(b.ws + "/d")
	}
	s.say("go")
	if code := s.wait(); code != 7 {
		t.Errorf("status %d, want 7: %q", code, s.err)
	}
}
