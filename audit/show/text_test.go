package show

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"sbx/audit"
	"sbx/internal/doc"
	"sbx/spec"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// sampleText returns the record of package audit's tests, which has every key.
func sampleText(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("../testdata/record.json")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func parsed(t testing.TB, b []byte) audit.View {
	t.Helper()
	v, err := audit.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func view(t testing.TB, r audit.Record) audit.View {
	t.Helper()
	return parsed(t, r.AppendJSON(nil))
}

// sample returns sampleText as a value that a test can change.
func sample(t testing.TB) (m map[string]any) {
	t.Helper()
	if err := json.Unmarshal(sampleText(t), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func read(t testing.TB, record map[string]any) audit.View {
	t.Helper()
	b, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, b)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

func TestShowGolden(t *testing.T) {
	v := parsed(t, sampleText(t))
	golden(t, "show.txt", Text(v, false))
	golden(t, "show.html", HTML(v, Beside{Reach: []Part{{"may be written", []Row{{"/w", "access_mode (a.json:1:17)"}}}},
		Spec: "{\n  \"network\": {\"allow\": [\"1.2.3.4:80\"]}\n}\n", Changes: "+ network.allow \"1.2.3.4:80\"\n"}))
	refused := audit.Record{ID: "x", StartedAt: time.Unix(0, 0), Command: audit.Command{Argv: []string{"make", "it so", ""}},
		Error: &audit.Refusal{Field: "limits.memory", On: "s.json:9:14", Reason: "cannot cap memory at 2GiB: no cgroup is delegated", Help: "start it under systemd-run"}}
	golden(t, "show-refused.txt", Text(view(t, refused), true))
}

func TestShowAsked(t *testing.T) {
	doc := func(text string) *spec.SandboxSpec {
		n, err := doc.ParseJSON("x", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return &spec.SandboxSpec{Source: spec.Source{Root: n}}
	}
	one, two := doc(`{"access_mode": "read-only", "environment": {"set": {"A": "s3cret"}}}`), doc(`{"max_commands": 3}`)
	out := Text(view(t, audit.Record{Documents: []*spec.SandboxSpec{one, two}}), false)
	for _, want := range []string{"requested\n", `access_mode   "read-only"`, "max_commands  3", `<redacted>`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "s3cret") {
		t.Error("a secret is shown")
	}
}

// Denials on ports of one host, or that one line would allow, are shown on one line; others are
// not.
func TestShowFoldsDenials(t *testing.T) {
	var r audit.Record
	connect := func(host string, port int, program string) {
		at := host + ":" + strconv.Itoa(port)
		r.Violations.Add(audit.Violation{Kind: "network", Action: "connect", Program: program, Target: at, Host: host, Port: port, Rule: "network.mode: none",
			AllowWith: `network.allow: ["@npm", "` + at + `"]`})
	}
	for port := 1; port <= 14; port++ {
		connect("1.2.3.4", port, "curl")
	}
	connect("1.2.3.4", 1, "wget")
	connect("5.6.7.8", 443, "curl")
	for _, at := range []string{"[::1]:80", "[::1]:81", "/run/x.sock:80", "/run/x.sock:81", "10.0.0.1", "name:"} { // the last four are not ports of a host
		r.Violations.Add(audit.Violation{Kind: "network", Action: "connect", Target: at, Rule: "network.mode: none"})
	}
	for _, name := range []string{"/etc/b", "/etc/a", "/etc/c"} {
		r.Violations.Add(audit.Violation{Kind: "filesystem", Action: "create", Target: name, Rule: "access_mode", AllowWith: `filesystem.write: ["/etc"]`, Opens: "/etc"})
	}
	r.Violations.Add(audit.Violation{Kind: "filesystem", Action: "create", Target: "/usr/a", Rule: "access_mode", AllowWith: `filesystem.write: ["/usr"]`, Count: 2})
	for _, at := range []string{"ptrace", "mount"} {
		r.Violations.Add(audit.Violation{Kind: "syscall", Action: "call", Target: at, Rule: "side_doors"})
	}
	r.Violations.Add(audit.Violation{Kind: "limit", Action: "run on", Rule: "limits.timeout: 1s", AllowWith: "limits.timeout: 2s"})
	golden(t, "show-folded.txt", Text(view(t, r), false))
}

func TestShowLost(t *testing.T) {
	gone := audit.Self()
	gone.Start.Value--
	_, v, err := audit.Settled(func() ([]byte, error) { return audit.Record{Supervisor: gone}.AppendJSON(nil), nil })
	if err != nil {
		t.Fatal(err)
	}
	out := Text(v, false)
	if !strings.Contains(out, ": lost") || !strings.Contains(out, "sbx itself was killed") {
		t.Error(out)
	}
}

// hostile is a name that a command may give itself and its files.
const hostile = "\x1b]0;owned\x07\x1b[2J\r\n\u009b31m\u202e\u2066<script>alert(1)</script>&\"'\xff\x00\x7f\b"

// hostileRecord returns the sample with every text replaced, except times and the state.
func hostileRecord(t testing.TB) audit.View {
	text := strings.ReplaceAll(hostile, "\xff", `\xff`) // as a record contains it
	var spoil func(v any) any
	spoil = func(v any) any {
		switch v := v.(type) {
		case string:
			if _, err := time.Parse(time.RFC3339, v); err != nil {
				return text
			}
		case []any:
			for i := range v {
				v[i] = spoil(v[i])
			}
		case map[string]any:
			for key := range v {
				v[key] = spoil(v[key])
			}
		}
		return v
	}
	m := sample(t)
	state := m["state"]
	m["error"] = map[string]any{"field": "x", "on": "x", "reason": "x", "help": "x"}
	spoil(m)
	m["state"] = state
	return read(t, m)
}

func TestShowHostileText(t *testing.T) {
	v := hostileRecord(t)
	for name, out := range map[string]string{"text": Text(v, false), "tail": new(Tail).Next(v, false), "html": HTML(v, Beside{Reach: []Part{{hostile, []Row{{hostile, hostile}}}}, Spec: hostile, Changes: hostile})} {
		for _, c := range out {
			if c != '\n' && doc.Hidden(c, 3) || c == utf8.RuneError {
				t.Errorf("%s: %U reaches the terminal", name, c)
				break
			}
		}
		if !utf8.ValidString(out) {
			t.Errorf("%s is not UTF-8", name)
		}
	}
	// With colour, the only escape sequences are those of package show.
	out := Text(v, true)
	for _, own := range []string{"\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"} {
		out = strings.ReplaceAll(out, own, "")
	}
	if strings.ContainsRune(out, 0x1b) {
		t.Error("a foreign escape sequence passes")
	}
	page := HTML(v, Beside{})
	if strings.Contains(page, "<script") || strings.Contains(page, "alert(1)</") {
		t.Error("a script passes")
	}
	if !strings.Contains(page, "&lt;script&gt;") || strings.Contains(page, "http:") || strings.Contains(page, "src=") {
		t.Error("the page is not self-contained, or lacks the text")
	}
	// The record was not written by sbx, so nothing in it is escaped.
	raw := `{"record_version":1,"state":"\u001b[31m","id":"\u001b[2J","command":{"argv":["\u009b","\u202e"]},"violations":[3,{"kind":7}],"enforcement":{"a":1}}`
	v, err := audit.Parse([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	if out := Text(v, false); strings.ContainsAny(out, "\x1b\u009b\u202e") {
		t.Errorf("%q", out)
	}
}

func TestQuoteArgs(t *testing.T) {
	v := view(t, audit.Record{Command: audit.Command{Argv: []string{"a", "", "b c", "it's", "$x", "<redacted>"}}})
	if got, want := quoteArgs(v.Node.Get("command").Get("argv")), `a '' 'b c' 'it'\''s' '$x' <redacted>`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A tail shows each program and each denial once, in the order of time.
func TestTail(t *testing.T) {
	r := sample(t)
	r["state"] = "running"
	delete(r, "ended_at")
	var tail Tail
	first := tail.Next(read(t, r), false)
	at := func(seconds int) string { return fmt.Sprintf("2026-11-21T14:01:0%d.345Z", 2+seconds) }
	r["started"] = append(r["started"].([]any), map[string]any{"at": at(2), "pid": 9, "program": "/usr/bin/ld"})
	r["violations"] = append(r["violations"].([]any), map[string]any{"kind": "filesystem", "at": at(1), "action": "create", "target": "/x", "rule": "access_mode", "count": 1})
	second := tail.Next(read(t, r), false)
	if strings.Count(first, "\n") != 5 || !strings.Contains(first, "/usr/bin/cc\n") || !strings.Contains(first, "further programs are counted") {
		t.Errorf("first:\n%s", first)
	}
	if second != "  1.0 s     denied: create /x by access_mode\n  2.0 s     /usr/bin/ld\n" {
		t.Errorf("second:\n%s", second)
	}
	if third := tail.Next(read(t, r), false); third != "" {
		t.Errorf("third:\n%s", third)
	}
	if got, want := Status(read(t, r), time.Date(2026, 11, 21, 14, 1, 4, 345e6, time.UTC)), "2.0 s of 30m0s, 3 programs of 5, 0 turns of 0, 2 denials"; got != want {
		t.Errorf("status %q, want %q", got, want)
	}
}

// FuzzText checks that nothing panics on a record with odd types.
func FuzzText(f *testing.F) {
	f.Add([]byte(`{"record_version":1,"state":"running","violations":[1,{"kind":"\u00e9\ud800"},null]}`))
	f.Add(sampleText(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := audit.Parse(b)
		if err != nil {
			return
		}
		Text(v, true)
		HTML(v, Beside{})
		new(Tail).Next(v, true)
		Status(v, time.Now())
		SARIF(v)
		JUnit(v)
		CompareJSON(v, v)
	})
}
