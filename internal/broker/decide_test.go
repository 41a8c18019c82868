package broker

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sbx/internal/broker/document"
	"sbx/internal/broker/policy"
	"sbx/internal/broker/wire"
	"sbx/internal/doc"
	"sbx/internal/view"
	"sbx/spec"
)

// deciding returns a decider.
func deciding(t testing.TB, start *wire.Start) *decider {
	t.Helper()
	start.Broker.Name, start.Output = "broker.yaml", "/output"
	b, p := newDecider(start)
	if p != nil {
		t.Fatal(p)
	}
	return b
}

const oneTool = `
version: 1
tools:
  t:
    run: [cat, "{path}"]
    args: {properties: {path: {type: string}, host: {type: string}}}
    needs: ["fs.%s:{path}", "net:{host}:443"]
rules:
`

// With random specs, plans and policies, no allowed call is wider than any of the three, as the
// test judges each by itself, and no call runs with more.
func TestNoCallIsWider(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	path := func() string { return pick("/w", "/w/a", "/w/a/b", "/w/b", "/in", "/in/x", "/etc") }
	host := func() string { return pick("a.com", "x.a.com", "b.com", "*.a.com") }
	passed := 0
	for n := range 4000 {
		access := pick("read", "write")
		g := wire.Granted{View: []wire.Place{{Path: "/", Access: pick("absent", "read-only", "writable"), Source: "/"}}}
		for range r.IntN(4) {
			p := path()
			g.View = append(g.View, wire.Place{Path: p, Access: pick("absent", "hidden", "read-only", "writable", "writable"), Source: p})
		}
		for range 1 + r.IntN(3) {
			g.Reach = append(g.Reach, host()+":"+pick("443", "443", "*", "80"))
		}
		var rules []oneRule
		text := ""
		for i := range 1 + r.IntN(3) {
			rule := oneRule{pick("path", "host"), pick("prefix", "glob", "glob", "equals"), pick("a", "/**", "x.", "**", "**", "**", "b.com", "a/b"), pick("allow", "allow", "ask", "deny")}
			rules = append(rules, rule)
			text += fmt.Sprintf("  - {id: r%d, tool: %q, when: {%s: {%s: %q}}, verdict: %s}\n", i, pick("t", "*"), rule.arg, rule.by, rule.text, rule.verdict)
		}
		start := &wire.Start{Workspace: "/w", Granted: g, Broker: wire.Document{Text: []byte(fmt.Sprintf(oneTool, access) + text)}}
		call := &document.Call{Tool: "t", Args: node(t, fmt.Sprintf(`{"path": %q, "host": %q}`, path(), host()))}
		var requested []string
		if r.IntN(2) == 0 {
			for range r.IntN(6) {
				requested = append(requested, pick("fs.read:", "fs.write:")+path(), "net:"+host()+":"+pick("443", "*"))
			}
			list := `"` + strings.Join(requested, `", "`) + `"`
			if requested == nil {
				list = ""
			}
			start.Plan = &wire.Document{Name: "plan.json", Text: []byte(`{"version": 1, "mode": "free", "steps": [{"id": "s", "tool_name": "t", "requested_caps": [` + list + `]}]}`)}
		}
		if start.Plan != nil && r.IntN(2) == 0 { // the call's own, without a plan
			start.Plan, call.Caps, call.HasCaps = nil, requested, true
		}
		start.Broker.Name = "broker.yaml"
		b, p := newDecider(start)
		if p != nil { // a plan that is wider than the spec starts nothing
			if start.Plan == nil || !strings.Contains(p.Why, "does not give") {
				t.Fatal(p)
			}
			continue
		}
		v := &Verdict{effect: policy.Deny}
		req, no := b.rebuild(call)
		if no == nil {
			no = b.askEngines(v, req, call)
		}
		if no != nil {
			if v.effect != policy.Deny || no.reason == "" {
				t.Fatalf("%d: a denial that is none: %+v", n, no)
			}
			continue
		}
		passed++
		at, to := call.Args.Get("path").Text, call.Args.Get("host").Text
		// The spec must grant every path that begins under it, and the path itself.
		for _, p := range append(b.granted.Tree.Places(), at) {
			least := view.Read
			if access == "write" {
				least = view.Write
			}
			if grant := b.granted.Tree.At(p); view.Within(p, at) && (grant.Access < least || grant.Source == "") {
				t.Fatalf("%d: %s of %s passes, and %s is %+v", n, access, at, p, grant)
			}
		}
		reached := false
		for _, rule := range g.Reach {
			name, port, _ := strings.Cut(rule, ":")
			inside := strings.HasPrefix(name, "*.") && strings.HasSuffix(strings.TrimPrefix(to, "*"), name[1:]) && to != name[2:]
			reached = reached || (name == to || inside) && port != "80"
		}
		if !reached {
			t.Fatalf("%d: %s passes under %v", n, to, g.Reach)
		}
		// One of the step's capabilities must cover each.
		if start.Plan != nil || call.HasCaps {
			file, net := false, false
			for _, text := range requested {
				kind, value, _ := strings.Cut(text, ":")
				file = file || (kind == "fs.write" || kind == "fs."+access) && view.Within(at, value)
				name, _, _ := strings.Cut(value, ":")
				net = net || kind == "net" && (name == to || strings.HasPrefix(name, "*.") && strings.HasSuffix(to, name[1:]))
			}
			if !file || !net {
				t.Fatalf("%d: %s of %s and %s pass under %v", n, access, at, to, requested)
			}
		}
		// The policy is judged rule by rule, as it is written.
		effect := ""
		for _, rule := range rules {
			value := map[string]string{"path": strings.TrimPrefix(at, "/w/"), "host": to}[rule.arg]
			if rule.holds(value) && strings.Index("allow ask deny", rule.verdict) > strings.Index("allow ask deny", effect) || effect == "" && rule.holds(value) {
				effect = rule.verdict
			}
		}
		if effect != v.effect.String() || effect == "deny" || effect == "" {
			t.Fatalf("%d: %s and %s pass by %q as %v, and the rules %+v say %q", n, at, to, v.rule, v.effect, rules, effect)
		}
		// The tool's own sandbox gets no more than the call.
		tool := b.doc.Tool("t")
		tool.Files = []string{"/usr/bin/cat"}
		documents := b.documents(tool, req.needed, true)
		last := documents[len(documents)-1]
		for _, d := range documents {
			if _, err := spec.DecodeNode("tool", d); err != nil {
				t.Fatalf("%d: %v", n, err)
			}
		}
		files, net := last.Get("filesystem"), last.Get("network")
		given := slices.DeleteFunc(doc.Texts(files.Get("read")), func(p string) bool { return p == "@system" || p == "/usr/bin/cat" })
		for _, p := range append(given, doc.Texts(files.Get("write"))...) {
			if p != at {
				t.Fatalf("%d: the tool is given %s for %s", n, p, at)
			}
		}
		if access == "read" && len(doc.Texts(files.Get("write"))) > 0 || files.Get("mounts") != nil || len(given)+len(doc.Texts(files.Get("write"))) != 1 {
			t.Fatalf("%d: %s of %s becomes %s", n, access, at, last.AppendCanonical(nil))
		}
		if got := doc.Texts(net.Get("allow")); len(got) != 1 || got[0] != to+":443" || net.Get("mode").Text != "allow" {
			t.Fatalf("%d: %s becomes %s", n, to, net.AppendCanonical(nil))
		}
	}
	if passed < 100 {
		t.Errorf("only %d calls passed", passed)
	}
}

