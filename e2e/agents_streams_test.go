package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// play is an agent that prints a kept stream: $HOW says how, and what else it does. It notes its
// arguments, its input, and that it came to its end.
const play = `#!/bin/sh
printf '%s\n' "$@" >args
[ -t 1 ] && echo stdout is a terminal
[ -n "$INPUT" ] && cat >input
echo a word on stderr >&2
case $HOW in
slowly) while IFS= read -r l; do printf '%s\n' "$l"; sleep 0.01; done <stream ;;
lingering) cat stream; sleep 20 ;;
cut) head -c "$CUT" stream; kill -KILL $$ ;;
orphans) cat stream; sleep 20 & sleep 20 </dev/null & ;;
endlessly) cat stream; exec cat /dev/zero ;;
recording)
	day=$HOME/.codex/sessions/$(date +%Y/%m/%d)
	mkdir -p "$day" && cp rollout "$day/rollout-now-$SESSION.jsonl"
	cat stream; sleep "${LINGER:-0}" ;;
*) cat stream ;;
esac
touch ended
exit "${STATUS:-0}"
`

// streamFlags are the flags with which each agent writes its stream.
var streamFlags = map[string][]string{
	"claude": {"-p", "x", "--output-format", "stream-json", "--verbose"},
	"codex":  {"exec", "--json", "x"},
	"gemini": {"-p", "x", "-o", "stream-json"},
}

// actor is a box with such an agent in its workspace.
type actor struct {
	*box
	name, stream string
}

func newActor(t *testing.T, name, stream string) *actor {
	t.Helper()
	needSandbox(t)
	a := &actor{newBox(t), name, ""}
	text, err := os.ReadFile(moduleDir + "/audit/agent/testdata/" + stream)
	must(t, err)
	a.stream = string(text)
	a.write("ws/stream", a.stream)
	must(t, os.WriteFile(a.out+"/"+name, []byte(play), 0o755))
	return a
}

// act runs the agent with its stream's flags and some before them.
func (a *actor) act(spec, how string, flags ...string) result {
	a.t.Helper()
	return a.run(spec, a.as(how, flags...)...)
}

func (a *actor) as(how string, flags ...string) []string {
	os.Remove(a.ws + "/ended")
	os.Remove(a.ws + "/args")
	a.env = append(slices.DeleteFunc(a.env, func(v string) bool { return strings.HasPrefix(v, "HOW=") }), "HOW="+how)
	return slices.Concat([]string{a.out + "/" + a.name}, flags, streamFlags[a.name])
}

