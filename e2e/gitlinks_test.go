package e2e

import (
	"bytes"
	"crypto/sha1"
	"os"
	"slices"
	"strings"
	"testing"
)

// plantLinks makes git on the host write outside of the workspace: the files that a commit writes
// into its own directory would go where the links lead.
const plantLinks = `cd .git || exit 1
	rm -f COMMIT_EDITMSG logs/HEAD ORIG_HEAD
	ln -s $1/message COMMIT_EDITMSG
	ln -s $1/log logs/HEAD
	mv ../left ORIG_HEAD
	echo end`

// bringLink does the same with a directory that already contains the link.
const bringLink = `mv .git/logs .git/was && mv .git/brought .git/logs && echo end`

// A git commit on the host writes into its own directory, whatever links a command made there.
func TestGitWritesThroughNoLink(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.repository(b.ws)
		victim := b.base + "/victim"
		git, logs := b.ws+"/.git/", []string{victim + "/log"}
		for _, c := range []struct {
			script         string
			lands          []string
			refused, moved []string
		}{
			{plantLinks, append(logs, victim+"/message"), []string{git + "COMMIT_EDITMSG", git + "logs/HEAD", git + "ORIG_HEAD"}, nil},
			{bringLink, logs, nil, []string{git + "logs/HEAD"}},
		} {
			prepare := func() {
				for _, name := range []string{victim, git + "logs", git + "was", git + "brought", b.ws + "/left"} {
					must(t, os.RemoveAll(name))
				}
				for _, name := range []string{"COMMIT_EDITMSG", "ORIG_HEAD"} {
					must(t, os.RemoveAll(git+name))
				}
				b.git(b.ws, "commit", "-q", "--allow-empty", "-m", "before")
				must(t, os.Mkdir(victim, 0o755))
				if c.script == plantLinks {
					must(t, os.Symlink(victim+"/head", b.ws+"/left"))
					return
				}
				must(t, os.Mkdir(git+"brought", 0o755))
				must(t, os.Symlink(victim+"/log", git+"brought/HEAD"))
			}
			attack := []string{"/bin/sh", "-c", c.script, "sh", victim}
			commit := func() { b.git(b.ws, "commit", "-q", "--allow-empty", "-m", "$(touch x)") }
			prepare()
			b.plain(attack...)
			commit()
			for _, f := range c.lands {
				if !exists(f) {
					t.Errorf("control: git did not write %s", f)
				}
			}
			prepare()
			r := b.run(b.withConfig(specWW), attack...).ended()
			commit()
			for _, f := range c.lands {
				b.absent(f)
			}
			for _, l := range c.refused {
				if !r.rec.refused("filesystem", l) {
					t.Errorf("the record does not tell of %s: %v", l, r)
				}
			}
			if lastLine(r.out) != "end" || !slices.Equal(r.rec.moved(), c.moved) {
				t.Errorf("%v; moved %v", r, r.rec.moved())
			}
		}
	})
}

// Everyday operations of git on its directory still work.
func TestGitWorksWithoutLinks(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.repository(b.ws)
	r := b.sh(b.withConfig(specWW), `set -e
		ln -s file here && git add . && git commit -qm link && git checkout -q -b side && git mv here there && git commit -qam moved
		git checkout -q main && git merge -q side && echo x >file && git stash -q && git stash pop -q && git gc -q && git status -s
		mkdir .git/annex && ln -s ../../file .git/annex/tmp && mv .git/annex/tmp made && git symbolic-ref refs/heads/alias refs/heads/main && echo end`).ended()
	if lastLine(r.out) != "end" || len(r.rec.moved()) != 0 || r.rec.at("sweep_cuts") != nil {
		t.Errorf("%v; moved %v", r, r.rec.moved())
	}
}

