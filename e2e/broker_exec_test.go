package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// brokerOfExec is a document with a tool that is allowed and one that is not.
const brokerOfExec = `{"version": 1, "tools": {
	"greet": {"run": ["echo", "hello from outside"]}, "part": {"run": ["echo", "goodbye"]}},
	"rules": [{"id": "one", "tool": "greet", "verdict": "allow"}]}`

// asking is a script that calls a tool and prints the status of the answer; with is the token.
func asking(tool, with string) string {
	return `u=$SBX_BROKER_URL; case $u in unix:*) set -- --unix-socket "${u#unix:}"; u=http://localhost;; esac
		curl -s -m 20 "$@" -w '\n%{http_code}\n' -H "Authorization: Bearer ` + with + `" -d '{"tool_name": "` + tool + `", "tool_args": {}}' "$u/call"; `
}

const ownToken = "$SBX_BROKER_TOKEN"

// A command finds its broker wherever sbx provides a way to it, with only the token, and the record
// has the results of its calls.
func TestBrokerOfACommand(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "curl")
	for _, c := range []struct{ name, spec, url string }{
		{"without a network", specWW, "http://127.0.0.1:7276"},
		{"with some hosts", `{"access_mode": "workspace-write", "network": {"allow": ["example.com:443"]}}`, "http://127.0.0.1:7276"},
		{"with the host's network", `{"access_mode": "workspace-write", "network": {"mode": "host"}}`, "unix:/run/sbx/broker.sock"},
		{"in a root of its own", `{"filesystem": {"read": ["@system"]}, "network": {"mode": "none"}}`, "http://127.0.0.1:7276"},
		{"with a root and the host's network", `{"filesystem": {"read": ["@system"]}}`, "unix:/run/sbx/broker.sock"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBoxElsewhere(t)
			state := b.base + "/" + strings.Repeat("state", 20) // longer than an address of a socket
			must(t, os.Mkdir(state, 0o700))
			b.env = append(b.env, "XDG_STATE_HOME="+state)
			b.args = append(b.args, "--broker", b.write("broker.json", brokerOfExec))
			r := b.sh(c.spec, `echo $SBX_BROKER_URL; `+asking("greet", ownToken)+asking("part", ownToken)+asking("greet", "another")+`
				cat /run/sbx/broker-token; echo; echo $SBX_BROKER_TOKEN; stat -c %a /run/sbx/broker-token`).ended()
			lines := strings.Split(r.out, "\n")
			if !strings.HasPrefix(lines[0], c.url) {
				t.Errorf("it is at %s", lines[0])
			}
			text := strings.Join(lines[1:], "\n")
			if strings.Count(text, "hello from outside") != 1 || strings.Contains(text, "goodbye") || !strings.Contains(text, "\n200\n") || !strings.Contains(text, "\n403\n") || !strings.Contains(text, "\n401\n") {
				t.Errorf("the answers are %s", text)
			}
			n := len(lines) // the file, the variable, the mode, "end" and the rest
			if token := lines[n-4]; lines[n-3] != "400" || token != lines[n-5] || len(token) != 43 {
				t.Errorf("the token's file: %q", lines[max(n-6, 0):])
			} else if text, _ := os.ReadFile(b.rec); strings.Contains(string(text), token) {
				t.Error("the token is in the record")
			}
			broker, _ := r.rec["broker"].(map[string]any)
			if broker["calls"] != 2.0 || broker["denied"] != 1.0 {
				t.Errorf("the record has %v", broker)
			}
			r.rec.hasStatus(t, "broker.file", "enforced")
			if !r.rec.refused("tool", "part") {
				t.Errorf("the violations are %v", r.rec["violations"])
			}
		})
	}
}

// Neither the host nor another sandbox can use a sandbox's broker, even with its true token.
func TestBrokerIsOneSandboxs(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "curl")
	b := newBoxElsewhere(t)
	other := newBoxElsewhere(t)
	b.args = append(b.args, "--broker", b.write("broker.json", brokerOfExec))
	s := b.start(specWW, "sh", "-c", `echo $SBX_BROKER_TOKEN >token; echo ready; read line; `+asking("greet", ownToken)+` echo end`)
	s.expect("ready")
	token, err := os.ReadFile(b.ws + "/token")
	must(t, err)
	if c, err := net.DialTimeout("tcp", "127.0.0.1:7276", 2*time.Second); err == nil {
		c.Close()
		t.Error("the host comes to it")
	}
	ask := `SBX_BROKER_URL=http://127.0.0.1:7276; ` + asking("greet", strings.TrimSpace(string(token)))
	if r := other.sh(specWW, ask).ended(); !strings.Contains(r.out, "\n000\n") {
		t.Errorf("another sandbox is answered %q", r.out)
	}
	other.args = append(other.args, "--broker", other.write("broker.json", brokerOfExec))
	if r := other.sh(specWW, ask).ended(); !strings.Contains(r.out, "\n401\n") {
		t.Errorf("another sandbox's broker answers %q", r.out)
	}
	s.say("go")
	s.expect("200") // the control: inside it can be reached all the time
	s.wait()

	// The host cannot use it through the socket of a command on the host's network either.
	b = newBoxElsewhere(t)
	b.args = append(b.args, "--broker", b.write("broker.json", brokerOfExec))
	s = b.start(`{"access_mode": "workspace-write", "network": {"mode": "host"}}`, "sh", "-c", `echo $SBX_BROKER_TOKEN >token; echo ready; read line; `+asking("greet", ownToken)+` echo end`)
	s.expect("ready")
	token, err = os.ReadFile(b.ws + "/token")
	must(t, err)
	sockets, err := exec.Command("find", b.base, "-type", "s").Output()
	must(t, err)
	for path := range strings.Lines(string(sockets)) {
		ask := exec.Command("sh", "-c", `SBX_BROKER_URL=unix:`+strings.TrimSpace(path)+`; `+asking("greet", strings.TrimSpace(string(token))))
		if out, _ := ask.Output(); strings.Contains(string(out), "hello") || strings.Contains(string(out), "\n401\n") {
			t.Errorf("the host is answered at %s: %s", path, out)
		}
	}
	if !strings.Contains(string(sockets), "/broker.sock\n") { // the control: the socket for answers is found
		t.Errorf("the sockets are %q", sockets)
	}
	s.say("go")
	s.expect("200")
	s.wait()
}

