package spec

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sbx/internal/doc"
)

func compileSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("spec.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("spec.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// inexpressible are the parts of the decoder's verdict that a schema cannot express, recognised by
// the decoder's words.
var inexpressible = []string{
	"there twice",          // a schema never sees equal keys; ports need no table here
	"two mounts on",        // equality after cleaning
	"a range begins at",    // arithmetic
	"want an IPv6 address", // a readable pattern cannot express the grammar
	"want an address before the ports",
	"an IPv4 address is written as one",
	"want a host name or an address", // 253 characters, and 63 of a label that begins with a digit
	"32 deep", "1 MiB", "65536 values", "surrogate", "byte order mark", "UTF-8",
}

// agree compares the verdicts of decoder and schema on a JSON text.
func agree(t testing.TB, schema *jsonschema.Schema, text string) (accepted bool) {
	t.Helper()
	_, err := Decode("in.json", []byte(text))
	v, bad := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if bad != nil {
		if err == nil {
			t.Errorf("%s: the decoder reads what is no JSON: %v", text, bad)
		}
		return false
	}
	verdict := schema.Validate(v)
	if (err == nil) == (verdict == nil) {
		return err == nil
	}
	if err != nil {
		for _, words := range inexpressible {
			if strings.Contains(err.Error(), words) {
				return false
			}
		}
	}
	t.Errorf("%s:\ndecoder: %v\nschema: %v", text, err, verdict)
	return err == nil
}

// values are tried for every field: some of each type, and some that each rule accepts or almost
// accepts.
var values = []string{
	`null`, `true`, `false`, `0`, `1`, `-1`, `1.5`, `1.0`, `1e3`, `0.0005`, `65535`, `65536`, `9007199254740991`, `9007199254740992`, `1e16`, `1000000.5`, `1e9`, `1e10`,
	`""`, `"x"`, `"a b"`, `"/"`, `"/a/b"`, `"./a"`, `"../a"`, `"~"`, `"~/a"`, `"~a"`, `"$A"`, `"$"`, `"@system"`, `"@npm"`, `"@ccache"`, `"@docker"`, `"@nmp"`, `"@x"`, `"a@b"`, `"*"`, `"a*"`, `"a?"`, `"~/*"`, `"[a]"`,
	`"**/.git"`, `"**/.env*"`, `"**/*.pem"`, `"**/a*b*"`, `"**/*?"`, `"**/.*"`, `"**/..*"`, `"**/a"`, `"**/."`, `"**/.."`, `"**/..."`, `"**/.a"`, `"**/a/b"`, `"**/"`, `"**"`, `"**/*"`, `"a\u0000b"`, `"~/\u0000"`, `"a\nb"`, `"\u0000"`, `"é"`, `"😀"`,
	`"read-only"`, `"workspace-write"`, `"Read-Only"`, `"danger-full-access"`, `"write"`, `"verification"`, `"design"`, `"none"`, `"allow"`, `"host"`, `"deny"`, `"kill"`, `"record"`, `"claude"`, `"default"`, `"ro"`, `"tmpfs"`,
	`"2GiB"`, `"1KB"`, `"2gib"`, `"2"`, `"0B"`, `"02B"`, `"1.5GiB"`, `"999999999999999999B"`, `"1000000000000000000B"`, `"1000000TiB"`, `"2Gi"`, `" 2GiB"`,
	`"30m"`, `"1h30m"`, `"250ms"`, `"0s"`, `"0h0m1s"`, `"30m1h"`, `"1d"`, `"1.5h"`, `"100000h"`, `"99999h999999m99999999s99999999999ms"`, `"1m1m"`, `"ms"`, `"h"`,
	`"a.b:1"`, `"a.b"`, `"a.b:*"`, `"a.b:1/udp"`, `"a.b:1/tcp"`, `"a.b:0"`, `"a.b:65535"`, `"a.b:65536"`, `"a.b:01"`, `"a.b:99999"`, `"*.a.b:1"`, `"*:1"`, `"*.*.a:1"`, `"a.*.b:1"`, `"a.:1"`, `"-a:1"`, `"a-:1"`, `"a_b:1"`, `"_:1"`, `"1a:1"`, `"1-:1"`, `"1-a:1"`, `"11:1"`, `"a.1:1"`,
	`"1.2.3.4:1"`, `"1.2.3.256:1"`, `"1.2.3:1"`, `"01.2.3.4:1"`, `"10.0.0.0/8:1"`, `"10.0.0.1/8:1"`, `"10.0.0.0/33:1"`, `"a/8:1"`, `"[::1]:1"`, `"[::1]"`, `"::1:1"`, `"[::/0]:*"`, `"[::1/129]:1"`, `"[g::]:1"`, `"[]:1"`, `"[1:2]:1"`, `"localhost:3000"`, `"@models"`, `"@npm"`, `"@google-ai"`, `"@NPM"`, `"@npm:443"`, `"[::ffff:1.2.3.4]:5"`, `"8080"`, `"8080:3000"`, `"8080:"`, `"8080:0"`, `"08080:1"`, `"0.0.0.0:8080:3000"`, `"256.0.0.0:1:1"`, `"[::]:1:1"`, `"[::g]:1:1"`, `"[:::]:1:1"`, `"::1:1:1"`, `"a:1:1"`, `"@"`, `"https://a.b"`, `"bücher.de:1"`,
	`"Read"`, `"Bash(git:*)"`, `"Bash()"`, `"Bash(a"`, `"Bash (a)"`, `"mcp__x__*"`, `"A(b)(c)"`, `"A(b)c"`, `"1A"`, `"A-1.b"`, `"A(\n)"`, `"(a)"`,
	`"limits"`, `"limits.memory"`, `"limits."`, `"network"`, `"readonly"`, `"nothing"`, `"A=b"`, `"A*"`, `"LC_?"`,
	`[]`, `[1]`, `["a"]`, `["a", "a"]`, `["a", 1]`, `[[]]`, `[null]`, `["@system", "/a"]`, `["@npm"]`, `["@docker"]`, `["@display", "@x"]`, `["@x"]`, `[80, 443]`, `[80, "81:80"]`, `["80:81", "0.0.0.0:80:82"]`, `[80, 80]`, `[80, 8e1]`, `[0]`, `[65536]`, `[1.5]`, `["**/.git"]`, `["**/.env*"]`, `["**/*.pem"]`, `["**/*"]`, `["**/a*b*"]`, `["**/.*"]`, `["**/..*"]`, `["**/*?"]`, `["**/a*/b"]`, `["a.b:1"]`,
	`{}`, `{"a": "b"}`, `{"": "b"}`, `{"a=b": "c"}`, `{"a": 1}`, `{"a": "\u0000"}`, `{"a\u0000": "b"}`, `{"a": null}`, `{"root": "."}`, `{"root": ""}`, `{"readonly": true}`,
	`[{}]`, `[{"source": "/a", "target": "/b", "mode": "ro"}]`, `[{"target": "/b", "mode": "tmpfs"}]`, `[{"source": "/a", "target": "/b", "mode": "tmpfs"}]`,
	`[{"target": "/b", "mode": "rw"}]`, `[{"source": "/a", "mode": "ro"}]`, `[{"source": "/a", "target": "/b"}]`, `[{"source": "/a", "target": "b", "mode": "ro"}]`,
	`[{"source": "/a", "target": "~/b", "mode": "ro"}]`, `[{"source": "/a", "target": "~b", "mode": "ro"}]`, `[{"source": "/a", "target": "/b", "mode": "ro", "x": 1}]`, `[{"source": "/a", "target": "/b", "mode": "ro", "label": "l\u0000"}]`,
	`[{"source": "/a", "target": "/b", "mode": "RO"}]`, `[{"source": "/a", "target": "/b", "mode": "ro"}, {"source": "/a", "target": "/b/", "mode": "ro"}]`, `[{"source": "/a", "target": "/b", "mode": 1}]`,
	`{"mode": "none", "allow": []}`, `{"mode": "host", "allow": ["a.b:1"]}`, `{"mode": "allow", "allow": ["a.b:1"]}`, `{"mode": "allow"}`, `{"allow": []}`, `{"mode": null, "allow": []}`,
}

func TestSchemaAgrees(t *testing.T) {
	schema := compileSchema(t)
	documents, accepted := 0, 0
	try := func(text string) {
		documents++
		if agree(t, schema, text) {
			accepted++
		}
	}
	paths := []string{"nothing", "sandbox", "filesystem", "network", "environment", "commands", "limits", "", "limits.x", "network.mod", "sandbox.x"}
	for _, f := range Fields() {
		paths = append(paths, string(f.Field))
	}
	for _, path := range paths {
		outer, inner, nested := strings.Cut(path, ".")
		for _, value := range values {
			wrap := func(value string) string {
				if !nested {
					return `{"` + outer + `": ` + value + `}`
				}
				rest := ""
				if path == "sandbox.readonly" {
					rest = `"root": ".", `
				}
				return `{"` + outer + `": {` + rest + `"` + inner + `": ` + value + `}}`
			}
			try(wrap(value))
			if strings.HasPrefix(value, `"`) {
				try(wrap("[" + value + "]"))
			}
		}
	}
	for _, value := range values {
		try(value)
	}
	if documents < 10000 || accepted < 1000 || accepted > documents/2 {
		t.Errorf("%d documents, %d accepted: the table is lopsided", documents, accepted)
	}
}

// The examples are tried, and variants with one value changed.
func TestSchemaAgreesOnMutations(t *testing.T) {
	schema := compileSchema(t)
	r := rand.New(rand.NewSource(1))
	for _, name := range append(files(t, "*/*.json"), files(t, "good/*.yaml")...) {
		text := string(read(t, name))
		if filepath.Ext(name) == ".yaml" {
			n, err := doc.ParseYAML(name, []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			text = string(n.AppendJSON(nil, nil))
		}
		agree(t, schema, text)
		var v any
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if d.Decode(&v) != nil {
			continue
		}
		for range 400 {
			b, err := json.Marshal(mutate(r, v))
			if err != nil {
				t.Fatal(err)
			}
			agree(t, schema, string(b))
		}
	}
}

// mutate returns v with one change.
func mutate(r *rand.Rand, v any) any {
	fresh := func() any {
		var other any
		d := json.NewDecoder(strings.NewReader(values[r.Intn(len(values))]))
		d.UseNumber()
		if err := d.Decode(&other); err != nil {
			panic(err)
		}
		return other
	}
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 || r.Intn(8) == 0 {
			return fresh()
		}
		keys := sortedKeys(v)
		key := keys[r.Intn(len(keys))]
		c := map[string]any{}
		maps.Copy(c, v)
		switch r.Intn(6) {
		case 0:
			delete(c, key)
		case 1:
			c[key+"x"] = c[key]
			delete(c, key)
		default:
			c[key] = mutate(r, c[key])
		}
		return c
	case []any:
		if len(v) == 0 || r.Intn(8) == 0 {
			return fresh()
		}
		c := append([]any{}, v...)
		i := r.Intn(len(c))
		if r.Intn(4) == 0 {
			return append(c, c[i])
		}
		c[i] = mutate(r, c[i])
		return c
	}
	return fresh()
}

func sortedKeys(m map[string]any) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	// an insertion sort, for a handful of keys
	for i := range keys {
		for j := i; j > 0 && keys[j] < keys[j-1]; j-- {
			keys[j], keys[j-1] = keys[j-1], keys[j]
		}
	}
	return keys
}

