package broker

import (
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/broker/document"
)

// A file that is not a regular one is not opened to find that out: a process that waits at a FIFO
// for a reader keeps waiting.
func TestWhatIsNoFileIsNotOpened(t *testing.T) {
	dir := t.TempDir()
	o, err := openOutputs(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer o.close()
	fifo := dir + "/p"
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	opened := make(chan *os.File, 1)
	go func() {
		f, _ := os.OpenFile(fifo, os.O_WRONLY, 0)
		opened <- f
	}()
	waits := func() bool {
		select {
		case f := <-opened:
			_ = f.Close()
			return false
		case <-time.After(200 * time.Millisecond):
			return true
		}
	}
	if !waits() {
		t.Fatal("nobody waits at the FIFO")
	}
	if _, err := o.one(&document.Artifact{Path: "/output/p", Max: 10}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a FIFO: %v", err)
	}
	if !waits() {
		t.Error("the FIFO was opened")
	} else { // the control
		f, err := os.OpenFile(fifo, os.O_RDONLY|unix.O_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		if waits() {
			t.Error("to open the FIFO lets nobody go on")
		}
	}
	if err := os.WriteFile(dir+"/a", []byte("made"), 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err := o.one(&document.Artifact{Path: "/output/a", Max: 10}); err != nil || m.Size != 4 {
		t.Errorf("a file: %+v, %v", m, err)
	}
	if err := os.Mkdir(dir+"/proc", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/output/link", "/output/proc"} {
		if _, err := o.one(&document.Artifact{Path: path, Max: 1 << 30}); err == nil {
			t.Errorf("%s is taken", path)
		}
	}
}
