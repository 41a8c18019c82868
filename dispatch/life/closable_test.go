package life

import "testing"

// The ledger's folder is closed where the command could reach it, and only where
// that can be asked for.
func TestClosable(t *testing.T) {
	for _, c := range []struct {
		spec, dir string
		want      bool
	}{
		{`{"access_mode": "workspace-write"}`, "/p/.clavain", true},
		{`{"access_mode": "workspace-write"}`, "/p", false},
		{`{"access_mode": "workspace-write"}`, "/q/.clavain", false},
		{`{"access_mode": "read-only", "working_dir": "sub"}`, "/p/.clavain", false},
		{`{"access_mode": "read-only", "working_dir": "sub"}`, "/p/sub/led", false},
		{`{"access_mode": "workspace-write", "working_dir": "sub"}`, "/p/sub/led", true},
		{`{"access_mode": "read-only"}`, "/p/.clavain", false},
		{`{"profile": "read-only"}`, "/p/.clavain", false},
		{`{"profile": "write", "filesystem": {"read": ["@system"]}}`, "/p/.clavain", true},
		{`{"filesystem": {"read": ["@system"]}}`, "/p/.clavain", false},
		{`{"filesystem": {"read": ["@system"], "write": ["sub"]}}`, "/p/.clavain", false},
		{`{"filesystem": {"read": ["@system"], "write": ["."]}}`, "/p/.clavain", true},
		{`{"filesystem": {"write": ["out"]}}`, "/p/.clavain", true},
		{`{"access_mode": "workspace-write", "filesystem": {"hide": [".clavain"]}}`, "/p/.clavain", false},
		{`{"access_mode": "workspace-write", "filesystem": {"hide": [".clavain/x"]}}`, "/p/.clavain", true},
	} {
		s, err := decode(c.spec)
		must(t, err)
		if got := closable(s, "/p", c.dir); got != c.want {
			t.Errorf("%s and %s: %v", c.spec, c.dir, got)
		}
	}
}
