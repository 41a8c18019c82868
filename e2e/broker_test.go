package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
)

// brokerTools is a document with a few tools, named after what they run.
const brokerTools = `
version: 1
secrets: {KEY: {env: BROKER_KEY}}
tools:
  say:
    description: says a text
    run: [echo, "{text}"]
    args: {properties: {text: {type: string, maxLength: 100}}, required: [text]}
  cat:
    run: [cat, --, "{path}"]
    args: {properties: {path: {type: string}}, required: [path]}
    needs: ["fs.read:{path}"]
  sh:
    run: [sh, -c, "{script}", sh, "{path}"]
    args: {properties: {script: {type: string}, path: {type: string}}, required: [script]}
    needs: ["fs.write:{path}"]
    timeout: 20s
  keyed:
    run: [sh, -c, "{script}"]
    args: {properties: {script: {type: string}}, required: [script]}
    secrets: [KEY]
  slow:
    run: [sleep, "60"]
    timeout: 1s
rules:
  - {id: all, tool: "*", verdict: allow}
  - {id: no-env, tool: cat, when: {path: {glob: "**.env"}}, verdict: deny, reason: credentials}
`

func brokerEnv() []string { return []string{"BROKER_KEY=s3cret-of-the-broker"} }

// A call runs its tool by the argv template without a shell, and is recorded before and after.
func TestBrokerRunsACall(t *testing.T) {
	needSandbox(t)
	b := readyBroker(t, brokerTools, ofBroker{environ: brokerEnv()})
	if out := b.call("say", `{"text": "a b; $(id)"}`).stdout(t); out != "a b; $(id)\n" {
		t.Errorf("it says %q", out)
	}
	b.call("say", `{"text": "-n"}`).denied(t, 400, "begins with -")
	b.call("say", `{"text": 1}`).denied(t, 400, "/properties/text")
	b.call("none", `{}`).denied(t, 404, "no tool")
	asked, done := b.audit("asked"), b.audit("done")
	if len(asked) != 4 || len(done) != 1 || asked[0]["verdict"] != "allow" || asked[3]["verdict"] != "deny" || done[0]["id"] != asked[0]["id"] {
		t.Errorf("the audit has %v and %v", asked, done)
	}
	sum := b.end()
	if sum["calls"] != 4.0 || sum["denied"] != 3.0 || sum["lines"] != 5.0 {
		t.Errorf("the summary is %v", sum)
	}
}

// A call may read what its capability names; the control, a similar file, is read by a call that
// may.
func TestBrokerHoldsCapabilities(t *testing.T) {
	needSandbox(t)
	b := readyBroker(t, brokerTools, ofBroker{environ: brokerEnv(), view: []map[string]any{{"path": "/nowhere", "access": "absent"}}})
	b.write(b.ws+"/a.txt", "text of a\n")
	b.write(b.ws+"/x.env", "text of env\n")
	if out := b.call("cat", `{"path": "a.txt"}`).stdout(t); out != "text of a\n" {
		t.Errorf("it reads %q", out)
	}
	if out := b.call("cat", `{"path": "a.txt"}`, `"requested_caps": ["fs.read:`+b.ws+`"]`).stdout(t); out != "text of a\n" {
		t.Errorf("with a wider capability it reads %q", out)
	}
	b.call("cat", `{"path": "x.env"}`).denied(t, 403, "credentials", "no-env", "allow_with")
	b.call("cat", `{"path": "./x.env"}`).denied(t, 403, "credentials")
	b.call("cat", `{"path": "../out/f"}`).denied(t, 400, "..")
	b.call("cat", `{"path": "/nowhere/x"}`).denied(t, 403, "capabilities", "broker.grant")
	b.call("cat", `{"path": "a.txt"}`, `"requested_caps": []`).denied(t, 403, "does not ask", "requested_caps")
	b.call("cat", `{"path": "/tmp/x"}`).denied(t, 403, "capabilities") // the sandbox's own
	b.call("keyed", `{"script": "true"}`).denied(t, 403, "secret:KEY", "broker.grant")
	// Apart from the capability's file the tool sees nothing of the workspace, and can write
	// nothing there.
	b.write(b.ws+"/dir/in.txt", "in\n")
	out := b.call("sh", fmt.Sprintf(`{"script": "ls %s; cat %s/a.txt 2>&1; echo new >%s/dir/new && echo wrote; echo bad >%s/a.txt; echo ended", "path": "dir"}`, b.ws, b.ws, b.ws, b.ws)).stdout(t)
	if !strings.HasPrefix(out, "dir\n") || strings.Contains(out, "text of a") || !strings.Contains(out, "wrote\n") || !strings.HasSuffix(out, "ended\n") {
		t.Errorf("the tool sees and does: %s", out)
	}
	b.holds(b.ws+"/dir/new", "new\n")
	b.holds(b.ws+"/a.txt", "text of a\n")
}

