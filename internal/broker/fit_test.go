package broker

import (
	"strings"
	"testing"

	"sbx/internal/broker/wire"
)

// A tool's spec by which its calls could not start is reported before the start, with its line, and
// a step's with the step; a similar spec that grants enough is accepted.
func TestAToolsSpecFitsItsNeeds(t *testing.T) {
	for _, c := range []struct{ own, path, on, why string }{
		{`{limits: {pids: 10}}`, "", "", ""},
		{`{access_mode: read-only}`, "", "b.yaml:9:11", "cannot have network allow: the parent has none (from access_mode read-only, b.yaml:9:25)"},
		{`{network: {mode: host}}`, "", "", ""}, // of which the tool gets what it needs
		{`{filesystem: {read: ["@system", /in]}}`, "/in/later", "", ""},
		{`{filesystem: {read: ["@system", /in/nothing/yet]}}`, "/in/nothing/yet", "b.yaml:9:11", "cannot have /in in view: the parent has only what is named in view (b.yaml:9:31)"},
		{`{network: {mode: none}}`, "", "b.yaml:9:11", "cannot have network allow: the parent has none (b.yaml:9:28)"},
		{`{filesystem: {hide: [/in]}}`, "", "b.yaml:9:11", "the parent has it hidden by /in"},
		{`{commands: {allow: [cat]}}`, "", "b.yaml:9:11", "cannot start /bin/ls"},
		{`{filesystem: {read: ["@system", /in]}}`, "/usr/share", "", ""}, // @system contains it
		{`{filesystem: {read: ["@system", /in]}}`, "/elsewhere", "p.json:2:5", "cannot have /elsewhere in view"},
		{`{filesystem: {hide: [/elsewhere]}}`, "/elsewhere", "p.json:2:5", "the parent has it hidden by /elsewhere"},
	} {
		start := &wire.Start{Workspace: "/tmp", Broker: wire.Document{Name: "b.yaml", Dir: "/tmp", Text: []byte(`
version: 1
tools:
  own:
    run: [cat, "{path}"]
    args: {properties: {path: {type: string}}}
    needs: ["fs.read:/in", "net:a.com:443", "exec:/bin/ls", "fs.read:{path}"]
    timeout: 1m
    spec: ` + c.own + `
rules: [{tool: own, verdict: allow}]
`)}, Granted: wire.Granted{View: []wire.Place{{Path: "/", Access: "read-only", Source: "/"}, {Path: "/tmp", Access: "writable", Source: "/tmp"}}, Reach: []string{"*"}, Any: true}}
		if c.path != "" {
			start.Plan = &wire.Document{Name: "p.json", Text: []byte(`{"version": 1, "mode": "ordered", "steps": [
    {"id": "one", "tool_name": "own", "tool_args": {"path": "` + c.path + `"}}]}`)}
		}
		_, p := Check(start, []string{"HOME=/root"})
		if p == nil != (c.why == "") || p != nil && (p.On != c.on || !strings.Contains(p.Why, c.why)) {
			t.Errorf("%s, %s: %v", c.own, c.path, p)
		}
	}
}
