package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// inBox copies the compiled testdata/execs into the workspace.
func (b *box) inBox(name string, mode os.FileMode) {
	b.t.Helper()
	path, err := execsPath()
	must(b.t, err)
	must(b.t, exec.Command("cp", path, b.ws+"/"+name).Run())
	must(b.t, os.Chmod(b.ws+"/"+name, mode))
}

// Each way to create a name is denied for a protected name, and works for another one next to it.
func TestProtectedNamesAreRefused(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		must(t, os.Mkdir(b.ws+"/sub", 0o755))
		b.write("ws/file", "x")
		for _, name := range []string{".envrc", ".vscode", "sub/.git", ".claude", ".claude/settings.json", ".GIT", ".git.", ".hg", ".jj",
			".lazygit.yml", ".junie", ".openhands", ".prototools", ".pijul", "_darcs", "p.sublime-project", ".vim"} {
			if strings.HasPrefix(name, ".claude/") {
				must(t, os.Mkdir(b.ws+"/.claude", 0o755))
			}
			at := b.ws + "/" + name
			tries := []string{"mkdir|" + at, "create|" + at, "symlink|file|" + at, "link|" + b.ws + "/file|" + at, "rename|" + b.ws + "/file|" + at, "mknod|" + at, "openat2|" + at}
			free := make([]string, len(tries))
			for i, s := range tries {
				free[i] = strings.ReplaceAll(s, at, b.ws+"/free")
			}
			got := b.tries(specWW, tries...)
			for i, s := range tries {
				if got[s] != "EPERM" {
					t.Errorf("%s: %s", s, got[s])
				}
				if c := b.tries(specWW, free[i])[free[i]]; c != "ok" {
					t.Errorf("the control %s: %s", free[i], c)
				}
				if _, err := os.Lstat(b.ws + "/file"); err != nil {
					must(t, os.Rename(b.ws+"/free", b.ws+"/file"))
				}
				os.RemoveAll(b.ws + "/free")
			}
			b.absent(at)
		}
	})
}

// A path that the kernel can read or resolve and the supervisor cannot is denied.
func TestProtectedNamesUnseen(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "gcc")
	b := newBox(t)
	b.inBox("x", 0o755)
	const none = "mkdir -1\nopen -1\nrename -1\nin root -1\nchain -1\nfar -1\n"
	if r := b.run(specWW, "./x", "unseen"); r.out != none || len(r.rec.moved()) != 0 {
		t.Errorf("%v; moved %v", r, r.rec.moved())
	}
	b.absent(b.ws + "/.envrc")
	must(t, os.Mkdir(b.base+"/free", 0o755))
	must(t, exec.Command("cp", b.ws+"/x", b.base+"/free/x").Run())
	r := b.runIn(b.base+"/free", "", specNone, "./x", "unseen")
	if !strings.HasPrefix(r.out, "mkdir 0\n") || !strings.Contains(r.out, "far -1") {
		t.Errorf("the control: %v", r)
	}
}

// Without a counter the very first call of a program is denied as well.
func TestProtectedNamesUncounted(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "gcc")
	b := newBox(t)
	b.inBox("x", 0o755)
	for _, args := range [][]string{{"--counter", "none"}, {"--counter", "none", "--violations", "off"}, {"--violations", "off"}} {
		b.args = args
		for range 20 {
			if r := b.run(specWW, "./x", "first"); r.out != "1\n" { // EPERM
				t.Errorf("%q: %v", args, r)
			}
		}
		b.absent(b.ws + "/.envrc")
	}
}

// However long the chain of links is, an open creates no protected name at its end.
func TestProtectedNamesBehindLinks(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	r := b.sh(specWW, `ln -s .envrc l0; i=0; while [ $i -lt 45 ]; do ln -s l$i l$((i+1)); i=$((i+1)); done
		for i in 0 1 7 8 9 20 38 39 40 45; do (echo x >l$i) 2>/dev/null && echo made $i; done
		ln -s /proc/self/cwd/.envrc magic; (echo x >magic) 2>/dev/null && echo made by magic
		ln -s free f0; ln -s f0 f1; echo x >f1 && cat free`).ended()
	if r.out != "x\nend\n" {
		t.Errorf("%v", r)
	}
	b.absent(b.ws + "/.envrc")
	if len(r.rec.moved()) != 0 {
		t.Errorf("it was there for a while: %v", r.rec.moved())
	}
}

// If a program changes the name while the supervisor reads it, the call is denied, or the created
// file does not stay.
func TestProtectedNamesAgainstARacer(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "gcc")
	counts := regexp.MustCompile(`made (\d+) refused (\d+) protected (\d+) left ([01])`)
	b := newBox(t)
	b.inBox("x", 0o755)
	r := b.run(specWW, "./x", "names", "3000")
	m := counts.FindStringSubmatch(r.out)
	if m == nil || r.code != 0 {
		t.Fatalf("%v", r)
	}
	if m[1] == "0" || m[2] == "0" {
		t.Errorf("it raced with nothing: %s", r.out)
	}
	b.absent(b.ws + "/.envrc")
	if m[4] == "1" && len(r.rec.moved()) == 0 {
		t.Errorf("it stayed (%s), and nothing was moved away", r.out)
	}
	r.rec.hasStatus(t, "protected_names", "enforced")
	r.rec.hasStatus(t, "new_protected_names", "guarded")
	// Each denial and each removal has a line.
	refused, moved := strings.Count(r.err, "is a protected name"), strings.Count(r.err, "was created")
	if lines := strings.Count(r.err, "\n"); refused != 1 || moved != min(len(r.rec.moved()), 1) || lines != refused+moved {
		t.Errorf("%d lines, %d of refusals and %d of %d names that were moved away:\n%.2000s", lines, refused, moved, len(r.rec.moved()), r.err)
	}
}