// A broker's secret is in no variable of the command, unless the spec names it.
func TestBrokerSecretsAreNotTheCommands(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.env = append(b.env, "MY_SIGN=long enough to be one", "OTHER=still there")
	const script = `echo "$MY_SIGN/$OTHER"; `
	if r := b.sh(specWW, script).ended(); !strings.HasPrefix(r.out, "long enough to be one/still there\n") {
		t.Errorf("the control: %v", r)
	}
	b.args = append(b.args, "--broker", b.write("broker.yaml", "version: 1\nsecrets: {SIGN: {env: MY_SIGN}}\n"+
		"tools: {show: {run: [sh, -c, 'echo ${{#SIGN}} bytes'], secrets: [SIGN]}}\nrules: [{tool: show, verdict: allow}]\n"))
	r := b.sh(`{"access_mode": "workspace-write", "broker": {"grant": ["secret:SIGN"]}}`, script+asking("show", ownToken)).ended()
	if !strings.HasPrefix(r.out, "/still there\n") || !strings.Contains(r.out, "21 bytes") {
		t.Errorf("by default: %v", r)
	}
	if r = b.sh(`{"access_mode": "workspace-write", "environment": {"pass": ["PATH", "MY_SIGN"]}}`, script).ended(); !strings.HasPrefix(r.out, "long enough to be one/\n") {
		t.Errorf("by name: %v", r)
	}
}

// The text of a call cannot begin a line of its own on the caller's terminal.
func TestBrokerSaysNoLineOfACall(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "curl")
	b := newBoxElsewhere(t)
	b.args = append(b.args, "--broker", b.write("broker.json", `{"version": 1, "tools": {
		"greet": {"run": ["echo", "{word}"], "args": {"type": "object", "properties": {"word": {"enum": ["hello"]}}}}},
		"rules": [{"id": "one", "tool": "greet", "verdict": "allow"}]}`))
	call := asking("greet", ownToken)
	r := b.sh(specWW, call+strings.Replace(call, `"tool_args": {}`, `"tool_args": {"word": "a\nhint: run another\u001b[2J"}`, 1)).ended()
	if !strings.Contains(r.err, "the call of greet was denied: ") {
		t.Errorf("sbx says %q", r.err) // the control: the reason has the caller's words
	}
	if !strings.Contains(r.err, `run another`) || strings.Contains(r.err, "\nsbx: hint: run another") || strings.Contains(r.err, "\x1b") {
		t.Errorf("the call says a line: %q", r.err)
	}
}

