package life

import (
	"os"
	"path/filepath"
	"strings"

	"sbx/dispatch"
	"sbx/internal/sys"
)

// Bounds on reading a repository.
const (
	maxRef    = 4 << 10  // bytes of a ref
	maxPacked = 32 << 20 // bytes of packed-refs
	maxHops   = 5        // symbolic refs in a chain, as in git
)

// BaseCommit returns the commit that is checked out in dir, as `git rev-parse HEAD` does;
// "" if there is none or the repository belongs to another user. It reads the files itself,
// since starting git would take half of the time that a spawn may take.
func BaseCommit(dir string, self int, owner dispatch.Owners) string {
	of, _ := owner(dir)
	for {
		dot := filepath.Join(dir, ".git")
		if uid, there := owner(dot); there {
			if uid != self && uid != 0 && uid != of {
				return "" // others may write to a directory above, such as /tmp
			}
			return headOf(gitDirOf(dot))
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}

// gitDirOf returns the path of a .git directory, or the directory that a .git file names.
func gitDirOf(dot string) string {
	if info, err := os.Stat(dot); err == nil && info.IsDir() {
		return dot
	}
	to, ok := strings.CutPrefix(small(dot), "gitdir: ")
	if !ok {
		return ""
	}
	return Absolute(strings.TrimRight(to, "\r\n"), filepath.Dir(dot))
}

func headOf(dir string) string {
	if dir == "" {
		return ""
	}
	common := dir
	if to := strings.TrimRight(small(filepath.Join(dir, "commondir")), "\r\n"); to != "" {
		common = Absolute(to, dir)
	}
	name := "HEAD"
	for range maxHops {
		text := small(filepath.Join(dir, name))
		if text == "" && common != dir {
			text = small(filepath.Join(common, name))
		}
		text = strings.TrimSpace(text)
		next, symbolic := strings.CutPrefix(text, "ref:")
		switch {
		case isCommit(text):
			return text
		case !symbolic && text == "" && name != "HEAD":
			return packed(filepath.Join(common, "packed-refs"), name)
		case !symbolic:
			return ""
		}
		if name = strings.TrimSpace(next); !strings.HasPrefix(name, "refs/") || strings.Contains(name, "..") {
			return ""
		}
	}
	return ""
}

// isCommit reports whether a text is an object name, SHA-1 or SHA-256.
func isCommit(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// packed returns the commit of a ref in a packed-refs file, "" if it is not in it.
func packed(path, name string) string {
	for line := range strings.Lines(sys.ReadFile(path, maxPacked)) {
		if commit, ok := strings.CutSuffix(strings.TrimRight(line, "\r\n"), " "+name); ok && isCommit(commit) {
			return commit
		}
	}
	return ""
}

// small returns the text of a file of at most maxRef bytes; "" for any other.
func small(path string) string { return sys.ReadFile(path, maxRef) }
