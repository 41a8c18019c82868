package host

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"sbx/wrap"
)

func mkfifo(path string) error { return unix.Mkfifo(path, 0o600) }

// protects demands that each path is protected, itself or by a directory above.
func protects(t *testing.T, h *wrap.Host, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if !isProtected(h, path) {
			t.Errorf("%s is not protected\n%s", path, listed(h))
		}
	}
}

func isProtected(h *wrap.Host, path string) bool {
	return slices.ContainsFunc(h.Protected, func(p wrap.Protected) bool {
		return !p.Shared && (p.Path == path || !p.Link && p.Kind == wrap.Dir && beneath(path, p.Path))
	})
}

// leaves demands that none of the paths is protected.
func leaves(t *testing.T, h *wrap.Host, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if isProtected(h, path) {
			t.Errorf("%s is protected\n%s", path, listed(h))
		}
	}
}

// pins demands that each path is a mount point on the way and stays writable.
func pins(t *testing.T, h *wrap.Host, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if !slices.ContainsFunc(h.Protected, func(p wrap.Protected) bool { return p.Shared && p.Path == path && p.Kind == wrap.Dir }) {
			t.Errorf("%s is not pinned\n%s", path, listed(h))
		}
	}
}

func unmade(t *testing.T, h *wrap.Host, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if !slices.ContainsFunc(h.Unmade, func(p wrap.Protected) bool { return p.Path == path }) {
			t.Errorf("%s may come into being: %+v", path, h.Unmade)
		}
	}
}

