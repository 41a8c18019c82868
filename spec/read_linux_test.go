package spec

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sbx/internal/doc"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	for _, size := range []int{0, 1, 4095, 4096, 4097, 100000, doc.MaxBytes} {
		want := bytes.Repeat([]byte{'x'}, size)
		path := filepath.Join(dir, "f")
		if err := os.WriteFile(path, want, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: got %d, %v", size, len(got), err)
		}
	}
}

func TestReadErrors(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big")
	if err := os.WriteFile(big, make([]byte, doc.MaxBytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("loop", filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir:           dir + ": is a directory, not a spec",
		dir + "/none": dir + "/none: no such file or directory",
		big:           big + ": larger than 1 MiB",
		big + "/x":    big + "/x: a part of the path is not a directory",
		dir + "/loop": dir + "/loop: too many symbolic links",
		"":            "no such file or directory",
	} {
		if _, err := Read(path); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
	if _, err := ReadFD(-1, "-"); err == nil {
		t.Error("read from no descriptor")
	}
}

// A FIFO is read to its end, but no more than 1 MiB of it.
func TestReadFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		size int
		want string
	}{
		{10000, ""},
		{doc.MaxBytes + 100000, "larger than 1 MiB"},
	} {
		done := make(chan error, 1)
		go func() { // ends with EPIPE if the reader stops early
			done <- os.WriteFile(path, make([]byte, test.size), 0o600)
		}()
		b, err := Read(path)
		<-done
		if test.want == "" && (err != nil || len(b) != test.size) {
			t.Errorf("%d bytes: got %d, %v", test.size, len(b), err)
		}
		if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%d bytes: got %v, want %s", test.size, err, test.want)
		}
	}
}
