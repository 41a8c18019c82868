package e2e

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Programs that a declared agent starts before anything inside connects are its own; later ones may
// be what a model requested.
func TestOwnPrograms(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	needSandbox(t)
	bash, shim := needPrograms(t, "bash"), needPrograms(t, "python3")
	real, err := exec.Command(shim, "-c", "import sys; print(sys.executable)").Output()
	must(t, err)
	python := strings.TrimSpace(string(real))
	const knock = `(exec 3<>/dev/tcp/127.0.0.1/9) 2>/dev/null;`
	b.write("ws/names.py", `import socket
s = socket.socket(socket.AF_UNIX)
try: s.connect("/var/run/nscd/socket")
except OSError: pass
`)
	// One program has the name by which git fetches, and one another name.
	shell, err := os.ReadFile(bash)
	must(t, err)
	must(t, os.Mkdir(b.ws+"/bin", 0o755))
	for _, name := range []string{"git-remote-http", "curl"} {
		must(t, os.WriteFile(b.ws+"/bin/"+name, shell, 0o755))
	}
	away := func(name string) string { return b.ws + "/bin/" + name + " -c '" + knock + "';" }
	const agent = `{"access_mode": "workspace-write", "agent": "codex"}`
	for _, row := range []struct {
		name, spec, script string
		more               []string
		own, started       int
	}{
		{"never connects", agent, `/bin/true; /bin/true;`, nil, 2, 2},
		{"connects", agent, `/bin/true; /bin/true;` + knock + `/bin/true; /bin/true; /bin/true;`, nil, 2, 5},
		{"connects first", agent, knock + `/bin/true;`, nil, 0, 1},
		{"its own network", `{"access_mode": "workspace-write", "agent": "codex", "network": {"mode": "none"}}`, `/bin/true;` + knock + `/bin/true;`, nil, 1, 2},
		{"a profile of system calls", `{"access_mode": "workspace-write", "agent": "codex", "syscalls": "` + b.write("ws/profile.json", `{"defaultAction": "SCMP_ACT_ALLOW"}`) + `"}`,
			`/bin/true;` + knock + `/bin/true;`, nil, 1, 2},
		{"looks a name up", agent, python + ` names.py; /bin/true;`, nil, 2, 2},
		{"fetches plugins", agent, away("git-remote-http") + `/bin/true;` + knock + `/bin/true;`, nil, 2, 3},
		{"another program connects", agent, away("curl") + `/bin/true;`, nil, 1, 2},
		{"that is not one of claude's", `{"access_mode": "workspace-write", "agent": "claude"}`, away("git-remote-http") + `/bin/true;`, nil, 1, 2},
		{"a program that is refused", `{"access_mode": "workspace-write", "agent": "codex", "max_commands": 1}`, `/bin/true; /bin/true;`, nil, 1, 1},
		{"no agent", `{"access_mode": "workspace-write"}`, `/bin/true;`, nil, -1, 1},
		{"nothing asked", `{"agent": "codex"}`, `/bin/true;`, nil, -1, 1},
		{"by ptrace", `{"access_mode": "workspace-write", "agent": "codex", "network": {"mode": "host"}}`, `/bin/true;`, []string{"--counter", "ptrace"}, -1, 1},
		{"a descriptor that is kept", agent, `/bin/true;`, []string{"--keep-fd", "3"}, -1, 1},
	} {
		b.args = row.more
		b.script("job", "#!"+bash+"\n"+row.script+"\n") // so that codex's flags mean nothing to it
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		cmd := b.command(ctx, row.spec, "./job")
		if len(row.more) > 0 && row.more[0] == "--keep-fd" {
			null, err := os.Open("/dev/null")
			must(t, err)
			cmd.ExtraFiles = []*os.File{null}
			defer null.Close()
		}
		r := b.finish(cmd)
		cancel()
		if got := r.rec.whole("commands", "own"); got != row.own || r.rec.whole("commands_used") != row.started {
			t.Errorf("%s: own %d of %d, want %d of %d (status %d) %s", row.name, got, r.rec.whole("commands_used"), row.own, row.started, r.code, r.err)
		}
	}
}

// The agents themselves are compared with what strace sees in the same sandbox: programs that were
// started before the first connect are counted as the agent's own, and none that started after it
// was answered.
func (c *client) testOwnPrograms(t *testing.T) {
	needSandbox(t)
	strace := needPrograms(t, "strace")
	b := c.box(t)
	s := c.ready(b, "task")
	log := b.ws + "/strace.log"
	words := []string{strace, "-f", "-qq", "-e", "trace=execve,execveat,connect", "-e", "signal=none", "-o", log, "--", c.name}
	r := agentRun{result: b.run(`{"access_mode": "workspace-write", "agent": "`+c.name+`"}`, append(words, c.argv(t, "task", c.free...)...)...), b: b}
	r.truth = s.truth()
	text, err := os.ReadFile(log)
	must(t, err)
	least, most, answered, connecting := 0, 0, "", false
	for line := range strings.Lines(string(text)) {
		pid, call, _ := strings.Cut(line, " ")
		call = strings.TrimSpace(call)
		done := strings.HasSuffix(call, "= 0") && execEnd.MatchString(call)
		switch {
		case strings.Contains(call, "nscd"), answered == "done":
		case strings.HasPrefix(call, "connect("):
			if !connecting {
				connecting, answered = true, pid
				if !strings.Contains(call, "<unfinished") {
					answered = "done"
				}
			}
		case strings.HasPrefix(call, "<... connect") && pid == answered:
			answered = "done"
		case strings.Contains(call, "exec") && done && !connecting:
			least++
		}
		// It began before the connect was answered, whatever its result.
		if answered != "done" && strings.HasPrefix(call, "exec") && (done || strings.Contains(call, "<unfinished")) {
			most++
		}
	}
	if own := r.rec.whole("commands", "own"); r.code != 0 || least < 4 || own < least || own > most || own >= r.rec.whole("commands_used") {
		t.Errorf("status %d, own %d of %d, by strace from %d to %d", r.code, own, r.rec.whole("commands_used"), least, most)
	}
	if r.truth.turns() != c.taskTurns() || t.Failed() {
		t.Errorf("%v", r)
	}
}
