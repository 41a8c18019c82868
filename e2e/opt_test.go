package e2e

import (
	"os"
	"strings"
	"testing"
)

// optHost simulates a host with a tool and two projects in /opt, and starts the command in the
// first project.
func (b *box) optHost() {
	b.t.Helper()
	needSandbox(b.t)
	b.host = []string{needPrograms(b.t, "unshare", "mount"), "-Urm"}
	if isRoot() {
		b.host[1] = "-m"
	}
	b.host = append(b.host, "/bin/sh", "-ec", `mount -t tmpfs -o mode=755 none /opt
mkdir -p /opt/tool/bin /opt/tool/lib /opt/one /opt/two/bin
echo part >/opt/tool/lib/part; printf '#!/bin/sh\ncat /opt/tool/lib/part\n' >/opt/tool/bin/sbx-tool; chmod +x /opt/tool/bin/sbx-tool
echo neighbour >/opt/two/file; cd /opt/one; exec "$@"`, "sh")
	for i, v := range b.env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			b.env[i] = "PATH=/opt/tool/bin:" + path
		}
	}
}

// Of /opt a program on PATH is in view with the files that belong to it, and no project next to it.
func TestOptShowsProgramsAlone(t *testing.T) {
	const script = "sbx-tool; cat /opt/two/file; ls /opt; echo end"
	for name, c := range map[string]struct {
		spec string
		args []string
	}{
		"a list of files":    {`{"filesystem": {"read": ["@system"]}}`, nil},
		"profile read-only":  {"", []string{"--profile", "read-only", "--best-effort", "tools_allowed"}},
		"profile write":      {"", []string{"--profile", "write", "--best-effort", "tools_allowed"}},
		"profile verify":     {"", []string{"--profile", "verification", "--best-effort", "tools_allowed"}},
		"profile design":     {"", []string{"--profile", "design", "--best-effort", "tools_allowed"}},
		"the layout of jobs": {"", []string{"--input", "IN", "--output", "OUT"}},
	} {
		b := newBoxElsewhere(t)
		b.optHost()
		for _, arg := range c.args {
			b.args = append(b.args, strings.NewReplacer("IN", b.ws, "OUT", b.out).Replace(arg))
		}
		r := b.run(c.spec, "/bin/sh", "-c", script).ended()
		if !strings.HasPrefix(r.out, "part\n") || strings.Contains(r.out, "neighbour") || strings.Contains(r.out, "two") {
			t.Errorf("%s: %v", name, r)
		}
	}
	// The controls: the neighbour is visible if it is named, and if the whole host is in view.
	for _, spec := range []string{`{"filesystem": {"read": ["@system", "/opt/two"]}}`, `{"access_mode": "read-only"}`} {
		b := newBoxElsewhere(t)
		b.optHost()
		if r := b.run(spec, "/bin/sh", "-c", script).ended(); !strings.HasPrefix(r.out, "part\nneighbour\n") {
			t.Errorf("%s: %v", spec, r)
		}
	}
}

// The project's own directory in PATH opens nothing next to the project.
func TestOptKeepsAProjectApart(t *testing.T) {
	b := newBoxElsewhere(t)
	b.optHost()
	for i, v := range b.env {
		if strings.HasPrefix(v, "PATH=") {
			b.env[i] = strings.Replace(v, "PATH=", "PATH=/opt/one/bin:", 1)
		}
	}
	b.args = []string{"--profile", "write", "--best-effort", "tools_allowed"}
	r := b.run("", "/bin/sh", "-c", "pwd; echo mine >file; cat file; cat /opt/two/file; echo end").ended()
	if !strings.HasPrefix(r.out, "/opt/one\nmine\nend") {
		t.Error(r)
	}
	if _, err := os.Stat("/opt/one"); err == nil {
		t.Error("the host's /opt was written")
	}
}
