package e2e

import (
	"os"
	"strings"
	"testing"
)

// A device of the table is in view if filesystem.write names it. A user who may open it on the host
// can open it, and sbx warns about it. All others stay out.
func TestDevicesOpenedByName(t *testing.T) {
	needSandbox(t)
	if _, err := os.Lstat("/dev/fuse"); err != nil {
		t.Skip("the host has no /dev/fuse")
	}
	b := newBoxElsewhere(t)
	const script = "[ -c /dev/fuse ] && echo there; [ -e /dev/kmsg ] && echo log; ( : <>/dev/fuse ) 2>/dev/null && echo opened; echo end"
	host := b.plain("/bin/sh", "-c", script).ended()
	want := strings.Replace(host.out, "log\n", "", 1)
	for _, rest := range []string{``, `"read": ["@system", "."], `} {
		for _, mode := range []string{`"access_mode": "workspace-write", `, `"access_mode": "read-only", `, ``} {
			with := func(write string) string { return `{` + mode + `"filesystem": {` + rest + `"write": [` + write + `]}}` }
			if r := b.run(with(""), "/bin/sh", "-c", script).ended(); r.out != "end\n" || r.err != "" {
				t.Errorf("control: %s: %v", with(""), r)
			}
			r := b.run(with(`"/dev/fuse"`), "/bin/sh", "-c", script).ended()
			if r.out != want || !strings.Contains(r.err, "warning: /dev/fuse of the host is open") || r.rec.status("filesystem.write") != "enforced" || r.rec["warnings"] == nil {
				t.Errorf("%s: %v", with(`"/dev/fuse"`), r)
			}
			b.run(with(`"/dev/kmsg"`), "/bin/sh", "-c", script).refused("/dev/kmsg")
			b.run(with(`"/dev/nvidia*"`), "/bin/sh", "-c", script).refused("name each device")
			b.run(with(`"/dev/dri/card99"`), "/bin/sh", "-c", script).refused("name a device that the host has")
		}
	}
}

// Under a rule that gives the sandbox a /dev of its own, a child opens no device, except one that
// its parent opens, or that is there because the parent leaves the host's /dev.
func TestNarrowedDevicesStayOut(t *testing.T) {
	needSandbox(t)
	if _, err := os.Lstat("/dev/fuse"); err != nil {
		t.Skip("the host has no /dev/fuse")
	}
	b := newBoxElsewhere(t)
	const opens = `{"filesystem": {"write": ["/dev/fuse"]}}`
	under := func(parent string) result {
		b.args = []string{"--spec-json", parent, "--spec-json", opens}
		return b.run("", "/bin/sh", "-c", "[ -c /dev/fuse ] && echo there; echo end")
	}
	for _, parent := range []string{opens, `{}`, `{"limits": {"open_files": 100}}`} {
		if r := under(parent).ended(); !strings.HasPrefix(r.out, "there\n") {
			t.Errorf("control: under %s: %v", parent, r)
		}
	}
	for _, parent := range []string{`{"network": {"mode": "none"}}`, `{"filesystem": {"hide": ["` + b.ws + `/x"]}}`, `{"commands": {"deny": ["curl"]}}`,
		`{"syscalls": "default"}`, `{"access_mode": "danger-full-access", "network": {"mode": "none"}}`} {
		if r := under(parent); r.code != 125 || !strings.Contains(r.err, "cannot have /dev/fuse writable") {
			t.Errorf("under %s: %v", parent, r)
		}
	}
}
