package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// rawWrap runs sbx wrap with text on stdin and returns its output, byte for byte.
func (b *box) rawWrap(in io.Reader, flags ...string) (out string, code int) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	// The part of the input that it keeps must fit into 128 MiB.
	cmd := exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", `ulimit -d 131072 && exec "$0" wrap "$@"`, sbxPath}, flags...)...)
	cmd.Dir, cmd.Env, cmd.Stdin = b.ws, b.env, in
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run()
	if ctx.Err() != nil {
		b.t.Fatalf("wrap %q did not end", flags)
	}
	if stderr.Len() > 0 && strings.Contains(stderr.String(), "goroutine") {
		b.t.Fatalf("wrap %q panicked:\n%s", flags, stderr.String())
	}
	return stdout.String(), cmd.ProcessState.ExitCode()
}

// refusedLine parses a line of output with an error object.
func refusedLine(t *testing.T, line string) wrapAnswer {
	t.Helper()
	var a wrapAnswer
	text, whole := strings.CutSuffix(line, "\n")
	if err := json.Unmarshal([]byte(text), &a); err != nil || !whole || strings.Contains(text, "\n") {
		t.Fatalf("it is no one line of JSON: %v: %.500q", err, line)
	}
	if a.Error.Reason == "" || len(a.Problems) == 0 || a.Error != a.Problems[0] || a.Wrapped.Cmd != "" {
		t.Fatalf("it is no refusal: %.500s", line)
	}
	return a
}

