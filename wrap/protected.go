package wrap

import "strings"

// ProtectedInGit is what in a git folder (.git, a submodule's, a linked
// worktree's, a bare repository) makes git on the host run something, or read
// another configuration that does.
//
// config.lock, index and refs stay writable: git needs them, and replacing
// config itself is a rename onto a mount point, which the kernel refuses.
func ProtectedInGit() []Row { return protectedInGit[:] }

var protectedInGit = [...]Row{
	{"commondir", "git takes configuration and hooks from the folder that it names"},
	{"config", "names programs that git runs: core.fsmonitor at every status, core.pager, filters, credential helpers"},
	{"config.worktree", "the same, for one worktree (extensions.worktreeConfig)"},
	{"gitdir", "where a linked worktree is; git worktree acts on that folder"},
	{"hooks", "programs that git runs at commit, checkout, merge, push"},
}

// ProtectedInTree is what makes the host run something later by its name alone,
// relative to the top of a writable tree. The last part may hold one "*".
func ProtectedInTree() []Row { return protectedInTree[:] }

var protectedInTree = [...]Row{
	{"*.code-workspace", "VS Code: tasks and settings as in .vscode, for whoever opens the project by it"},
	{".agents", "Codex and Gemini: skills bring programs along; lists of plugins"},
	{".aider.conf.yml", "Aider: names the linter and the tests, which it runs after its edits"},
	{".amazonq/*agents", "Amazon Q: agents with hooks, and MCP servers, programs that it starts"},
	{".amazonq/mcp.json", "Amazon Q: names MCP servers, programs that it starts"},
	{".amp/settings.json*", "Amp: names MCP servers, programs that it starts"},
	{".claude/agents", "Claude Code: agents with tools of their own"},
	{".claude/commands", "Claude Code: commands may run a shell when they are called"},
	{".claude/hooks", "Claude Code: programs that its settings run at each tool call"},
	{".claude/launch.json", "Claude Code: the programs that a preview starts"},
	{".claude/settings*.json", "Claude Code: hooks, permissions, the command that gives the key"},
	{".claude/skills", "Claude Code: skills bring programs along"},
	{".claude/workflows", "Claude Code: scripts that start agents"},
	{".clinerules/hooks", "Cline: programs that it runs at each of its steps"},
	{".codex", "Codex: config.toml names MCP servers and programs to notify"},
	{".config/mise*", "mise: as mise.toml"},
	{".continue/mcpServers", "Continue: names MCP servers, programs that it starts"},
	{".crush.json", "Crush: MCP servers, hooks, and commands in values, which it runs as it reads them"},
	{".cursor", "Cursor: mcp.json and hooks.json name programs that it starts"},
	{".devcontainer", "editors build and start what it says, with commands for the host (initializeCommand)"},
	{".devcontainer.json", "the same, in a file of its own"},
	{".direnv/*.rc", "nix-direnv runs what it keeps there as a shell enters the folder, or shows its next prompt"},
	{".direnv/bin", "nix-direnv puts it on the PATH, before all else"},
	{".envrc*", "direnv runs .envrc when a shell enters the folder; others of that name (.envrc.local) are run by it, and direnv does not ask about them"},
	{".factory", "Factory: hooks that its settings name, MCP servers, skills"},
	{".gemini", "Gemini: settings.json names MCP servers and programs"},
	{".github/hooks", "Copilot's command line runs what they name, as a session begins and at each tool call"},
	{".helix", "Helix: languages.toml names language servers, which start when a file is opened"},
	{".hg/hgrc", "Mercurial: hooks, extensions and aliases, which any hg command runs"},
	{".hg/hgrc-not-shared", "the same, for one of several working copies"},
	{".hg/sharedpath", "Mercurial takes the repository and its settings from the folder that it names"},
	{".husky", "git hooks that core.hooksPath points to"},
	{".idea", "JetBrains: run configurations, file watchers, start-up tasks"},
	{".jj/repo/config.toml", "Jujutsu: the pager, editors and diff tools that jj runs"},
	{".jj/workspace-config.toml", "the same, for one of several working copies"},
	{".kilo", "Kilo Code: as kilo.json"},
	{".kilocode/mcp.json", "Kilo Code: names MCP servers, programs that it starts"},
	{".kiro/agents", "Kiro: agents with hooks, and MCP servers"},
	{".kiro/hooks", "Kiro: commands that it runs when files are saved or made"},
	{".kiro/settings", "Kiro: mcp.json names programs that it starts"},
	{".mcp.json", "names MCP servers, programs that agents start"},
	{".mise*.toml", "mise: as mise.toml"},
	{".mise/config*.toml", "mise: as mise.toml"},
	{".opencode", "OpenCode: plugins, programs that run as it starts"},
	{".pi", "pi: extensions, programs that run as it starts"},
	{".qwen", "Qwen Code: settings.json names MCP servers and programs"},
	{".roo/mcp.json", "Roo Code: names MCP servers, programs that it starts"},
	{".sbx/profiles.yaml", "sbx: narrows what later runs in the project may do"},
	{".shadowenv.d", "Shadowenv sets variables by what is in it as a shell enters the folder, the PATH among them; it trusts the folder, not what is in it"},
	{".sl/config", "Sapling: hooks and extensions, which any sl command runs"},
	{".vscode", "VS Code: tasks that run when the folder is opened, settings that name programs"},
	{".windsurf/hooks.json", "Windsurf: commands that it runs at each of its steps"},
	{".zed", "Zed: tasks, and settings that name programs"},
	{"crush.json", "Crush: as .crush.json"},
	{"kilo.json*", "Kilo Code: names MCP servers, programs that it starts"},
	{"mise*.toml", "mise: hooks, and scripts that set variables, run as a shell enters the folder; it trusts the folder, not the file's content"},
	{"mise/config*.toml", "mise: as mise.toml"},
	{"opencode.json*", "OpenCode: names plugins and MCP servers, programs that it starts"},
}