// The tool gets its secret, and no answer contains it, however it is written.
func TestBrokerKeepsSecrets(t *testing.T) {
	needSandbox(t)
	b := readyBroker(t, brokerTools, ofBroker{environ: brokerEnv(), caps: []string{"secret:KEY"}})
	script := `{"script": "echo ${#KEY}; echo $KEY; printf %s $KEY | base64; printf x%s $KEY | base64; printf s3cret-of; sleep 0.2; printf -- -the-broker; echo $KEY >&2; env | grep -c BROKER_KEY"}`
	r := b.call("keyed", script)
	if r.code != 200 || !strings.Contains(r.text, `"stdout":"20\n<redacted>\n`) || strings.Contains(r.text, "of-the-broker") || strings.Contains(r.text, "czNjcmV0LW") || !strings.Contains(r.text, `<redacted>0\n`) {
		t.Errorf("%d: %s", r.code, r.text)
	}
	b.call("say", `{"text": "my s3cret-of-the-broker"}`)
	text, err := os.ReadFile(b.dir + "/broker.jsonl")
	must(t, err)
	if strings.Contains(string(text), "of-the-broker") {
		t.Errorf("the audit has the secret: %s", text)
	}
	// The control: a tool without a secret gets none.
	if out := b.call("sh", `{"script": "echo ${KEY:-none}; env"}`).stdout(t); !strings.HasPrefix(out, "none\n") || strings.Contains(out, "redacted") {
		t.Errorf("another tool has %s", out)
	}
}

// No message about a call contains it either: a reason, a needed capability, an error, an unknown
// tool's name, the names of files that were made.
func TestBrokerSaysNoSecret(t *testing.T) {
	needSandbox(t)
	const secret = "s3cret-of-the-broker"
	var said []string
	for _, word := range []string{"an-open-word-of-mine", secret} { // the control first
		b := readyBroker(t, strings.Replace(brokerTools, "maxLength: 100", "maxLength: 100, pattern: '^[a-z ]*$'", 1), ofBroker{environ: brokerEnv(), output: true})
		said = []string{
			b.call(word, `{}`).text,
			b.call("say", `{"text": "`+word+`"}`).text,
			b.call("cat", `{"path": "`+word+`"}`).text,
			b.call("cat", `{"path": "/nowhere/`+strings.Repeat("x", 50)+word+`"}`).text,
			b.call("cat", `{"path": "a", "`+word+`": 1}`).text,
			b.call("cat", `{}`, `"`+word+`": 1`).text,
			b.call("cat", `{"path": "a"}`, `"requested_caps": ["fs.read:/`+word+`"]`).text,
			b.call("sh", `{"script": "touch /output/`+word+`", "path": "/output"}`).text,
			b.ask("POST", "/mcp", `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "`+word+`", "arguments": {}}}`).text,
			b.ask("POST", "/mcp", `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "say", "arguments": {"text": "`+word+`"}}}`).text,
		}
		text, err := os.ReadFile(b.dir + "/broker.jsonl")
		must(t, err)
		b.end()
		told, err := json.Marshal(b.said)
		must(t, err)
		said = append(said, string(text), string(told))
		for i, s := range said {
			if strings.Contains(s, secret) || word == secret && strings.Contains(s, "s3cret") {
				t.Errorf("%d has the secret: %s", i, s)
			}
		}
		if word != secret {
			for _, i := range []int{1, 2, 3, 4, 5, 7, 9, 10, 11} {
				if !strings.Contains(said[i], word) {
					t.Errorf("the control %d does not say the word: %s", i, said[i])
				}
			}
		}
	}
}