// badInvocations are invocations that --json refuses, with their first problem: the field, and a
// part of reason or help.
var badInvocations = []struct{ text, field, says string }{
	{``, "", "empty"},
	{` `, "", "empty"},
	{`null`, "", "null"},
	{`[]`, "", "it is a list, and not an object"},
	{`"x"`, "", "a string"},
	{`{}`, "cmd", "it is empty"},
	{`{"cmd": ""}`, "cmd", "it is empty"},
	{`{"cmd": 1}`, "cmd", "it is a number, and not a string"},
	{`{"cmd": null}`, "cmd", "null"},
	{`{"cmd": ["x"]}`, "cmd", "it is a list"},
	{`{"cmd": "a\u0000b"}`, "cmd", "NUL"},
	{`{"cmd": "x", "args": "y"}`, "args", "it is a string, and not a list"},
	{`{"cmd": "x", "args": {}}`, "args", "it is an object"},
	{`{"cmd": "x", "args": ["a", true]}`, "args[1]", "true or false"},
	{`{"cmd": "x", "args": ["\u0000"]}`, "args[0]", "NUL"},
	{`{"cmd": "x", "env": ["A=1"]}`, "env", "it is a list, and not an object"},
	{`{"cmd": "x", "env": {"A": 1}}`, "env.A", "a number"},
	{`{"cmd": "x", "env": {"A": "b\u0000"}}`, "env.A", "NUL"},
	{`{"cmd": "x", "env": {"A\u0000": "b"}}`, "env", "NUL"},
	{`{"cmd": "x", "env": {"A=B": "b"}}`, "env", "="},
	{`{"cmd": "x", "env": {"": "b"}}`, "env", "empty"},
	{`{"cmd": "x", "env": {"A": "1", "A": "2"}}`, "", "twice"},
	{`{"cmd": "x", "cmd": "y"}`, "", "twice"},
	{`{"cmd": "x", "cwd": 7}`, "cwd", "a number"},
	{`{"cmd": "x", "cwd": "rel"}`, "cwd", "it is relative"},
	{`{"cmd": "x", "cwd": "/a/../b"}`, "cwd", `".."`},
	{`{"cmd": "x", "cwd": "/a/./b"}`, "cwd", "not clean"},
	{`{"cmd": "x", "cwd": "/a\u0000"}`, "cwd", "NUL"},
	{`{"cmd": "x", "mounts": {}}`, "mounts", "it is an object, and not a list"},
	{`{"cmd": "x", "mounts": ["/a"]}`, "mounts[0]", "a string"},
	{`{"cmd": "x", "mounts": [{}]}`, "mounts[0].hostPath", "missing"},
	{`{"cmd": "x", "mounts": [{"hostPath": "/usr", "guestPath": "g", "mode": "ro"}]}`, "mounts[0].guestPath", "it is relative"},
	{`{"cmd": "x", "mounts": [{"hostPath": "/usr", "guestPath": "/../g", "mode": "ro"}]}`, "mounts[0].guestPath", `".."`},
	{`{"cmd": "x", "mounts": [{"hostPath": "usr", "guestPath": "/g", "mode": "ro"}]}`, "mounts[0].hostPath", "it is relative"},
	{`{"cmd": "x", "mounts": [{"hostPath": "/usr/..", "guestPath": "/g", "mode": "ro"}]}`, "mounts[0].hostPath", `".."`},
	{`{"cmd": "x", "mounts": [{"hostPath": "/u\u0000", "guestPath": "/g", "mode": "ro"}]}`, "mounts[0].hostPath", "NUL"},
	{`{"cmd": "x", "mounts": [{"label": "l", "hostPath": "/usr", "guestPath": "/g\u0000", "mode": "ro"}]}`, "mounts[0].guestPath", "NUL"},
	{`{"cmd": "x", "mounts": [{"hostPath": "/usr", "guestPath": "", "mode": "ro"}]}`, "mounts[0].guestPath", "empty"},
	{`{"cmd": "x", "mounts": [{"label": "a\u0000", "hostPath": "/usr", "guestPath": "/g", "mode": "ro"}]}`, "mounts[0].label", "NUL"},
	{`{"cmd": "x", "mounts": [{"label": 1, "hostPath": "/usr", "guestPath": "/g", "mode": "ro"}]}`, "mounts[0].label", "a number"},
	{`{"cmd": "x", "mounts": [{"hostPath": "/usr", "guestPath": "/g", "mode": "RW"}]}`, "mounts[0].mode", "neither ro nor rw"},
	{`{"cmd": "x", "mounts": [{"hostPath": "/usr", "guestPath": "/g", "mode": true}]}`, "mounts[0].mode", "true or false"},
	{`{"cmd": "x", "mounts": [{"kind": "file", "hostPath": "/usr", "guestPath": "/g", "mode": "ro"}]}`, "mounts[0].kind", "dir"},
	{`{"cmd": "x", "mounts": [{"hostPath": "/usr", "guestPath": "/g", "mode": "ro"}, {"hostPath": "/opt", "guestPath": "/g/", "mode": "rw"}]}`, "mounts[1].guestPath", "mounts[0] has the same"},
	{`{"cmd": "x", "mounts": [{"host_path": "/usr", "guestPath": "/g", "mode": "ro"}]}`, "mounts[0].host_path", "did you mean hostPath?"},
	{`{"cmd": "x", "mounts": [{"hostPath": "/usr", "guestPath": "/f", "mode": "ro"}, {"hostPath": "/etc/passwd", "guestPath": "/etc/passwd", "mode": "ro"}]}`, "mounts[1].hostPath", "it is not a directory"},
	{`{"cmd": "x", "mounts": [{"hostPath": "/no/such", "guestPath": "/g", "mode": "rw"}]}`, "mounts[0].hostPath", "no such file or directory"},
	{`{"cmd": "x", "cwd": "/no/such"}`, "cwd", "does not exist"},
	{`{"cmd": "x", "cwd": "/etc/passwd"}`, "cwd", "is not a directory"},
	{`{"cmd": "x", "arg": []}`, "arg", "did you mean args?"},
	{`{"cmd": "x", "Cwd": "/"}`, "Cwd", "did you mean cwd?"},
	{`{"cmd": "x", "stdin": ""}`, "stdin", "the fields are cmd, args, env, cwd, mounts"},
	{`{"cmd": "x", "args": [` + strings.Repeat("1,", 60000) + `1]}`, "args[0]", "a number"},
	{`{"cmd": "x", "args": ["` + strings.Repeat(`\u0000", "`, 60000) + `"]}`, "args[0]", "NUL"},
	{`{"cmd": "x", "mounts": [{}` + strings.Repeat(", {}", 60000) + `]}`, "mounts[0].hostPath", "missing"},
	{`{"cmd": "x", "mounts": [` + manyMounts(13000) + `]}`, "mounts", "13000, more than 256"},
	{`{"cmd": "x"} {}`, "", ""},
	{`{"cmd": "x"}x`, "", ""},
	{`{"cmd": "x",}`, "", ""},
	{`{"cmd": 'x'}`, "", ""},
	{`{"cmd": "x"`, "", ""},
	{"\ufeff" + `{"cmd": "x"}`, "", "byte order mark"},
	{"{\"cmd\": \"\xff\"}", "", "UTF-8"},
	{`{"cmd": "\ud800"}`, "", "surrogate"},
	{"\x00", "", ""},
	{strings.Repeat("[", 100000), "", "deep"},
	{`{"cmd": "x", "args": [` + strings.Repeat(`"",`, 70000) + `""]}`, "", "values"},
	{`{"cmd": "` + strings.Repeat("x", 1<<20) + `"}`, "", "larger than 1 MiB"},
}

