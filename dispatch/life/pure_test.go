package life

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sbx/audit"
	"sbx/dispatch"
	"sbx/internal/doc"
	"sbx/spec"
)

// The plain mode is the default for a spec that sets none, if it narrows the spec.
func TestDocument(t *testing.T) {
	for _, c := range []struct{ mode, spec, want string }{
		{"workspace-write", "", `{"access_mode": "workspace-write"}`},
		{"danger-full-access", "", `{"access_mode": "danger-full-access"}`},
		{"workspace-write", `{"access_mode": "read-only"}`, `{"access_mode": "read-only"}`},
		{"read-only", `{"access_mode": "danger-full-access"}`, `{"access_mode": "danger-full-access"}`},
		{"workspace-write", `{"tools_allowed": ["Read"]}`, `{"tools_allowed": ["Read"], "access_mode": "workspace-write"}`},
		{"workspace-write", " { } \n", " { \"access_mode\": \"workspace-write\"} \n"},
		{"read-only", `{"filesystem": {"write": ["out"]}}`, `{"filesystem": {"write": ["out"]}, "access_mode": "read-only"}`},
		{"workspace-write", `{"filesystem": {"write": ["out"]}}`, `{"filesystem": {"write": ["out"]}}`},
		{"workspace-write", `{"profile": "read-only"}`, `{"profile": "read-only"}`},
		{"danger-full-access", `{"network": {"mode": "none"}}`, `{"network": {"mode": "none"}}`},
	} {
		j := Job{Sandbox: c.mode, HasSandbox: true, Spec: c.spec, HasSpec: c.spec != ""}
		got, s, err := j.document()
		if err != nil || got != c.want || s == nil {
			t.Errorf("%s and %s: %q, %v; want %q", c.mode, c.spec, got, err, c.want)
		}
	}
	unsaid := Job{}
	if got, _, err := unsaid.document(); err != nil || got != `{"access_mode": "workspace-write"}` {
		t.Errorf("where nothing is said: %q, %v", got, err)
	}
}

func TestBeside(t *testing.T) {
	s, err := decode(`{"limits": {"timeout": "10s"}, "filesystem": {"mounts": [{"label": "a", "source": "/x", "target": "/taken", "mode": "ro"}]}}`)
	must(t, err)
	for _, c := range []struct {
		timeout time.Duration
		ledger  keptLedger
		want    string
	}{
		{0, keptLedger{}, ""},
		{time.Minute, keptLedger{}, ""},
		{1500 * time.Millisecond, keptLedger{}, `{"limits":{"timeout":"1500ms"}}`},
		{0, keptLedger{files: []string{"/p/l.db"}}, `{"filesystem":{"hide":["/p/l.db"]}}`},
		{0, keptLedger{files: []string{"/p/a/l.db"}, dir: "/p/a", at: []string{"/p/a"}},
			`{"filesystem":{"hide":["/p/a/l.db"],"mounts":[{"label":"ledger","source":"/p/a","target":"/p/a","mode":"ro"}]}}`},
		{0, keptLedger{dir: "/taken", at: []string{"/taken"}}, ""},
		{0, keptLedger{dir: "/q/a", at: []string{"/q/a", "/mnt/a"}, mounts: []spec.MountAt{
			{Mount: spec.Mount{Label: "q", Mode: spec.MountRW}, Source: spec.Path{Real: "/q"}, Target: "/mnt"},
			{Mount: spec.Mount{Label: "t", Mode: spec.MountTmpfs}, Target: "/t"}}},
			`{"filesystem":{"mounts":[{"label":"ledger","source":"/q/a","target":"/q/a","mode":"ro"},{"label":"ledger","source":"/q/a","target":"/mnt/a","mode":"ro"},` +
				`{"label":"q","source":"/q","target":"/mnt","mode":"rw"},{"label":"t","target":"/t","mode":"tmpfs"}]}}`},
	} {
		got := narrowing(s, c.timeout, c.ledger)
		if got != c.want {
			t.Errorf("%v %+v: %s, want %s", c.timeout, c.ledger, got, c.want)
		}
		if got != "" {
			if _, err := decode(got); err != nil {
				t.Error(err)
			}
		}
	}
}