// given returns the agent's arguments; nil if it did not run.
func (a *actor) given() []string {
	text, err := os.ReadFile(a.ws + "/args")
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// finished reports whether the agent came to its own end.
func (a *actor) finished() bool {
	_, err := os.Stat(a.ws + "/ended")
	return err == nil
}

func texts(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// The stream passes unchanged, stdin and stderr are not touched, and the record contains what the
// stream says.
func TestAgentStreamPasses(t *testing.T) {
	for name, want := range map[string]struct{ turns, tools string }{
		"claude": {"4", `["Bash","Write","Read"]`},
		"codex":  {"null", `["command_execution","file_change"]`},
		"gemini": {"4", `["run_shell_command","write_file","read_file"]`},
	} {
		for _, how := range []string{"quickly", "slowly"} {
			t.Run(name+" "+how, func(t *testing.T) {
				a := newActor(t, name, name+"-basic.jsonl")
				a.env, a.args = append(a.env, "INPUT=1", "STATUS=3"), append(a.args, "-q") // otherwise sbx reports what the agent gets
				r := a.runIn(a.ws, "the caller's input\n", `{"access_mode": "workspace-write"}`, a.as(how)...)
				if r.code != 3 || r.out != a.stream || r.err != "a word on stderr\n" {
					t.Fatalf("%d bytes of %d: %v", len(r.out), len(a.stream), r)
				}
				a.holds("ws/input", "the caller's input\n")
				rec := r.rec
				if got := rec.text("agent", "name"); got != name {
					t.Errorf("the agent is %q", got)
				}
				if turns, tools := texts(rec["turns_used"]), texts(rec["tools_used"]); turns != want.turns || tools != want.tools {
					t.Errorf("turns %s, tools %s", turns, tools)
				}
				if texts(rec.at("exit")) != `{"code":3,"ended_by":"command"}` || len(rec.list("violations")) != 0 {
					t.Errorf("%v", r)
				}
			})
		}
	}
}

// sbx adds flags right after the program's name; the record also has the command as typed.
func TestAgentGetsItsFlags(t *testing.T) {
	a := newActor(t, "claude", "claude-basic.jsonl")
	typed := append([]string{a.out + "/claude"}, streamFlags["claude"]...)
	r := a.act(`{"access_mode": "workspace-write", "tools_allowed": ["Read", "Write", "Bash(ls:*)", "Bash(git:*)", "Bash(cat:*)"]}`, "")
	given := a.given()
	if r.code != 0 || len(given) < 8 || given[0] != "--allowedTools" || !slices.Equal(given[len(given)-5:], typed[1:]) {
		t.Fatalf("%q; %v", given, r)
	}
	if asked := texts(r.rec.at("command", "asked")); asked != texts(typed) {
		t.Errorf("asked: %s", asked)
	}
	if argv := texts(r.rec.at("command", "argv")); argv != texts(append([]string{a.out + "/claude"}, given...)) {
		t.Errorf("argv: %s", argv)
	}
	// If the spec says nothing about tools, or that the command is no agent, the command gets the
	// typed arguments.
	for _, spec := range []string{`{"access_mode": "workspace-write"}`, `{"access_mode": "workspace-write", "agent": "none", "filesystem": {"read": ["/", "` + a.out + `"]}}`} {
		r = a.act(spec, "")
		if !slices.Equal(a.given(), typed[1:]) || r.rec.at("command", "asked") != nil {
			t.Errorf("%s: %q; %v", spec, a.given(), r)
		}
	}
	if r.rec["agent"] != nil || r.rec["tools_used"] != nil || r.out != a.stream {
		t.Errorf("none is watched: %v", r)
	}
	// A program with any name is an agent if a document says so.
	must(t, os.Rename(a.out+"/claude", a.out+"/wrapper"))
	a.name = "wrapper"
	r = a.run(`{"access_mode": "workspace-write", "agent": "claude", "tools_allowed": ["Read"]}`, append([]string{"env", "A=b", a.out + "/wrapper"}, typed[1:]...)...)
	if given = a.given(); len(given) == 0 || given[0] != "--allowedTools" || r.rec.text("agent", "name") != "claude" {
		t.Errorf("%q; %v", given, r)
	}
}

func TestMaxTurns(t *testing.T) {
	for _, name := range []string{"claude", "gemini"} {
		for _, c := range []struct {
			spec    string
			code    int
			endedBy string
		}{
			{`"max_turns": 2`, 124, "max_turns"},
			{`"max_turns": 0`, 124, "max_turns"},
			{`"max_turns": 2, "on_exceed": "deny"`, 124, "max_turns"},
			{`"max_turns": 2, "on_exceed": "kill"`, 124, "max_turns"},
			{`"max_turns": 2, "on_exceed": "record"`, 0, "command"},
			{`"max_turns": 4`, 0, "command"}, // the control
		} {
			t.Run(name+" "+c.spec, func(t *testing.T) {
				a := newActor(t, name, name+"-basic.jsonl")
				how := "slowly"
				if c.code != 0 {
					how = "lingering" // sbx must end it, or the test takes long
				}
				from := time.Now()
				r := a.act(`{"access_mode": "workspace-write", `+c.spec+`}`, how)
				if r.code != c.code || r.rec.text("exit", "ended_by") != c.endedBy || a.finished() != (c.code == 0) {
					t.Fatalf("finished %v: %v", a.finished(), r)
				}
				if c.code != 0 && time.Since(from) > 15*time.Second {
					t.Error("it went on to its own end")
				}
				if !strings.HasPrefix(a.stream, r.out) || c.code == 0 && r.out != a.stream {
					t.Errorf("other bytes passed: %v", r)
				}
				if said := strings.Contains(r.err, "max_turns: 0: the agent is ended") || strings.Contains(r.err, "max_turns: 2: the agent is ended"); said != (c.code != 0) {
					t.Errorf("%v", r)
				}
				limits := 0
				for _, v := range r.rec.list("violations") {
					if v.text("kind") == "limit" && strings.HasPrefix(v.text("rule"), "max_turns: ") {
						limits++
					}
				}
				if limits != 0 != (c.code != 0) {
					t.Errorf("%d violations: %v", limits, r.rec["violations"])
				}
			})
		}
	}
}

// codex's turns are in a file of its own, which sbx reads while it grows.
func TestMaxTurnsOfCodex(t *testing.T) {
	for _, c := range []struct {
		spec, linger string
		code         int
	}{{`{"access_mode": "workspace-write", "max_turns": 3}`, "20", 124}, {`{"access_mode": "workspace-write", "max_turns": 4}`, "0", 0}} {
		a := newActor(t, "codex", "rollout-basic.stream")
		text, err := os.ReadFile(moduleDir + "/audit/agent/testdata/rollout-basic.rollout")
		must(t, err)
		a.write("ws/rollout", string(text))
		must(t, os.MkdirAll(a.home+"/.codex", 0o755))
		a.env = append(a.env, "LINGER="+c.linger, "SESSION=01a1ffb6-ef62-7162-8db3-76a67cc44288")
		r := a.act(c.spec, "recording")
		if r.code != c.code || r.out != a.stream || a.finished() != (c.code == 0) || texts(r.rec["turns_used"]) != "4" {
			t.Errorf("%s: turns %v: %v", c.spec, r.rec["turns_used"], r)
		}
	}
}

// A tool that is not allowed is a violation, and under kill the end.
func TestToolsOutside(t *testing.T) {
	for _, c := range []struct {
		spec    string
		code    int
		outside string // the tool that is reported
	}{
		{`"tools_allowed": ["Read", "Bash", "Write"]`, 0, ""},
		{`"tools_allowed": ["Read", "Bash"]`, 0, "Write"},
		{`"tools_denied": ["Write"]`, 0, "Write"},
		{`"tools_allowed": ["Read", "Bash"], "on_exceed": "record"`, 0, "Write"},
		{`"tools_allowed": ["Read", "Bash"], "on_exceed": "kill"`, 124, "Write"},
	} {
		t.Run(c.spec, func(t *testing.T) {
			a := newActor(t, "claude", "claude-basic.jsonl")
			how := "quickly"
			if c.code != 0 {
				how = "lingering"
			}
			r := a.act(`{"access_mode": "workspace-write", `+c.spec+`}`, how)
			if r.code != c.code || a.finished() != (c.code == 0) {
				t.Fatalf("%v", r)
			}
			if c.code != 0 && r.rec.text("exit", "ended_by") != "tool" {
				t.Errorf("%v", r.rec["exit"])
			}
			found := ""
			for _, v := range r.rec.list("violations") {
				if v.text("kind") == "tool" {
					found = strings.SplitN(v.text("target"), ":", 2)[0]
				}
			}
			if found != c.outside || (c.outside != "") != strings.Contains(r.err, "the agent asks for Write") {
				t.Errorf("outside: %q; %v", found, r)
			}
		})
	}
}

// codex notes its turns in its state directory. If that does not exist yet, it would be created in
// the layer of its home, where sbx cannot read it, and the refusal says so.
func TestTurnsWithoutStateDir(t *testing.T) {
	a := newActor(t, "codex", "codex-basic.jsonl")
	argv := []string{a.out + "/codex", "exec", "--json", "x"}
	const turns = `{"access_mode": "workspace-write", "max_turns": 9}`
	must(t, os.RemoveAll(a.home+"/.codex"))
	a.as("")
	a.run(turns, argv...).refused("make that directory")
	must(t, os.Mkdir(a.home+"/.codex", 0o700))
	if r := a.run(turns, argv...); r.code != 0 {
		t.Errorf("the control: %v", r)
	}
}

// Limits on turns and tools cannot be enforced for a program that is no agent, or that writes no
// stream.
func TestNoStreamToRead(t *testing.T) {
	a := newActor(t, "claude", "claude-basic.jsonl")
	const turns = `{"access_mode": "workspace-write", "max_turns": 9}`
	for what, c := range map[string]struct{ argv, word string }{
		"no flag":     {a.out + "/claude -p x", "--output-format stream-json"},
		"no agent":    {"sh -c true", "does not recognise this command as an agent"},
		"the control": {a.out + "/claude -p x --output-format stream-json --verbose", ""},
	} {
		a.as("")
		r := a.run(turns, strings.Fields(c.argv)...)
		if c.word == "" {
			if r.code != 0 || !a.finished() {
				t.Errorf("%s: %v", what, r)
			}
			continue
		}
		r.refused(c.word)
		if a.given() != nil {
			t.Errorf("%s: it ran", what)
		}
		if rec := r.rec; rec.text("error", "field") != "max_turns" || !strings.Contains(rec.text("error", "help"), "best_effort") {
			t.Errorf("%s: %v", what, rec["error"])
		}
		a.as("")
		r = a.run(`{"access_mode": "workspace-write", "max_turns": 9, "best_effort": ["max_turns"]}`, strings.Fields(c.argv)...)
		r.rec.hasStatus(t, "max_turns", "unavailable")
		if r.code != 0 || r.rec["turns_used"] != nil {
			t.Errorf("%s, best effort: %v", what, r)
		}
	}
	a.as("")
	a.run(`{"access_mode": "workspace-write", "tools_allowed": ["Read"]}`, "sh", "-c", "true").refused("tools_allowed")
}

// A flag of the caller's that is wider than the spec is refused.
func TestAgentsFlagIsWider(t *testing.T) {
	for _, c := range []struct{ agent, spec, flag, field string }{
		{"claude", `{"access_mode": "workspace-write", "tools_allowed": ["Read", "Bash(git:*)"]}`, "--dangerously-skip-permissions", "tools_allowed"},
		{"claude", `{"access_mode": "workspace-write", "tools_allowed": ["Read"]}`, "--allowedTools=Bash", "tools_allowed"},
		{"claude", `{"access_mode": "read-only"}`, "--permission-mode=acceptEdits", "access_mode"},
		{"claude", `{"access_mode": "workspace-write", "tools_allowed": ["Bash(git:*)"]}`, "--settings=wide.json", "tools_allowed"},
		{"claude", `{"access_mode": "workspace-write", "tools_allowed": ["Read"]}`, `--mcp-config={"mcpServers": {"x": {}}}`, "tools_allowed"},
		{"gemini", `{"access_mode": "workspace-write", "tools_denied": ["Bash"]}`, "--approvalMode=yolo", "tools_denied"},
	} {
		a := newActor(t, c.agent, c.agent+"-basic.jsonl")
		a.write("ws/wide.json", `{"permissions": {"allow": ["Bash"]}}`)
		a.act(c.spec, "", c.flag).refused(c.field)
		if a.given() != nil {
			t.Errorf("%s %s ran", c.agent, c.flag)
		}
		r := a.act(`{}`, "", c.flag) // the control
		if r.code != 0 || !slices.Contains(a.given(), c.flag) {
			t.Errorf("%s %s under no spec: %v", c.agent, c.flag, r)
		}
	}
}

// codex without its shell cannot read. That is reported as a lack only if the spec explicitly
// allows reading.
func TestShellIsDenied(t *testing.T) {
	a := newActor(t, "codex", "codex-basic.jsonl")
	a.act(`{"access_mode": "workspace-write", "tools_allowed": ["Read", "Write", "Edit"]}`, "").refused("codex reads by its shell, which is off")
	r := a.act(`{"access_mode": "workspace-write", "tools_denied": ["Bash"]}`, "")
	if r.code != 0 || !slices.Contains(a.given(), "features.shell_tool=false") {
		t.Fatalf("%v", r)
	}
	r.rec.hasStatus(t, "tools_denied", "observed")
}

// A terminal is never read as a stream: the agent keeps it.
func TestAgentOnATerminal(t *testing.T) {
	a := newActor(t, "claude", "claude-basic.jsonl")
	x := a.onTerminal(a.sbxOn(`{"access_mode": "workspace-write"}`, a.as("")...)...)
	x.expect("stdout is a terminal")
	if code := x.wait(); code != 0 || !a.finished() {
		t.Errorf("status %d: %q", code, x.all())
	}
	// Then its turns cannot be seen.
	x = a.onTerminal(a.sbxOn(`{"access_mode": "workspace-write", "max_turns": 9}`, a.as("")...)...)
	x.expect("cannot hold max_turns")
	if code := x.wait(); code != 125 || a.given() != nil {
		t.Errorf("status %d: %q", code, x.all())
	}
}

// A signal reaches the agent while sbx reads its stream, and the stream so far is kept.
func TestSignalDuringAStream(t *testing.T) {
	a := newActor(t, "claude", "claude-basic.jsonl")
	s := a.start(`{"access_mode": "workspace-write"}`, a.as("lingering")...)
	lines := strings.Split(strings.TrimSuffix(a.stream, "\n"), "\n")
	s.expect(lines[len(lines)-1])
	must(t, s.cmd.Process.Signal(syscall.SIGTERM))
	if code := s.wait(); code != 143 || a.finished() {
		t.Errorf("status %d; %s", code, s.err)
	}
	rec, err := readRecord(a.rec)
	must(t, err)
	if texts(rec["turns_used"]) != "4" || rec.text("exit", "ended_by") != "signal" {
		t.Errorf("%v, %v", rec["turns_used"], rec["exit"])
	}
}

// If a stream is cut off, the record says so, and contains everything up to there.
func TestStreamIsCutOff(t *testing.T) {
	a := newActor(t, "claude", "claude-basic.jsonl")
	a.env = append(a.env, "CUT=9000")
	r := a.act(`{"access_mode": "workspace-write"}`, "cut")
	if r.code != 137 || r.out != a.stream[:9000] {
		t.Fatalf("%v", r)
	}
	if unseen := texts(r.rec.at("agent", "unseen")); !strings.Contains(unseen, "cut off") {
		t.Errorf("%s", unseen)
	}
}

// A process that is left behind with stdout open does not keep the run open.
func TestOrphansHoldStdout(t *testing.T) {
	for _, spec := range []string{`{"access_mode": "workspace-write"}`, `{"access_mode": "danger-full-access"}`} {
		a := newActor(t, "claude", "claude-basic.jsonl")
		from := time.Now()
		r := a.act(spec, "orphans")
		if r.code != 0 || r.out != a.stream || !a.finished() || time.Since(from) > 15*time.Second {
			t.Errorf("%s, after %s: %v", spec, time.Since(from), r)
		}
	}
}

// If nothing reads the stream any more, the agent ends as without sbx.
func TestReaderOfTheStreamIsGone(t *testing.T) {
	a := newActor(t, "claude", "claude-basic.jsonl")
	for _, argv := range [][]string{a.as("endlessly"), append([]string{sbxPath}, a.execArgs(`{"access_mode": "workspace-write"}`, a.as("endlessly")...)...)} {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = a.ws, a.env
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		buf := make([]byte, len(a.stream))
		if n, err := out.Read(buf); err != nil || !strings.HasPrefix(a.stream, string(buf[:n])) {
			t.Errorf("%v, %q", err, buf[:n])
		}
		out.Close()
		cmd.Wait()
		if code := statusOf(cmd.ProcessState); code != -141 && code != 141 {
			t.Errorf("%v: status %d, want SIGPIPE", argv, code)
		}
	}
}
