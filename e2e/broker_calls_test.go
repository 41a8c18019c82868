package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const brokerArgv = `
version: 1
tools:
  show:
    run: [printf, "<%s>", "{a}", "-x{a}", "{{{a}}}", "{list}", "{a}={b}", "{b}"]
    args: {properties: {a: {}, b: {}, list: {type: array}}}
    dash: true
  careful:
    run: [printf, "<%s>", "x{a}", "{a}", "{list}"]
    args: {properties: {a: {}, list: {type: array}}}
  fed:
    run: [cat]
    stdin: "{a}"
    args: {properties: {a: {type: string}}}
rules: [{tool: "*", verdict: allow}]
`

// An argument is one element of the command line, whatever it contains: no shell reads it, and no
// template in it is expanded.
func TestBrokerArgumentsAreElements(t *testing.T) {
	needSandbox(t)
	b := readyBroker(t, brokerArgv, ofBroker{})
	for _, a := range []string{
		"plain", "", " ", "two words", "a\nb", "a\tb\r", "{a}", "{{a}}", "{b}", "{list}", "$HOME", "${a}", "$(id)", "`id`", "; id", "&& id", "| id", "> /tmp/x",
		"*", "?", "~", "%s%n", `\`, `\n`, `"`, "'", `"; id; "`, "--", "-", "-n", "--help", "#", "\u202e\u0001\u007f", "日本語", "--spec-json={}", strings.Repeat("long", 10000),
	} {
		args, err := json.Marshal(map[string]any{"a": a, "list": []string{a, a}})
		must(t, err)
		// Two elements are left out, because there is no b.
		if got, want := b.call("show", string(args)).stdout(t), "<"+a+"><-x"+a+"><{"+a+"}><"+a+"><"+a+">"; got != want {
			t.Errorf("%q: the command line is %q, want %q", cut(a), cut(got), cut(want))
		}
		if got := b.call("fed", `{"a": `+quoteJSON(t, a)+`}`).stdout(t); got != a {
			t.Errorf("%q: stdin has %q", cut(a), cut(got))
		}
		r := b.call("careful", string(args))
		if strings.HasPrefix(a, "-") {
			r.denied(t, 400, "begins with -")
		} else if got, want := r.stdout(t), "<x"+a+"><"+a+"><"+a+"><"+a+">"; got != want {
			t.Errorf("%q: the careful command line is %q", cut(a), cut(got))
		}
	}
	for args, want := range map[string]string{
		`{}`:                              "<>",
		`{"a": 1.50}`:                     "<1.5><-x1.5><{1.5}>",
		`{"a": true, "b": null}`:          "<true><-xtrue><{true}><true=null><null>",
		`{"a": {"z": 1, "k": ["x"]}}`:     `<{"k":["x"],"z":1}><-x{"k":["x"],"z":1}><{{"k":["x"],"z":1}}>`,
		`{"b": ["1", "-2", 3]}`:           "<1><-2><3>",
		`{"list": []}`:                    "<>",
		`{"list": ["a b", {"c": "-d"}]}`:  `<a b><{"c":"-d"}>`,
		`{"a": "x", "b": "{a}"}`:          "<x><-xx><{x}><x={a}><{a}>",
		`{"b": "x", "list": ["", "{b}"]}`: "<><{b}><x>",
	} {
		if got := b.call("show", args).stdout(t); got != want {
			t.Errorf("%s: the command line is %q, want %q", args, got, want)
		}
	}
	for _, args := range []string{`{"list": ["a", "-b"]}`, `{"a": -1}`} {
		b.call("careful", args).denied(t, 400, "begins with -")
	}
}

func quoteJSON(t *testing.T, s string) string {
	t.Helper()
	text, err := json.Marshal(s)
	must(t, err)
	return string(text)
}

const brokerMarks = `
version: 1
tools:
  mark:
    run: [sh, -c, 'mktemp -q "/output/$1-XXXXXXXX"', mark, "{n}"]
    args: {properties: {n: {type: string}, more: {}}, required: [n]}
    needs: ["fs.write:/output"]
  secret:
    run: [sh, -c, 'echo >/output/secret']
    needs: ["fs.write:/output", "secret:NONE"]
secrets: {NONE: {env: BROKER_KEY}}
rules:
  - {id: all, tool: "*", verdict: allow}
  - {id: none, tool: mark, when: {n: {prefix: "no"}}, verdict: deny}
`

// marks returns the files that the runs of mark left, by their arguments.
func (x *brokered) marks() map[string]int {
	x.t.Helper()
	all := map[string]int{}
	list, err := os.ReadDir(x.output)
	must(x.t, err)
	for _, file := range list {
		name, _, _ := strings.Cut(file.Name(), "-")
		all[name]++
	}
	return all
}

