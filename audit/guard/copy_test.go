package guard

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"sbx/internal/dirs"
	"sbx/internal/dirs/dirstest"
)

// TestCopyOfHoles reads and copies a file with holes at different places.
func TestCopyOfHoles(t *testing.T) {
	dir := dirstest.Temp(t)
	for _, at := range [][]int64{{0}, {1 << 20}, {0, 1 << 20, 3<<20 - 1}, {5000, 200_000}, {}} {
		want := make([]byte, 3<<20)
		fd, err := dirs.Open(unix.AT_FDCWD, dir+"/f", unix.O_RDWR|unix.O_CREAT|unix.O_TRUNC, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range at {
			want[at] = 'x'
			if _, err := unix.Pwrite(fd, []byte("x"), at); err != nil {
				t.Fatal(err)
			}
		}
		if err := unix.Ftruncate(fd, int64(len(want))); err != nil {
			t.Fatal(err)
		}
		if got := dirs.Digest(fd, int64(len(want)), make([]byte, 4096)); got != fmt.Sprintf("%x", sha256.Sum256(want)) {
			t.Errorf("%v: %s", at, got)
		}
		for _, size := range []int64{0, int64(len(want)) - 1, int64(len(want)) + 1} {
			if got := dirs.Digest(fd, size, make([]byte, 4096)); got != "" {
				t.Errorf("%v: as %d bytes %s", at, size, got)
			}
		}
		c := copier{bytes: 1 << 20, names: 2}
		parent, err := dirs.OpenRealDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(dir + "/copy")
		if err := c.copy(parent, "f", parent, "copy", 0); err != nil {
			t.Error(err)
		}
		copied, err := os.ReadFile(dir + "/copy")
		if err != nil || !bytes.Equal(copied, want) {
			t.Errorf("%v: copied are %d bytes, %v", at, len(copied), err)
		}
		unix.Close(parent)
		unix.Close(fd)
	}
}
