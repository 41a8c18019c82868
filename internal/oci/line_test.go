package oci

import (
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ line, verb, id, words string }{
		{"runc", "", "", ""},
		{"runc --version", "", "", "--version"},
		{"runc --root /r --log=l create --bundle /b c1", "create", "c1", "--root /r --log=l create --bundle /b c1"},
		{"runc -root /r create -b /b --no-pivot c1", "create", "c1", "-root /r create -b /b --no-pivot c1"},
		{"runc --sbx-policy /p --sbx-runtime=crun --debug run -d -b /b c1", "run", "c1", "--debug run -d -b /b c1"},
		{"runc --cgroup-manager disabled create --bundle /b -- c1", "create", "c1", "--cgroup-manager disabled create --bundle /b -- c1"},
		{"runc --new-flag value create --bundle /b c1", "create", "c1", "--new-flag value create --bundle /b c1"},
		{"runc --debug kill -s 9 c1", "kill", "9", "--debug kill -s 9 c1"},
		{"runc run c1 --bundle /b -d", "run", "c1", "run --bundle /b -d c1"},
		{"runc run -- c1", "run", "c1", "run -- c1"},
		{"runc create c1 --pid-file p --bundle=/b", "create", "c1", "create --pid-file p --bundle=/b c1"},
		{"runc exec --process p.json c1", "exec", "c1", "exec --process p.json c1"},
		{"runc exec -e A=b -t c1 sh -c x", "exec", "c1", "exec -e A=b -t c1 sh -c x"},
		{"runc start create", "start", "create", "start create"},
		{"runc nosuch create --bundle x", "nosuch", "create", "nosuch create --bundle x"},
	} {
		l, problem := Parse(strings.Fields(c.line), nil)
		if problem != "" || l.Verb != c.verb || l.ID() != c.id || strings.Join(l.Words(), " ") != c.words {
			t.Errorf("%q: %q, %q, %q, %q", c.line, problem, l.Verb, l.ID(), l.Words())
		}
	}
}

func TestParseOwn(t *testing.T) {
	l, problem := Parse(strings.Fields("/usr/bin/sbx-oci-strict --sbx-spec a --sbx-spec=b --sbx-state /s --root r state x"), []string{"SBX_OCI_RUNTIME=crun"})
	o := l.Own
	if problem != "" || o.Class != "strict" || o.Runtime != "crun" || o.Policy != PolicyDir || !slices.Equal(o.Specs, []string{"a", "b"}) || o.State != "/s" || l.Root() != "r" {
		t.Errorf("%q, %+v", problem, l)
	}
	for _, bad := range []string{"x --sbx-nosuch y create", "x --sbx-policy= create", "x --sbx-policy",
		"x create -bB c1", "x create -bundle B c1", "x create --bund B c1", "x run --det c1", "x exec -pFILE c1", "x exec --proc=f c1", "x exec -cCAP_CHOWN c1 id", "x create c1 c2", "x run --bundle b -- c1 c2"} {
		if _, problem := Parse(strings.Fields(bad), nil); problem == "" {
			t.Errorf("%q is taken", bad)
		}
	}
}

// TestWith: the new line names the bundle exactly once, whichever flags the old line used.
func TestWith(t *testing.T) {
	l, _ := Parse(strings.Fields("runc create -b /b --pid-file p --config=/c c1"), nil)
	l = l.With("/copy", "bundle", "b", "config", "f")
	if got := strings.Join(l.Words(), " "); got != "create --bundle /copy --pid-file p c1" {
		t.Error(got)
	}
}
