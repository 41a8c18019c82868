package defaults

import (
	"slices"
	"strings"
)

// Format is the format in which a settings file names programs.
type Format uint8

// These are the formats.
const (
	Strings Format = iota // JSON with or without comments: its strings, each a name or a command as in a script
	Lines                 // TOML, YAML and their like: the words of its lines
	Script                // a shell script: the words that it runs or reads, and names of executable files
)

// Naming is a settings file that names programs which run by themselves: a file of ProtectedInTree,
// or in a protected directory. Those programs that are files of the workspace become read-only with
// it. Programs that run only if somebody asks for them by name are left out: an editor's task, a
// script of package.json.
type Naming struct {
	Path   string // relative to the top; each part may hold one "*"
	Format Format
	Keys   []string // only values under one of these keys, at any depth, compared by Matches; nil for all
	When   string   // only if the file contains this text; "" for any
	Why    string   // who runs the programs
}

// Namings returns the table of settings files that name programs.
func Namings() []Naming { return namings[:] }

// Several rows share these keys.
var (
	claudeKeys = []string{"apiKeyHelper", "aws*", "fileSuggestion", "gcp*", "hooks", "mcpServers", "otelHeadersHelper", "*statusLine"}
	codeKeys   = []string{"formatter", "hooks", "lsp", "mcp", "plugin"}
	editorKeys = []string{"*.command", "*.executable", "*.server", "*path"}
	geminiKeys = []string{"*command", "hooks", "mcpServers"}
	hgKeys     = []string{"extensions", "hooks", "ui"}
	miseKeys   = []string{"env", "hooks", "plugins"}
	taskKeys   = []string{"args", "command", "options"}
)

// Several rows share these reasons.
const (
	aMCPServer = "an agent starts the servers in it"
	claudeWhy  = "Claude Code runs its hooks, its status line and what gives keys"
	dirOpens   = "VS Code runs tasks as the directory is opened"
	geminiWhy  = "Gemini runs its hooks and starts its MCP servers"
	hgWhy      = "Mercurial runs its hooks and loads its extensions"
	miseWhy    = "mise runs its hooks and what sets variables as a shell enters the directory"
)