// The agent decides how the prompt reaches it, and which fields are best effort.
func TestExecution(t *testing.T) {
	at := surroundings{dir: "/f", real: func(string) string { return "" }, prompt: "-do it"}
	long := strings.Repeat("x", maxWord+1)
	for _, c := range []struct {
		name   string
		job    Job
		prompt string
		words  string // the end of the command line, joined
		has    string
		lacks  string
		input  string
	}{
		{"codex", Job{Agent: "codex", Prompt: "/p"}, "", "codex exec --json --skip-git-repo-check -- -do it", "--spec - --best-effort tools_allowed --best-effort tools_denied --best-effort max_turns", "zzz", ""},
		{"codex, a long prompt", Job{Agent: "codex", Prompt: "/p"}, long, "codex exec --json --skip-git-repo-check -", "--spec /f/spec.json", "zzz", "/p"},
		{"claude", Job{Agent: "claude", Prompt: "/p", Model: "m"}, "", "claude -p --output-format stream-json --verbose --model=m --permission-mode bypassPermissions -- -do it", "--spec -", "zzz", ""},
		{"claude with tools", Job{Agent: "claude", Prompt: "/p", HasSpec: true, Spec: `{"tools_allowed": ["Read"]}`}, "", "claude -p --output-format stream-json --verbose -- -do it", "--spec -", "zzz", ""},
		{"gemini", Job{Agent: "gemini", Prompt: "/p"}, "", "gemini --output-format stream-json --approval-mode yolo --prompt=-do it", "--spec -", "zzz", ""},
		{"another agent", Job{Agent: "goose", Prompt: "/p"}, "", "-- goose", "--spec /f/spec.json --best-effort tools_allowed --best-effort tools_denied --best-effort max_turns", "--spec -", "/p"},
		{"a command", Job{Argv: []string{"sh", "-c", "x"}}, "", "-- sh -c x", "--best-effort max_turns", "max_commands", ""},
		{"a command with a prompt", Job{Argv: []string{"cat"}, Prompt: "/p", HasSpec: true, Spec: `{"access_mode": "read-only", "working_dir": "a"}`}, "", "-- cat",
			`--spec-json {"access_mode": "read-only", "working_dir": "a"}`, "/f/spec.json", "/p"},
		{"an agent with a stream", Job{Argv: []string{"claude", "-p", "x", "--output-format", "stream-json", "--verbose"}}, "", "--verbose", "--spec -", "zzz", ""},
		{"an agent without a stream", Job{Argv: []string{"claude", "-p", "x"}}, "", "-- claude -p x", "--best-effort tools_allowed", "zzz", ""},
		{"an agent by its document", Job{Argv: []string{"./mine", "exec", "--json"}, HasSpec: true, Spec: `{"agent": "codex"}`}, "", "-- ./mine exec --json", "--spec -", "zzz", ""},
		{"no agent by its document", Job{Argv: []string{"codex", "exec", "--json"}, HasSpec: true, Spec: `{"agent": "none"}`}, "", "--json", "--best-effort", "zzz", ""},
		{"an agent that is to be held to all", Job{Agent: "codex", Prompt: "/p", HasSpec: true, Spec: `{"require_available": true}`}, "", "-- -do it", "--spec -", "--best-effort", ""},
		{"a command that is to be held to all", Job{Argv: []string{"x"}, HasSpec: true, Spec: `{"require_available": true}`}, "", "-- x", "--spec -", "--best-effort", ""},
		{"less will do in so many words", Job{Agent: "codex", Prompt: "/p", HasSpec: true, Spec: `{"require_available": false}`}, "", "-- -do it", "--best-effort tools_allowed --best-effort tools_denied --best-effort max_turns", "zzz", ""},
	} {
		where := at
		if c.prompt != "" {
			where.prompt = c.prompt
		}
		x, err := c.job.execution(where)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		line := strings.Join(x.args, " ")
		if !strings.HasSuffix(line, c.words) || !strings.Contains(line, c.has) || strings.Contains(line, c.lacks) || x.input != c.input {
			t.Errorf("%s: %s, stdin %q", c.name, line, x.input)
		}
	}
	at.root = true
	x, err := (&Job{Agent: "claude", Prompt: "/p"}).execution(at)
	if err != nil || slices.Contains(x.args, "bypassPermissions") {
		t.Errorf("root's claude: %v, %v", x.args, err)
	}
}