// oneRule is a rule about one argument.
type oneRule struct{ arg, by, text, verdict string }

func (r *oneRule) holds(value string) bool {
	switch r.by {
	case "prefix":
		return strings.HasPrefix(value, r.text)
	case "equals":
		return value == r.text
	}
	re := strings.ReplaceAll(regexp.QuoteMeta(r.text), `\*\*`, `.*`)
	return regexp.MustCompile(`^` + re + `$`).MatchString(value)
}

func node(t testing.TB, text string) *doc.Node {
	t.Helper()
	n, err := doc.ParseJSON("", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The specs of a tool's run grant exactly what its call may do. Before that comes what the sandbox
// can write, whose links lead nowhere.
func TestDocumentsOfATool(t *testing.T) {
	b := deciding(t, &wire.Start{Workspace: "/w", Broker: wire.Document{Dir: "/etc/broker", Text: []byte(`
version: 1
tools:
  plain: {run: [cat, "{path}"], args: {properties: {path: {type: string}}}, needs: ["fs.read:{path}", "fs.write:/output", "net:a.com:443", "exec:/bin/ls"], timeout: 5s}
  own:
    run: [cat]
    needs: ["fs.read:/in"]
    spec: {access_mode: read-only, working_dir: data, filesystem: {read: ["@system", "/opt"]}, limits: {timeout: 1s}, environment: {pass: [TERM]}}
`)}, Granted: wire.Granted{View: []wire.Place{{Path: "/", Access: "read-only", Source: "/"}, {Path: "/dev/null", Access: "writable", Source: "/dev/null"},
		{Path: "/output", Access: "writable", Source: "/host/out"}, {Path: "/w", Access: "writable", Source: "/w"}, {Path: "/w/hidden", Access: "hidden"}}}})
	for name, want := range map[string][]string{
		"plain": {
			`{"filesystem":{"write":["/host/out","/w"]}}`,
			`{"commands":{"allow":["/bin/ls","/usr/bin/cat"]},"environment":{"pass":["PATH","HOME","LANG"]},"filesystem":{"hide":["/w/hidden"],"mounts":[{"mode":"rw","source":"/host/out","target":"/output"}],"read":["@system","/usr/bin/cat","/w/a"],"write":[]},"limits":{"timeout":"5000ms"},"network":{"allow":["a.com:443"],"mode":"allow"}}`,
		},
		"own": {
			`{"filesystem":{"write":["/host/out","/w"]},"working_dir":"/etc/broker/data"}`,
			`{"access_mode":"read-only","environment":{"pass":["PATH","HOME","LANG","TERM"]},"filesystem":{"read":["@system","/opt"]},"limits":{"timeout":"1s"},"working_dir":"/etc/broker/data"}`,
			`{"filesystem":{"hide":["/w/hidden"],"read":["@system","/opt","/in"],"write":[]},"network":{"mode":"none"}}`,
		},
	} {
		tool := b.doc.Tool(name)
		tool.Files = []string{"/usr/bin/cat"}
		args, _ := tool.Normal(node(t, `{"path": "a"}`), "/w")
		needed, why := tool.Needed(args)
		if why != "" {
			t.Fatal(why)
		}
		var got []string
		for _, d := range b.documents(tool, needed, true) {
			got = append(got, string(d.AppendCanonical(nil)))
			if _, err := spec.DecodeNode("tool", d); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s runs under\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// BenchmarkDecide measures a whole decision by a thousand rules: by both engines, and with the line
// that is written before a call.
func BenchmarkDecide(b *testing.B) {
	var rules strings.Builder
	for i := range 999 {
		fmt.Fprintf(&rules, "  - {id: r%d, tool: \"*\", when: {path: {glob: \"secret%d/**\"}}, verdict: deny}\n", i, i)
	}
	rules.WriteString("  - {id: all, tool: t, verdict: allow}\n")
	x := deciding(b, &wire.Start{Workspace: "/w", Broker: wire.Document{Text: []byte("max_calls: 1000000000" + fmt.Sprintf(oneTool, "read") + rules.String())},
		Granted: wire.Granted{View: []wire.Place{{Path: "/", Access: "read-only", Source: "/"}, {Path: "/w", Access: "writable", Source: "/w"}}, Reach: []string{"a.com:443"}}})
	call := &document.Call{Tool: "t", Args: node(b, `{"path": "src/a.go", "host": "a.com"}`)}
	b.Run("engines", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			v := &Verdict{effect: policy.Deny}
			req, no := x.rebuild(call)
			if no == nil {
				no = x.askEngines(v, req, call)
			}
			if no != nil {
				b.Fatal(no)
			}
		}
	})
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	whole := &Broker{decider: x, executor: &executor{}, audit: &audit{file: null}, redactor: NewRedactor([]string{"a secret of some length"})}
	b.Run("written", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if v := whole.decide(call); v.allowed == nil {
				b.Fatal(v.reason)
			}
			whole.executor.running.Done()
		}
	})
}
