package e2e

import (
	"os"
	"strings"
	"testing"
)

// specRead shows only the system and the workspace.
const specRead = `{"access_mode":"workspace-write","filesystem":{"read":["@system"]}}`

// A standard stream that is a file outside of the workspace can be opened again by its name in
// /dev, with the caller's access mode and no other.
func TestStreamsAreOpenedAgain(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	in, out, errs := b.write("out/in", "input"), b.out+"/stdout", b.out+"/stderr"
	run := func(argv ...string) {
		t.Helper()
		b.write(errs, "old\n")
		r := b.plain(append([]string{"/bin/sh", "-c", `in=$1 out=$2 errs=$3; shift 3; exec "$@" <"$in" >"$out" 2>>"$errs"`, "sh", in, out, errs}, argv...)...)
		if r.code != 0 {
			t.Errorf("%v: %v", argv, r)
		}
	}
	const script = `cat </dev/stdin; echo one; echo two >/dev/stdout; echo three >>/dev/fd/1; echo four >>/dev/stderr`
	tries := []string{"read|/dev/stdin", "write|/dev/stdout", "truncate|/dev/stderr", "write|/dev/stdin", "readwrite|/dev/stdin", "read|/dev/stdout", "readwrite|/dev/stderr"}
	answers := func(argv ...string) map[string]string {
		t.Helper()
		run(append(argv, append([]string{b.probe(), "try"}, tries...)...)...)
		text, err := os.ReadFile(out)
		must(t, err)
		return result{t: t, out: string(text)}.ended().lines()
	}
	for a, got := range answers() {
		if got != "ok" && !strings.HasPrefix(got, "read:") {
			t.Errorf("control: %s: %s", a, got)
		}
	}
	for name, spec := range map[string]string{"read": specRead, "read-only": specRO, "workspace-write": specWW} {
		run(b.sbxOn(spec, "/bin/sh", "-c", script)...)
		b.holds(out, "two\nthree\n") // as without a sandbox: opening it again empties the file
		b.holds(errs, "old\nfour\n")
		got := answers(b.sbxOn(spec)...)
		b.holds(errs, "")
		for i, want := range []string{"read:input", "ok", "ok", "EACCES", "EACCES", "EACCES", "EACCES"} {
			if name != "read" && i > 4 { // what may be read anyway
				continue
			}
			if got[tries[i]] != want {
				t.Errorf("%s: %s: %s, want %s", name, tries[i], got[tries[i]], want)
			}
		}
		b.holds(in, "input")
	}
}

// So can a terminal, and pipes.
func TestTerminalAndPipesAreOpenedAgain(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	const script = `echo "to a terminal" >/dev/stderr && test -t 0 </dev/stdin && echo piped | cat /dev/stdin && echo en''d`
	for _, spec := range []string{specRead, specWW} {
		x := b.onTerminal(b.sbxOn(spec, "/bin/sh", "-c", script)...)
		x.expect("to a terminal")
		x.expect("piped")
		x.expect("end")
		if code := x.wait(); code != 0 {
			t.Errorf("status %d", code)
		}
	}
	if r := b.runIn(b.ws, "in", specRead, "/bin/sh", "-c", "cat </dev/stdin >/dev/stdout; echo; echo end").ended(); r.out != "in\nend\n" {
		t.Error(r)
	}
}
