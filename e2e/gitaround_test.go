package e2e

import (
	"os"
	"strconv"
	"testing"
)

// If the workspace lies in a repository in the home, it does so inside, too: git searches for a
// repository only within one file system. A file of the home is hidden, for which a home with few
// names is rebuilt from binds, and one with many covered by an overlay.
func TestRepositoryAroundTheWorkspace(t *testing.T) {
	needSandbox(t)
	if elsewhere == "" {
		t.Skip("the caller may write nowhere but beneath /tmp, of which nothing but the workspace is in view inside")
	}
	for _, names := range []int{0, 20} {
		t.Run(strconv.Itoa(names), func(t *testing.T) {
			b := newBoxElsewhere(t)
			top := b.home + "/src/mono"
			b.repository(top)
			b.ws = top + "/deep/ws"
			b.write(b.ws+"/new", "")
			b.write(b.home+"/.netrc", "machine example.com\n")
			for i := range names {
				b.write(b.home+"/f"+strconv.Itoa(i), "")
			}
			look := []string{"/bin/sh", "-c", `git rev-parse --show-toplevel; git status --short .; cat ~/.netrc
				git add . && echo added; echo x >../beside && echo wrote; echo end`}
			b.plain(look...).ended().holdsLines(t, "control", top, "?? ./", "machine example.com", "added", "wrote", "end")
			b.git(top, "reset", "-q")
			must(t, os.Remove(top+"/deep/beside"))
			b.run(specWW, look...).ended().holdsLines(t, "sandbox", top, "?? ./", "end")
			b.absent(top + "/deep/beside")
			b.sh(specWith(specWW, `"filesystem":{"write":["`+top+`/.git"]}`), "git add . && git status --short .").ended().
				holdsLines(t, "with .git", "A  new", "end")
		})
	}
}
