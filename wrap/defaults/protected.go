package defaults

import (
	"slices"
	"strings"

	"sbx/internal/view"
)

// ProtectedInTree lists names, relative to the top of a writable tree, that could later run code on
// the host. The last part of one may hold one "*".
func ProtectedInTree() []Row { return protectedInTree[:] }

var protectedInTree = [...]Row{
	{"*.code-workspace", "VS Code: tasks and settings as in .vscode, for whoever opens the project by it"},
	{"*.sublime-project", "Sublime Text: build systems and settings that name programs, for whoever opens the project by it"},
	{".agents", "Codex and Gemini: skills bring programs along; lists of plugins"},
	{".aider.conf.yml", "Aider: names the linter and the tests, which it runs after its edits"},
	{".amazonq/*agents", "Amazon Q: agents with hooks, and MCP servers, programs that it starts"},
	{".amazonq/mcp.json", "Amazon Q: names MCP servers, programs that it starts"},
	{".amp/settings.json*", "Amp: names MCP servers, programs that it starts"},
	{".augment", "Auggie: settings.json names hooks and MCP servers, which it starts; commands, agents and skills"},
	{".claude/agents", "Claude Code: agents with tools of their own"},
	{".claude/commands", "Claude Code: commands may run a shell when they are called"},
	{".claude/hooks", "Claude Code: programs that its settings run at each tool call"},
	{".claude/launch.json", "Claude Code: the programs that a preview starts"},
	{".claude/settings*.json", "Claude Code: hooks, permissions, the command that gives the key"},
	{".claude/skills", "Claude Code: skills bring programs along"},
	{".claude/workflows", "Claude Code: scripts that start agents"},
	{".clinerules/hooks", "Cline: programs that it runs at each of its steps"},
	{".codebuddy", "CodeBuddy: settings.json names hooks and MCP servers, which it starts; commands, agents and skills"},
	{".codex", "Codex: config.toml names MCP servers and programs to notify"},
	{".config/mise*", "mise: as mise.toml"},
	{".continue/agents", "Continue: agents with MCP servers, programs that it starts"},
	{".continue/mcpServers", "Continue: names MCP servers, programs that it starts"},
	{".continuerc.json", "Continue: as its config.json, which names MCP servers and commands for context"},
	{".crush.json", "Crush: MCP servers, hooks, and commands in values, which it runs as it reads them"},
	{".cursor", "Cursor: mcp.json and hooks.json name programs that it starts"},
	{".devcontainer", "editors build and start what it says, with commands for the host (initializeCommand)"},
	{".devcontainer.json", "the same, in a file of its own"},
	{".devin", "Devin: hooks and MCP servers, which it starts; skills"},
	{".direnv/*.rc", "nix-direnv runs what it keeps there as a shell enters the directory, or shows its next prompt"},
	{".direnv/bin", "nix-direnv puts it on the PATH, before all else"},
	{".envrc*", "direnv runs .envrc when a shell enters the directory; others of that name (.envrc.local) are run by it, and direnv does not ask about them"},
	{".factory", "Factory: hooks that its settings name, MCP servers, skills"},
	{".gemini", "Gemini: settings.json names MCP servers and programs"},
	{".git/sl/config", "Sapling in a repository of git's: hooks and extensions, which any sl command runs"},
	{".github/agents", "Copilot: agents with MCP servers, programs that it starts"},
	{".github/extensions", "Copilot's command line runs them as it starts"},
	{".github/hooks", "Copilot's command line runs what they name, as a session begins and at each tool call"},
	{".github/mcp.json", "Copilot's command line: names MCP servers, programs that it starts"},
	{".gitlab/duo/mcp.json", "GitLab Duo: names MCP servers, programs that it starts"},
	{".helix", "Helix: languages.toml names language servers, which start when a file is opened"},
	{".hg/hgrc", "Mercurial: hooks, extensions and aliases, which any hg command runs"},
	{".hg/hgrc-not-shared", "the same, for one of several working copies"},
	{".hg/sharedpath", "Mercurial takes the repository and its settings from the directory that it names"},
	{".husky", "git hooks that core.hooksPath points to"},
	{".idea", "JetBrains: run configurations, file watchers, start-up tasks"},
	{".iflow", "iFlow: settings.json names hooks and MCP servers, which it starts; commands and agents"},
	{".jj/repo/config.toml", "Jujutsu: the pager, editors and diff tools that jj runs"},
	{".jj/workspace-config.toml", "the same, for one of several working copies"},
	{".junie", "Junie: mcp/mcp.json names MCP servers, programs that it starts"},
	{".kilo", "Kilo Code: as kilo.json"},
	{".kilocode/mcp.json", "Kilo Code: names MCP servers, programs that it starts"},
	{".kimi-code", "Kimi Code: hooks and MCP servers, which it starts; skills"},
	{".kiro/agents", "Kiro: agents with hooks, and MCP servers"},
	{".kiro/hooks", "Kiro: commands that it runs when files are saved or made"},
	{".kiro/settings", "Kiro: mcp.json names programs that it starts"},
	{".lazygit.yml", "lazygit: as lazygit.yml in a git directory"},
	{".mcp.json", "names MCP servers, programs that agents start"},
	{".mise*.toml", "mise: as mise.toml"},
	{".mise/config*.toml", "mise: as mise.toml"},
	{".opencode", "OpenCode: plugins, programs that run as it starts"},
	{".openhands", "OpenHands runs setup.sh as it begins and what hooks.json names at its steps"},
	{".pi", "pi: extensions, programs that run as it starts"},
	{".pijul/config", "Pijul: hooks that it runs at each record"},
	{".prototools", "proto: plugins, and the variables and tools that a shell gets as it enters the directory"},
	{".qwen", "Qwen Code: settings.json names MCP servers and programs"},
	{".roo/mcp.json", "Roo Code: names MCP servers, programs that it starts"},
	{".sbx/profiles.yaml", "sbx: narrows what later runs in the project may do"},
	{".sbx/spec.yaml", "sbx: what commands that are started in the project without a spec may do"},
	{".shadowenv.d", "Shadowenv sets variables by what is in it as a shell enters the directory, the PATH among them; it trusts the directory, not what is in it"},
	{".sl/config", "Sapling: hooks and extensions, which any sl command runs"},
	{".tabnine", "Tabnine: names MCP servers, programs that it starts"},
	{".trae", "Trae: mcp.json names MCP servers, programs that it starts"},
	{".vibe", "Vibe: config.toml names MCP servers; tools that are programs of its own"},
	{".vim-lsp-settings", "vim-lsp-settings: names language servers, which start when a file is opened"},
	{".vim/coc-settings.json", "coc.nvim: names language servers, which start when a file is opened"},
	{".vscode", "VS Code: tasks that run when the directory is opened, settings that name programs"},
	{".windsurf/hooks.json", "Windsurf: commands that it runs at each of its steps"},
	{".zed", "Zed: tasks, and settings that name programs"},
	{"_darcs/prefs/defaults", "Darcs: commands that it runs before and after each of its own (posthook)"},
	{"crush.json", "Crush: as .crush.json"},
	{"kilo.json*", "Kilo Code: names MCP servers, programs that it starts"},
	{"mise*.toml", "mise: hooks, and scripts that set variables, run as a shell enters the directory; it trusts the directory, not the file's content"},
	{"mise/config*.toml", "mise: as mise.toml"},
	{"opencode.json*", "OpenCode: names plugins and MCP servers, programs that it starts"},
}

