package life

import "testing"

// The ledger's directory becomes read-only if the command could reach it, and if the spec allows
// that to be requested.
func TestClosable(t *testing.T) {
	for _, c := range []struct {
		spec, dir string
		want      bool
		trees     []shown
	}{
		{`{"access_mode": "workspace-write"}`, "/p/.clavain", true, nil},
		{`{"access_mode": "workspace-write"}`, "/p", false, nil},
		{`{"access_mode": "workspace-write"}`, "/q/.clavain", false, nil},
		{`{"access_mode": "read-only", "working_dir": "sub"}`, "/p/.clavain", false, nil},
		{`{"access_mode": "read-only", "working_dir": "sub"}`, "/p/sub/led", false, nil},
		{`{"access_mode": "workspace-write", "working_dir": "sub"}`, "/p/sub/led", true, nil},
		{`{"access_mode": "read-only"}`, "/p/.clavain", false, nil},
		{`{"profile": "read-only"}`, "/p/.clavain", false, nil},
		{`{"profile": "write", "filesystem": {"read": ["@system"]}}`, "/p/.clavain", true, nil},
		{`{"filesystem": {"read": ["@system"]}}`, "/p/.clavain", false, nil},
		{`{"filesystem": {"read": ["@system"], "write": ["sub"]}}`, "/p/.clavain", false, nil},
		{`{"filesystem": {"read": ["@system"], "write": ["."]}}`, "/p/.clavain", true, nil},
		{`{"filesystem": {"write": ["out"]}}`, "/p/.clavain", true, nil},
		{`{"access_mode": "workspace-write", "filesystem": {"hide": [".clavain"]}}`, "/p/.clavain", false, nil},
		{`{"access_mode": "workspace-write", "filesystem": {"hide": [".clavain/x"]}}`, "/p/.clavain", true, nil},
		{`{"access_mode": "workspace-write", "filesystem": {"write": ["/q"]}}`, "/q/led", true, []shown{{"/p", "/p"}, {"/q", "/q"}}},
		{`{"access_mode": "workspace-write", "filesystem": {"write": ["/q"]}}`, "/q", false, []shown{{"/p", "/p"}, {"/q", "/q"}}},
		{`{"filesystem": {"read": ["@system"], "write": ["~"]}}`, "/h/led", true, []shown{{"/h", "/h"}}},
		{`{"access_mode": "workspace-write"}`, "/q/led", false, []shown{{"/p", "/p"}, {"/q", "/mnt"}}},
	} {
		s, err := decode(c.spec)
		must(t, err)
		if got := closable(s, "/p", c.dir, c.trees); got != c.want {
			t.Errorf("%s and %s: %v", c.spec, c.dir, got)
		}
	}
}