func listed(h *wrap.Host) string {
	var b strings.Builder
	for _, p := range h.Protected {
		b.WriteString(p.Path + " " + p.Kind.String())
		if p.Shared {
			b.WriteString(" (on the way)")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// agrees demands that the search finds the same paths of a working tree as git.
func (s *scene) agrees(h *wrap.Host, top string) wrap.Repository {
	s.t.Helper()
	i := slices.IndexFunc(h.Repositories, func(r wrap.Repository) bool { return r.Top == filepath.Join(s.root, top) })
	if i < 0 {
		s.t.Fatalf("%s was not found: %+v", top, h.Repositories)
	}
	repo := h.Repositories[i]
	say := strings.Split(s.git(top, "rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir"), "\n")
	if repo.GitDir != say[0] || repo.Common != say[1] {
		s.t.Errorf("%s: %+v, but git says %q", top, repo, say)
	}
	return repo
}

func TestRepository(t *testing.T) {
	s := newScene(t)
	s.git("work", "init", "-q")
	s.git("work", "init", "-q", "a/b/inner")
	h := s.protect()
	w := s.work
	s.agrees(h, "work")
	s.agrees(h, "work/a/b/inner")
	protects(t, h, w+"/.git/hooks", w+"/.git/config", w+"/a/b/inner/.git/config", w+"/a/b/inner/.git/hooks/pre-commit")
	pins(t, h, w+"/.git", w+"/a", w+"/a/b", w+"/a/b/inner", w+"/a/b/inner/.git")
	leaves(t, h, w, w+"/.git/HEAD", w+"/.git/refs", w+"/.git/objects")
	unmade(t, h, w+"/.git/config.worktree", w+"/.git/commondir", w+"/.git/modules")
	if h.SearchCut != "" {
		t.Error(h.SearchCut)
	}
}

func TestMissingHooksMustNotComeIntoBeing(t *testing.T) {
	s := newScene(t)
	s.git("work", "init", "-q", "--template=")
	h := s.protect()
	unmade(t, h, s.work+"/.git/hooks")
	protects(t, h, s.work+"/.git/config")
}

func TestNamesOfTheTree(t *testing.T) {
	s := newScene(t)
	for _, f := range []string{".vscode/tasks.json", ".claude/settings.json", ".claude/settings.local.json", ".claude/hooks/x", ".claude/notes",
		".envrc", ".mcp.json", "src/.envrc", "package.json", "Makefile"} {
		s.file("work/"+f, "")
	}
	s.link("../elsewhere", "work/.idea")
	s.link("real-zed", "work/.zed")
	s.file("work/real-zed/tasks.json", "")
	h := s.protect()
	w := s.work
	protects(t, h, w+"/.vscode", w+"/.claude/settings.json", w+"/.claude/settings.local.json", w+"/.claude/hooks", w+"/.envrc", w+"/.mcp.json",
		w+"/.zed", w+"/real-zed", w+"/.idea")
	pins(t, h, w+"/.claude")
	leaves(t, h, w+"/.claude/notes", w+"/src/.envrc", w+"/package.json", w+"/Makefile")
}

func TestConfigurationNamesFilesOfTheWorkspace(t *testing.T) {
	s := newScene(t)
	s.git("work", "init", "-q")
	w := s.work
	for _, f := range []string{"tools/hooks/pre-commit", "cfg/a", "attrs", "tools/fsm.sh", "tools/ssh.sh", "tools/diff.py", "cfg/gpg", "less", "tools/unrelated"} {
		s.file("work/"+f, "")
	}
	s.file("work/cfg/more", "[core]\n\tfsmonitor = tools/fsm.sh\n[include]\n\tpath = a\n")
	for _, kv := range [][2]string{
		{"core.hooksPath", "tools/hooks"}, {"include.path", "../cfg/more"}, {"includeIf.onbranch:never.path", "../cfg/gpg"},
		{"core.attributesFile", w + "/attrs"}, {"core.sshCommand", "env X=1 ./tools/ssh.sh -o x"}, {"diff.x.textconv", "python3 tools/diff.py"},
		{"core.pager", "less"}, {"filter.y.clean", "tools/to-come.sh"}, {"alias.x", "!tools/unrelated"},
	} {
		s.git("work", "config", kv[0], kv[1])
	}
	h := s.protect()
	protects(t, h, w+"/tools/hooks", w+"/cfg/more", w+"/cfg/a", w+"/cfg/gpg", w+"/attrs", w+"/tools/fsm.sh", w+"/tools/ssh.sh", w+"/tools/diff.py")
	pins(t, h, w+"/tools", w+"/cfg")
	leaves(t, h, w+"/less", w+"/tools/unrelated", w+"/tools")
	// The search found every file that git reads.
	for _, line := range strings.Split(s.git("work", "config", "--list", "--show-origin", "--name-only"), "\n") {
		origin, _, _ := strings.Cut(line, "\t")
		if file, ok := strings.CutPrefix(origin, "file:"); ok {
			if !filepath.IsAbs(file) {
				file = filepath.Join(w, file)
			}
			if within(file, w) {
				protects(t, h, filepath.Clean(file))
			}
		}
	}
}

func TestHooksPathToComeOrAtTheTop(t *testing.T) {
	s := newScene(t)
	s.git("work", "init", "-q")
	s.git("work", "config", "core.hooksPath", ".githooks")
	unmade(t, s.protect(), s.work+"/.githooks")
	s.git("work", "config", "core.hooksPath", ".")
	s.file("work/pre-push", "")
	h := s.protect()
	protects(t, h, s.work+"/pre-push")
	unmade(t, h, s.work+"/pre-commit", s.work+"/fsmonitor-watchman")
}

func TestUsersConfigurationCountsForEveryRepository(t *testing.T) {
	s := newScene(t)
	s.git("work", "init", "-q", "one")
	s.git("work", "init", "-q", "two")
	s.file("work/one/.hooks/pre-commit", "")
	s.file("work/two/.hooks/pre-commit", "")
	s.file("home/me/.gitconfig", "[core]\n\thooksPath = .hooks\n[include]\n\tpath = work.inc\n[include]\n\tpath = ~/../../work/shared.inc\n")
	s.file("work/shared.inc", "")
	h := s.protect()
	protects(t, h, s.work+"/one/.hooks", s.work+"/two/.hooks", s.work+"/shared.inc")
}

func TestHookLinks(t *testing.T) {
	s := newScene(t)
	s.git("work", "init", "-q")
	s.file("work/scripts/pre-commit", "")
	s.link("../../scripts/pre-commit", "work/.git/hooks/pre-commit")
	s.link("middle", "work/.git/hooks/pre-push")
	s.link("../../scripts/push", "work/.git/hooks/middle")
	h := s.protect()
	protects(t, h, s.work+"/scripts/pre-commit", s.work+"/.git/hooks")
	pins(t, h, s.work+"/scripts")
	unmade(t, h, s.work+"/scripts/push")

	if err := os.RemoveAll(s.work + "/.git/hooks"); err != nil {
		t.Fatal(err)
	}
	s.link("../scripts", "work/.git/hooks")
	h = s.protect()
	protects(t, h, s.work+"/scripts", s.work+"/.git/hooks")
}

func TestSubmodule(t *testing.T) {
	s := newScene(t)
	s.git("", "init", "-q", "lib")
	s.git("lib", "commit", "-q", "--allow-empty", "-m", "x")
	s.git("work", "init", "-q")
	s.git("work", "submodule", "add", "-q", s.root+"/lib", "deps/lib")
	h := s.protect()
	w := s.work
	repo := s.agrees(h, "work/deps/lib")
	if repo.Outside {
		t.Errorf("%+v", repo)
	}
	m := w + "/.git/modules/deps/lib"
	protects(t, h, w+"/deps/lib/.git", m+"/config", m+"/hooks")
	pins(t, h, w+"/.git/modules", w+"/.git/modules/deps", m, w+"/deps", w+"/deps/lib")
	unmade(t, h, m+"/commondir")

	// Without its working tree the directory in modules still counts.
	s.git("work", "submodule", "deinit", "-q", "-f", "deps/lib")
	protects(t, s.protect(), m+"/config", m+"/hooks")
}

func TestWorkingInASubmodule(t *testing.T) {
	s := newScene(t)
	s.git("", "init", "-q", "lib")
	s.git("lib", "commit", "-q", "--allow-empty", "-m", "x")
	s.git("", "init", "-q", "super")
	s.git("super", "submodule", "add", "-q", s.root+"/lib", "lib")
	s.r.Write[0] = specPath(s.root+"/super/lib", "")
	h := s.protect()
	repo := s.agrees(h, "super/lib")
	if !repo.Outside {
		t.Errorf("%+v", repo)
	}
	m := s.root + "/super/.git/modules/lib"
	protects(t, h, m+"/config", m+"/hooks", s.root+"/super/lib/.git")
	leaves(t, h, s.root+"/super/.git/config")
}

func TestLinkedWorktree(t *testing.T) {
	s := newScene(t)
	s.git("", "init", "-q", "main")
	s.git("main", "commit", "-q", "--allow-empty", "-m", "x")
	s.git("main", "worktree", "add", "-q", s.root+"/tree", "-b", "t")
	s.git("main", "worktree", "add", "-q", s.root+"/other", "-b", "o")
	s.git("main", "config", "core.hooksPath", "hooks.d")
	s.r.Write[0] = specPath(s.root+"/tree", "")
	h := s.protect()
	repo := s.agrees(h, "tree")
	g := s.root + "/main/.git"
	if !repo.Outside || !slices.Equal(repo.Others, []string{g + "/worktrees/other"}) {
		t.Errorf("%+v", repo)
	}
	protects(t, h, g+"/config", g+"/hooks", g+"/worktrees/tree/commondir", g+"/worktrees/tree/gitdir", s.root+"/tree/.git")
	pins(t, h, g+"/worktrees", g+"/worktrees/tree")
	unmade(t, h, g+"/commondir", g+"/worktrees/tree/config.worktree", s.root+"/tree/hooks.d")
	if len(h.Repositories) != 1 {
		t.Errorf("%+v", h.Repositories)
	}

	// From the main tree's side the worktrees' own names are protected.
	s.r.Write[0] = specPath(s.root+"/main", "")
	h = s.protect()
	s.agrees(h, "main")
	protects(t, h, g+"/worktrees/tree/commondir", g+"/worktrees/other/gitdir")
}

// A .git file may name any directory; the directory must point back.
func TestStrayGitFileOpensNothing(t *testing.T) {
	s := newScene(t)
	s.git("", "init", "-q", "victim")
	s.git("victim", "commit", "-q", "--allow-empty", "-m", "x")
	s.git("victim", "worktree", "add", "-q", s.root+"/wt")
	for _, dir := range []string{"victim/.git", "victim/.git/worktrees/wt"} {
		s.file("work/.git", "gitdir: "+s.root+"/"+dir+"\n")
		h := s.protect()
		if len(h.Repositories) != 1 || h.Repositories[0].Outside {
			t.Errorf("%s: %+v", dir, h.Repositories)
		}
		protects(t, h, s.work+"/.git")
		leaves(t, h, s.root+"/victim/.git/config")
	}
}

func TestWorktreeInItsOwnBareRepository(t *testing.T) {
	s := newScene(t)
	s.git("", "init", "-q", "src")
	s.git("src", "commit", "-q", "--allow-empty", "-m", "x")
	s.git("", "clone", "-q", "--bare", "src", "store")
	s.git("store", "worktree", "add", "-q", "one")
	s.git("store", "worktree", "add", "-q", "two")
	s.r.Write[0] = specPath(s.root+"/store/one", "")
	repo := s.agrees(s.protect(), "store/one")
	if repo.Outside {
		t.Errorf("%+v", repo)
	}
}

// A .git directory of the workspace may name any common directory.
func TestStrayCommonDirOpensNothing(t *testing.T) {
	s := newScene(t)
	s.git("", "init", "-q", "victim")
	s.git("work", "init", "-q")
	s.file("work/.git/commondir", s.root+"/victim/.git\n")
	h := s.protect()
	if len(h.Repositories) != 1 || h.Repositories[0].Outside {
		t.Errorf("%+v", h.Repositories)
	}
	protects(t, h, s.work+"/.git/commondir")
	leaves(t, h, s.root+"/victim/.git/config")
}

func TestBareRepositoryAndHiddenLayout(t *testing.T) {
	s := newScene(t)
	s.git("work", "init", "-q", "--bare", "x/store")
	s.git("work", "init", "-q", "--separate-git-dir=.bare", "p")
	h := s.protect()
	protects(t, h, s.work+"/x/store/config", s.work+"/x/store/hooks", s.work+"/.bare/config", s.work+"/p/.git")
	pins(t, h, s.work+"/x", s.work+"/x/store", s.work+"/.bare")
	s.agrees(h, "work/p")
}

// The repository above stays read-only, but may run what lies in the tree.
func TestRepositoryAbove(t *testing.T) {
	s := newScene(t)
	s.git("", "init", "-q", ".")
	s.git("", "config", "core.hooksPath", "work/hooks")
	s.file("work/hooks/pre-commit", "")
	h := s.protect()
	protects(t, h, s.work+"/hooks")
	leaves(t, h, s.root+"/.git/config")
	if len(h.Repositories) != 0 {
		t.Errorf("%+v", h.Repositories)
	}
	if !slices.Equal(h.Around, []string{s.root}) {
		t.Errorf("%q", h.Around)
	}
}

func TestWhatTheSpecWritesIsOpen(t *testing.T) {
	s := newScene(t)
	s.git("work", "init", "-q")
	s.git("work", "init", "-q", "in")
	s.file("work/.vscode/x", "")
	w := s.work
	s.r.Write = append(s.r.Write, specPath(w+"/.git", "filesystem.write[0]"), specPath(w+"/in", "filesystem.write[1]"))
	h := s.protect()
	leaves(t, h, w+"/.git/config", w+"/.git/hooks")
	protects(t, h, w+"/in/.git/config", w+"/.vscode")
	s.r.Write = s.r.Write[:1]
	s.r.Globs = []string{"**/.git"}
	h = s.protect()
	leaves(t, h, w+"/.git/config", w+"/in/.git/config")
	protects(t, h, w+"/.vscode")
	if len(h.Unmade) != 0 {
		t.Errorf("%+v", h.Unmade)
	}
}

func TestGitLinks(t *testing.T) {
	s := newScene(t)
	s.git("work", "init", "-q", "real")
	s.dir("work/a")
	s.link("../real/.git", "work/a/.git")
	s.git("", "init", "-q", "outside")
	s.dir("work/b")
	s.link("../../outside/.git", "work/b/.git")
	h := s.protect()
	protects(t, h, s.work+"/a/.git", s.work+"/b/.git", s.work+"/real/.git/config")
	leaves(t, h, s.root+"/outside/.git/config")
}

// A hostile workspace causes neither a hang nor a panic, and a search that reached a limit
// reports it.
func TestHostileWorkspace(t *testing.T) {
	s := newScene(t)
	if err := mkfifo(s.work + "/.git"); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty": "", "none": "gitdir: ", "self": "gitdir: .git", "loop": "gitdir: ../loop/.git", "null": "gitdir: a\x00b",
		"dev": "gitdir: /dev/zero", "long": "gitdir: " + strings.Repeat("a/", 3000), "root": "gitdir: /",
	} {
		s.file("work/"+name+"/.git", text)
	}
	s.git("work", "init", "-q", "r")
	s.file("work/r/.git/config", "[include]\n path = config\n path = /dev/zero\n path = ../.git/config\n path = /proc/self/mem\n[core]\n hooksPath = /\n fsmonitor = "+strings.Repeat("a/b ", 2000)+"\n")
	s.file("work/r/.git/commondir", "../../r/.git/commondir/../x")
	if err := mkfifo(s.work + "/r/.git/config.worktree"); err != nil {
		t.Fatal(err)
	}
	s.link("..", "work/r/up")
	s.link("hooks", "work/r/.git/hooks.new")
	h := s.protect()
	protects(t, h, s.work+"/.git", s.work+"/r/.git/config", s.work+"/self/.git")
	leaves(t, h, s.work)

	s.dir("work/" + strings.Repeat("d/", maxDepth+2))
	if h := s.protect(); h.SearchCut == "" {
		t.Error("directories beyond the depth were left out in silence")
	}
	if testing.Short() {
		return
	}
	for i := range maxDirs {
		s.dir("work/many/" + itoa(i))
	}
	s.git("work", "init", "-q", "z")
	h = s.protect()
	if h.SearchCut == "" {
		t.Error("the search was cut in silence")
	}
	protects(t, h, s.work+"/z/.git/config") // the near ones are found first
}
