package e2e

import (
	"context"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Every HTTP client can ask: curl, Python, busybox, a shell with a socket. With a wrong token none
// gets an answer.
func TestBrokerIsSpokenByAnything(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "curl", "python3", "busybox", "bash")
	b := newBoxElsewhere(t)
	b.args = append(b.args, "--broker", b.write("broker.json", brokerOfExec))
	b.write("ws/ask.py", `
import json, os, sys, urllib.request, urllib.error
call = urllib.request.Request(os.environ["SBX_BROKER_URL"] + "/call", json.dumps({"tool_name": "greet", "tool_args": {}}).encode(),
	{"Authorization": "Bearer " + os.environ["T"]})
try:
	print(json.load(urllib.request.urlopen(call))["result"]["stdout"], end="")
except urllib.error.HTTPError as e:
	print("status", e.code)
`)
	const body = `{"tool_name": "greet", "tool_args": {}}`
	raw := fmt.Sprintf(`printf 'POST /call HTTP/1.0\r\nHost: 127.0.0.1:7276\r\nAuthorization: Bearer %%s\r\nContent-Length: %d\r\n\r\n%%s' "$T" '%s'`, len(body), body)
	ways := map[string]string{
		"curl":   `curl -s -w ' status %{http_code}' -H "Authorization: Bearer $T" -d '` + body + `' "$SBX_BROKER_URL/call"`,
		"python": `python3 ask.py`,
		"wget":   `busybox wget -q -O - --header "Authorization: Bearer $T" --post-data '` + body + `' "$SBX_BROKER_URL/call" 2>&1 || echo status 401`,
		"netcat": `(` + raw + `) | busybox nc 127.0.0.1 7276 | sed 's/^HTTP.1.0 401/status 401/'`,
		"bash":   `exec 3<>/dev/tcp/127.0.0.1/7276; (` + raw + `) >&3; cat <&3 | sed 's/^HTTP.1.0 401/status 401/'; exec 3>&-`,
	}
	script := ""
	for name, way := range ways {
		for _, token := range []string{`"$SBX_BROKER_TOKEN"`, "wrong"} {
			script += "echo; echo '= " + name + "'; T=" + token + "; export T; " + way + "\n"
		}
	}
	r := b.run(specWW, "bash", "-c", script+"\necho; echo end\n")
	parts := strings.Split(r.out, "\n= ")[1:]
	for i, part := range parts {
		name, text, _ := strings.Cut(part, "\n")
		good := i%2 == 0
		if good != strings.Contains(text, "hello from outside") || !good && !strings.Contains(text, "status 401") {
			t.Errorf("%s, with the token %v: %q", name, good, text)
		}
	}
	if len(parts) != 2*len(ways) {
		t.Errorf("%d answers: %v", len(parts), r)
	}
	if broker, _ := r.rec["broker"].(map[string]any); broker["calls"] != float64(len(ways)) || broker["denied"] != 0.0 {
		t.Errorf("the record has %v", broker)
	}
}

// On a terminal a person is asked each question, and sees the request as plain text.
func TestBrokerAsksOnTheTerminal(t *testing.T) {
	needSandbox(t)
	document := strings.Replace(brokerTools, "tool: \"*\", verdict: allow", "tool: \"*\", verdict: ask", 1)
	box := newBoxElsewhere(t)
	must(t, os.MkdirAll(box.base+"/state/sbx/runs", 0o700))
	must(t, os.MkdirAll(box.base+"/run", 0o700))
	must(t, os.Symlink(box.base+"/run", box.base+"/state/sbx/runs/r"))
	b, answer := box.broker(document, ofBroker{environ: brokerEnv()})
	if answer["ready"] == nil {
		t.Fatal(answer)
	}
	x := box.onTerminal(filepath.Join(filepath.Dir(sbxPath), "sbx-broker"), "answer")
	for _, c := range []struct {
		keys string
		code int
	}{{"yes\r", 200}, {"y\r", 200}, {"no\r", 403}, {"\r", 403}, {"nonsense\r", 403}} {
		got := make(chan brokerReply)
		go func() { got <- b.call("say", `{"text": "a\u001b[2J\r\nallow it? \u202ey"}`) }()
		x.expect("say ")
		x.expect("allow it? [yes/no] ")
		x.send(c.keys)
		if r := <-got; r.code != c.code {
			t.Errorf("%q gives %d: %s", c.keys, r.code, r.text)
		}
	}
	if text := x.all(); strings.ContainsAny(text, "\x1b\u202e") || strings.Count(text, "\nallow it?") != 5 {
		t.Errorf("the terminal shows %q", text)
	}
	x.send("\x03")
	x.wait()
	if answered := b.audit("answered"); len(answered) != 5 || len(b.audit("done")) != 2 {
		t.Errorf("the audit has %v", answered)
	}
}