// IsProtectedName reports whether rel, a path relative to the top of a writable tree, must not be
// created there: .git at any depth, the files of a git directory that git runs or obeys, and the
// names of ProtectedInTree at the top with everything under them. Names are compared as the most
// lenient file systems do (WSL's, ext4 with casefold), see same; on others this only denies names
// that nobody uses.
func IsProtectedName(rel string) (Row, bool) {
	if row, ok := protectedGitName(rel); ok {
		return row, true
	}
	for i := range protectedInTree {
		if Under(rel, protectedInTree[i].Path) {
			return protectedInTree[i], true
		}
	}
	return Row{}, false
}

// LeadsToProtected reports whether rel is a directory on the way to a protected name
// (".claude"): making it is harmless, but renaming or linking something onto it
// may bring the protected name along.
func LeadsToProtected(rel string) bool {
	deep := strings.Count(rel, "/")
	for i := range protectedInTree {
		path := protectedInTree[i].Path
		if differEarly(rel, path) {
			continue
		}
		for at := strings.IndexByte(path, '/'); at > 0; {
			if deep == strings.Count(path[:at], "/") && Under(rel, path[:at]) {
				return true
			}
			next := strings.IndexByte(path[at+1:], '/')
			if next < 0 {
				break
			}
			at += 1 + next
		}
	}
	return false
}

// mayBeMade are directories that lead to protected names and in which much else is kept.
var mayBeMade = [...]string{
	".ammonite", ".bundle", ".cabal", ".cargo", ".clinerules", ".clojure", ".composer", ".config",
	".cpan", ".direnv", ".dotnet", ".ghc", ".git/sl", ".github", ".gitlab", ".gitlab/duo", ".gradle",
	".groovy", ".julia", ".lein", ".local", ".local/share", ".local/share/fish",
	".local/state", ".m2", ".rustup", ".sbt", "go", "mise",
}

// MayBeMade reports whether the command may create a directory that leads to a protected name,
// because projects keep much else in it. It may not put a directory with contents there.
func MayBeMade(rel string) bool {
	return slices.Contains(mayBeMade[:], rel)
}

// IsProtectedPart reports whether name may be a part of a protected path, for callers that do not
// know its directory.
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

// Under reports whether rel is, or lies under, a path that pattern names. Both are relative. The
// last part of pattern may hold one "*", and case is ignored.
func Under(rel, pattern string) bool {
	_, is := past(rel, pattern)
	return is
}

// past returns the rest of rel after the part that pattern names, "" if there is no rest; false if
// rel does not lie there.
func past(rel, pattern string) (string, bool) {
	if differEarly(rel, pattern) {
		return "", false
	}
	for {
		name, rest, more := strings.Cut(rel, "/")
		want, after, deeper := strings.Cut(pattern, "/")
		if !Matches(name, want) {
			return "", false
		}
		if !deeper {
			return rest, true
		}
		if !more {
			return "", false
		}
		rel, pattern = rest, after
	}
}

// Matches reports whether pattern names name: they are equal but for case, or equal around one "*".
func Matches(name, pattern string) bool {
	star := strings.IndexByte(pattern, '*')
	if star < 0 {
		return same(name, pattern)
	}
	if isOdd(name) {
		name = simplified(name)
	}
	head, tail := pattern[:star], pattern[star+1:]
	return len(name) >= len(head)+len(tail) &&
		strings.EqualFold(name[:len(head)], head) &&
		strings.EqualFold(name[len(name)-len(tail):], tail)
}

// RunLater lists the rows of protectedInHome whose path is, contains or lies in a path of a home.
// If a spec opens that path by itself, and not with the home, it is not protected.
func RunLater(home, path string) (rows []Row) {
	if home == "" || path == home || !view.Within(path, home) {
		return nil
	}
	for _, row := range protectedInHome {
		if at := home + "/" + row.Path; view.Within(path, at) || view.Within(at, path) {
			rows = append(rows, row)
		}
	}
	return rows
}
