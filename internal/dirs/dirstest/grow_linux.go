package dirstest

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// names are the names in random trees: ordinary ones, protected ones, and ones that look
// nearly like protected ones.
var names = []string{"a", "b", "src", ".git", ".GIT", ".gitignore", "git", "config", "config.worktree", "hooks", "modules", "worktrees",
	".claude", "settings.json", "settings.local.json", ".vscode", ".envrc", ".mcp.json", "x y", "n\nl", "\xff", "…", ".git ", "..."}

// Grow makes n random files, directories and links under dir, never through a link that
// leads out of dir.
func Grow(t *testing.T, rng *rand.Rand, dir string, n int) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	for range n {
		parts := make([]string, 1+rng.IntN(4))
		for i := range parts {
			parts[i] = names[rng.IntN(len(names))]
		}
		p := filepath.Join(parts...)
		if root.MkdirAll(filepath.Dir(p), 0o755) != nil {
			continue // a file stands on the way, or a link out
		}
		switch rng.IntN(5) {
		case 0:
			_ = root.Mkdir(p, 0o755)
		case 1:
			_ = root.Symlink([]string{"/etc", "..", "a", "nowhere", dir}[rng.IntN(5)], p)
		case 2:
			_ = unix.Mkfifo(filepath.Join(dir, p), 0o600)
		default:
			if f, err := root.OpenFile(p, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); err == nil {
				_, _ = f.WriteString(p)
				f.Close()
			}
		}
	}
}

// Standing lists all names under dir with their types, following no links.
func Standing(t *testing.T, dir string) map[string]fs.FileMode {
	t.Helper()
	out := map[string]fs.FileMode{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && p != dir {
			out[p[len(dir)+1:]] = d.Type()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