var namings = [...]Naming{
	{"*.code-workspace", Strings, taskKeys, "folderOpen", dirOpens},
	{"*.code-workspace", Strings, editorKeys, "", "VS Code starts what its settings name"},
	{".aider.conf.yml", Lines, []string{"lint-cmd", "notifications-command", "test-cmd"}, "", "Aider runs the linter and the tests after its edits"},
	{".amazonq/*agents/*.json", Strings, []string{"hooks", "mcpServers"}, "", "Amazon Q runs its hooks and starts its MCP servers"},
	{".amazonq/mcp.json", Strings, nil, "", aMCPServer},
	{".amp/settings.json*", Strings, []string{"*mcpServers"}, "", aMCPServer},
	{".augment/settings*.json", Strings, claudeKeys, "", "Auggie runs its hooks and starts its MCP servers"},
	{".claude/hooks/*", Script, nil, "", "Claude Code runs it as a hook"},
	{".claude/settings*.json", Strings, claudeKeys, "", claudeWhy},
	{".codebuddy/settings*.json", Strings, claudeKeys, "", "CodeBuddy runs its hooks and its status line"},
	{".codex/config.toml", Lines, []string{"hooks", "mcp_servers", "notify"}, "", "Codex starts its MCP servers and runs what it notifies"},
	{".codex/hooks.json", Strings, nil, "", "Codex runs its hooks"},
	{".config/mise*.toml", Lines, miseKeys, "", miseWhy},
	{".config/mise/*.toml", Lines, miseKeys, "", miseWhy},
	{".config/mise/conf.d/*.toml", Lines, miseKeys, "", miseWhy},
	{".continue/agents/*", Lines, []string{"mcpServers"}, "", aMCPServer},
	{".continue/mcpServers/*", Lines, nil, "", aMCPServer},
	{".crush.json", Strings, codeKeys, "", "Crush starts its servers and runs its hooks"},
	{".cursor/hooks.json", Strings, nil, "", "Cursor runs its hooks"},
	{".cursor/mcp.json", Strings, nil, "", aMCPServer},
	{".devcontainer.json", Strings, []string{"initializeCommand"}, "", "an editor runs initializeCommand on the host"},
	{".devcontainer/*/devcontainer.json", Strings, []string{"initializeCommand"}, "", "an editor runs initializeCommand on the host"},
	{".devcontainer/devcontainer.json", Strings, []string{"initializeCommand"}, "", "an editor runs initializeCommand on the host"},
	{".envrc*", Script, nil, "", "direnv runs it as a shell enters the directory"},
	{".factory/*.json", Strings, []string{"hooks", "mcpServers", "statusLine"}, "", "Factory runs its hooks and starts its MCP servers"},
	{".gemini/settings.json", Strings, geminiKeys, "", geminiWhy},
	{".github/hooks/*.json", Strings, nil, "", "Copilot's command line runs its hooks"},
	{".github/mcp.json", Strings, nil, "", aMCPServer},
	{".gitlab/duo/mcp.json", Strings, nil, "", aMCPServer},
	{".helix/languages.toml", Lines, []string{"language", "language-server"}, "", "Helix starts language servers and formatters"},
	{".hg/hgrc", Lines, hgKeys, "", hgWhy},
	{".hg/hgrc-not-shared", Lines, hgKeys, "", hgWhy},
	{".husky/*", Script, nil, "", "git runs it as a hook"},
	{".idea/watcherTasks.xml", Lines, nil, "", "a JetBrains editor runs it as files are saved"},
	{".iflow/settings.json", Strings, geminiKeys, "", "iFlow runs its hooks and starts its MCP servers"},
	{".jj/repo/config.toml", Lines, []string{"fix", "fsmonitor", "merge-tools", "ui"}, "", "Jujutsu runs them"},
	{".junie/mcp/mcp.json", Strings, nil, "", aMCPServer},
	{".kilo/*.json", Strings, codeKeys, "", "Kilo Code starts its servers"},
	{".kilo/*.jsonc", Strings, codeKeys, "", "Kilo Code starts its servers"},
	{".kilocode/mcp.json", Strings, nil, "", aMCPServer},
	{".kimi-code/*.json", Strings, []string{"hooks", "mcpServers"}, "", aMCPServer},
	{".kiro/agents/*.json", Strings, []string{"hooks", "mcpServers"}, "", "Kiro runs its hooks and starts its MCP servers"},
	{".kiro/hooks/*", Strings, []string{"command", "then"}, "", "Kiro runs its hooks"},
	{".kiro/settings/mcp.json", Strings, nil, "", aMCPServer},
	{".mcp.json", Strings, nil, "", aMCPServer},
	{".mise*.toml", Lines, miseKeys, "", miseWhy},
	{".mise/config*.toml", Lines, miseKeys, "", miseWhy},
	{".opencode/*.json", Strings, codeKeys, "", "OpenCode starts its servers and loads its plugins"},
	{".opencode/*.jsonc", Strings, codeKeys, "", "OpenCode starts its servers and loads its plugins"},
	{".openhands/*.sh", Script, nil, "", "OpenHands runs it"},
	{".openhands/hooks.json", Strings, nil, "", "OpenHands runs its hooks"},
	{".qwen/settings.json", Strings, geminiKeys, "", "Qwen Code runs its hooks and starts its MCP servers"},
	{".roo/mcp.json", Strings, nil, "", aMCPServer},
	{".shadowenv.d/*.lisp", Lines, nil, "", "Shadowenv runs it as a shell enters the directory"},
	{".sl/config", Lines, hgKeys, "", "Sapling runs its hooks and loads its extensions"},
	{".tabnine/*.json", Strings, nil, "", aMCPServer},
	{".trae/mcp.json", Strings, nil, "", aMCPServer},
	{".vibe/config.toml", Lines, []string{"mcp_servers"}, "", aMCPServer},
	{".vim/coc-settings.json", Strings, []string{"*command", "*path", "args", "languageserver"}, "", "coc.nvim starts language servers"},
	{".vscode/mcp.json", Strings, nil, "", aMCPServer},
	{".vscode/settings.json", Strings, editorKeys, "", "VS Code starts what its settings name"},
	{".vscode/tasks.json", Strings, taskKeys, "folderOpen", dirOpens},
	{".windsurf/hooks.json", Strings, nil, "", "Windsurf runs its hooks"},
	{".zed/settings.json", Strings, []string{"context_servers", "formatter", "lsp"}, "", "Zed starts language servers, MCP servers and formatters"},
	{"_darcs/prefs/defaults", Lines, nil, "", "Darcs runs its hooks"},
	{"crush.json", Strings, codeKeys, "", "Crush starts its servers and runs its hooks"},
	{"kilo.json*", Strings, codeKeys, "", "Kilo Code starts its servers"},
	{"mise*.toml", Lines, miseKeys, "", miseWhy},
	{"mise/config*.toml", Lines, miseKeys, "", miseWhy},
	{"opencode.json*", Strings, codeKeys, "", "OpenCode starts its servers and loads its plugins"},
}

// HasKey reports whether key is one of the row's keys.
func (n *Naming) HasKey(key string) bool {
	return slices.ContainsFunc(n.Keys, func(k string) bool { return Matches(key, k) })
}

// MayBeProgram reports whether a file that a settings file names may be a program, or a file that a
// program reads as code. Files whose names say that they hold data are left out, because programs
// write them, and so are the project's dependencies.
func MayBeProgram(rel string) bool {
	dir, name := "", rel
	if cut := strings.LastIndexByte(rel, '/'); cut >= 0 {
		dir, name = rel[:cut], rel[cut+1:]
	}
	for part := range strings.SplitSeq(dir, "/") {
		if slices.Contains(dependencies[:], part) {
			return false
		}
	}
	if strings.HasPrefix(name, ".env") && !strings.HasPrefix(name, ".envrc") {
		return false
	}
	dot := strings.LastIndexByte(name, '.')
	return dot < 0 || !slices.Contains(dataEndings[:], strings.ToLower(name[dot+1:]))
}

// dependencies are directories of other people's code, which stay writable.
var dependencies = [...]string{".venv", "node_modules", "vendor", "venv"}

// dataEndings are the extensions of files that hold data or text.
var dataEndings = [...]string{
	"cert", "crt", "csv", "db", "db3", "duckdb", "jsonl", "key", "lock", "log", "md", "mdx", "ndjson",
	"pem", "pid", "rst", "sqlite", "sqlite3", "tsv", "txt",
}