// A tool that hangs ends with all processes that it started.
func TestBrokerEndsWhatHangs(t *testing.T) {
	needSandbox(t)
	b := readyBroker(t, brokerTools, ofBroker{environ: brokerEnv()})
	b.call("slow", `{}`).denied(t, 502, "did not end within 1s")
	if done := b.audit("done"); len(done) != 1 || !strings.Contains(fmt.Sprint(done[0]["error"]), "did not end") {
		t.Errorf("the audit says %v", done)
	}
}

// In an ordered plan each step runs once, in order, with its arguments; of two calls of a step at
// the same time one runs.
func TestBrokerHoldsAPlan(t *testing.T) {
	needSandbox(t)
	plan := `{"version": 1, "mode": "ordered", "steps": [
		{"id": "one", "tool_name": "say", "tool_args": {"text": "1"}},
		{"id": "two", "tool_name": "sh", "tool_args": {"script": "sleep 1; exit 3"}},
		{"id": "three", "tool_name": "say", "tool_args": {"text": "3"}}]}`
	b := readyBroker(t, brokerTools, ofBroker{environ: brokerEnv(), plan: plan})
	b.call("say", `{"text": "3"}`).denied(t, 403, "the plan's next step is one")
	b.call("say", `{"text": "other"}`).denied(t, 403, "next step is one")
	b.call("say", `{"text": "1"}`).stdout(t)
	b.call("say", `{"text": "1"}`).denied(t, 403, "one is done already", "next step is two")
	// A failed step may be tried again; of two tries at once one runs.
	two := `{"script": "sleep 1; exit 3"}`
	replies := make([]brokerReply, 2)
	var all sync.WaitGroup
	for i := range replies {
		all.Go(func() { replies[i] = b.call("sh", two) })
	}
	all.Wait()
	if codes := replies[0].code + replies[1].code; codes != 200+403 {
		t.Errorf("two at once: %v", replies)
	}
	b.call("say", `{"text": "3"}`).denied(t, 403, "next step is two")
	if r := b.call("sh", two); r.code != 200 {
		t.Errorf("the failed step is not tried again: %v", r)
	}

	free := `{"version": 1, "mode": "free", "steps": [{"id": "any", "tool_name": "say"}, {"id": "this", "tool_name": "cat", "tool_args": {"path": "a"}, "requested_caps": ["fs.read:a"]}]}`
	b = readyBroker(t, brokerTools, ofBroker{environ: brokerEnv(), plan: free})
	b.write(b.ws+"/a", "A")
	b.call("say", `{"text": "x"}`).stdout(t)
	b.call("say", `{"text": "y"}`).stdout(t)
	b.call("cat", `{"path": "a"}`).stdout(t)
	b.call("cat", `{"path": "b"}`).denied(t, 403, "no such step")
	b.call("sh", `{"script": "true"}`).denied(t, 403, "no such step")
}

// A document by which nothing can be decided is refused before anything starts.
func TestBrokerRefusesDocuments(t *testing.T) {
	for _, c := range []struct {
		document, plan, field, why string
		environ                    []string
	}{
		{"version: 2", "", "version", "want 1", brokerEnv()},
		{brokerTools, "", "secrets.KEY", "BROKER_KEY", nil},
		{strings.Replace(brokerTools, "run: [sleep,", "run: [no-such-program,", 1), "", "tools.slow", "not found", brokerEnv()},
		{brokerTools, `{"version": 1, "mode": "free", "steps": [{"id": "x", "tool_name": "none"}]}`, "steps", "no tool none", brokerEnv()},
		{brokerTools, `{"version": 1, "mode": "free", "steps": [{"id": "x", "tool_name": "cat", "requested_caps": ["fs.write:/usr"]}]}`, "steps", "does not give fs.write:/usr", brokerEnv()},
		{brokerTools, `{"version": 1, "mode": "free", "steps": [{"id": "x", "tool_name": "cat", "expected_artifacts": [{"path": "/output/x"}]}]}`, "steps", "no /output", brokerEnv()},
		{brokerTools, `{"version": 1, "version": 1}`, "", "twice", brokerEnv()},
	} {
		b, answer := startBroker(t, c.document, ofBroker{plan: c.plan, environ: c.environ})
		refused, _ := answer["refused"].(map[string]any)
		if refused == nil || c.field != "" && refused["field"] != c.field || !strings.Contains(fmt.Sprint(refused["why"]), c.why) {
			t.Errorf("%s, %q: %v", c.why, c.plan, answer)
		}
		if b.receive() != nil {
			t.Error("it goes on")
		}
	}
	// the control
	if _, answer := startBroker(t, brokerTools, ofBroker{environ: brokerEnv()}); answer["ready"] == nil {
		t.Errorf("the good document: %v", answer)
	}
}