// DecidedAgainst is what was weighed for the lists above and left writable.
// docs/protected.md prints all four.
func DecidedAgainst() []Row { return decidedAgainst[:] }

var decidedAgainst = [...]Row{
	{".git/BISECT_*, .git/rebase-merge, .git/sequencer", "rebase and bisect have to work inside; a todo list with exec lines runs only when somebody continues that rebase"},
	{".git/branches, .git/remotes", "remotes that configuration does not have, for who fetches from or pushes to one by its name; branches have such names too (refs/remotes), and in a submodule's folder the one is not told from the other"},
	{".git/info/attributes", "it chooses among filters; the programs of filters stand in config, which is protected"},
	{".git/info/exclude, .git/info/sparse-checkout", "lists of files"},
	{".git/objects/info/alternates", "more objects to read, nothing to run"},
	{".git/refs, .git/packed-refs, .git/index", "committing is what the workspace is writable for; an index that leads elsewhere is moved away at the end"},
	{".gitattributes, .gitmodules, .gitignore", "part of the content; git takes no program from them (update = !command is refused since 2.20)"},
	{".env", "variables of the project's own programs, which their set-up writes; direnv takes any from it where .envrc or its own settings say so (dotenv), and Gemini takes any from it in a folder that it trusts, NODE_OPTIONS among them: --ignore-env there, or advanced.ignoreLocalEnv"},
	{"flake.nix, flake.lock, shell.nix, default.nix", "the project's own build; nix-direnv evaluates them again as they change and does not ask, unless .envrc says nix_direnv_manual_reload: where it is used, and for what else a .envrc loads, a mount of mode ro keeps them"},
	{".exrc, .nvim.lua, .dir-locals.el, .gdbinit, .lldbinit", "their programs ask, or read them only for who has switched that on"},
	{".github/workflows, .gitlab-ci.yml", "run on a CI service after a push, where they are reviewed; not on this host"},
	{".pre-commit-config.yaml, lefthook.yml", "part of the project like a Makefile; they run only through a hook that the user installed"},
	{".Rprofile, .irbrc, .pryrc, .pdbrc", "a language's own shell or debugger runs them, which is started to run the project's code"},
	{".npmrc, .yarnrc.yml, .pnpmfile.cjs, .cargo/config.toml, .mvn, .bazelrc", "what builds obey, beside scripts and plugins of the same project that they run"},
	{".tool-versions, .python-version, rust-toolchain.toml", "choose a version of a tool; a folder with one runs when that tool is called there"},
	{"AGENTS.md, CLAUDE.md, GEMINI.md, .cursorrules", "text that agents read; the next agent's sandbox is the answer to it"},
	{"Makefile, CMakeLists.txt, build.rs, setup.py, conftest.py", "the project's own build: it is written to be changed, and runs when somebody builds"},
	{"core.excludesFile, commit.template", "lists and texts that a git configuration names"},
	{"documents of specs, workshop.yaml, golem-forge.config.yaml, *.worker", "what made a run stays as it is in it; others are content, and may be written by whoever writes workers: keep what is to bind later runs outside of what they write"},
	{"git aliases, difftool, mergetool", "an alias runs when somebody types it, as a Makefile's target does; the tools' programs are protected where they are files of the workspace"},
	{"node_modules, vendor, .venv", "dependencies, as the project's own code"},
	{"package.json, Cargo.toml, pyproject.toml, go.mod", "scripts in them run when somebody builds or installs, which is what they are edited for"},
}

// IsProtectedName tells whether rel, a path relative to the top of a writable
// tree, must not come into being there: .git at any depth, what a git folder
// runs or obeys, and the names of ProtectedInTree at the top and all beneath
// them. Names are compared as some file systems do (WSL's, ext4 with casefold), see
// same; elsewhere that refuses a name nobody uses.
func IsProtectedName(rel string) (Row, bool) {
	if row, ok := protectedGitName(rel); ok {
		return row, true
	}
	for i := range protectedInTree {
		if Beneath(rel, protectedInTree[i].Path) {
			return protectedInTree[i], true
		}
	}
	return Row{}, false
}

