package document

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sbx/internal/broker/caps"
	"sbx/internal/broker/wire"
	"sbx/internal/doc"
)

const good = `
version: 1
token_ttl: 10m
required: true
max_calls: 20
secrets: {KEY: {env: MY_KEY}}
tools:
  grep:
    description: looks for a text
    run: [grep, -rn, --, "{pattern}", "{paths}"]
    args: {properties: {pattern: {type: string}, paths: {type: array, items: {type: string}}}, required: [pattern, paths]}
    needs: ["fs.read:{paths}"]
  fetch:
    run: [curl, "https://{host}/"]
    stdin: "{body}"
    args: {properties: {host: {type: string}, body: {type: string}}}
    needs: ["net:{host}:443", "exec:curl"]
    secrets: [KEY]
    spec: {access_mode: read-only}
    timeout: 5s
    max_result: 1MiB
  far:
    mcp: [server]
    tool: do_it
    schema_sha256: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
    args: {properties: {n: {type: integer}}}
rules:
  - {id: r1, tool: "*", verdict: allow, max_calls: 5, max_bytes: 1MiB}
  - {id: r2, tool: grep, when: {paths: {glob: "**/.env"}}, verdict: deny, reason: credentials}
  - {tool: far, when: {n: {min: 1, max: 9}}, verdict: ask}
`

func read(t testing.TB, text string) (*Broker, error) {
	return ReadBroker(wire.Document{Name: "broker.yaml", Dir: t.TempDir(), Text: []byte(text)})
}

func TestBrokerIsRead(t *testing.T) {
	b, err := read(t, good)
	if err != nil {
		t.Fatal(err)
	}
	if !b.Required || b.MaxCalls != 20 || len(b.Tools) != 3 || len(b.Rules) != 3 || b.Rules[2].ID != "rules[2]" || b.Tool("fetch").MaxResult != 1<<20 {
		t.Errorf("%+v", b)
	}
	args, _ := doc.ParseJSON("", []byte(`{"pattern": "x", "paths": ["a", "/b//c"]}`))
	grep := b.Tool("grep")
	if args, why := grep.Normal(args, "/w"); why != "" {
		t.Error(why)
	} else if needed, why := grep.Needed(args); why != "" || strings.Join(caps.Texts(needed), " ") != "fs.read:/w/a fs.read:/b/c" {
		t.Errorf("needed %v, %s", needed, why)
	} else if argv := grep.Run[4].Fill(args); !slices.Equal(argv, []string{"/w/a", "/b/c"}) {
		t.Errorf("the list became %q", argv)
	}
	args, _ = doc.ParseJSON("", []byte(`{"host": "example.com"}`))
	if needed, why := b.Tool("fetch").Needed(args); why != "" || strings.Join(caps.Texts(needed), " ") != "net:example.com:443 exec:curl secret:KEY" {
		t.Errorf("needed %v, %s", needed, why)
	}
}

// Each change of the good document is refused at the place of the mistake.
func TestBrokerIsRefused(t *testing.T) {
	for _, c := range []struct{ from, to, field, why string }{
		{"version: 1", "version: 2", "version", "want 1"},
		{"version: 1", "versoin: 1", "versoin", "did you mean version?"},
		{"version: 1\n", "", "", `"version" is missing`},
		{"token_ttl: 10m", "token_ttl: 10", "token_ttl", "duration"},
		{"max_calls: 20", "max_calls: 0", "max_calls", "whole number"},
		{"{env: MY_KEY}", "{env: MY_KEY, file: x}", "secrets.KEY", "env or file"},
		{"[KEY]", "[OTHER]", "tools.fetch.secrets", "not among"},
		{`"{pattern}", `, `"{patern}", `, "tools.grep", "none of the properties"},
		{`"{pattern}", `, `"{pattern", `, "tools.grep.run", "want {ARGUMENT}"},
		{"[grep, ", `["{pattern}", `, "tools.grep.run", "without arguments"},
		{"fs.read:{paths}", "fs.read:{paths}/x", "tools.grep.needs", "whole path"},
		{"fs.read:{paths}", "fs.read:../x", "tools.grep.needs", ".."},
		{"fs.read:{paths}", "fs.look:{paths}", "tools.grep.needs", "want fs.read"},
		{"exec:curl", "exec:{body}", "tools.fetch.needs", "not the caller's"},
		{"exec:curl", "secret:{body}", "tools.fetch.needs", "not the caller's"},
		{"exec:curl", "net:example.com", "tools.fetch.needs", "no capability"},
		{"access_mode: read-only", "access_mode: read", "tools.fetch.spec", "read-only"},
		{"spec: {access_mode: read-only}", "spec: none.yaml", "tools.fetch.spec", "none.yaml"},
		{"mcp: [server]", "mcp: [server]\n    run: [x]", "tools.far", "want run"},
		{"    tool: do_it\n", "", "tools.far", "a tool of an MCP server has"},
		{"    tool: do_it\n", "    tool: do_it\n    needs: [\"net:{n}:1\"]\n", "tools.far.needs", "for all calls"},
		{"args: {properties: {n:", "args: {type: array, properties: {n:", "tools.far.args.type", "an object"},
		{"0123456789abcdef\n", "\n", "tools.far.schema_sha256", "SHA-256"},
		{"id: r2", "id: r1", "rules[1]", "twice"},
		{"tool: grep, when", "tool: grp, when", "rules[1]", "no tool"},
		{"when: {paths", "when: {path", "rules[1]", "no tool"},
		{`{glob: "**/.env"}`, "{}", "rules[1].when.paths", "want equals"},
		{"verdict: deny", "verdict: forbid", "rules[1].verdict", "allow or deny or ask"},
		{"verdict: deny", "verdict: deny, max_calls: 1", "rules[1]", "denied"},
		{"max_result: 1MiB", "max_result: 9MiB", "tools.fetch.max_result", "at most"},
	} {
		text := strings.Replace(good, c.from, c.to, 1)
		_, err := read(t, text)
		bad, ok := err.(*doc.Error)
		if text == good || !ok || bad.Field != c.field || !strings.Contains(bad.Error(), c.why) || bad.Pos.Line == 0 {
			t.Errorf("%q for %q: %v", c.to, c.from, err)
		}
	}
}

