package e2e

import (
	"net"
	"strings"
	"testing"
)

// TestSocketPresets checks that a set of filesystem.write lets the command connect to the socket
// that the caller's variable names, passes the variable, and says what that gives away.
func TestSocketPresets(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "python3")
	const script = `import os, socket, sys
try:
    socket.socket(socket.AF_UNIX).connect(sys.argv[1]); print("connected", os.environ.get("SSH_AUTH_SOCK", "none"))
except OSError as e:
    print("refused")`
	for set, variable := range map[string]string{"@ssh-agent": "SSH_AUTH_SOCK=", "@docker": "DOCKER_HOST=unix://"} {
		b := newBox(t)
		path := b.out + "/s"
		l, err := net.Listen("unix", path)
		must(t, err)
		defer l.Close()
		b.env = append(b.env, variable+path)
		r := b.run(`{"access_mode":"workspace-write","filesystem":{"write":["`+set+`"]}}`, "python3", "-c", script, path)
		if !strings.HasPrefix(r.out, "connected") || set == "@ssh-agent" && !strings.Contains(r.out, path) {
			t.Error(set, ": ", r)
		}
		if told := strings.Contains(r.err, "warning: --spec-json:1:57: @docker opens "+path+": whoever controls Docker"); told != (set == "@docker") {
			t.Error(set, " is told: ", r)
		}
		if r := b.run(specWW, "python3", "-c", script, path); !strings.HasPrefix(r.out, "refused") {
			t.Error(set, " without it: ", r)
		}
	}
}

// TestCachePresetAtSecret checks that a variable which moves a cache to a secret does not open the
// secret.
func TestCachePresetAtSecret(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "cat")
	b := newBox(t)
	b.write("home/.ssh/id", "KEY")
	b.write("home/cache/id", "KEY")
	const spec = `{"access_mode":"workspace-write","filesystem":{"write":["@ccache"]}}`
	for dir, held := range map[string]bool{"cache": true, ".ssh": false} {
		b.env = append(b.env, "CCACHE_DIR="+b.home+"/"+dir)
		r := b.run(spec, "cat", b.home+"/"+dir+"/id")
		if held && r.out != "KEY" || !held && (r.code != 125 || !strings.Contains(r.err, "moves it to a secret")) {
			t.Error(dir, ": ", r)
		}
	}
}