// LeadsToProtected tells whether rel is a folder on the way to a protected name
// (".claude"): making it is harmless, but renaming or linking something onto it
// may bring the protected name along.
func LeadsToProtected(rel string) (Row, bool) {
	for i := range protectedInTree {
		path := protectedInTree[i].Path
		for at := strings.IndexByte(path, '/'); at > 0; {
			if strings.Count(rel, "/") == strings.Count(path[:at], "/") && Beneath(rel, path[:at]) {
				return protectedInTree[i], true
			}
			next := strings.IndexByte(path[at+1:], '/')
			if next < 0 {
				break
			}
			at += 1 + next
		}
	}
	return Row{}, false
}

// IsProtectedPart tells whether name, without its folder, may be part of a
// protected path: where the folder cannot be told.
func IsProtectedPart(name string) bool {
	if same(name, ".git") {
		return true
	}
	if _, ok := gitRow(name); ok {
		return true
	}
	for i := range protectedInTree {
		for part := range strings.SplitSeq(protectedInTree[i].Path, "/") {
			if Matches(name, part) {
				return true
			}
		}
	}
	return false
}

// Beneath tells whether rel is, or lies beneath, what pattern names. Both are
// relative; the last part of pattern may hold one "*", and case is ignored.
func Beneath(rel, pattern string) bool {
	for {
		name, rest, more := strings.Cut(rel, "/")
		want, after, deeper := strings.Cut(pattern, "/")
		if !Matches(name, want) {
			return false
		}
		if !deeper {
			return true
		}
		if !more {
			return false
		}
		rel, pattern = rest, after
	}
}

// Matches tells whether name is what pattern means: equal but for case, or
// equal around one "*".
func Matches(name, pattern string) bool {
	star := strings.IndexByte(pattern, '*')
	if star < 0 {
		return same(name, pattern)
	}
	if isOdd(name) {
		name = plain(name)
	}
	head, tail := pattern[:star], pattern[star+1:]
	return len(name) >= len(head)+len(tail) &&
		strings.EqualFold(name[:len(head)], head) &&
		strings.EqualFold(name[len(name)-len(tail):], tail)
}

// protectedGitName looks for .git as the last part of rel, or for a name of
// ProtectedInGit in the git folder, submodule's or worktree's folder that rel
// leads into.
func protectedGitName(rel string) (Row, bool) {
	for at := 0; at <= len(rel); {
		end := strings.IndexByte(rel[at:], '/')
		if end < 0 {
			if same(rel[at:], ".git") {
				return Row{".git", "a repository that a git command on the host would read its configuration from"}, true
			}
			return Row{}, false
		}
		part := rel[at : at+end]
		at += end + 1
		if same(part, ".git") {
			return inGitFolder(rel[at:], false)
		}
	}
	return Row{}, false
}

// IsProtectedInGit is IsProtectedName for a path relative to a folder that is
// known to be a git folder, where no other that is known lies between: what is
// in modules belongs to a submodule that is new, and its refs and logs, which
// may be called config or hooks, are not told from a submodule of that name.
func IsProtectedInGit(rel string) (Row, bool) {
	if row, ok := protectedGitName(rel); ok {
		return row, true
	}
	return inGitFolder(rel, true)
}

// LeadsInGit tells whether rel, relative to such a folder, is on the way to a
// protected name in it: a folder that is renamed there may bring one along. Of
// what is in modules only the first part counts where not all submodules are
// known, since the rest may be one's that was there.
func LeadsInGit(rel string, all bool) bool {
	name, rest, more := strings.Cut(rel, "/")
	_, beneath, deeper := strings.Cut(rest, "/")
	switch {
	case same(name, "modules"):
		return !more || !deeper || all
	case same(name, "worktrees"):
		return !more || !deeper || LeadsInGit(beneath, all)
	}
	return false
}

// inGitFolder judges a path relative to a git folder. Submodules' folders lie
// in modules, to any depth and with names of several parts; a linked worktree's
// is worktrees/NAME. Where it is not known which folders are submodules', refs
// and logs may be the first part of a submodule's name, or those of the
// submodule above; strict takes them for the former.
func inGitFolder(rel string, strict bool) (Row, bool) {
	name, rest, more := strings.Cut(rel, "/")
	if more && same(name, "worktrees") {
		_, rest, _ = strings.Cut(rest, "/")
		return inGitFolder(rest, strict)
	}
	if row, ok := gitRow(name); ok {
		return row, true
	}
	if !more || !same(name, "modules") {
		return Row{}, false
	}
	for first := true; rest != ""; first = false {
		name, rest, _ = strings.Cut(rest, "/")
		switch name {
		case "refs", "logs", "objects": // branches may be called config or hooks
			if !strict && !first {
				return Row{}, false
			}
		}
		if row, ok := gitRow(name); ok {
			return row, true
		}
	}
	return Row{}, false
}

func gitRow(name string) (Row, bool) {
	for i := range protectedInGit {
		if same(name, protectedInGit[i].Path) {
			return protectedInGit[i], true
		}
	}
	return Row{}, false
}