// The end of a dispatch follows from the record.
func TestOutcome(t *testing.T) {
	now := time.Unix(9000, 0)
	for _, c := range []struct {
		record string
		status spec.Opt[int64]
		stop   dispatch.Status
		want   dispatch.Status
		code   spec.Opt[int64]
		says   string
	}{
		{`"state":"exited","exit":{"code":0,"ended_by":"command"}`, spec.Some(int64(0)), "", dispatch.Completed, spec.Some(int64(0)), ""},
		{`"state":"exited","exit":{"code":0,"ended_by":"command"}`, spec.Some(int64(0)), dispatch.Cancelled, dispatch.Completed, spec.Some(int64(0)), ""},
		{`"state":"exited","exit":{"code":3,"ended_by":"command"}`, spec.Some(int64(3)), "", dispatch.Failed, spec.Some(int64(3)), "status 3"},
		{`"state":"exited","exit":{"code":143,"ended_by":"signal"}`, spec.Some(int64(143)), dispatch.Cancelled, dispatch.Cancelled, spec.Some(int64(143)), "stopped"},
		{`"state":"exited","exit":{"code":143,"ended_by":"signal"}`, spec.Opt[int64]{}, dispatch.TimedOut, dispatch.TimedOut, spec.Some(int64(143)), "stopped"},
		{`"state":"exited","exit":{"code":124,"ended_by":"timeout"}`, spec.Some(int64(124)), "", dispatch.TimedOut, spec.Some(int64(124)), "time was up"},
		{`"state":"exited","exit":{"code":124,"ended_by":"max_turns"}`, spec.Some(int64(124)), "", dispatch.Failed, spec.Some(int64(124)), "max_turns"},
		{`"state":"refused","error":{"reason":"no"}`, spec.Some(int64(127)), "", dispatch.Failed, spec.Some(int64(127)), "refused: no"},
		{`"state":"refused","error":{"reason":"no"}`, spec.Opt[int64]{}, "", dispatch.Failed, spec.Some(int64(125)), "refused: no"},
		{`"state":"running"`, spec.Opt[int64]{}, "", dispatch.Failed, spec.Opt[int64]{}, "lost"},
		{`"state":"lost"`, spec.Opt[int64]{}, dispatch.Cancelled, dispatch.Cancelled, spec.Opt[int64]{}, "force"},
	} {
		text := `{"record_version":1,` + c.record + `,"turns_used":2,"agent":{"tokens":{"input":7,"cached":1,"output":3}}}`
		v, err := audit.Parse([]byte(text))
		must(t, err)
		e := outcome([]byte(text), v, now, c.status, c.stop)
		if e.Status != c.want || e.ExitCode != c.code || !strings.Contains(e.Error.Value, c.says) || (c.says == "") == e.Error.Set {
			t.Errorf("%s: %+v", c.record, e)
		}
		if e.Counts.Turns != spec.Some(int64(2)) || e.Counts.Input != spec.Some(int64(7)) || e.Counts.Commands.Set {
			t.Errorf("%s: %+v", c.record, e.Counts)
		}
		if strings.Contains(e.Effective.Value, `"running"`) {
			t.Errorf("the record of what is lost says that it runs: %s", e.Effective.Value)
		}
	}
}

func TestVerdict(t *testing.T) {
	good := &dispatch.End{Status: dispatch.Completed}
	for _, c := range []struct {
		words string
		end   *dispatch.End
		want  verdict
	}{
		{"", good, verdict{"pass", "it ended with status 0, and gave no verdict of its own"}},
		{"a\n--- VERDICT ---\nSTATUS: warn\nFILES: 1\nSUMMARY: mind  the gap\n---\n", good, verdict{"warn", "mind  the gap"}},
		{"--- VERDICT ---\nSTATUS: fail\nSUMMARY: first\n---\n--- VERDICT ---\r\nSTATUS: PASS\r\nSUMMARY: a\x1b[2Jb\r\n---", good, verdict{"pass", "a [2Jb"}},
		{"--- VERDICT ---\nSTATUS: splendid\n---\n", good, verdict{"pass", "it ended with status 0, and gave no verdict of its own"}},
		{"STATUS: fail\n", good, verdict{"pass", "it ended with status 0, and gave no verdict of its own"}},
		{"--- VERDICT ---\nSTATUS: pass\n---\n", &dispatch.End{Status: dispatch.Failed, Error: spec.Some("two\nlines")}, verdict{"fail", "two lines"}},
	} {
		if got := judge(c.words, c.end); got != c.want {
			t.Errorf("%q: %+v, want %+v", c.words, got, c.want)
		}
	}
	got := summary("na\nTokens: 9 in / 9 out", 65*time.Second, dispatch.Counts{Commands: spec.Some(int64(3)), Input: spec.Some(int64(12)), Output: spec.Some(int64(5))})
	if want := "Dispatch: na Tokens: 9 in / 9 out\nDuration: 1m 5s\nCommands: 3\nTokens: 12 in / 5 out\n"; got != want {
		t.Errorf("%q", got)
	}
	if got := summary("n", 0, dispatch.Counts{Input: spec.Some(int64(1))}); strings.Contains(got, "Tokens") || strings.Contains(got, "Turns") {
		t.Errorf("what nobody counted: %q", got)
	}
}

