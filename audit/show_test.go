package audit

import (
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"sbx/internal/doc"
	"sbx/spec"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func view(t testing.TB, r Record) View {
	t.Helper()
	v, err := Parse(r.AppendJSON(nil))
	if err != nil {
		t.Fatal(err)
	}
	return v
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
	v := view(t, sample())
	golden(t, "record.json", string(sample().AppendJSON(nil)))
	golden(t, "show.txt", Show(v, false))
	golden(t, "show.html", ShowHTML(v, Beside{Reach: []Part{{"may be written", []Row{{"/w", "access_mode (a.json:1:17)"}}}},
		Spec: "{\n  \"network\": {\"allow\": [\"1.2.3.4:80\"]}\n}\n", Changes: "+ network.allow \"1.2.3.4:80\"\n"}))
	refused := Record{ID: "x", StartedAt: time.Unix(0, 0), Command: Command{Argv: []string{"make", "it so", ""}},
		Error: &Refusal{"limits.memory", "s.json:9:14", "cannot cap memory at 2GiB: no cgroup is delegated", "start it under systemd-run"}}
	golden(t, "show-refused.txt", Show(view(t, refused), true))
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
	out := Show(view(t, Record{Documents: []*spec.SandboxSpec{one, two}}), false)
	for _, want := range []string{"requested\n", `access_mode   "read-only"`, "max_commands  3", `<redacted>`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "s3cret") {
		t.Error("a secret is shown")
	}
}

// Denials on ports of one host, or that one line would allow, are one line; others are not.
func TestShowFoldsDenials(t *testing.T) {
	var r Record
	connect := func(host string, port int, program string) {
		at := host + ":" + strconv.Itoa(port)
		r.Violations.Add(Violation{Kind: "network", Action: "connect", Program: program, Target: at, Host: host, Port: port, Rule: "network.mode: none",
			AllowWith: `network.allow: ["@npm", "` + at + `"]`})
	}
	for port := 1; port <= 14; port++ {
		connect("1.2.3.4", port, "curl")
	}
	connect("1.2.3.4", 1, "wget")
	connect("5.6.7.8", 443, "curl")
	for _, at := range []string{"[::1]:80", "[::1]:81", "/run/x.sock:80", "/run/x.sock:81", "10.0.0.1", "name:"} { // the last four are no ports of a host
		r.Violations.Add(Violation{Kind: "network", Action: "connect", Target: at, Rule: "network.mode: none"})
	}
	for _, name := range []string{"/etc/b", "/etc/a", "/etc/c"} {
		r.Violations.Add(Violation{Kind: "filesystem", Action: "create", Target: name, Rule: "access_mode", AllowWith: `filesystem.write: ["/etc"]`, Opens: "/etc"})
	}
	r.Violations.Add(Violation{Kind: "filesystem", Action: "create", Target: "/usr/a", Rule: "access_mode", AllowWith: `filesystem.write: ["/usr"]`, Count: 2})
	for _, at := range []string{"ptrace", "mount"} {
		r.Violations.Add(Violation{Kind: "syscall", Action: "call", Target: at, Rule: "side_doors"})
	}
	r.Violations.Add(Violation{Kind: "limit", Action: "run on", Rule: "limits.timeout: 1s", AllowWith: "limits.timeout: 2s"})
	golden(t, "show-folded.txt", Show(view(t, r), false))
}

func TestShowLost(t *testing.T) {
	gone := Self()
	gone.Start.Value--
	_, v, err := Settled(func() ([]byte, error) { return Record{Supervisor: gone}.AppendJSON(nil), nil })
	if err != nil {
		t.Fatal(err)
	}
	out := Show(v, false)
	if !strings.Contains(out, ": lost") || !strings.Contains(out, "sbx itself was killed") {
		t.Error(out)
	}
}

// hostile is what a command may call itself and its files.
const hostile = "\x1b]0;owned\x07\x1b[2J\r\n\u009b31m\u202e\u2066<script>alert(1)</script>&\"'\xff\x00\x7f\b"

func hostileRecord() Record {
	r := sample()
	r.Command = Command{Argv: []string{hostile, "a\nb"}, Cwd: hostile, Executable: hostile}
	r.Violations.Add(Violation{Kind: hostile, Program: hostile, Action: hostile, Target: hostile, Rule: hostile, AllowWith: hostile})
	r.Artifacts.Value[0].Path = hostile
	r.Protected[0].Path = hostile
	r.Timeline.list[0].Path, r.Opened.list[0].Path, r.Opened.list[0].Action = hostile, hostile, hostile
	r.Swept.Value.Moved[0] = Moved{hostile, hostile, hostile, hostile}
	r.Swept.Value.Cuts[0], r.Swept.Value.Repositories[0] = hostile, hostile
	r.Error = &Refusal{hostile, hostile, hostile, hostile}
	r.ID = hostile
	r.ToolsUsed.Value[0] = hostile
	r.Enforcement[0].Asked, r.Enforcement[0].By, r.Enforcement[1].Reason = hostile, hostile, hostile
	return r
}

func TestShowHostileText(t *testing.T) {
	v := view(t, hostileRecord())
	for name, out := range map[string]string{"text": Show(v, false), "tail": new(Tail).Next(v, false), "html": ShowHTML(v, Beside{Reach: []Part{{hostile, []Row{{hostile, hostile}}}}, Spec: hostile, Changes: hostile})} {
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
	// With colour, the only sequences are its own.
	out := Show(v, true)
	for _, own := range []string{"\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"} {
		out = strings.ReplaceAll(out, own, "")
	}
	if strings.ContainsRune(out, 0x1b) {
		t.Error("a foreign escape sequence passes")
	}
	page := ShowHTML(v, Beside{})
	if strings.Contains(page, "<script") || strings.Contains(page, "alert(1)</") {
		t.Error("a script passes")
	}
	if !strings.Contains(page, "&lt;script&gt;") || strings.Contains(page, "http:") || strings.Contains(page, "src=") {
		t.Error("the page is not self-contained, or lacks the text")
	}
	// A record that was not written by sbx, so that nothing in it is escaped.
	raw := `{"record_version":1,"state":"\u001b[31m","id":"\u001b[2J","command":{"argv":["\u009b","\u202e"]},"violations":[3,{"kind":7}],"enforcement":{"a":1}}`
	v, err := Parse([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	if out := Show(v, false); strings.ContainsAny(out, "\x1b\u009b\u202e") {
		t.Errorf("%q", out)
	}
}

func TestQuoteArgs(t *testing.T) {
	v := view(t, Record{Command: Command{Argv: []string{"a", "", "b c", "it's", "$x", "<redacted>"}}})
	if got, want := quoteArgs(v.Node.Get("command").Get("argv")), `a '' 'b c' 'it'\''s' '$x' <redacted>`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A tail tells each program and each denial once, in the order of time.
func TestTail(t *testing.T) {
	r := sample()
	r.EndedAt, r.Error = time.Time{}, nil
	var tail Tail
	first := tail.Next(view(t, r), false)
	at := r.StartedAt.Add(2 * time.Second)
	r.Timeline.list = append(r.Timeline.list, Program{At: at, PID: 9, Path: "/usr/bin/ld"})
	r.Violations.Add(Violation{Kind: "filesystem", At: at.Add(-time.Second), Action: "create", Target: "/x", Rule: "access_mode"})
	second := tail.Next(view(t, r), false)
	if strings.Count(first, "\n") != 5 || !strings.Contains(first, "/usr/bin/cc\n") || !strings.Contains(first, "further programs are counted") {
		t.Errorf("first:\n%s", first)
	}
	if second != "  1.0 s     denied: create /x by access_mode\n  2.0 s     /usr/bin/ld\n" {
		t.Errorf("second:\n%s", second)
	}
	if third := tail.Next(view(t, r), false); third != "" {
		t.Errorf("third:\n%s", third)
	}
	if got, want := Status(view(t, r), at), "2.0 s of 30m0s, 3 programs of 5, 0 turns of 0, 2 denials"; got != want {
		t.Errorf("status %q, want %q", got, want)
	}
}