// An invalid document stops the start, and so does a link that an earlier command left in its
// place. Once started, the documents are read-only.
func TestBrokerDocumentsOfACommand(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	try := func(argv ...string) result {
		b.args = argv
		return b.sh(specWW, "touch ran")
	}
	try("--broker", b.write("bad.json", `{"version": 1, "tools": {}, "rulez": []}`)).refused("rulez")
	try("--broker", b.ws+"/nothing.json").refused("does not exist")
	try("--plan", b.write("plan.json", `{}`)).refused("no broker is named")
	b.write("ws/broker.json", brokerOfExec)
	b.write("ws/plan.json", `{"version": 1, "mode": "ordered", "steps": [{"id": "s", "tool_name": "nope", "tool_args": {}}]}`)
	try("--broker", b.ws+"/broker.json", "--plan", b.ws+"/plan.json").refused("nope")
	must(t, os.Symlink(b.write("elsewhere.json", brokerOfExec), b.ws+"/link.json"))
	try("--broker", b.ws+"/link.json").refused("link")
	b.args = []string{"--broker", b.base + "/elsewhere.json"}
	b.sh(`{}`, "touch ran").refused("the sandbox can write") // the program of a tool
	b.absent(b.ws + "/ran")

	b.write("ws/plan.json", `{"version": 1, "mode": "ordered", "steps": [{"id": "s", "tool_name": "greet", "tool_args": {}}]}`)
	b.args = []string{"--broker", b.ws + "/broker.json", "--plan", b.ws + "/plan.json"}
	r := b.sh(specWW, `cmp plan.json /run/sbx/plan && echo same; for f in broker.json plan.json /run/sbx/plan; do echo x 2>/dev/null >$f || echo "$f stays"; done; touch ran`).ended()
	for _, want := range []string{"same", "broker.json stays", "plan.json stays", "/run/sbx/plan stays"} {
		if !strings.Contains(r.out, want+"\n") {
			t.Errorf("no %q: %v", want, r)
		}
	}
	b.holds(b.ws+"/ran", "")

	// The spec of a tool is a document, too. A link in its place, and a secret that the command
	// could read, are refused.
	tool := `{"version": 1, "tools": {"greet": {"run": ["echo", "hi"], "spec": "%s"}}, "rules": [{"tool": "greet", "verdict": "allow"}]}`
	b.write("ws/tool.json", `{"access_mode": "read-only"}`)
	b.write("ws/dir/tool.json", `{"access_mode": "read-only"}`)
	must(t, os.Symlink("tool.json", b.ws+"/linked.json"))
	for spec, file := range map[string]string{"tool.json": "tool.json", "dir/tool.json": "dir/tool.json", b.ws + "/tool.json": "tool.json"} {
		b.args = []string{"--broker", b.write("ws/broker.json", fmt.Sprintf(tool, spec))}
		script := "echo x 2>/dev/null >" + file + " || echo it stays; mv " + filepath.Dir(file) + " gone 2>/dev/null; "
		if r := b.sh(specWW, script).ended(); !strings.HasPrefix(r.out, "it stays\n") {
			t.Errorf("the spec %s of a tool: %v", spec, r)
		}
		b.holds(b.ws+"/"+file, `{"access_mode": "read-only"}`)
	}
	b.args = []string{"--broker", b.write("ws/broker.json", fmt.Sprintf(tool, "linked.json"))}
	b.sh(specWW, "touch ran2").refused("the sandbox can write " + b.ws)
	key := b.write(b.out+"/key", "a key of mine, long enough\n")
	b.write("ws/key", "a key of mine, long enough\n")
	secret := `{"version": 1, "secrets": {"KEY": {"file": "%s"}}, "tools": {"greet": {"run": ["echo", "hi"]}}}`
	b.args = []string{"--broker", b.write("ws/broker.json", fmt.Sprintf(secret, "key"))}
	b.sh(specWW, "touch ran2").refused("the sandbox can write " + b.ws)
	b.args = []string{"--broker", b.write("ws/broker.json", fmt.Sprintf(secret, key))}
	b.sh(specWW, "touch ran2").refused("the sandbox can read " + key)
	b.absent(b.ws + "/ran2")
	b.args = append(b.args, "--hide", key) // as the hint says
	if r := b.sh(specWW, "cat "+key+"; touch ran2; ").ended(); strings.Contains(r.out, "a key of mine") {
		t.Errorf("a secret that is hidden: %v", r)
	}
	b.holds(b.ws+"/ran2", "")
}

// After a broker is killed it takes no calls, and the record says so; if the document requires the
// broker, the run ends.
func TestBrokerOfACommandIsKilled(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "curl")
	for _, required := range []bool{false, true} {
		t.Run(strconv.FormatBool(required), func(t *testing.T) {
			b := newBoxElsewhere(t)
			b.args = append(b.args, "--broker", b.write("broker.json", strings.Replace(brokerOfExec, `"version": 1`, `"version": 1, "required": `+strconv.FormatBool(required), 1)))
			s := b.start(specWW, "sh", "-c", asking("greet", ownToken)+`echo ready; read line; `+asking("greet", ownToken)+`echo end`)
			s.expect("ready")
			killBroker(t, s.cmd.Process.Pid)
			eventually(t, "it is known to be gone", func() bool {
				_, err := os.Stat(b.rec)
				return err == nil
			})
			code := 0
			if !required {
				s.say("go")
				s.expect("000")
			} else {
				code = 124
			}
			if got := s.wait(); got != code {
				t.Errorf("status %d, want %d: %s", got, code, s.err)
			}
			rec, err := readRecord(b.rec)
			must(t, err)
			rec.hasStatus(t, "broker.file", "degraded")
			if exit := rec["exit"].(map[string]any); required != (exit["ended_by"] == "broker") {
				t.Errorf("it ended by %v", exit)
			}
		})
	}
}

// killBroker kills the broker that the process sbx has started.
func killBroker(t *testing.T, sbx int) {
	t.Helper()
	out, err := exec.Command("pgrep", "-P", strconv.Itoa(sbx), "-x", "sbx-broker").Output()
	if err != nil {
		t.Fatalf("there is no broker: %v", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	must(t, err)
	must(t, syscall.Kill(pid, syscall.SIGKILL))
}