// FuzzSchema compares decoder and schema on arbitrary strings.
func FuzzSchema(f *testing.F) {
	for i := range Fields() {
		f.Add(uint8(i), "a.b:1")
	}
	f.Add(uint8(16), "[::ffff:1.2.3.4]:5")
	schema := compileSchema(f)
	f.Fuzz(func(t *testing.T, field uint8, s string) {
		all := Fields()
		outer, inner, nested := strings.Cut(string(all[int(field)%len(all)].Field), ".")
		var text []byte
		text = doc.AppendString(text, s)
		if bytes.ContainsRune(text, '\uFFFD') || len(s) > 100 || strings.ContainsAny(s, "0123456789") && len(s) > 30 {
			return // patterns cannot count what the decoder counts
		}
		for _, value := range []string{string(text), "[" + string(text) + "]"} {
			doc := `{"` + outer + `": ` + value + `}`
			if nested {
				doc = `{"` + outer + `": {"` + inner + `": ` + value + `}}`
			}
			agree(t, schema, doc)
		}
	})
}

// The schema describes every field.
func TestSchemaDescribes(t *testing.T) {
	var walk func(path string, v map[string]any)
	leaves := map[string]bool{}
	walk = func(path string, v map[string]any) {
		if path != "" && v["description"] == nil {
			t.Errorf("%s has no description", path)
		}
		props, _ := v["properties"].(map[string]any)
		if props == nil {
			leaves[path] = true
			return
		}
		if v["additionalProperties"] != false {
			t.Errorf("%q takes unknown fields", path)
		}
		for name, p := range props {
			walk(doc.Join(path, name), p.(map[string]any))
		}
	}
	var root map[string]any
	if err := json.Unmarshal([]byte(Schema()), &root); err != nil {
		t.Fatal(err)
	}
	walk("", root)
	delete(leaves, "$schema") // it requests nothing
	for _, f := range Fields() {
		if !leaves[string(f.Field)] {
			t.Errorf("the schema lacks %s", f.Field)
		}
		delete(leaves, string(f.Field))
	}
	for leaf := range leaves {
		t.Errorf("Fields lacks %s", leaf)
	}
	list := root["properties"].(map[string]any)["best_effort"].(map[string]any)["items"].(map[string]any)["enum"].([]any)
	for _, f := range list {
		if why, _, _ := bestEffortRule(f.(string)); why != "" {
			t.Errorf("best_effort in the schema has %v: %s", f, why)
		}
	}
	if len(list) < len(Fields())+2 {
		t.Errorf("best_effort in the schema has only %s entries", strconv.Itoa(len(list)))
	}
}