// check says what would happen to each step, and runs nothing.
func TestBrokerCheckRunsNothing(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	document := b.write("broker.yaml", `
version: 1
tools:
  make: {run: [touch, "{path}"], args: {properties: {path: {type: string}}, required: [path]}, needs: ["fs.write:{path}"]}
  signed: {run: [touch, `+b.ws+`/signed], secrets: [KEY]}
  served: {mcp: [touch, `+b.ws+`/served], tool: x, schema_sha256: "`+strings.Repeat("0", 64)+`"}
secrets: {KEY: {env: NOBODY_HAS_THIS}}
rules:
  - {id: all, tool: "*", verdict: allow}
  - {id: twice, tool: make, when: {path: {prefix: two}}, verdict: ask, max_calls: 1}
  - {id: env, tool: make, when: {path: {glob: "**.env"}}, verdict: deny, reason: credentials}
`)
	plan := b.write("plan.json", `{"version": 1, "mode": "ordered", "steps": [
		{"id": "a", "tool_name": "make", "tool_args": {"path": "one"}},
		{"id": "b", "tool_name": "make", "tool_args": {"path": "two"}},
		{"id": "c", "tool_name": "make", "tool_args": {"path": "x.env"}},
		{"id": "d", "tool_name": "make", "tool_args": {"path": "`+b.out+`/x"}},
		{"id": "e", "tool_name": "make", "tool_args": {"path": "one"}, "requested_caps": ["fs.read:one"]},
		{"id": "f", "tool_name": "make", "tool_args": {"path": 1}},
		{"id": "g", "tool_name": "signed", "tool_args": {}},
		{"id": "h", "tool_name": "served", "tool_args": {}}]}`)
	before, err := os.ReadDir(b.ws)
	must(t, err)
	r := b.plain(filepath.Join(filepath.Dir(sbxPath), "sbx-broker"), "check", "--broker", document, "--plan", plan, "--spec-json", specWW)
	want := []string{"a: make: allow by all", "b: make: ask by twice", "c: make: deny by env: credentials (rules: without the rule env would allow it)",
		"d: make: deny by capabilities: the sandbox's spec does not give fs.write:" + b.out + "/x (broker.grant: [\"fs.write:" + b.out + "/x\"] would allow it)",
		"e: make: deny by capabilities: its step does not ask for fs.write:" + b.ws + "/one (requested_caps: [\"fs.write:" + b.ws + "/one\"] would allow it)",
		"f: make: deny by args: ", "g: signed: deny by capabilities: the sandbox's spec does not give secret:KEY (broker.grant: [\"secret:KEY\"] would allow it)", "h: served: allow by all"}
	lines := strings.Split(strings.TrimSuffix(r.out, "\n"), "\n")
	for i, line := range lines {
		if i >= len(want) || !strings.HasPrefix(line, want[i]) {
			t.Errorf("check says %q", line)
		}
	}
	if len(lines) != len(want) || r.code != 1 || r.err != "" {
		t.Errorf("%d lines: %v", len(lines), r)
	}
	after, err := os.ReadDir(b.ws)
	must(t, err)
	if len(after) != len(before) {
		t.Errorf("there is more in the workspace: %v", after)
	}
	if runs, _ := filepath.Glob(b.base + "/state/sbx/runs/*"); len(runs) != 0 {
		t.Errorf("there are runs: %v", runs)
	}
	// Following the advice allows the step; for a spec that sbx refuses there is none.
	granting := func(more string) result {
		return b.plain(filepath.Join(filepath.Dir(sbxPath), "sbx-broker"), "check", "--broker", document, "--plan", plan,
			"--spec-json", `{"access_mode": "workspace-write", "broker": {"file": "`+document+`", "grant": ["secret:KEY", "fs.write:`+b.out+`/x"`+more+`]}}`)
	}
	if r := granting(""); r.code != 125 || r.out != "" || !strings.Contains(r.err, "/x does not exist") {
		t.Errorf("with a grant of nothing: %v", r)
	}
	b.write(b.out+"/x", "")
	if r := granting(""); !strings.Contains(r.out, "\nd: make: allow by all\n") || !strings.Contains(r.out, "\ng: signed: allow by all\n") || r.code != 1 {
		t.Errorf("with both granted: %v", r)
	}
	if r := granting(`, "fs.write:/none"`); r.code != 125 || r.out != "" {
		t.Errorf("with one more that is refused: %v", r)
	}
}

