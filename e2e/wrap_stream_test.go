package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestWrapStream checks that each line is answered by a line, in order; an error in one does not
// affect the others; the last needs no newline.
func TestWrapStream(t *testing.T) {
	b := newBox(t)
	in := []string{
		`{"cmd": "first"}`, ``, `{"cmd": 1}`, `{"cmd": "crlf"}` + "\r", "\r", `{"cmd": "` + strings.Repeat("x", 1<<20) + `"}`, `{"cmd": "after"}`,
		`{"cmd": "folder", "cwd": "` + b.home + `"}`, `{"cmd": "relative", "cwd": "x"}`, `nonsense`, "\x00\xff", strings.Repeat(" ", 1<<19) + `{"cmd": "blanks"}`, `{"cmd": "nul\u0000"}`, `{"cmd": "nowhere", "cwd": "/no/such"}`, `{"cmd": "last"}`,
	}
	want := []string{"first", "line 2", "line 3:1:9", "crlf", "line 5", "line 6", "after", "folder", "line 9: x", "line 10", "line 11", "blanks", "line 13", "line 14: /no/such", "last"}
	for _, end := range []string{"", "\n"} {
		out, code := b.rawWrap(strings.NewReader(strings.Join(in, "\n")+end), "--wrapper", "sbx", "--stream")
		lines := strings.SplitAfter(out, "\n")
		if code != 0 || len(lines) != len(want)+1 || lines[len(want)] != "" {
			t.Fatalf("status %d, %d lines: %.1000s", code, len(lines)-1, out)
		}
		for i, line := range lines[:len(want)] {
			var a wrapAnswer
			if err := json.Unmarshal([]byte(line), &a); err != nil {
				t.Fatalf("line %d: %v: %.300s", i+1, err, line)
			}
			got := a.Error.On
			if a.Error.Reason == "" {
				got = a.Wrapped.Args[len(a.Wrapped.Args)-1]
			}
			if got != want[i] && !strings.HasPrefix(got, want[i]+":") {
				t.Errorf("line %d is answered by %q, want %q: %.300s", i+1, got, want[i], line)
			}
		}
	}
	if out, code := b.rawWrap(strings.NewReader(""), "--wrapper", "none", "--stream"); out != "" || code != 0 {
		t.Errorf("a stream without a line: %d %q", code, out)
	}
}

// TestWrapStreamAnswersAtOnce has a server that writes a line, and waits for its answer with the
// stream open. Names that are created meanwhile are protected soon.
func TestWrapStreamAnswersAtOnce(t *testing.T) {
	needPrograms(t, "bwrap")
	b := newBox(t)
	cmd := exec.Command(sbxPath, "wrap", "--wrapper", "bwrap", "--stream")
	cmd.Dir, cmd.Env = b.ws, b.env
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	timer := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	answers := bufio.NewReader(out)
	ask := func(i int) wrapAnswer {
		fmt.Fprintf(in, "{\"cmd\": \"c%d\", \"cwd\": %q}\n", i, b.ws)
		line, err := answers.ReadBytes('\n')
		must(t, err)
		var a wrapAnswer
		must(t, json.Unmarshal(line, &a))
		if n := len(a.Wrapped.Args); n == 0 || a.Wrapped.Args[n-1] != fmt.Sprintf("c%d", i) {
			t.Fatalf("question %d: %.300s", i, line)
		}
		return a
	}
	hook := b.ws + "/.git/config"
	if slices.Contains(ask(0).Wrapped.Args, hook) {
		t.Fatal("what is not there is protected")
	}
	b.restoreGit()
	for i := 1; ; i++ {
		if slices.Contains(ask(i).Wrapped.Args, hook) {
			break
		}
		time.Sleep(20 * time.Millisecond) // until the timer
	}
}