func manyMounts(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`{"hostPath": "/a%d", "guestPath": "/b%d", "mode": "ro"}`, i, i)
	}
	return strings.Join(all, ", ")
}

// TestWrapRefusesBadInput checks that invalid input gives one line with an error object, and status
// 2, for --json and --template alike, and that no wrapper is asked.
func TestWrapRefusesBadInput(t *testing.T) {
	b := newBox(t)
	for _, c := range badInvocations {
		began := time.Now()
		out, code := b.rawWrap(strings.NewReader(c.text), "--wrapper", "bwrap", "--json")
		a := refusedLine(t, out)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%.80q: it took %v", c.text, took)
		}
		if code != 2 {
			t.Errorf("%.80q: status %d", c.text, code)
		}
		if a.Error.Field != c.field || !strings.Contains(a.Error.Reason+" "+a.Error.Help, c.says) || !strings.HasPrefix(a.Error.Reason, "cannot ") || strings.Contains(a.Error.Reason, "the spec") {
			t.Errorf("%.80q: field %q, want %q: %s; %s; want %q", c.text, a.Error.Field, c.field, a.Error.Reason, a.Error.Help, c.says)
		}
		if !utf8.ValidString(out) || len(out) > 64<<10 {
			t.Errorf("%.80q: an answer of %d bytes", c.text, len(out))
		}
	}
	for _, text := range []string{``, `[]`, `{"cmd": "x"}`, `{"cwd": "rel"}`, `{"cwd": "/no/such"}`, `{"mounts": [1]}`,
		`{"mounts": [{"hostPath": "/etc/passwd", "guestPath": "/g", "mode": "ro"}]}`} {
		out, code := b.rawWrap(strings.NewReader(text), "--wrapper", "bwrap", "--template")
		if refusedLine(t, out); code != 2 {
			t.Errorf("--template of %q: status %d", text, code)
		}
	}
}

// endless returns bytes of a JSON string up to a number, and counts those taken.
type endless struct{ left, taken int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left)
	copy(p[:n], bytes.Repeat([]byte("x"), n))
	if e.taken == 0 {
		copy(p, `{"cmd": "`)
	}
	e.left -= n
	e.taken += n
	return n, nil
}

// TestWrapHugeInput checks that 100 MB are refused at the limit, without being read to the end or
// kept; a stream skips such a line and continues.
func TestWrapHugeInput(t *testing.T) {
	b := newBox(t)
	for _, flag := range []string{"--json", "--template"} {
		in := &endless{left: 100 << 20}
		began := time.Now()
		out, code := b.rawWrap(in, "--wrapper", "none", flag)
		a := refusedLine(t, out)
		if code != 2 || !strings.Contains(a.Error.Reason, "1 MiB") {
			t.Errorf("%s: status %d: %s", flag, code, out)
		}
		if in.taken > 8<<20 || time.Since(began) > 10*time.Second {
			t.Errorf("%s: it took %d bytes and %v", flag, in.taken, time.Since(began))
		}
	}
	in := io.MultiReader(&endless{left: 100 << 20}, strings.NewReader("\n{\"cmd\": \"after\"}"))
	out, code := b.rawWrap(in, "--wrapper", "none", "--stream")
	lines := strings.SplitAfter(out, "\n")
	if len(lines) != 3 || code != 0 {
		t.Fatalf("status %d, %d lines: %.300s", code, len(lines)-1, out)
	}
	if a := refusedLine(t, lines[0]); a.Error.On != "line 1" || !strings.Contains(lines[1], `"cmd": "after"`) {
		t.Errorf("it answers %.500s", out)
	}
}

