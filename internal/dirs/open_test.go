package dirs

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOpenByStep: the way for old kernels gives the same answers.
func TestOpenByStep(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir+"/a/b", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a/b/c", "x"} {
		if err := os.WriteFile(dir+"/"+name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"a/link": "b", "link": "/etc", "a/up": "..", "a/b/self": "c"} {
		if err := os.Symlink(to, dir+"/"+from); err != nil {
			t.Fatal(err)
		}
	}
	top, err := OpenRealDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(top)
	for _, rel := range []string{"a", "a/b", "a/b/c", "x", "link", "link/passwd", "a/link", "a/link/c", "a/up", "a/up/x", "a/b/self", "none", "a/none/c", "x/y", "."} {
		for _, flags := range []int{unix.O_RDONLY, unix.O_PATH | unix.O_DIRECTORY} {
			a, errA := OpenBeneath(top, rel, flags)
			b, errB := openByStep(top, rel, flags)
			if (errA == nil) != (errB == nil) {
				t.Errorf("%s: openat2 %v, steps %v", rel, errA, errB)
			}
			if errA == nil && errB == nil {
				var sa, sb unix.Stat_t
				if unix.Fstat(a, &sa) != nil || unix.Fstat(b, &sb) != nil || sa.Ino != sb.Ino {
					t.Errorf("%s: two files", rel)
				}
			}
			for _, fd := range []int{a, b} {
				if fd >= 0 {
					unix.Close(fd)
				}
			}
		}
	}
}
