package dirstest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Plant makes files, and directories (names that end in "/"), under dir.
func Plant(t testing.TB, dir string, names ...string) {
	t.Helper()
	for _, n := range names {
		p := filepath.Join(dir, n)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if n[len(n)-1] == '/' {
			err = os.MkdirAll(p, 0o755)
		} else {
			err = os.WriteFile(p, []byte(n), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Temp returns a temporary directory whose path has no symbolic link.
func Temp(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Exists reports whether there is something at path, if only a dangling link.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// OpenFDs counts the descriptors of this process, without those that the runtime opens when
// it first waits for something.
func OpenFDs(t testing.TB) (n int) {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		to, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil && !strings.HasPrefix(to, "anon_inode:[event") && !strings.Contains(to, "/cgroup/") {
			n++
		}
	}
	return n
}

// NoLeak fails a test that ends with more descriptors than it began with.
func NoLeak(t *testing.T) {
	t.Helper()
	before := OpenFDs(t)
	t.Cleanup(func() {
		if after := OpenFDs(t); after > before {
			for i := range 64 {
				if to, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(i)); err == nil {
					t.Logf("%d is %s", i, to)
				}
			}
			t.Errorf("%d descriptors at the end, %d at the start", after, before)
		}
	})
}

// AsUser skips a test that means nothing for root; the suite runs as both.
func AsUser(t *testing.T) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skip("needs an ordinary user: root passes every mode")
	}
}