const goodPlan = `{"version": 1, "mode": "ordered", "steps": [
	{"id": "one", "tool_name": "grep", "tool_args": {"pattern": "x"}, "requested_caps": ["fs.read:/w"],
	 "expected_artifacts": [{"path": "/output/a.txt", "min_size": 1, "max_size": "1KiB"}]},
	{"id": "two", "tool_name": "fetch", "tool_args": {}}]}`

func TestPlanIsReadOrRefused(t *testing.T) {
	p, err := ReadPlan("plan.json", []byte(goodPlan))
	if err != nil || !p.Ordered || len(p.Steps) != 2 || p.Steps[0].Artifacts[0].Max != 1024 || p.Steps[1].HasCaps {
		t.Fatalf("%+v, %v", p, err)
	}
	for _, c := range []struct{ from, to, why string }{
		{`"id": "two"`, `"id": "one"`, "twice"},
		{`, "tool_args": {}`, ``, "has tool_args"},
		{`"fs.read:/w"`, `"fs.read:/w/../x"`, ".."},
		{`/output/a.txt`, `/output/../a.txt`, "under /output"},
		{`/output/a.txt`, `/output`, "under /output"},
		{`"ordered"`, `"sorted"`, "ordered or free"},
		{`"mode": "ordered", `, `"mode": "ordered", "mode": "free", `, "twice"},
		{`"pattern": "x"`, `"pattern": "\u0000"`, "NUL"},
	} {
		text := strings.Replace(goodPlan, c.from, c.to, 1)
		if _, err := ReadPlan("plan.json", []byte(text)); text == goodPlan || err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s for %s: %v", c.to, c.from, err)
		}
	}
}

