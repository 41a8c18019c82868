package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// The example of cmd/sbx-broker/README.md does what the page says.
func TestBrokerExampleOfTheDocs(t *testing.T) {
	needSandbox(t)
	page, err := os.ReadFile(filepath.Join(moduleDir, "cmd", "sbx-broker", "README.md"))
	must(t, err)
	document := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindSubmatch(page)
	if document == nil {
		t.Fatal("the page has no document")
	}
	b := readyBroker(t, string(document[1]), ofBroker{environ: []string{"MY_SIGN_KEY=a-key-of-mine"}, caps: []string{"secret:SIGN_KEY"}})
	if out := b.call("sign", `{"text": "release 1.0"}`).stdout(t); !regexp.MustCompile(`^[0-9a-f]{64}  -\n$`).MatchString(out) {
		t.Errorf("it signs %q", out)
	}
	b.call("sign", `{"text": "anything"}`).denied(t, 403, "no rule allows it")
	b.write(b.ws+"/a", "three words here\n")
	b.write(b.ws+"/notes/a", "two words\n")
	if out := b.call("count", `{"path": "a"}`).stdout(t); out != "3 "+b.ws+"/a\n" {
		t.Errorf("it counts %q", out)
	}
	b.call("count", `{"path": "notes/a"}`).denied(t, 403, "notes are private")
	// check predicts the same.
	file := b.write(b.out+"/broker.yaml", string(document[1]))
	r := b.plain(filepath.Join(filepath.Dir(sbxPath), "sbx-broker"), "check", "--broker", file, "--spec-json", `{"access_mode": "workspace-write"}`)
	if r.code != 1 || !regexp.MustCompile(`(?m)^count: count: depends`).MatchString(r.out) || !regexp.MustCompile(`(?m)^sign: sign: deny by capabilities.*broker.grant`).MatchString(r.out) {
		t.Errorf("check says %v", r)
	}
	plan := b.write(b.out+"/plan.json", `{"version": 1, "mode": "ordered", "steps": [{"id": "one", "tool_name": "count", "tool_args": {"path": "a"}}, {"id": "two", "tool_name": "count", "tool_args": {"path": "notes/a"}}]}`)
	r = b.plain(filepath.Join(filepath.Dir(sbxPath), "sbx-broker"), "check", "--broker", file, "--plan", plan, "--spec-json", `{"access_mode": "workspace-write"}`)
	if r.code != 1 || !regexp.MustCompile(`^one: count: allow by count\ntwo: count: deny by no-notes: notes are private`).MatchString(r.out) {
		t.Errorf("check of the plan says %v", r)
	}
}