// The audit has every request, at both doors and many at once: a line before each call, and one
// after each call that ran, which are those whose tool was started.
func TestBrokerAuditIsWhatWasAsked(t *testing.T) {
	needSandbox(t)
	b := readyBroker(t, brokerMarks, ofBroker{environ: brokerEnv(), output: true})
	type asked struct{ tool, args string }
	var all []asked
	allowed := map[string]int{}
	for i := range 12 {
		n := strconv.Itoa(i % 8) // some of them twice
		all = append(all, asked{"mark", `{"n":"` + n + `"}`}, asked{"mark", `{"n":"no` + n + `"}`}, asked{"secret", `{}`}, asked{"other", `{}`}, asked{"mark", `{"m":` + n + `}`})
		allowed[n]++
	}
	var done sync.WaitGroup
	slots := make(chan struct{}, 8) // fewer than run at once
	for i, a := range all {
		slots <- struct{}{}
		done.Go(func() {
			defer func() { <-slots }()
			if i%2 == 0 {
				b.call(a.tool, a.args)
				return
			}
			b.ask("POST", "/mcp", fmt.Sprintf(`{"jsonrpc": "2.0", "id": %d, "method": "tools/call", "params": {"name": "%s", "arguments": %s}}`, i, a.tool, a.args))
		})
	}
	done.Wait()
	want, got := map[string]int{}, map[string]int{}
	for _, a := range all {
		sum := sha256.Sum256([]byte(a.args))
		want[a.tool+" "+hex.EncodeToString(sum[:])]++
	}
	began := map[string]map[string]any{}
	for _, line := range b.audit("asked") {
		id := fmt.Sprint(line["id"])
		if began[id] != nil {
			t.Errorf("%s is there twice", id)
		}
		began[id] = line
		got[fmt.Sprint(line["tool"], " ", line["args_sha256"])]++
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the audit has %v, asked was %v", got, want)
	}
	for _, line := range b.audit("done") {
		id := fmt.Sprint(line["id"])
		if began[id] == nil || began[id]["verdict"] != "allow" || fmt.Sprint(began[id]["at"]) > fmt.Sprint(line["at"]) || line["status"] != 0.0 {
			t.Errorf("%v is behind %v", line, began[id])
		}
		delete(began, id)
	}
	for id, line := range began {
		if line["verdict"] != "deny" || line["reason"] == nil {
			t.Errorf("nothing is behind %s: %v", id, line)
		}
	}
	// What was started follows from its effects, and from the records of its sandboxes.
	if fmt.Sprint(b.marks()) != fmt.Sprint(allowed) {
		t.Errorf("the tools left %v, want %v", b.marks(), allowed)
	}
	if records, _ := filepath.Glob(b.dir + "/broker/*.json"); len(records) != 12 {
		t.Errorf("%d sandboxes were made", len(records))
	}
	sum := b.end()
	if sum["calls"] != float64(len(all)) || sum["denied"] != float64(len(all)-12) || sum["lines"] != float64(len(all)+12) {
		t.Errorf("the summary is %v", sum)
	}
}

// A step of an ordered plan runs once, and not by a second call, whether that comes later, at the
// same time, or by the other door.
func TestBrokerRunsAStepOnce(t *testing.T) {
	needSandbox(t)
	plan := `{"version": 1, "mode": "ordered", "steps": [{"id": "a", "tool_name": "mark", "tool_args": {"n": "1"}}, {"id": "b", "tool_name": "mark", "tool_args": {"n": "2"}}]}`
	b := readyBroker(t, brokerMarks, ofBroker{environ: brokerEnv(), output: true, plan: plan})
	for _, n := range []string{"1", "2"} {
		var all sync.WaitGroup
		var mu sync.Mutex
		ran, denied := 0, 0
		for i := range 12 {
			all.Go(func() {
				var r brokerReply
				if i%2 == 0 {
					r = b.call("mark", `{"n": "`+n+`"}`)
				} else {
					r = b.ask("POST", "/mcp", `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "mark", "arguments": {"n": "`+n+`"}}}`)
				}
				mu.Lock()
				defer mu.Unlock()
				switch {
				case strings.Contains(strings.ReplaceAll(r.text, `\`, ""), `"verdict":"allow"`):
					ran++
				case strings.Contains(r.text, "is running") || strings.Contains(r.text, "is done already") || strings.Contains(r.text, "no such step"):
					denied++
				default:
					t.Errorf("%d: %s", r.code, r.text)
				}
			})
		}
		all.Wait()
		if ran != 1 || denied != 11 || b.marks()[n] != 1 {
			t.Errorf("step %s: %d ran, %d were denied, and there are %v", n, ran, denied, b.marks())
		}
	}
	// The same call again: the plan has no such step left.
	b.call("mark", `{"n": "1"}`).denied(t, 403, "is done already")
	b.call("mark", `{"n": "2"}`).denied(t, 403, "is done already")
	if fmt.Sprint(b.marks()) != "map[1:1 2:1]" {
		t.Errorf("there are %v", b.marks())
	}
	// The control: without a plan the same call runs as often as it comes, and is decided and
	// recorded each time.
	b = readyBroker(t, brokerMarks, ofBroker{environ: brokerEnv(), output: true})
	for range 3 {
		b.call("mark", `{"n": "1"}`).stdout(t)
	}
	if b.marks()["1"] != 3 || len(b.audit("asked")) != 3 {
		t.Errorf("there are %v, and %d lines", b.marks(), len(b.audit("asked")))
	}
}