// git checkout . on the host, which undoes a command's changes, writes the files that the index
// names: a hook among them would then run.
func TestGitChecksOutNoHook(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.repository(b.ws)
		ran := b.base + "/ran"
		hook := b.write(b.ws+"/.fit/hooks/post-checkout", "#!/bin/sh\ntouch "+ran+"\n")
		must(t, os.Chmod(hook, 0o755))
		b.git(b.ws, "add", ".fit")
		index, err := os.ReadFile(b.ws + "/.git/index")
		must(t, err)
		spoilt := bytes.Replace(index, []byte(".fit/hooks/"), []byte(".git/hooks/"), 1)
		sum := sha1.Sum(spoilt[:len(spoilt)-sha1.Size])
		copy(spoilt[len(spoilt)-sha1.Size:], sum[:])
		b.write(b.ws+"/spoilt", string(spoilt))
		attack := []string{"/bin/sh", "-c", "cp spoilt .git/index && echo end"}
		b.plain(attack...)
		b.plain("git", "checkout", ".")
		if !exists(ran) {
			t.Error("control: git ran no hook")
		}
		must(t, os.Remove(ran))
		must(t, os.Remove(b.ws+"/.git/hooks/post-checkout"))
		must(t, os.WriteFile(b.ws+"/.git/index", index, 0o644))
		r := b.run(specWW, attack...).ended()
		b.plain("git", "checkout", ".")
		b.absent(ran)
		b.absent(b.ws + "/.git/hooks/post-checkout")
		if lastLine(r.out) != "end" || !slices.Equal(r.rec.moved(), []string{b.ws + "/.git/index"}) {
			t.Errorf("%v; moved %v", r, r.rec.moved())
		}
	})
}

// A link that gets into a git directory past the listener is moved away while the command runs: in
// a directory that is renamed, by a path through /proc, and in a directory whose name /proc shows
// like that of a removed one.
func TestGitLinksDoNotStay(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.repository(b.ws)
	const heads = `rm -rf .git/logs/refs/heads/* .git/was; `
	for name, plant := range map[string]string{
		"renamed":      `mkdir -p .git/annex/d && ln -s $1 .git/annex/d/main && mv .git/logs/refs/heads .git/was && mv .git/annex/d .git/logs/refs/heads`,
		"through proc": `ln -s $1 /proc/self/cwd/.git/logs/refs/heads/main`,
		"a root":       `ln -s $1 "/proc/$$/root$PWD/.git/logs/refs/heads/main"`,
	} {
		must(t, os.MkdirAll(b.ws+"/.git/logs/refs/heads", 0o755))
		link := b.ws + "/.git/logs/refs/heads/main"
		if r := b.plain("/bin/sh", "-c", heads+plant, "sh", b.out); r.code != 0 || !isLink(link) {
			t.Errorf("control: %s: %v", name, r)
		}
		must(t, os.RemoveAll(b.ws+"/.git/logs/refs/heads"))
		must(t, os.MkdirAll(b.ws+"/.git/logs/refs/heads", 0o755))
		r := b.run(b.withConfig(specWW), "/bin/sh", "-c", heads+"{ "+plant+`; } || exit 1
			i=0; while [ -L .git/logs/refs/heads/main ] && [ $i -lt 150 ]; do sleep 0.1; i=$((i+1)); done
			[ -L .git/logs/refs/heads/main ] || echo gone; echo end`, "sh", b.out)
		if !strings.Contains(r.out, "gone\nend") || !slices.Contains(r.rec.moved(), link) {
			t.Errorf("%s: %v; moved %v", name, r, r.rec.moved())
		}
		must(t, os.RemoveAll(b.ws+"/.git/logs/refs/heads"))
	}
	// The name alone does not make it a removed directory: links in it are denied as elsewhere.
	if r := b.sh(b.withConfig(specWW), `mkdir ".git/x (deleted)" && ln -s /etc ".git/x (deleted)/HEAD"`); !r.rec.refused("filesystem", b.ws+"/.git/x (deleted)/HEAD") {
		t.Errorf("%v", r)
	}
}

func isLink(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.Mode()&os.ModeSymlink != 0
}