// A program that the sandbox could write cannot be a tool.
func TestBrokerRunsNothingOfTheSandbox(t *testing.T) {
	b := newBoxElsewhere(t)
	program := b.write(b.ws+"/tool", "#!/bin/sh\necho ran\n")
	must(t, os.Chmod(program, 0o755))
	document := fmt.Sprintf("version: 1\ntools: {t: {run: [%s]}}\n", program)
	if _, answer := b.broker(document, ofBroker{}); answer["refused"] == nil || !strings.Contains(fmt.Sprint(answer), "the sandbox can write") {
		t.Errorf("%v", answer)
	}
	b = newBoxElsewhere(t)
	program = b.write(b.out+"/tool", "#!/bin/sh\necho ran\n")
	must(t, os.Chmod(program, 0o755))
	document = fmt.Sprintf("version: 1\ntools: {t: {run: [%s]}}\nrules: [{tool: t, verdict: allow}]\n", program)
	x, answer := b.broker(document, ofBroker{})
	if answer["ready"] == nil {
		t.Fatal(answer)
	}
	if out := x.call("t", `{}`).stdout(t); out != "ran\n" {
		t.Errorf("the control says %q", out)
	}
	// The sandbox puts a program before another on PATH, once after the start and once before it.
	b = newBoxElsewhere(t)
	must(t, os.Mkdir(b.ws+"/bin", 0o755))
	x, answer = b.broker("version: 1\ntools: {t: {run: [expr, '40', +, '2']}}\nrules: [{tool: t, verdict: allow}]\n", ofBroker{environ: []string{"PATH=" + b.ws + "/bin:" + os.Getenv("PATH")}})
	if answer["ready"] == nil {
		t.Fatal(answer)
	}
	must(t, os.Chmod(b.write(b.ws+"/bin/expr", "#!/bin/sh\necho mine\n"), 0o755))
	if out := b.plain("env", "PATH="+b.ws+"/bin:"+os.Getenv("PATH"), "expr", "40", "+", "2").out; out != "mine\n" { // the control
		t.Errorf("along that PATH it says %q", out)
	}
	if out := x.call("t", `{}`).stdout(t); out != "42\n" {
		t.Errorf("the tool says %q", out)
	}
}

// If the audit cannot be written, nothing is allowed any more, and sbx is notified.
func TestBrokerFailsClosed(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	b := newBoxElsewhere(t)
	must(t, os.MkdirAll(b.base+"/run", 0o700))
	x, answer := b.broker(brokerTools, ofBroker{environ: brokerEnv()})
	if answer["ready"] == nil {
		t.Fatal(answer)
	}
	x.call("say", `{"text": "before"}`).stdout(t)
	fillAudit(t, x)
	r := x.call("say", `{"text": "after"}`)
	r.denied(t, 503, "audit")
	if failed := x.until("failed"); !strings.Contains(fmt.Sprint(failed), "audit") {
		t.Errorf("sbx is told %v", failed)
	}
	x.call("say", `{"text": "later"}`).denied(t, 503, "audit")
}

// fillAudit keeps the broker from writing more to any file.
func fillAudit(t *testing.T, x *brokered) {
	t.Helper()
	text, err := os.ReadFile(x.dir + "/broker.jsonl")
	must(t, err)
	must(t, limitFileSize(x.cmd.Process.Pid, uint64(len(text))))
}

// GET /tools lists exactly the tools that could be allowed.
func TestBrokerListsWhatCouldBe(t *testing.T) {
	rules := strings.Replace(brokerTools, "rules:", "rules:\n  - {tool: slow, verdict: deny}", 1)
	b := readyBroker(t, rules, ofBroker{environ: brokerEnv()})
	var list struct {
		Tools []struct {
			Name string
			Args map[string]any
		}
	}
	must(t, json.Unmarshal([]byte(b.ask("GET", "/tools", "").text), &list))
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		if tool.Args["additionalProperties"] != false {
			t.Errorf("the arguments of %s are %v", tool.Name, tool.Args)
		}
	}
	if got := strings.Join(names, " "); got != "say cat sh" { // keyed needs a secret that is not granted
		t.Errorf("it lists %s", got)
	}
}