// The schemas and the reader know the same fields, and both accept the good documents.
func TestTheSchemasSayTheSame(t *testing.T) {
	compile := func(text string) (*jsonschema.Schema, map[string]any) {
		of, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("schema.json", of); err != nil {
			t.Fatal(err)
		}
		s, err := c.Compile("schema.json")
		if err != nil {
			t.Fatal(err)
		}
		return s, of.(map[string]any)
	}
	broker, of := compile(BrokerSchema())
	root, err := doc.ParseYAML("broker.yaml", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if err := broker.Validate(value(root)); err != nil {
		t.Error(err)
	}
	plan, _ := compile(PlanSchema())
	var v any
	if err := json.Unmarshal([]byte(goodPlan), &v); err != nil {
		t.Fatal(err)
	}
	if err := plan.Validate(v); err != nil {
		t.Error(err)
	}
	// The error for an unknown field lists the known ones.
	known := func(text string) []string {
		_, err := read(t, text)
		list := err.(*doc.Error).Help
		return strings.Split(strings.TrimPrefix(list, "known here: "), ", ")
	}
	properties := func(of any) []string {
		names := slices.Sorted(maps.Keys(of.(map[string]any)["properties"].(map[string]any)))
		return slices.DeleteFunc(names, func(s string) bool { return s == "$schema" })
	}
	tool := of["properties"].(map[string]any)["tools"].(map[string]any)["additionalProperties"]
	rule := of["properties"].(map[string]any)["rules"].(map[string]any)["items"]
	for text, want := range map[string]any{"zzzzzzzz: 1": of, "tools: {t: {zzzzzzzz: 1}}": tool, "rules: [{zzzzzzzz: 1}]": rule} {
		if got := known(text); !slices.Equal(got, properties(want)) {
			t.Errorf("%s: the reader knows %q, the schema %q", text, got, properties(want))
		}
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	b, err := read(t, good)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{"pattern": "x", "paths": []}`:            "",
		`{"pattern": 1, "paths": []}`:              "/properties/pattern: type",
		`{"pattern": "x", "paths": ["a", 1]}`:      "/properties/paths/items: type",
		`{"pattern": "x"}`:                         "required: missing",
		`{"pattern": "x", "paths": [1e999]}`:       "/paths/0: the number is larger",
		`{"pattern": "x", "paths": [], "more": 1}`: "unexpected additional",
	} {
		args, err := doc.ParseJSON("", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		must(t, b.Tool("grep").Compile())
		if why := b.Tool("grep").Check(args); !strings.HasPrefix(why, want) || (why == "") != (want == "") {
			t.Errorf("%s: %q, want %q", text, why, want)
		}
	}
	bad, err := read(t, strings.Replace(good, "{type: integer}", "{pattern: \"(\"}", 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := bad.Tool("far").Compile(); err == nil {
		t.Error("a schema with a broken pattern compiles")
	}
	for word, want := range map[string]string{
		"{type: fake}":                         "args.properties.n.type: want",
		"{type: [string, fake]}":               "args.properties.n.type: want",
		"{type: []}":                           "args.properties.n.type: want",
		"{anyOf: [{maxLenght: 3}]}":            "args.properties.n.anyOf.maxLenght is not a keyword",
		"{properties: {type: {type: fake}}}":   "args.properties.n.properties.type.type: want",
		"{items: {additionalPropertis: no}}":   "is not a keyword",
		"{type: [string, \"null\"], x-of: me}": "",
		"{properties: {maxLenght: {}}}":        "",
	} {
		of, err := read(t, strings.Replace(good, "{type: integer}", word, 1))
		if err != nil {
			t.Fatal(err)
		}
		if err = of.Tool("far").Compile(); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", word, err)
		}
	}
}

// A schema that names another one opens no file.
func TestASchemaLoadsNoOther(t *testing.T) {
	file := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(file, []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := read(t, strings.Replace(good, "{type: integer}", "{$ref: \"file://"+file+"\"}", 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Tool("far").Compile(); err == nil || !strings.Contains(err.Error(), "remote") {
		t.Errorf("it compiles: %v", err)
	}
}

func FuzzBroker(f *testing.F) {
	f.Add(good)
	f.Fuzz(func(t *testing.T, text string) {
		b, err := ReadBroker(wire.Document{Name: "broker.yaml", Dir: "/nowhere", Text: []byte(text)})
		if err != nil {
			if _, ok := err.(*doc.Error); !ok {
				t.Errorf("%T: %v", err, err)
			}
			return
		}
		for _, tool := range b.Tools {
			_ = tool.Fixed()
			args := &doc.Node{Kind: doc.Object}
			if _, why := tool.Normal(args, "/w"); why != "" {
				t.Errorf("no argument is no path: %s", why)
			}
			_, _ = tool.Needed(args)
		}
	})
}

func FuzzPlan(f *testing.F) {
	f.Add(goodPlan)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ReadPlan("plan", []byte(text))
		if err != nil {
			return
		}
		again, err := ReadPlan("plan", []byte(text))
		if err != nil || again.SHA256 != p.SHA256 {
			t.Error("it is not read the same twice")
		}
	})
}

func FuzzBody(f *testing.F) {
	f.Add([]byte(`{"tool_name": "grep", "tool_args": {"a": [1, "x"]}, "requested_caps": ["net:a.com:1"], "expected_artifacts": [{"path": "a"}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := ReadCall(body)
		if err != nil {
			return
		}
		if c.Tool == "" || c.Args.Kind != doc.Object || strings.IndexByte(Text(c.Args), 0) >= 0 || strings.Contains(Text(c.Args), `\u0000`) {
			t.Errorf("%q is a call: %+v", body, c)
		}
	})
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		d, _ := read(b, good)
		b.StartTimer()
		for _, t := range d.Tools {
			if err := t.Compile(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkReadBroker(b *testing.B) {
	for b.Loop() {
		if _, err := read(b, good); err != nil {
			b.Fatal(err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
