package defaults

import (
	"flag"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the pages anew")

// tables returns the paths of every table, by the table's name.
func tables() map[string][]Row {
	t := map[string][]Row{
		"run": RunKept(), "devices": Devices(), "proc read-only": ProcReadOnly(),
		"proc masked": ProcMasked(), "system": System(), "in git": ProtectedInGit(),
		"in tree": ProtectedInTree(), "in home": ProtectedInHome(), "private": PrivateDirs(), "loaders": Loaders(), "socket variables": SocketVars(),
		"services": Services(),
	}
	for _, s := range Secrets() {
		t["secrets"] = append(t["secrets"], Row{s.Path, s.Why})
	}
	return t
}

func TestTablesAreSortedUniqueAndReasoned(t *testing.T) {
	for name, rows := range tables() {
		for i, r := range rows {
			if r.Path == "" || r.Why == "" {
				t.Errorf("%s: row %d (%q) lacks a path or a reason", name, i, r.Path)
			}
			if i > 0 && rows[i-1].Path >= r.Path {
				t.Errorf("%s: %q does not come after %q", name, r.Path, rows[i-1].Path)
			}
			if strings.HasSuffix(r.Path, "/") || strings.Contains(r.Path, "//") {
				t.Errorf("%s: %q is not clean", name, r.Path)
			}
			for part := range strings.SplitSeq(r.Path, "/") {
				if strings.Count(part, "*") > 1 {
					t.Errorf("%s: %q has a part with more than one *", name, r.Path)
				}
			}
			if dir := r.Path[:strings.LastIndexByte(r.Path, '/')+1]; name != "secrets" && strings.Contains(dir, "*") {
				t.Errorf("%s: %q has a * before its last part", name, r.Path)
			}
		}
	}
	for _, r := range decidedAgainst {
		if r.Path == "" || r.Why == "" {
			t.Errorf("decided against: %q lacks something", r.Path)
		}
	}
}

// No row lies under another of the same list, which hides or shows it already.
func TestNoRowBeneathAnother(t *testing.T) {
	for _, name := range []string{"secrets", "system", "in tree", "in home", "proc read-only", "private"} {
		rows := tables()[name]
		for _, a := range rows {
			for _, b := range rows {
				if strings.HasPrefix(b.Path, a.Path+"/") {
					t.Errorf("%s: %q lies beneath %q", name, b.Path, a.Path)
				}
			}
		}
	}
}

func TestSecretsHoldWhatTheContractNames(t *testing.T) {
	for _, s := range Secrets() {
		if !strings.HasPrefix(s.Path, "~/") && !strings.HasPrefix(s.Path, "/") {
			t.Errorf("%q begins with neither ~/ nor /", s.Path)
		}
		if s.Root && strings.HasPrefix(s.Path, "~/") {
			t.Errorf("%q is of a home and root's alone", s.Path)
		}
	}
	for _, path := range strings.Fields(`~/.ssh ~/.gnupg ~/.aws ~/.azure ~/.config/gcloud ~/.kube ~/.docker
		~/.netrc ~/.npmrc ~/.pypirc ~/.git-credentials ~/.config/gh ~/.password-store ~/.local/share/keyrings
		~/.bitcoin ~/.mozilla ~/.config/google-chrome ~/.bash_history ~/.zsh_history ~/.local/state/sbx
		/etc/shadow /etc/gshadow /etc/ssh/ssh_host_*_key /etc/ssl/private /etc/kubernetes
		/var/lib/docker /var/lib/containerd /var/lib/kubelet /boot`) {
		if !Lists().Secret(strings.Replace(path, "~", "/home/u", 1), "/home/u") {
			t.Errorf("%s is missing", path)
		}
	}
	for _, path := range []string{"/home/u/.claude", "/home/u/.codex/config.toml", "/home/u/.gemini/settings.json", "/home/u/.gitconfig"} {
		if Lists().Secret(path, "/home/u") {
			t.Errorf("%s is no secret", path)
		}
	}
}

// A secret is recognised in any home: the caller's wherever it is, root's, and those of others.
func TestListsSecretOfHomes(t *testing.T) {
	for path, home := range map[string]string{
		"/srv/h/.ssh/id": "/srv/h", "/.ssh": "/", "/root/.aws/x": "/home/u", "/home/other/.netrc": "/home/u", "/home/U/.SSH": "/home/u/",
		"/etc/shadow": "", "/root/.ssh": "",
	} {
		if !Lists().Secret(path, home) {
			t.Errorf("%s is no secret to who is at home in %q", path, home)
		}
	}
	for path, home := range map[string]string{
		"/srv/h/.ssh/id": "/home/u", "/.ssh": "/home/u", "/home/other": "/home/u", "/home/u": "/home/u", "/": "/", "/srv/.ssh": "/srv/h", "/home/u/w/.ssh": "/home/u",
	} {
		if Lists().Secret(path, home) {
			t.Errorf("%s is a secret to who is at home in %q", path, home)
		}
	}
}

// A protected name is recognised however its letters are written, also at its beginning.
func TestProtectedNamesAreKnownAtAGlance(t *testing.T) {
	for _, row := range ProtectedInTree() {
		name := strings.ReplaceAll(row.Path, "*", "x")
		as := []string{name, strings.ToUpper(name), name + "/x", name + ". ", strings.ReplaceAll(name, "/", " /")}
		for i := range 3 {
			as = append(as, name[:i]+"\u00ad"+name[i:])
		}
		for _, rel := range as {
			if !Under(rel, row.Path) {
				t.Errorf("%q is not told from its row %s", rel, row.Path)
			}
		}
	}
	for rel, pattern := range map[string]string{"a ": "a", "a./b": "a/b", "B": "b", "\u212a": "k", "x.y": "*.y", "a.b": "a*"} {
		if !Under(rel, pattern) {
			t.Errorf("%q is not told to be %s", rel, pattern)
		}
	}
	for rel, pattern := range map[string]string{"a b": "a", "ab": "a", "a": "ab", "xy": "*.y", "": "a", "@a": "`a"} {
		if Under(rel, pattern) {
			t.Errorf("%q is told to be %s", rel, pattern)
		}
	}
}

// The tables' patterns also decide which directories may hold a secret.
func TestListsHold(t *testing.T) {
	for dir, holds := range map[string]bool{
		"/home/u": true, "/home/u/.config": true, "/home/u/.config/JetBrains/IDE": true, "/home/u/.config/JetBrains/IDE/c.kdbx": true,
		"/home/u/.config/JetBrains/IDE/options": false, "/home/u/src": false, "/": true, "/srv": false,
	} {
		if got := Lists().Holds(dir, "/home/u"); got != holds {
			t.Errorf("%s: %v", dir, got)
		}
	}
}

// Nothing of @system is a secret. No secret lies under it either, except root's own, which are
// hidden there by name.
func TestSystemShowsNoSecret(t *testing.T) {
	for _, row := range System() {
		for _, s := range Secrets() {
			if row.Path == s.Path || strings.HasPrefix(s.Path, row.Path+"/") || strings.HasPrefix(row.Path, s.Path+"/") {
				t.Errorf("%q of @system and secret %q overlap", row.Path, s.Path)
			}
		}
	}
}

func TestIsProtectedName(t *testing.T) {
	yes := []string{
		".git", "a/.git", "a/b/c/.git", ".GIT",
		".git/config", ".git/hooks", ".git/hooks/pre-commit", ".git/commondir", ".git/config.worktree",
		"a/.git/config", ".git/modules/sub/config", ".git/modules/a/b/hooks",
		".git/modules/sub/modules/inner/config", ".git/worktrees/w/commondir", ".git/worktrees/w/gitdir",
		".git/worktrees/w/modules/sub/config", ".git/modules/logs/config", ".git/modules/logs/x/config", ".git/modules/refs/hooks/x",
		".git/modules/objects/commondir",
		".hg/hgrc", ".hg/sharedpath", ".jj/repo/config.toml", ".sl/config", ".vscode", ".vscode/tasks.json", ".VSCode", ".envrc", ".mcp.json", ".husky/_/pre-commit",
		".git/Commondir", ".git/HOOKS/x", ".git/CONFIG.WORKTREE", ".git/Modules/sub/Config", ".git/WORKTREES/w/gitdir",
		".g\u200cit/config", ".git.", ".git ", "a/.GIT. ./config", ".git/hoo\u212as", ".git/con\ufb01g", ".v\u017fcode", ".envrc.", ".env\ufeffrc",
		".github/hooks/x.json", ".config/mise.toml", ".config/mise/conf.d/x.toml", "mise.toml", "mise.local.toml", "mise/config.toml", ".mise.dev.toml", "opencode.jsonc", ".devcontainer.json", ".sbx/profiles.yaml",
		".claude./settings\u200b.json", ".claude/settings.json", ".claude/settings.local.json", ".claude/hooks/x", ".codex", ".gemini/settings.json",
	}
	for _, rel := range yes {
		if row, ok := IsProtectedName(rel); !ok || row.Why == "" {
			t.Errorf("%q is not protected", rel)
		}
	}
	no := []string{
		"", ".", "git", "a.git", ".gitignore", ".github", "src/.vscode", "a/.envrc", ".claude", ".claude/notes.md",
		".github", ".github/workflows/ci.yml", ".config/nextest.toml", "mise", "mise/main.go", "src/mise.toml", "crush", ".sbx", ".env",
		".claude/settings", ".claude/x/settings.json", ".git/index", ".git/HEAD", ".git/refs/heads/config",
		".git/refs/heads/hooks", ".git/logs/refs/heads/config", ".git/objects/ab", ".git/modules/sub/refs/heads/config",
		".git/modules/sub/HEAD", ".gît", ".git.x", ". git", "\u200b", "...", "con\ufb01g", ".git/refs/heads/Hooks", ".git/worktrees/w", ".git/worktrees", ".git/worktrees/config", ".git/config.lock", "package.json", "Makefile",
	}
	for _, rel := range no {
		if row, ok := IsProtectedName(rel); ok {
			t.Errorf("%q is protected by %q", rel, row.Path)
		}
	}
}

func TestIsProtectedInGit(t *testing.T) {
	for rel, want := range map[string]bool{
		"config": true, "hooks/pre-commit": true, "modules/sub/config": true, "modules/logs/x/config": true, "modules/a/logs/x/config": true,
		"modules/a/refs/heads/hooks": true, "worktrees/x/gitdir": true, "worktrees/x/modules/a/logs/config": true, "x/.git": true,
		"": false, "refs/heads/config": false, "logs/refs/heads/hooks": false, "worktrees/x/logs/refs/heads/config": false,
		"modules/a/HEAD": false, "objects/config": false, "config.lock": false, "worktrees/config": false,
	} {
		if got := IsProtectedInGit(rel); got != want {
			t.Errorf("IsProtectedInGit(%q) is %v", rel, got)
		}
	}
}

func TestLeadsInGit(t *testing.T) {
	for rel, want := range map[string][2]bool{ // if all submodules are known, and if not
		"modules": {true, true}, "modules/a": {true, true}, "modules/a/b": {true, false}, "modules/a/HEAD.lock": {true, false},
		"worktrees": {true, true}, "worktrees/x": {true, true}, "worktrees/x/HEAD": {}, "worktrees/x/modules/a": {true, true},
		"worktrees/x/modules/a/b": {true, false}, "": {}, "refs": {}, "refs/modules": {}, "x/modules": {},
	} {
		if got := [2]bool{LeadsInGit(rel, true), LeadsInGit(rel, false)}; got != want {
			t.Errorf("LeadsInGit(%q) is %v", rel, got)
		}
	}
}

func TestLeadsToProtected(t *testing.T) {
	for rel, want := range map[string]bool{".claude": true, ".CLAUDE": true, ".claude.": true, ".claude/x": false, ".hg": true, ".jj": true, ".jj/repo": true, ".jj/repo/store": false, ".vscode": false, ".clau": false, "": false, "src": false} {
		if got := LeadsToProtected(rel); got != want {
			t.Errorf("LeadsToProtected(%q) is %v", rel, got)
		}
	}
}

// A directory that may be created although it leads to a protected name is not a protected name
// itself.
func TestMayBeMade(t *testing.T) {
	for rel, want := range map[string]bool{".config": true, ".github": true, ".clinerules": true, "mise": true, ".gitlab/duo": true, ".git/sl": true, ".claude": false, ".hg": false, ".MISE": false, "": false, "x/.config": false} {
		leads := LeadsToProtected(rel)
		_, is := IsProtectedName(rel)
		if got := MayBeMade(rel); got != want || want && (!leads || is) {
			t.Errorf("MayBeMade(%q) is %v; it leads: %v, is one: %v", rel, got, leads, is)
		}
	}
}

// docs/reference lists the tables, after the mark of each page.
func TestProtectedNamesAreDocumented(t *testing.T) {
	want := "\n## In a git directory\n\n"
	for _, r := range ProtectedInGit() {
		want += "- `" + r.Path + "`: " + r.Why + "\n"
	}
	want += "\n## At the top of a workspace, and of each repository in it\n\n"
	for _, g := range byReason(ProtectedInTree()) {
		want += "- " + g.list(len(g.paths)) + ": " + g.why[:strings.IndexAny(g.why+":", ":;,")] + "\n"
	}
	want += "\n## Settings that name programs\n\n"
	files := reason{}
	for _, n := range Namings() {
		files.paths = append(files.paths, n.Path)
	}
	files.paths = slices.Compact(files.paths)
	want += files.list(len(files.paths)) + "\n\n## In a home\n\n"
	files = reason{}
	for _, r := range ProtectedInHome() {
		files.paths = append(files.paths, r.Path)
	}
	documented(t, "../../docs/reference/protected-paths.md", want+files.list(24)+".\n")
}

func TestSecretsAreDocumented(t *testing.T) {
	var rows []Row
	for _, s := range Secrets() {
		rows = append(rows, Row{Path: s.Path, Why: s.Why})
	}
	want, others := "\n", 0
	groups := byReason(rows)
	slices.SortStableFunc(groups, func(a, b reason) int { return len(b.paths) - len(a.paths) })
	for _, g := range groups {
		if len(g.paths) < 10 {
			others += len(g.paths)
			continue
		}
		want += "- " + g.why + ": " + g.list(2) + "\n"
	}
	vars := reason{}
	for _, v := range SecretVars() {
		vars.paths = append(vars.paths, v.Name)
	}
	for _, v := range SocketVars() {
		vars.paths = append(vars.paths, v.Path)
	}
	slices.Sort(vars.paths)
	documented(t, "../../docs/reference/hidden-secrets.md", want+"- other paths: "+strconv.Itoa(others)+"\n"+
		"- paths that variables name: "+vars.list(6)+"\n")
}

// reason has the paths of a table that share one reason.
type reason struct {
	why   string
	paths []string
}

// list returns the first n paths, and how many more there are.
func (r reason) list(n int) string {
	if len(r.paths) <= n+1 {
		return "`" + strings.Join(r.paths, "`, `") + "`"
	}
	return "`" + strings.Join(r.paths[:n], "`, `") + "` and " + strconv.Itoa(len(r.paths)-n) + " more"
}

// byReason groups rows whose reasons begin with the same words, up to a colon, or whose reason
// equals that of the row before.
func byReason(rows []Row) (groups []reason) {
	at := map[string]int{}
	for _, r := range rows {
		why, _, _ := strings.Cut(r.Why, ":")
		i, ok := at[why]
		if strings.HasPrefix(why, "the same, ") {
			i = len(groups) - 1
		} else if !ok {
			i = len(groups)
			at[why] = i
			groups = append(groups, reason{why: r.Why})
		}
		groups[i].paths = append(groups[i].paths, r.Path)
	}
	return groups
}

// documented compares the page, after its mark, with want.
func documented(t *testing.T, path, want string) {
	t.Helper()
	const mark = "<!-- generated from the tables of package defaults: go test ./wrap/defaults -run Documented -update -->\n"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, _, ok := strings.Cut(string(text), mark)
	if !ok {
		t.Fatalf("%s lacks %q", path, mark)
	}
	want = head + mark + want
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Errorf("%s is not what the tables say; write it with: go test ./wrap/defaults -run Documented -update", path)
	}
}

