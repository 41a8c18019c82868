package e2e

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// plantAtHome writes files that a login, a shell or a tool of the host runs, and prints what
// succeeded. It makes directories in place, and also brings them by a rename.
const plantAtHome = `cd "$HOME"
	for f in .bashrc dot/profile .zshrc .ssh/authorized_keys .config/systemd/user/x.service .local/bin/ls bin/ls .aws/config \
			.gitconfig .exrc .lesskey .gvimrc .nanorc .forward .config/lesskey .sbt/1.0/plugins/p.sbt; do
		{ mkdir -p ${f%/*}; [ "$f" != "${f%/*}" ] || rmdir $f; echo x >>$f; } 2>/dev/null && echo wrote $f
	done
	mkdir -p made/bin && mv -T made .cargo 2>/dev/null && echo moved .cargo
	rm -f .bashrc 2>/dev/null && echo removed .bashrc
	rm -rf made
	for f in .local/share/tool/x .config/tool/x go/pkg/x .cache/x notes; do mkdir -p $(dirname $f) && echo x >$f && echo kept $f; done
	echo end`

// In a home that is the workspace, or lies in it, files that the host runs are protected.
func TestHomesInAWorkspace(t *testing.T) {
	needSandbox(t)
	for _, home := range []string{"", "/people/one"} {
		eachPlace(t, func(t *testing.T, b *box) {
			home := b.ws + home
			prepare := func() {
				must(t, os.RemoveAll(b.ws))
				b.write(home+"/.bashrc", "")
				b.write(home+"/dot/profile", "")
				must(t, os.Symlink("dot/profile", home+"/.profile"))
			}
			b.env = append(b.env, "HOME="+home, "PATH="+home+"/bin:"+searchable(os.Getenv("PATH")))
			shell := []string{"/bin/sh", "-c", plantAtHome}
			prepare()
			free := b.plain(shell...).ended()
			prepare()
			held := b.run(specWW, shell...).ended()
			free.holdsLines(t, "control", "wrote .bashrc", "wrote dot/profile", "wrote .zshrc", "wrote .ssh/authorized_keys",
				"wrote .config/systemd/user/x.service", "wrote .local/bin/ls", "wrote bin/ls", "wrote .aws/config",
				"wrote .gitconfig", "wrote .exrc", "wrote .lesskey", "wrote .gvimrc", "wrote .nanorc", "wrote .forward", "wrote .config/lesskey",
				"wrote .sbt/1.0/plugins/p.sbt", "moved .cargo", "removed .bashrc",
				"kept .local/share/tool/x", "kept .config/tool/x", "kept go/pkg/x", "kept .cache/x", "kept notes", "end")
			want := []string{"kept .local/share/tool/x", "kept .config/tool/x", "kept go/pkg/x", "kept .cache/x", "kept notes", "end"}
			held.holdsLines(t, "sandbox", want...)
			for _, f := range []string{".zshrc", ".ssh", ".local/bin", "bin", ".aws", ".cargo/bin",
				".gitconfig", ".exrc", ".lesskey", ".gvimrc", ".nanorc", ".forward", ".config/lesskey", ".sbt/1.0"} {
				if exists(path.Join(home, f)) {
					t.Errorf("%s came into being: %v", f, held)
				}
			}
			if !held.rec.refused("filesystem", home+"/.zshrc") {
				t.Errorf("the record does not tell of .zshrc: %v", held)
			}
			name := strings.TrimPrefix(home+"/.bashrc", b.ws+"/")
			b.sh(specWith(specWW, `"filesystem":{"write":["`+name+`"]}`), "echo opened >"+name+"; echo end").ended()
			b.holds(home+"/.bashrc", "opened\n")
			// Without PATH, bin is an ordinary directory.
			b.env = append(b.env, "PATH="+searchable(os.Getenv("PATH")))
			b.sh(specWW, `mkdir "$HOME/bin" && echo x >"$HOME/bin/x" && echo end`).ended()
		})
	}
}

// A user's own git configuration, made in a home that is the workspace, would make the next git on
// the host run the programs that it names.
func TestGitConfigurationOfAHome(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "git")
	eachPlace(t, func(t *testing.T, b *box) {
		env := slices.Clone(b.env)
		b.repository(b.base + "/elsewhere")
		b.env = append(env, "HOME="+b.ws, "GIT_CONFIG_NOSYSTEM=1")
		const script = `printf '[core]\n\tfsmonitor = touch ran;:\n' >.gitconfig; mkdir -p .config/git; printf '[core]\n\tfsmonitor = touch ran;:\n' >.config/git/config`
		ran := func() bool { b.git(b.base+"/elsewhere", "status"); return exists(b.base + "/elsewhere/ran") }
		b.sh(specWW, "("+script+") 2>/dev/null").ended()
		if ran() {
			t.Error("git ran what the command named")
		}
		b.absent(b.ws + "/.gitconfig")
		b.sh(specNone, script).ended()
		if !ran() {
			t.Error("the control: git ran nothing")
		}
	})
}

// holdsLines fails unless the output has exactly these lines.
func (r result) holdsLines(t *testing.T, what string, want ...string) {
	t.Helper()
	if got := strings.TrimSpace(r.out); got != strings.Join(want, "\n") {
		t.Errorf("%s: got\n%s\nwant\n%s\n%v", what, got, strings.Join(want, "\n"), r)
	}
}
