package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const brokerPlanOfExec = `{"version": 1, "mode": "ordered", "steps": [{"id": "only", "tool_name": "greet", "tool_args": {}}]}`

// digestOf returns the digest of a document in its canonical form.
func digestOf(t *testing.T, document string) string {
	t.Helper()
	var v any
	must(t, json.Unmarshal([]byte(document), &v))
	text, err := json.Marshal(v)
	must(t, err)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// holdsBroker fails unless a record has one call of greet that ran, and one of part that was
// denied, with the documents' digests.
func (r record) holdsBroker(t *testing.T) {
	t.Helper()
	broker, _ := r["broker"].(map[string]any)
	if broker["calls"] != 2.0 || broker["denied"] != 1.0 || broker["document_sha256"] != digestOf(t, brokerOfExec) || broker["plan_sha256"] != digestOf(t, brokerPlanOfExec) {
		t.Errorf("the record has %v", broker)
	}
	text, err := json.Marshal(broker["by_tool"])
	must(t, err)
	if string(text) != `{"greet":{"calls":1,"denied":0},"part":{"calls":1,"denied":1}}` {
		t.Errorf("by tool it has %s", text)
	}
	r.hasStatus(t, "broker.file", "enforced")
	r.hasStatus(t, "broker.plan", "enforced")
	if !r.refused("tool", "part") {
		t.Errorf("the violations are %v", r["violations"])
	}
}

// connecting is a script that calls a tool through the program that is bound in.
func connecting(program, tool string) string {
	return `echo '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "` + tool + `", "arguments": {}}}' | ` + program + ` connect; `
}

// A container has no network of sbx's: it reaches its broker by a socket that is bound in, and by
// the program that is bound in with it. A tool whose sandbox has no way to a broker cannot run a
// spec that names one.
func TestBrokerOfEachBackend(t *testing.T) {
	eachBackend(t, func(t *testing.T, b *box, tool outerTool) {
		b.args = append(b.args, "--broker", b.write("broker.json", brokerOfExec), "--plan", b.write("plan.json", brokerPlanOfExec))
		if tool.name != "docker" && tool.name != "podman" {
			b.run(specWW, "/bin/sh", "-c", "touch ran").refused(map[bool]string{true: "gVisor", false: "sbx exec alone"}[tool.image])
			b.absent(b.ws + "/ran")
			r := b.run(`{"access_mode": "workspace-write", "best_effort": ["broker"]}`, "/bin/sh", "-c", `echo "<$SBX_BROKER_URL>"`)
			if status, _, reason := r.line("broker.file"); r.code != 0 || r.out != "<>\n" || status == "enforced" || reason == "" {
				t.Errorf("with less: broker.file is %s, %s: %v", status, reason, r)
			}
			return
		}
		const program = "/run/sbx/sbx-broker"
		for _, spec := range []string{specWW, `{"access_mode": "workspace-write", "network": {"mode": "none"}}`} {
			r := b.run(spec, "/bin/sh", "-c", connecting(program, "greet")+connecting(program, "part")+
				`echo "$SBX_BROKER_URL"; SBX_BROKER_TOKEN=other; `+connecting(program, "greet")+`cat /run/sbx/plan; (echo x >/run/sbx/plan) 2>/dev/null || echo; stat -c %a /run/sbx/broker-token; cat /proc/net/dev | wc -l; echo end`)
			if strings.Count(r.out, "hello from outside") != 1 || strings.Contains(r.out, "goodbye") || !strings.Contains(r.out, "unix:/run/sbx/broker.sock\n") ||
				!strings.Contains(r.out, "no token of this execution") || !strings.Contains(r.out, brokerPlanOfExec+"\n400\n3\nend\n") {
				t.Errorf("it is answered %v", r)
			}
			r.rec.holdsBroker(t)
			if left, _ := filepath.Glob(b.base + "/state/sbx/runs/*/*"); len(left) == 0 {
				t.Error("nothing is kept of the run")
			} else {
				for _, file := range left {
					if name := filepath.Base(file); name == "token" || name == "plan" || strings.HasSuffix(name, ".sock") {
						t.Errorf("%s stays", file)
					}
				}
			}
		}
		// The control: without a broker nothing of it is there.
		b.args = b.args[:len(b.args)-4]
		if r := b.run(specWW, "/bin/sh", "-c", `ls /run/sbx 2>&1; echo "<$SBX_BROKER_URL$SBX_BROKER_TOKEN>"`); !strings.Contains(r.out, "<>\n") || strings.Contains(r.out, "broker\n") || r.rec["broker"] != nil {
			t.Errorf("without a broker: %v", r)
		}
	})
}

// A dispatch has the broker of its spec, and its row has the broker's part of the record.
func TestBrokerOfADispatch(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "curl")
	b := newBoxElsewhere(t)
	b.write("broker.json", brokerOfExec)
	b.write("plan.json", brokerPlanOfExec)
	file := b.write("spec.json", `{"access_mode": "workspace-write", "broker": {"file": "`+b.base+`/broker.json", "plan": "`+b.base+`/plan.json"}}`)
	r := b.dispatch("spawn", "--sandbox-spec", "@"+file, "--", "sh", "-c", "("+asking("greet", ownToken)+asking("part", ownToken)+") >answers; test -r /run/sbx/plan")
	if r.code != 0 {
		t.Fatal(r)
	}
	id := strings.TrimSpace(r.out)
	b.dispatch("wait", id)
	text, err := os.ReadFile(b.ws + "/answers")
	must(t, err)
	if !strings.Contains(string(text), "hello from outside") || strings.Contains(string(text), "goodbye") || !strings.Contains(string(text), "\n403\n") {
		t.Errorf("the answers are %s", text)
	}
	row := b.row(id)
	if row.text("status") != "completed" {
		t.Errorf("it is %v", row)
	}
	row.effective().holdsBroker(t)
	// An invalid combination is refused, and nothing starts.
	b.write("plan.json", strings.Replace(brokerPlanOfExec, `"greet"`, `"other"`, 1))
	r = b.dispatch("spawn", "--sandbox-spec", "@"+file, "--", "touch", "ran")
	if id = strings.TrimSpace(r.out); id != "" {
		b.dispatch("wait", id)
		if row := b.row(id); row.text("status") != "failed" || row["exit_code"] != 125.0 {
			t.Errorf("it is %v", row)
		}
	} else if r.code != 125 {
		t.Errorf("it ends with %v", r)
	}
	b.absent(b.ws + "/ran")
}