// TestListsAreBounded: a list of 4,096 is read, a longer one refused by its name and both
// numbers; the schema says the same.
func TestListsAreBounded(t *testing.T) {
	schema := compileSchema(t)
	lists := 0
	for _, f := range Fields() {
		item := map[string]string{
			"list of tools": `"T"`, typePaths: `"/a"`, "list of mounts": `{"target":"/%d","mode":"tmpfs"}`, "list of host:port": `"a.b:1"`,
			"list of names and globs": `"A"`, "object of strings": `"A%d": ""`, typePrograms: `"a"`, "list of capabilities": `"exec:a"`, "list of fields": `"limits"`,
		}[f.Type]
		if item == "" {
			if strings.HasPrefix(f.Type, "list") && f.Field != "network.listen" { // of which no more are told apart than there are ports
				t.Errorf("%s: no item of a %s", f.Field, f.Type)
			}
			continue
		}
		lists++
		of := func(n int) string {
			items := make([]string, n)
			for i := range items {
				items[i] = strings.ReplaceAll(item, "%d", strconv.Itoa(i))
			}
			list := "[" + strings.Join(items, ", ") + "]"
			if f.Type == "object of strings" {
				list = "{" + strings.Join(items, ", ") + "}"
			}
			if outer, inner, nested := strings.Cut(string(f.Field), "."); nested {
				return `{"` + outer + `": {"` + inner + `": ` + list + `}}`
			}
			return `{"` + string(f.Field) + `": ` + list + `}`
		}
		if !agree(t, schema, of(4096)) || agree(t, schema, of(4097)) {
			t.Errorf("%s: 4096 items are refused, or 4097 read", f.Field)
		}
		_, err := Decode("in.json", []byte(of(9000)))
		if err == nil || !strings.Contains(err.Error(), string(f.Field)+": want at most 4096 ") || !strings.Contains(err.Error(), "got 9000") {
			t.Errorf("%s: %v", f.Field, err)
		}
	}
	if lists != 13 {
		t.Errorf("%d lists", lists)
	}
}
