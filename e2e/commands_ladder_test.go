package e2e

import (
	"os"
	"strings"
	"testing"
)

// If this host cannot enforce a rule, it is refused, or reported if the spec accepts that; the
// remaining rules are enforced.
func TestCommandsOnLesserHosts(t *testing.T) {
	needSandbox(t)
	effort := func(spec string) string { return strings.Replace(spec, "{", `{"best_effort":["*"],`, 1) }
	for _, c := range []struct {
		host, spec, field, word, status string
		refuses                         bool
	}{
		{"landlock", only("./mine"), "commands.allow", "no Landlock", "unavailable", false},
		{"mount", only("./mine"), "commands.allow", "can be rewritten", "degraded", true},
		{"mount", never("echo"), "commands.deny", "no masks", "unavailable", false},
		{"mount", strings.Replace(only("./mine"), `"commands":{`, `"commands":{"deny":["echo"],`, 1), "commands.deny", "can be rewritten", "enforced", true},
		{"listener", only("./mine"), "commands.allow", "", "enforced", true},
		{"listener", never("echo"), "commands.deny", "", "degraded", true},
	} {
		t.Run(c.host+" "+c.field, func(t *testing.T) {
			b := newBox(t)
			b.tool("mine")
			host := refusing(t, c.host)
			run := func(spec string) result {
				return b.on(host, spec, "./mine", "try", "run|/bin/echo|ran", "become|proc|/bin/echo", "become|root|/bin/echo", "become|removed|./mine")
			}
			if c.word != "" {
				run(c.spec).refused(c.word)
			}
			r := run(effort(c.spec)).ended()
			want := "ran"
			if c.refuses {
				want = "EACCES"
			}
			if got := r.lines()["run|/bin/echo|ran"]; got != want || r.rec.status(c.field) != c.status {
				t.Errorf("%q, want %q: %v", got, want, r)
			}
			if got := r.rec.whole("commands", "refused"); c.host == "mount" && c.refuses && got != 4 {
				t.Errorf("%d refused: %v", got, r)
			}
		})
	}
}

// Without a listener, a file in memory that is not sealed is denied, also under a profile of the
// user's.
func TestMemoryWithoutAListener(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.tool("mine")
	b.write("ws/open.json", `{"defaultAction":"SCMP_ACT_ALLOW"}`)
	profile := strings.Replace(only("./mine"), "{", `{"syscalls":"open.json",`, 1)
	for _, spec := range []string{only("./mine"), profile} {
		r := b.on(refusing(t, "listener"), spec, "./mine", "try", "memory|0", "memory|8", "become|memory|/bin/echo", "become|execmemory|/bin/echo").ended()
		got := r.lines()
		if got["memory|0"] != "EPERM" || !strings.HasPrefix(got["memory|8"], "words") || got["become|memory|/bin/echo"] != "EPERM" || got["become|execmemory|/bin/echo"] != "EPERM" {
			t.Errorf("%s: %v", spec, got)
		}
		if !strings.Contains(r.rec.reason("commands.allow"), "memfd_create is denied") {
			t.Errorf("%v", r)
		}
		// With one, a profile changes nothing.
		if got := b.run(spec, "./mine", "try", "memory|0", "become|memory|/bin/echo").ended().lines(); !strings.HasPrefix(got["memory|0"], "words") || got["become|memory|/bin/echo"] != "EACCES" {
			t.Errorf("%s: %v", spec, got)
		}
	}
}

// Inside another sandbox the rules of the outer one hold.
func TestCommandsInsideAnotherSandbox(t *testing.T) {
	n := newNest(t)
	r, _ := n.run(only("sh", "./sbx", "cat"), specWW, "/usr/bin/env true; [ $? = 126 ] && echo inside")
	if !strings.Contains(r.out, "inside") {
		t.Errorf("%v", r)
	}
}

// The loader's variables do not reach the command; others do.
func TestLoadersVariablesUnderAllow(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.tool("mine")
	b.env = append(b.env, "LD_LIBRARY_PATH="+b.out, "LD_PRELOAD=", "GLIBC_TUNABLES=", "OTHER=x")
	tries := []string{"env|LD_LIBRARY_PATH", "env|LD_PRELOAD", "env|OTHER"}
	argv := append([]string{"./mine", "try"}, tries...)
	if got := b.run(specWW, argv...).ended().lines(); got[tries[0]] != b.out || got[tries[2]] != "x" {
		t.Errorf("%v", got)
	}
	r := b.run(only("./mine"), argv...).ended()
	if got := r.lines(); got[tries[0]] != "ENOENT" || got[tries[1]] != "ENOENT" || got[tries[2]] != "x" {
		t.Errorf("%v", got)
	}
	if !strings.Contains(r.rec.reason("commands.allow"), "LD_LIBRARY_PATH is kept from the command") {
		t.Errorf("%v", r)
	}
}

// check prints the files to which a shim leads, and which of them are not allowed.
func TestCheckPrintsTheChainOfAProgram(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	must(t, os.MkdirAll(b.ws+"/shims", 0o755))
	b.script("real", "#!/usr/bin/env -S A=1 sh -e\necho end\n")
	must(t, os.Symlink("../real", b.ws+"/shims/tool"))
	must(t, os.Symlink("shims/tool", b.ws+"/tool"))
	r := b.plain(sbxPath, "check", "--spec-json", only("./tool", "env"), "--", "./tool")
	line := ""
	for l := range strings.Lines(r.out) {
		if strings.HasPrefix(l, "program ./tool:") {
			line = l
		}
	}
	at := 0
	for _, part := range []string{b.ws + "/tool", "-> " + b.ws + "/shims/tool", b.ws + "/real", ", script of /usr/bin/env", ", loader ", ", env runs ", "/sh", "(not in commands.allow)"} {
		i := strings.Index(line[at:], part)
		if i < 0 {
			t.Fatalf("no %q behind the rest in %q: %v", part, line, r)
		}
		at += i
	}
	if r = b.plain(sbxPath, "check", "--json", "--spec-json", only("./tool", "env"), "--", "./tool"); !strings.Contains(r.out, `"programs": [{"name": "./tool", "chain": [{"path": `) {
		t.Errorf("%v", r)
	}
}