// A file that names programs is protected itself, since a command could otherwise name its own.
func TestNamingsAreProtected(t *testing.T) {
	for i, n := range Namings() {
		if n.Path == "" || n.Why == "" || slices.Contains(n.Keys, "") {
			t.Errorf("row %d (%q) lacks something", i, n.Path)
		}
		for _, pattern := range append(strings.Split(n.Path, "/"), n.Keys...) {
			if strings.Count(pattern, "*") > 1 {
				t.Errorf("%q: %q has more than one *", n.Path, pattern)
			}
		}
		if i > 0 && Namings()[i-1].Path > n.Path {
			t.Errorf("%q does not come after %q", n.Path, Namings()[i-1].Path)
		}
		if _, ok := IsProtectedName(strings.ReplaceAll(n.Path, "*", "x")); !ok {
			t.Errorf("%q is not protected", n.Path)
		}
	}
}

func TestTakes(t *testing.T) {
	for rel, want := range map[string]bool{
		"x": true, "a/x.py": true, "a/x.JSON": true, ".envrc.local": true, "env": true, "vendored/x": true,
		"a.md": false, "a/b.DB": false, ".env": false, ".env.local": false, "node_modules/x/cli.js": false, "a/.venv/bin/x": false, "vendor/x": false,
	} {
		if got := MayBeProgram(rel); got != want {
			t.Errorf("Takes(%q) is %v", rel, got)
		}
	}
}

func FuzzIsProtectedName(f *testing.F) {
	for _, s := range []string{"", "/", "a//b", ".git/", ".git/modules/", ".git/worktrees/", ".claude/settings", "a/.git/modules//config"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, rel string) {
		_, name := IsProtectedName(rel)
		LeadsToProtected(rel)
		LeadsInGit(rel, true)
		if _, deep := IsProtectedName("x/" + rel); deep && !name && rel != "" {
			t.Errorf("%q is protected deeper and not at the top", rel)
		}
	})
}
