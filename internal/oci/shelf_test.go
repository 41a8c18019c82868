package oci

import (
	"os"
	"path/filepath"
	"testing"
)

// TestHoldFollowsNoLink: a link on the way, which anyone who can write to a volume may put there,
// is not followed.
func TestHoldFollowsNoLink(t *testing.T) {
	base := t.TempDir()
	if err := os.MkdirAll(filepath.Join(base, "a/b"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"a/link": "/etc", "up": ".."} {
		if err := os.Symlink(target, filepath.Join(base, name)); err != nil {
			t.Fatal(err)
		}
	}
	s := &shelf{dir: t.TempDir()}
	if err := s.begin(); err != nil {
		t.Fatal(err)
	}
	for _, rest := range []string{"a/link", "a/link/passwd", "up", "up/x", "..", "a/../../x", "nosuch"} {
		if path, _, err := s.hold(base, rest, -1); err == nil {
			t.Errorf("%s is held as %s", rest, path)
		}
	}
	if path, _, err := s.hold(base, "", -1); err != nil || path != base {
		t.Errorf("%s, %v", path, err)
	}
	if os.Getuid() == 0 {
		path, _, err := s.hold(base, "a/b", -1)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "there"), nil, 0o600); err != nil {
			t.Error(err)
		}
	}
	if err := s.drop(); err != nil {
		t.Error(err)
	}
	if os.Getuid() == 0 { // the original file is unchanged
		if _, err := os.Stat(filepath.Join(base, "a/b/there")); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(s.dir); !os.IsNotExist(err) {
		t.Errorf("the shelf is still there: %v", err)
	}
}