// Inside another sandbox a broker enforces as much as the outer one allows: a tool whose sandbox
// cannot be enforced there does not start, and one that accepts less does.
func TestBrokerInsideAnotherSandbox(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "curl")
	if elsewhere == "" {
		t.Skip("all that this user may write is private inside")
	}
	b := newBoxElsewhere(t)
	must(t, os.Mkdir(b.base+"/bin", 0o755))
	for _, name := range []string{"sbx", "sbx-broker"} {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(sbxPath), name))
		must(t, err)
		must(t, os.WriteFile(b.base+"/bin/"+name, text, 0o755))
	}
	b.write("broker.json", brokerOfExec)
	b.write("less.json", strings.Replace(brokerOfExec, `"hello from outside"]`, `"hello from outside"], "spec": {"best_effort": ["*"]}`, 1))
	b.write("ask.sh", asking("greet", ownToken)+"set --; "+asking("part", ownToken))
	inner := func(document string) string {
		return b.base + "/bin/sbx exec -q --spec-json '" + specWW + "' --broker " + b.base + "/" + document + " -- sh " + b.base + "/ask.sh; "
	}
	r := b.sh(specWW, inner("broker.json")+"echo; echo ==; "+inner("less.json")).ended()
	whole, less, ok := strings.Cut(r.out, "\n==\n")
	if !ok || strings.Contains(whole, "hello from outside") || !strings.Contains(whole, "\n502\n") || !strings.Contains(whole, "\n403\n") {
		t.Errorf("a tool that cannot be held there: %q, %v", whole, r)
	}
	if !strings.Contains(less, "hello from outside") || !strings.Contains(less, "\n403\n") || strings.Contains(less, "goodbye") {
		t.Errorf("a tool that accepts less: %q, %v", less, r)
	}
}