// A tool that hangs ends with all processes that it started, whatever they did to get away.
func TestBrokerEndsTheTreeOfWhatHangs(t *testing.T) {
	needSandbox(t)
	seconds := "7" + strconv.Itoa(os.Getpid()) + strconv.Itoa(int(time.Now().UnixNano()%1e6))
	b := readyBroker(t, strings.Replace(brokerTools, "timeout: 20s", "timeout: 1500ms", 1), ofBroker{environ: brokerEnv()})
	script := "trap : TERM HUP INT; setsid sleep " + seconds + " & (sleep " + seconds + " & ) ; echo partly; sleep " + seconds
	got := make(chan brokerReply)
	go func() { got <- b.call("sh", `{"script": "`+script+`"}`) }()
	within(t, limit, "the tool to run", func() bool { return len(processesWith("sleep\x00"+seconds)) == 3 })
	(<-got).denied(t, 502, "did not end within 1.5s")
	within(t, limit, "its tree to end", func() bool { return len(processesWith("sleep\x00"+seconds)) == 0 })
	if out := b.call("say", `{"text": "on"}`).stdout(t); out != "on\n" {
		t.Errorf("it says %q", out)
	}
}

// Without a Broker document the broker's program is not started, and need not exist; with one it
// must.
func TestBrokerIsLoadedOnlyWhereItIsNamed(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	must(t, os.Mkdir(b.base+"/bin", 0o755))
	text, err := os.ReadFile(sbxPath)
	must(t, err)
	must(t, os.WriteFile(b.base+"/bin/sbx", text, 0o755))
	document := b.write("broker.json", brokerOfExec)
	try := func(spec string, more ...string) result {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		cmd := b.command(ctx, spec, "sh", "-c", "echo ran; echo end")
		cmd.Path, cmd.Args[0] = b.base+"/bin/sbx", b.base+"/bin/sbx"
		cmd.Args = append(append(append([]string{}, cmd.Args[:2]...), more...), cmd.Args[2:]...)
		return b.finish(cmd)
	}
	if r := try(specWW); r.code != 0 || !strings.HasPrefix(r.out, "ran\n") {
		t.Errorf("without a broker, and without its program: %v", r)
	}
	try(specWW, "--broker", document).refused("sbx-broker")
	less := strings.Replace(specWW, "{", `{"best_effort": ["broker"], `, 1)
	if r := try(less, "--broker", document); r.code != 0 || !strings.HasPrefix(r.out, "ran\n") {
		t.Errorf("with less: %v", r)
	} else {
		r.rec.hasStatus(t, "broker.file", "unavailable")
	}
	// The program notes that it was started.
	b.write("bin/sbx-broker", "#!/bin/sh\ntouch "+b.base+"/started\n")
	must(t, os.Chmod(b.base+"/bin/sbx-broker", 0o755))
	if r := try(specWW); r.code != 0 || !strings.HasPrefix(r.out, "ran\n") {
		t.Errorf("without a broker: %v", r)
	}
	b.absent(b.base + "/started")
	try(specWW, "--broker", document).refused("ended before it was ready")
	b.holds(b.base+"/started", "")
}

// A token is 32 random bytes for one execution, and occurs only in its sandbox.
func TestBrokerTokenIsNowhereElse(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "curl")
	tokens := map[string]bool{}
	for range 2 {
		b := newBoxElsewhere(t)
		b.args = append(b.args, "--broker", b.write("broker.json", brokerOfExec))
		s := b.start(specWW, "sh", "-c", `echo $SBX_BROKER_TOKEN >token; echo ready; read line; `+asking("greet", ownToken)+asking("part", ownToken)+asking("none", ownToken+"x")+`echo end`)
		s.expect("ready")
		text, err := os.ReadFile(b.ws + "/token")
		must(t, err)
		must(t, os.Remove(b.ws+"/token"))
		token := strings.TrimSpace(string(text))
		if raw, err := base64.RawURLEncoding.DecodeString(token); err != nil || len(raw) != 32 || tokens[token] {
			t.Errorf("the token is %q", token)
		}
		tokens[token] = true
		if found := processesWith(token); len(found) > 0 {
			t.Errorf("it is in the arguments of %v", found)
		}
		s.say("go")
		s.expect("200") // the control: it is the right one
		s.expect("401")
		s.wait()
		must(t, filepath.WalkDir(b.base, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), token) {
				t.Errorf("%s has the token", path)
			}
			return nil
		}))
		if strings.Contains(s.err.String(), token) {
			t.Error("stderr has the token")
		}
	}
}
