package audit

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"sbx/wrap"
)

// tree makes a directory with files, directories (a name that ends in "/") and links
// ("name -> target").
func plant(t testing.TB, dir string, names ...string) {
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

// temp is a temporary directory with no link on its path.
func temp(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func match(rel string) bool {
	_, ok := wrap.IsProtectedName(rel)
	return ok
}

// openFDs counts this process's descriptors, but for those that the runtime
// opens when it first waits for something.
func openFDs(t testing.TB) (n int) {
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

// noLeak fails a test that ends with more descriptors than it began with.
func noLeak(t *testing.T) {
	t.Helper()
	before := openFDs(t)
	t.Cleanup(func() {
		if after := openFDs(t); after > before {
			for i := range 64 {
				if to, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(i)); err == nil {
					t.Logf("%d is %s", i, to)
				}
			}
			t.Errorf("%d descriptors at the end, %d at the start", after, before)
		}
	})
}

// asUser skips what a root's own rights would let pass; the suite runs as both.
func asUser(t *testing.T) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skip("needs an ordinary user: root passes every mode")
	}
}
