package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// sbx runs a command of sbx other than exec.
func (b *box) sbx(args ...string) result {
	b.t.Helper()
	cmd := exec.Command(sbxPath, args...)
	cmd.Dir, cmd.Env = b.ws, b.env
	return b.finish(cmd)
}

// The new form goes only to stdout, and is the new form.
func TestMigrate(t *testing.T) {
	b := newBox(t)
	old, err := os.ReadFile(moduleDir + "/testdata/workshop/workers/old-style.worker")
	must(t, err)
	must(t, os.WriteFile(b.ws+"/old.worker", old, 0o644))
	r := b.sbx("check", "--migrate", "old.worker")
	if r.code != 0 || !strings.Contains(r.out, "\nsandbox: {}\n") || !strings.HasSuffix(r.out, "to `output`.\n") {
		t.Errorf("%v", r)
	}
	if lines := strings.Split(strings.TrimSpace(r.err), "\n"); len(lines) != 5 || !strings.HasPrefix(lines[2], "sbx: warning: old.worker:9:7: paths.input.suffixes ") {
		t.Errorf("%v", r)
	}
	if now, err := os.ReadFile(b.ws + "/old.worker"); err != nil || string(now) != string(old) {
		t.Errorf("the file was changed: %v", err)
	}
	must(t, os.WriteFile(b.ws+"/new.worker", []byte(r.out), 0o644))
	if again := b.sbx("check", "--migrate", "new.worker"); again.code != 0 || again.out != r.out || again.err != "sbx: warning: new.worker: it is in the new style already\n" {
		t.Errorf("%v", again)
	}
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{1, "sbx: none.worker: cannot read the spec\n", []string{"--migrate", "none.worker"}},
		{2, "sbx: check: --migrate reads no --spec\n", []string{"--migrate", "new.worker", "--spec", "new.worker"}},
		{2, "sbx: check: --migrate wants FILE\n", []string{"--migrate"}},
	} {
		if r := b.sbx(append([]string{"check"}, c.args...)...); r.code != c.code || !strings.HasPrefix(r.err, c.want) || r.out != "" {
			t.Errorf("%q: %v", c.args, r)
		}
	}
}
