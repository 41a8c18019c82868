package e2e

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
)

// makeBare turns a directory into a repository that has no protected name, and breaks the one
// above, so that git considers the new one. git runs the programs that a configuration next to the
// directory's other files names.
const makeBare = `rm -f .git/HEAD
	if [ "$2" = objects ]; then
		mkdir -p $1/objects $1/refs
		printf '[core]\nrepositoryformatversion = 0\nbare = false\nworktree = %s\nfsmonitor = "touch %s; false"\n' "$PWD" "$3" >$1/config
	else
		mkdir -p store/objects store/refs && echo "$PWD/store" >$1/commondir
		printf '[core]\nrepositoryformatversion = 1\nfsmonitor = "touch %s; false"\n[extensions]\nworktreeConfig = true\n' "$3" >store/config
		printf '[core]\nbare = false\nworktree = %s\n' "$PWD" >$1/config.worktree
	fi
	(echo "ref: refs/heads/main" >$1/HEAD) 2>/dev/null
	echo end`

// The top of a working tree, or a directory in it, cannot become a repository from which a plain
// git status on the host takes its configuration.
func TestDirsDoNotBecomeRepositories(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.repository(b.ws)
		head, err := os.ReadFile(b.ws + "/.git/HEAD")
		must(t, err)
		ran := b.base + "/ran"
		for _, at := range []string{".", "sub"} {
			for _, how := range []string{"objects", "commondir"} {
				attack := []string{"/bin/sh", "-c", makeBare, "sh", at, how, ran}
				prepare := func() {
					for _, dir := range []string{"sub", "store", "objects", "refs", "commondir", "config", "config.worktree", "HEAD"} {
						must(t, os.RemoveAll(b.ws+"/"+dir))
					}
					must(t, os.RemoveAll(ran))
					b.write(b.ws+"/sub/main.c", "")
					must(t, os.Mkdir(b.ws+"/store", 0o755))
					must(t, os.WriteFile(b.ws+"/.git/HEAD", head, 0o644))
				}
				status := func() { b.plain("git", "-C", b.ws+"/"+at, "status") }

				prepare()
				b.plain(attack...)
				if status(); !exists(ran) {
					t.Errorf("control: %s by %s: git ran nothing", at, how)
				}
				prepare()
				r := b.run(specWW, attack...).ended()
				if status(); exists(ran) {
					t.Errorf("%s by %s: git on the host ran what the command named: %v", at, how, r)
				}
				name := b.ws + "/HEAD"
				if at == "sub" {
					name = b.ws + "/sub/HEAD"
				}
				if !r.rec.refused("filesystem", name) {
					t.Errorf("%s by %s: the record does not tell of %s: %v", at, how, name, r)
				}
				if moved := r.rec.moved(); at == "sub" && !slices.Contains(moved, name) {
					t.Errorf("%s by %s: moved %v", at, how, moved)
				}
			}
		}
		// A directory that is nothing but a repository is listed, and a file called HEAD is
		// allowed.
		must(t, os.WriteFile(b.ws+"/.git/HEAD", head, 0o644))
		for _, dir := range []string{"sub", "store", "objects", "refs", "commondir", "config", "config.worktree", "HEAD"} {
			must(t, os.RemoveAll(b.ws+"/"+dir))
		}
		r := b.sh(b.withConfig(specWW), "git init -q --bare made.git && mkdir d && echo x >d/HEAD && cat d/HEAD && git status -s").ended()
		if len(r.rec.moved()) != 0 || !exists(b.ws+"/made.git/HEAD") || !exists(b.ws+"/d/HEAD") {
			t.Errorf("a bare repository: %v; moved %v", r, r.rec.moved())
		}
		if got := fmt.Sprint(r.rec.at("new_repositories")); got != "["+b.ws+"/made.git]" {
			t.Errorf("new repositories: %s", got)
		}
		r = b.sh(specWith(specWW, `"filesystem":{"write":["HEAD"]}`), "echo x >HEAD && cat HEAD").ended()
		if !exists(b.ws+"/HEAD") || len(r.rec.moved()) != 0 {
			t.Errorf("HEAD in write: %v", r)
		}
	})
}

// Protected names in a directory that looks like a repository are protected all the same.
func TestRepositoriesInALookAlike(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.repository(b.ws + "/all/one")
	for _, dir := range []string{"objects", "refs"} {
		must(t, os.Mkdir(b.ws+"/all/"+dir, 0o755))
	}
	b.write(b.ws+"/all/HEAD", "ref: refs/heads/main\n")
	config := b.ws + "/all/one/.git/config"
	try := "append|" + config
	if got := b.control(try)[try]; got != "ok" {
		t.Errorf("control: %s", got)
	}
	if got := b.tries(specWW, try)[try]; got != "EROFS" {
		t.Errorf("%s", got)
	}
}

// Many directories and bare repositories that an earlier command left in the workspace do not keep
// the search from finding repositories and submodules that this command could not have made.
func TestManyDirsOfAnEarlierRun(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.repository(b.ws)
	b.repository(b.out + "/source")
	b.git(b.ws, "submodule", "--quiet", "add", b.out+"/source", "a/b/c/sub")
	b.repository(b.ws + "/zz")
	b.git(b.ws+"/zz", "config", "core.hooksPath", "tools")
	must(t, os.Mkdir(b.ws+"/zz/tools", 0o755))
	spec := b.withConfig(specWW)
	plant := func(script string) {
		if r := b.sh(spec, script+"; echo end").ended(); r.code != 0 {
			t.Fatal(r)
		}
	}
	at := func(what string, want map[string]string) {
		t.Helper()
		for a, got := range b.tries(spec, slices.Collect(maps.Keys(want))...) {
			if want[a] != "" && got != want[a] {
				t.Errorf("%s: %s: %s, want %s", what, a, got, want[a])
			}
		}
	}
	zz, sub := b.ws+"/zz/", b.ws+"/.git/modules/a/b/c/sub/"
	mounted := map[string]string{
		"write|" + zz + ".git/config": "EROFS", "mkfifo|" + zz + "tools/pre-commit": "EROFS",
		"write|" + sub + "config": "EROFS", "mkfifo|" + sub + "hooks/pre-commit": "EROFS",
	}
	for a, got := range b.control(slices.Collect(maps.Keys(mounted))...) {
		if got != "ok" {
			t.Errorf("control: %s: %s", a, got)
		}
	}
	for _, name := range []string{zz + "tools", sub + "hooks"} {
		must(t, os.Remove(name+"/pre-commit"))
	}
	at("as it was", mounted)

	plant(`for i in $(seq 300); do mkdir -p "b$i/objects" "b$i/refs"; echo "ref: refs/heads/main" >"b$i/HEAD"; printf '[include]\npath = config\n' >"b$i/config"; done`)
	at("300 bare repositories", mounted)
	for i := range 300 {
		must(t, os.RemoveAll(fmt.Sprintf("%s/b%d", b.ws, i+1)))
	}

	// A repository beyond the bound is not found. Of a submodule there is also the .git file, which
	// the supervisor refuses to open for writing.
	plant(`mkdir d; for i in $(seq 2100); do mkdir "d/$i"; done`)
	mounted["write|"+b.ws+"/a/b/c/sub/.git"] = "EPERM"
	mounted["truncate|"+b.ws+"/a/b/c/sub/file"] = "ok"
	at("2100 directories", mounted)
}