// project makes a hundred directories, more than are watched, and returns the last one: there a
// racer makes a repository whose configuration names a program.
func (b *box) project() (last, marker string) {
	b.t.Helper()
	for i := range 100 {
		must(b.t, os.MkdirAll(fmt.Sprintf("%s/d%02d", b.ws, i), 0o755))
	}
	last, marker = b.ws+"/d99", b.base+"/ran"
	must(b.t, os.MkdirAll(last+"/a", 0o755))
	must(b.t, os.MkdirAll(last+"/b", 0o755))
	b.repository(last + "/made")
	b.git(last+"/made", "config", "core.fsmonitor", "touch "+marker+"; false")
	must(b.t, os.Rename(last+"/made/.git/HEAD", last+"/made/.git/head"))
	must(b.t, os.Rename(last+"/made/.git", last+"/seed"))
	must(b.t, os.RemoveAll(last+"/made"))
	return last, marker
}

// A repository that a racer makes where nothing watches, by way of another directory, is gone
// before the end.
func TestProtectedNamesAgainstARacerInTheDepth(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "gcc", "git")
	told := regexp.MustCompile(`won ([01]) tries \d+ gone ([01])`)
	for _, args := range [][]string{nil, {"--violations", "off"}} {
		b := newBox(t)
		last, marker := b.project()
		b.inBox("d99/x", 0o755)
		b.args = args
		script := "cd d99 && ./x deep 5000; echo end"
		m := told.FindStringSubmatch(b.run(specWW, "/bin/sh", "-c", script).ended().out)
		if m == nil {
			t.Fatal("the racer tells nothing")
		}
		if m[1] == "0" {
			t.Logf("%q: the race was not won, so that nothing had to be found", args)
		} else if m[2] == "0" {
			t.Errorf("%q: it stood for five seconds", args)
		}
		b.absent(last + "/b/.git")
		status := exec.Command("git", "-C", last+"/b", "status")
		_ = status.Run() // it is no repository
		b.absent(marker)

		must(t, os.RemoveAll(last+"/seed"))
		must(t, os.RemoveAll(last+"/a/_git"))
		last, marker = b.project()
		if m := told.FindStringSubmatch(b.plain("/bin/sh", "-c", script).out); m == nil || m[1] != "1" || m[2] != "0" {
			t.Fatalf("the control: %q", m)
		}
		b.git(last+"/b", "status")
		if _, err := os.Stat(marker); err != nil {
			t.Errorf("the control: git did not run what its configuration names: %v", err)
		}
	}
}

// A name that is created without a call which the supervisor sees is found while the command runs,
// in each directory.
func TestProtectedNamesAreFoundInTheDepth(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "git")
	for _, args := range [][]string{nil, {"--violations", "names"}, {"--violations", "off"}, {"--counter", "none"}} {
		eachPlace(t, func(t *testing.T, b *box) {
			last, _ := b.project()
			b.args = args
			k := b.talk(specWW)
			k.settled()
			must(t, os.Rename(last+"/seed", last+"/b/.git")) // instead of a racer
			if got := k.ask("mkdir made && echo made"); got != "made" {
				t.Fatalf("%q: %q", args, got)
			}
			eventually(t, "it is moved away", func() bool {
				_, err := os.Lstat(last + "/b/.git")
				return os.IsNotExist(err)
			})
			k.ends()
			if rec, _ := readRecord(b.rec); len(rec.moved()) != 1 {
				t.Errorf("%q: moved %v", args, rec.moved())
			}
		})
	}
}

// The memory of a program cannot be read if it belongs to another user and may only be executed.
// The calls on which the listener decides are denied to it, and its programs are charged unseen.
func TestUnreadablePrograms(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "gcc")
	if !isRoot() {
		t.Skip("only root can make it")
	}
	const nobody = 65534
	for mode, want := range map[os.FileMode]string{0o755: "mkdir 0\nopen 0\nexec 1\n", 0o711: "mkdir 1\nopen 1\nexec 1\n"} { // 1 is EPERM
		b := newBox(t)
		for _, d := range []string{b.base, b.ws, b.home, b.out, b.base + "/state"} {
			must(t, os.Chown(d, nobody, nobody))
		}
		b.inBox("x", mode)
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		cmd := b.command(ctx, specWW, "/bin/sh", "-c", "./x make")
		cmd.Dir, cmd.SysProcAttr = b.ws, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		r := b.finish(cmd)
		cancel()
		if r.out != want || r.rec.whole("commands_used") != 2 {
			t.Errorf("mode %o: %v; %v", mode, r, r.rec["commands"])
		}
	}
}
