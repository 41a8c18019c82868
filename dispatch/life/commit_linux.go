package life

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"sbx/dispatch"
)

// The bounds of what is read of a repository.
const (
	maxRef    = 4 << 10
	maxPacked = 32 << 20
	maxHops   = 5 // from one symbolic name to the next, as git has it
)

// BaseCommit is the commit that is checked out where a dispatch starts; "" where
// there is none, or where the repository belongs to somebody else. It is read
// from the files, as `git rev-parse HEAD` does: a start of git's would cost half
// of what a spawn may.
func BaseCommit(dir string, self int, owner dispatch.Owners) string {
	of, _ := owner(dir)
	for {
		dot := filepath.Join(dir, ".git")
		if uid, there := owner(dot); there {
			if uid != self && uid != 0 && uid != of {
				return "" // of a directory above, as /tmp, which may be anybody's
			}
			return headOf(gitFolder(dot))
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}

// gitFolder is the directory that a .git is, or that its text names.
func gitFolder(dot string) string {
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

// isCommit tells whether a text is the name of an object, of either length.
func isCommit(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// packed finds a name in the file of those that have none of their own.
func packed(path, name string) string {
	f := plainFile(path, maxPacked)
	if f == nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	want := []byte(" " + name)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if commit, ok := bytes.CutSuffix(lines.Bytes(), want); ok && isCommit(string(commit)) {
			return string(commit)
		}
	}
	return ""
}

// small is the text of a small file; "" where there is none.
func small(path string) string {
	f := plainFile(path, maxRef)
	if f == nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxRef))
	if err != nil {
		return ""
	}
	return string(b)
}

// plainFile opens a regular file up to a size, and waits for no other.
func plainFile(path string, size int64) *os.File {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > size {
		_ = f.Close()
		return nil
	}
	return f
}
