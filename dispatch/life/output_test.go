package life

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sbx/dispatch"
	"sbx/spec"
)

// If the output cannot be written, spawn reports that. There is no row, and nothing is left.
func TestOutputIsLookedAtFirst(t *testing.T) {
	s := newScene(t)
	l := s.ledger()
	must(t, os.Mkdir(filepath.Join(s.dir, "closed"), 0o555))
	must(t, syscall.Mkfifo(filepath.Join(s.dir, "fifo"), 0o600))
	for name, want := range map[string]string{
		"/no/such/folder/out":                 "its directory cannot be opened",
		"/dev/stdout":                         "the machine's",
		filepath.Join(s.dir, "project"):       "not a regular file",
		filepath.Join(s.dir, "fifo"):          "not a regular file",
		filepath.Join(s.dir, "closed/out"):    "its directory may not be written",
		filepath.Join(s.dir, "project") + "/": "it names a directory",
	} {
		if os.Getuid() == 0 && strings.Contains(name, "closed") {
			continue // root can write to every directory
		}
		j := s.job("sh", "-c", ": >begun")
		j.Output = name
		if _, err := s.world.Spawn(&j, s.row(j)); err == nil || !strings.Contains(err.Error()+spec.AsProblems(err)[0].Why, want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	rows, err := l.List(dispatch.Filter{})
	if left, _ := os.ReadDir(s.world.dirs(l.Path())); err != nil || len(rows) != 0 || len(left) != 0 || s.has("begun") {
		t.Errorf("%v, %v, %v", rows, left, err)
	}
}