// TestWrapAudits checks that an audit contains neither paths of the host nor credentials, wherever
// they stand; that it is cut at characters, and says so; that mounts are the caller's own; and that
// the same question gets the same answer.
func TestWrapAudits(t *testing.T) {
	b := newBox(t)
	b.write(b.base+"/data/file", "data")
	secrets := []string{"--token=s3cret", "API_KEY=s3cret", "--password", "s3cret", "https://me:s3cret@host/", "Authorization: Bearer s3cret0123", `{"password": "s3cret"}`, "sk-s3cret" + strings.Repeat("a1", 20),
		"mysql", "-ps3cret", "sh -c 'PGPASSWORD=s3cret psql'", strings.Repeat("漢", 400) + " token=s3cret", "https://u:" + strings.Repeat("s3cret", 1400) + "@h/" + strings.Repeat("é", 600)}
	var paths []string
	for _, p := range []string{b.ws + "/sub", b.home + "/personal/name", b.base + "/data/x", b.out + "/secret-name", "/nobody/knows"} {
		paths = append(paths, p, "--dir="+p+"::/data", "-I"+p, "file://"+p, "/"+p, "x;"+p, `"`+p+`"`, "/usr/.."+p, "/proc/self/root"+p, "@"+p, "+"+p)
	}
	mounts := []map[string]string{{"kind": "dir", "label": "data", "hostPath": b.base + "/data", "guestPath": "/data", "mode": "ro"}}
	long := slices.Repeat([]string{strings.Repeat("é", 600)}, 300)
	many := slices.Repeat([]string{"a"}, 3000)
	for _, w := range []string{"sbx", "bwrap", "nsjail", "docker", "podman", "runsc", "none"} {
		for name, args := range map[string][]string{"secrets": secrets, "paths": paths, "long": long, "many": many} {
			text, err := json.Marshal(map[string]any{"cmd": b.out + "/tool", "args": args, "env": map[string]string{"PATH": "/usr/bin:" + b.home + "/bin", "GITHUB_TOKEN": "s3cret"}, "cwd": b.ws, "mounts": mounts})
			must(t, err)
			flags := []string{"--wrapper", w, "--json"}
			if w == "docker" || w == "podman" || w == "runsc" {
				flags = append(flags, "--image", "example/image:1")
			}
			out, code := b.rawWrap(strings.NewReader(string(text)), flags...)
			again, _ := b.rawWrap(strings.NewReader(string(text)), flags...)
			for range 20 { // a name may be created in / meanwhile
				if out == again {
					break
				}
				out = again
				again, _ = b.rawWrap(strings.NewReader(string(text)), flags...)
			}
			if code != 0 || out != again {
				t.Fatalf("%s: status %d, and the same again: %v: %.500s", w, code, out == again, out)
			}
			var a wrapAnswer
			must(t, json.Unmarshal([]byte(out), &a))
			_, audit, _ := strings.Cut(out, `"audit": `)
			for _, no := range []string{"s3cret", b.base, b.home, b.ws, "secret-name", "personal", "nobody", "\ufffd"} {
				if at := strings.Index(audit, no); at >= 0 {
					t.Errorf("%s, %s: the audit tells %q: …%.300s", w, name, no, audit[max(0, at-100):])
				}
			}
			if cut := name != "paths"; a.Audit.Truncated != cut && (cut || w == "none") { // a line may be long itself
				t.Errorf("%s, %s: truncated is %v", w, name, a.Audit.Truncated)
			}
			total := 0
			for _, arg := range a.Audit.WrappedArgs {
				total += len(arg)
				if !utf8.ValidString(arg) || len(arg) > 1<<10 {
					t.Errorf("%s, %s: an argument of %d bytes: %.50q", w, name, len(arg), arg)
				}
			}
			if total > 65<<10 || len(a.Audit.WrappedArgs) > 1024 || a.Audit.Kind != "process-sandbox" || a.Audit.WrapperName != w {
				t.Errorf("%s, %s: %d bytes in %d arguments: %.200s", w, name, total, len(a.Audit.WrappedArgs), audit)
			}
			if len(a.Audit.Mounts) != 1 || len(a.Audit.Mounts[0]) != 3 || a.Audit.Mounts[0]["label"] != "data" || a.Audit.Mounts[0]["guestPath"] != "/data" || a.Audit.Mounts[0]["mode"] != "ro" {
				t.Errorf("%s, %s: mounts are %v", w, name, a.Audit.Mounts)
			}
		}
	}
}

// TestWrapBundleAnswers checks that a bundle has an answer in JSON like every wrapper's.
func TestWrapBundleAnswers(t *testing.T) {
	b := newBoxElsewhere(t)
	out, code := b.rawWrap(strings.NewReader(`{"cmd": "true", "args": ["--token=s3cret"], "cwd": "`+b.ws+`"}`), "--wrapper", "oci", "--bundle", b.base+"/bundle", "--json")
	var a wrapAnswer
	must(t, json.Unmarshal([]byte(out), &a))
	if code != 0 || a.Wrapped.Cmd != "runc" || a.Audit.WrapperName != "oci" || !slices.Equal(a.Audit.WrappedArgs, []string{"--token=<redacted>"}) {
		t.Errorf("status %d: %s", code, out)
	}
	for _, how := range []string{"--stream", "--template"} {
		if out, code := b.rawWrap(strings.NewReader(`{}`), "--wrapper", "oci", "--bundle", b.base+"/other", how); code != 2 || out != "" {
			t.Errorf("%s of bundles: status %d: %s", how, code, out)
		}
	}
}