func TestStream(t *testing.T) {
	for _, c := range []struct {
		agent    spec.Agent
		lines    string
		messages int64
		words    string
	}{
		{spec.Codex, `{"type":"turn.started"}
{"type":"item.completed","item":{"type":"agent_message","text":"one"}}
no event
{"type":"item.completed","item":{"type":"command_execution","text":"{}"}}
{"type":"item.completed","item":{"type":"agent_message","text":"two\nlines"}}`, 2, "two\nlines"},
		{spec.Claude, `{"type":"assistant","message":{"content":[{"type":"text","text":"first"},{"type":"tool_use","name":"Bash"}]}}
{"type":"user","message":{"content":"x"}}
{"type":"result","result":"the end"}
`, 1, "the end"},
		{spec.Gemini, `{"type":"message","role":"assistant","content":"a","delta":true}
{"type":"tool_use"}
{"type":"message","role":"user","content":"no"}
{"type":"message","role":"assistant","content":"b","delta":true}
{"type":"message","role":"assistant","content":"c","delta":true}
`, 2, "bc"},
		{spec.Codex, strings.Repeat("x", maxLine+10) + "\n" + `{"type":"item.completed","item":{"type":"agent_message","text":"after"}}`, 1, "after"},
		{spec.Codex, `{"type":"item.completed","item":[]}` + "\n{}\n", 0, ""},
	} {
		s := newStream(c.agent)
		for rest := []byte(c.lines); len(rest) > 0; { // in odd pieces
			n := min(len(rest), 1+len(rest)/3)
			_, _ = s.Write(rest[:n])
			rest = rest[n:]
		}
		s.finish()
		if n, _, words := s.now(); n != c.messages || words != c.words {
			t.Errorf("%v: %d messages, %q", c.agent, n, doc.Cut(words))
		}
	}
}

// Whatever the id in a foreign ledger is, its directory lies in the right place.
func TestDirNames(t *testing.T) {
	w := &World{StateDir: "/s"}
	seen := map[jobDir]bool{}
	for _, id := range []string{"abc123de", "../../x", "", ".", "..", "a/b", strings.Repeat("a", 65), "x\x00", "ABC", "abc123de ", "\n"} {
		f := w.dirOf("/l.db", id)
		if filepath.Dir(string(f)) != w.dirs("/l.db") || seen[f] || strings.ContainsAny(filepath.Base(string(f)), ". \x00\n") {
			t.Errorf("%q: %s", id, f)
		}
		seen[f] = true
	}
	if w.dirOf("/a.db", "abc") == w.dirOf("/b.db", "abc") {
		t.Error("two ledgers share a directory")
	}
	// A ledger has one directory, by whichever name it is opened, also before it exists.
	dir := t.TempDir()
	must(t, os.Symlink(dir, filepath.Join(dir, "link")))
	for _, name := range []string{"l.db", "none/below/l.db"} {
		if w.dirs(filepath.Join(dir, name)) != w.dirs(filepath.Join(dir, "link", "link", name)) {
			t.Errorf("%s has two directories", name)
		}
	}
	before := w.dirs(filepath.Join(dir, "link", "l.db"))
	must(t, os.WriteFile(filepath.Join(dir, "l.db"), nil, 0o600))
	must(t, os.Symlink("l.db", filepath.Join(dir, "other.db")))
	if now := w.dirs(filepath.Join(dir, "other.db")); now != before || now != w.dirs(filepath.Join(dir, "l.db")) {
		t.Error("a file has several directories")
	}
}

func TestLiveFile(t *testing.T) {
	dir := t.TempDir()
	l := newLive(dir, 42, "a\"b", "/p\nq", time.Unix(7, 0))
	path := filepath.Join(dir, "clavain-dispatch-42.json")
	must(t, os.Symlink(filepath.Join(dir, "victim"), path))
	l.write()
	l.Turns, l.Activity = 3, "writing"
	l.write()
	b, err := os.ReadFile(path)
	if want := `{"name":"a\"b","workdir":"/p\nq","started":7,"activity":"writing","turns":3,"commands":0,"messages":0}` + "\n"; err != nil || string(b) != want {
		t.Errorf("%q, %v", b, err)
	}
	l.remove()
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	newLive("/no/such/folder", 1, "", "", time.Unix(0, 0)).write() // nothing depends on it
}