// TestWrapStatus1 has valid invocations under an invalid spec, or with a tool that cannot enforce
// it.
func TestWrapStatus1(t *testing.T) {
	b := newBox(t)
	b.write(b.ws+"/bad.json", `{"acces_mode": "read-only"}`)
	inv := `{"cmd": "true", "mounts": [{"hostPath": "` + b.ws + `", "guestPath": "/g", "mode": "rw"}]}`
	for _, c := range []struct {
		says  string
		flags []string
	}{
		{"access_mode", []string{"--wrapper", "bwrap", "--spec", b.ws + "/bad.json"}},
		{"missing.json", []string{"--wrapper", "bwrap", "--spec", b.ws + "/missing.json"}},
		{"bwrap", []string{"--wrapper", "bwrap", "--spec-json", `{"limits": {"memory": "1MiB"}}`}},
		{"filesystem.mounts", []string{"--wrapper", "bwrap", "--spec-json", `{"access_mode": "read-only"}`}}, // the mount is wider
		{"firejail", []string{"--wrapper", "firejail"}},
		{"--image", []string{"--wrapper", "docker"}},
		{"flag", []string{"--wrapper", "docker", "--image=--privileged"}},
	} {
		json := 1
		if len(c.flags) == 2 || c.says == "flag" { // errors of the command line, whatever stdin has
			json = 2
		}
		for _, how := range []string{"--json", "--stream"} {
			out, code := b.rawWrap(strings.NewReader(inv+"\n"), append(c.flags, how)...)
			refusedLine(t, out)
			if want := map[string]int{"--json": json, "--stream": 0}[how]; code != want || !strings.Contains(out, c.says) {
				t.Errorf("%q %s: status %d, want %d and %q: %s", c.flags, how, code, want, c.says, out)
			}
		}
	}
	for _, flags := range [][]string{{"--json"}, {"--wrapper", "none", "--json", "--stream"}, {"--wrapper", "none", "--template", "--json"},
		{"--wrapper", "none", "--json", "--", "true"}, {"--wrapper", "none", "--stream", "x"}, {"--wrapper", "none"}, {"--wrapper", "none", "--json", "--spec", "-"},
		{"--wrapper", "none", "--stream", "--spec", "-"}, {"--wrapper", "none", "--template", "--spec-json", "{}", "--spec", "-"}, {"--wrapper", "none", "--json=1"}, {"--wrapper", "none", "--josn"}} {
		if out, code := b.rawWrap(strings.NewReader(inv), flags...); code != 2 || out != "" {
			t.Errorf("%q: status %d: %s", flags, code, out)
		}
	}
}

// TestWrapForAgents checks that a document may declare the command to be an agent before there is
// one: with --json, --stream and --template the command is not on the command line.
func TestWrapForAgents(t *testing.T) {
	b := newBox(t)
	for _, agent := range []string{"claude", "codex", "gemini", "none"} {
		for _, wrapper := range []string{"sbx", "bwrap", "nsjail", "docker"} {
			flags := []string{"--wrapper", wrapper, "--image", "x", "--spec-json", `{"access_mode": "read-only", "agent": "` + agent + `"}`}
			for how, want := range map[string]string{"--json": `{"wrapped": `, "--stream": `{"wrapped": `, "--template": `{"template": `} {
				in := `{"cmd": "true"}`
				if how == "--template" {
					in = "{}"
				}
				out, code := b.rawWrap(strings.NewReader(in), append(flags, how)...)
				if agent != "none" && wrapper != "sbx" { // only sbx exec can enforce its model's hosts
					if strings.HasPrefix(out, want) || !strings.Contains(out, "cannot have "+wrapper+" hold network.allow") {
						t.Errorf("%q %s: status %d: %.300s", flags, how, code, out)
					}
				} else if code != 0 || !strings.HasPrefix(out, want) {
					t.Errorf("%q %s: status %d: %.300s", flags, how, code, out)
				}
			}
		}
	}
}

// TestWrapClosedStdout checks that sbx ends if nothing reads its output.
func TestWrapClosedStdout(t *testing.T) {
	b := newBox(t)
	r, w, err := os.Pipe()
	must(t, err)
	cmd := exec.Command(sbxPath, "wrap", "--wrapper", "none", "--stream")
	cmd.Dir, cmd.Env, cmd.Stdout = b.ws, b.env, w
	in, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	w.Close()
	r.Close()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	_, _ = io.WriteString(in, "{\"cmd\": \"x\"}\n")
	select {
	case <-done: // its stdin is open all the time
	case <-time.After(limit):
		_ = cmd.Process.Kill()
		t.Error("it waits for lines though nobody reads its answers")
	}
}
