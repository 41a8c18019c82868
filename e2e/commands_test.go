package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// only returns a spec under which only the listed programs may be started.
func only(allow ...string) string { return commandSpec("allow", allow) }

func never(deny ...string) string { return commandSpec("deny", deny) }

func commandSpec(field string, list []string) string {
	all := []string{}
	for _, s := range list {
		all = append(all, quoted(s))
	}
	return `{"access_mode":"workspace-write","commands":{"` + field + `":[` + strings.Join(all, ",") + `]}}`
}

// tool makes a copy of the probe in the workspace. It is not a link, so that no other path is the
// same file.
func (b *box) tool(name string) string {
	b.t.Helper()
	to := b.ws + "/" + name
	must(b.t, os.MkdirAll(filepath.Dir(to), 0o755))
	text, err := os.ReadFile(probePath)
	must(b.t, err)
	must(b.t, os.WriteFile(to, text, 0o755))
	return to
}

// script makes an executable script in the workspace.
func (b *box) script(name, text string) {
	b.t.Helper()
	must(b.t, os.Chmod(b.write("ws/"+name, text), 0o755))
}

// theLoader returns the dynamic loader of this machine's programs.
func theLoader(t *testing.T) string {
	t.Helper()
	for _, path := range []string{"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	lacks(t, "no loader of glibc")
	return ""
}

// others makes two programs that do the same: one is allowed.
func (b *box) others() {
	b.tool("mine")
	b.tool("other")
	must(b.t, os.Symlink("other", b.ws+"/linked"))
	must(b.t, os.Symlink(b.ws+"/mine", b.ws+"/alias"))
	must(b.t, os.Link(b.ws+"/other", b.ws+"/hard"))
	b.script("mine.sh", "#!"+b.ws+"/mine say\n")
	b.script("other.sh", "#!"+b.ws+"/mine say\n")
	b.script("lacks.sh", "#!"+b.ws+"/other say\n")
	b.tool("x (deleted)")
}

// denied tells whether the record has a denied program and its rule: one whose path
// begins so, if target ends in "#", as files without a name are called.
func (r record) denied(rule, target string) bool {
	return slices.ContainsFunc(r.list("violations"), func(v record) bool {
		at := v.text("target")
		return v.text("kind") == "command" && v.text("action") == "execute" && v.text("rule") == rule &&
			(at == target || strings.HasSuffix(target, "#") && strings.HasPrefix(at, target))
	})
}

// In whichever way a program is started, the file decides. Each way is tried without a sandbox
// first.
func TestOnlyWhatIsAllowedIsExecuted(t *testing.T) {
	needSandbox(t)
	loader := theLoader(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.others()
		b.env = append(b.env, "LOADER="+loader)
		mine, other, printf := b.ws+"/mine", b.ws+"/other", needPrograms(t, "printf", "echo")
		attempts := []struct{ try, control, inside, target string }{
			{"become|plain|/bin/echo", "ran", "ran", ""},
			{"run|echo|ran", "ran", "ran", ""},
			{"become|fd|/bin/echo", "ran", "ran", ""},
			{"become|proc|/bin/echo", "ran", "ran", ""},
			{"become|devfd|/bin/echo", "ran", "ran", ""},
			{"become|thread|/bin/echo", "ran", "ran", ""},
			{"become|process|/bin/echo", "ran", "ran", ""},
			{"become|round|/bin/echo", "ran", "ran", ""},
			{"become|root|/bin/echo", "ran", "ran", ""},
			{"become|cwd|/bin/echo", "ran", "ran", ""},
			{"become|link|/bin/echo", "ran", "ran", ""},
			{"run|" + mine + "|say|ran", "ran", "ran", ""},
			{"run|./alias|say|ran", "ran", "ran", ""},
			{"run|./mine.sh", "./mine.sh", "./mine.sh", ""},
			{"become|self|x", "ran", "ran", ""},
			{"run|./nothing", "ENOENT", "ENOENT", ""},
			{"become|plain|/bin/printf", "ran", "EACCES", "/bin/printf"},
			{"run|printf|ran", "ran", "EACCES", printf},
			{"run|" + other + "|say|ran", "ran", "EACCES", other},
			{"run|./linked|say|ran", "ran", "EACCES", other},
			{"run|./hard|say|ran", "ran", "EACCES", b.ws + "/hard"},
			{"run|./other.sh", "./other.sh", "EACCES", b.ws + "/other.sh"},
			{"run|./lacks.sh", "./lacks.sh", "EACCES", other},
			{"become|fd|/bin/printf", "ran", "EACCES", printf},
			{"become|proc|/bin/printf", "ran", "EACCES", printf},
			{"become|devfd|/bin/printf", "ran", "EACCES", printf},
			{"become|thread|/bin/printf", "ran", "EACCES", printf},
			{"become|process|/bin/printf", "ran", "EACCES", printf},
			{"become|round|/bin/printf", "ran", "EACCES", printf},
			{"become|root|/bin/printf", "ran", "EACCES", printf},
			{"become|cwd|/bin/printf", "ran", "EACCES", printf},
			{"become|link|/bin/printf", "ran", "EACCES", printf},
			{"become|proc|" + b.ws + "/lacks.sh", "ran", "EACCES", other},
			{"become|proc|" + b.ws + "/x (deleted)", "ran", "EACCES", b.ws + "/x (deleted)"},
			{"become|fd|" + b.ws + "/x (deleted)", "ran", "EACCES", b.ws + "/x (deleted)"},
			{"become|copy|/bin/echo", "ran", "EACCES", b.ws + "/fresh"},
			{"become|removed|/bin/echo", "ran", "EACCES", b.ws + "/brief"},
			{"become|removedproc|/bin/echo", "ran", "EACCES", b.ws + "/brief"},
			{"become|nameless|/bin/echo", "ran", "EACCES", b.ws + "/#"},
			{"become|namelessproc|/bin/echo", "ran", "EACCES", b.ws + "/#"},
			{"become|memory|/bin/echo", "ran", "EACCES", "/memfd:program"},
			{"become|execmemory|/bin/echo", "ran", "EACCES", "/memfd:program"},
			{"become|memoryproc|/bin/echo", "ran", "EACCES", "/memfd:program"},
			{"become|chmodmemory|/bin/echo", "ran", "EPERM", "-"},
			{"become|loader|/bin/printf", "ran", "EACCES", loader},
			{"become|loader|/bin/echo", "ran", "EACCES", loader},
		}
		var tries []string
		for _, a := range attempts {
			tries = append(tries, a.try)
		}
		plain := b.plain(append([]string{mine, "try"}, tries...)...).ended().lines()
		must(t, os.Remove(b.ws+"/fresh"))
		r := b.run(only("./mine", "echo", "./mine.sh", "./lacks.sh"), append([]string{"./mine", "try"}, tries...)...).ended()
		inside, refused, started := r.lines(), 0, 0
		for _, a := range attempts {
			if !strings.HasSuffix(plain[a.try], a.control) || inside[a.try] != a.inside {
				t.Errorf("%s: %q and inside %q, want %q and %q", a.try, plain[a.try], inside[a.try], a.control, a.inside)
			}
			if strings.HasPrefix(a.try, "become|") {
				started++ // the child that becomes it
			}
			if !strings.HasPrefix(a.inside, "E") {
				started++
			}
			if a.target == "" || a.target == "-" { // no rule denies a program
				continue
			}
			refused++
			if !r.rec.denied("commands.allow", a.target) {
				t.Errorf("%s: no violation about %s: %v", a.try, a.target, r.rec["violations"])
			}
		}
		if got := r.rec.whole("commands_used"); got != started {
			t.Errorf("%d started, want %d: %v", got, started, r.rec["commands"])
		}
		if got := r.rec.whole("commands", "refused"); got != refused {
			t.Errorf("%d refused, want %d: %v\n%v", got, refused, r.rec["commands"], r.rec["violations"])
		}
		if r.rec.status("commands.allow") != "enforced" {
			t.Errorf("%v", r)
		}
	})
}

// A denied program is not among the started ones, and the record has the line that would allow it.
func TestRefusedProgramsAreDescribedAndNotCharged(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "true", "id")
	b := newBox(t)
	b.tool("tools/x")
	r := b.sh(only("sh", "true"), "true; /bin/true; /usr/bin/env true; ./tools/x say; ./tools/x say; type /bin/true >/dev/null").ended()
	if got := r.rec.whole("commands_used"); got != 1 { // the shell has a true of its own
		t.Errorf("%d programs: %v", got, r.rec["commands"])
	}
	if got := r.rec.whole("commands", "refused"); got != 3 {
		t.Errorf("%d refused: %v", got, r.rec["commands"])
	}
	want := map[string]string{"/usr/bin/env": `commands.allow: ["sh", "true", "env"]`, b.ws + "/tools/x": `commands.allow: ["sh", "true", "./tools/x"]`}
	for _, v := range r.rec.list("violations") {
		if v.text("rule") != "commands.allow" || v.text("action") != "execute" || v.text("allow_with") != want[v.text("target")] {
			t.Errorf("%v", v)
		}
		delete(want, v.text("target"))
	}
	if len(want) > 0 {
		t.Errorf("nothing about %v in %v", want, r.rec["violations"])
	}
	// Without a counter the kernel denies the same.
	b.args = []string{"--counter", "none"}
	r = b.sh(only("sh", "true"), "/usr/bin/env true; [ $? = 126 ]").ended()
	if r.rec.at("commands") != nil || !r.rec.refused("command", "/usr/bin/env") {
		t.Errorf("%v %v", r.rec["commands"], r.rec["violations"])
	}
	// A denied program does not count against the budget.
	b.args = nil
	budget := strings.Replace(only("sh", "true"), "{", `{"max_commands":1,`, 1)
	b.sh(budget, "/usr/bin/env true; /usr/bin/env true; /bin/true").ended()
}

// A command that the list lacks is refused before it starts, with the line to add, and so is a list
// that names nothing.
func TestCommandsOfASpecThatCannotBe(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.tool("mine")
	must(t, os.Link(b.ws+"/mine", b.ws+"/twin"))
	b.script("run.sh", "#!/bin/sh\necho end\n")
	for _, c := range []struct {
		spec, argv0, word string
	}{
		{only("sh"), "echo", `hint: commands.allow: ["sh", "echo"] would allow it`},
		{only("echo", "/etc/passwd"), "echo", "cannot be executed"},
		{only("echo", "./mine"), "echo", "another name"},
		{never("sh"), "./run.sh", "take it out of commands.deny"},
	} {
		b.run(c.spec, c.argv0, "end").refused(c.word)
	}
	if r := b.run(never("nosuch", "./nor-this"), "/bin/echo", "end").ended(); !strings.Contains(r.rec.reason("commands.deny"), "nosuch is not there") {
		t.Errorf("%v", r)
	}
}

// TestAProgramOutOfViewByProc: the record names no path of /proc that leads to something else
// outside the sandbox.
func TestAProgramOutOfViewByProc(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.tool("mine")
	must(t, os.Rename(b.tool("away"), b.out+"/away"))
	try := "become|root|" + b.out + "/away"
	if got := b.plain(b.ws+"/mine", "try", try).ended().lines()[try]; got != "ran" {
		t.Fatalf("without a sandbox: %q", got)
	}
	r := b.run(`{"access_mode":"workspace-write","filesystem":{"read":["@system"]}}`, "./mine", "try", try).ended()
	if got := r.lines()[try]; got != "ENOENT" || len(r.rec.list("violations")) != 0 || r.rec.whole("commands_used") != 1 {
		t.Errorf("%q: %v %v", got, r.rec["violations"], r.rec["commands"])
	}
}

// What is allowed and lies where the command may write cannot be rewritten, and
// what is put in its place is another file.
func TestAllowedProgramsCannotBeRewritten(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.tool("bin/mine")
		b.tool("try")
		tries := []string{"write|bin/mine", "truncate|bin/mine", "rename|other|bin/mine", "unlink|bin/mine", "chmod|bin/mine", "link|bin/mine|second", "rename|bin|moved", "mkdir|bin",
			"copy|try|bin/mine", "run|bin/mine|say|ran", "run|moved/mine|say|ran", "write|moved/mine"}
		b.write("ws/other", "x")
		spec := only("./try", "./bin/mine")
		got := b.run(spec, append([]string{"./try", "try"}, tries...)...).ended().lines()
		want := []string{"EROFS", "EROFS", "EBUSY", "EBUSY", "EROFS", "EXDEV", "ok", "ok", "ok", "EACCES", "ran", "EROFS"}
		for i, a := range tries {
			if got[a] != want[i] {
				t.Errorf("%s: %q, want %q", a, got[a], want[i])
			}
		}
	})
}

// In a named directory everything may be executed, also files that the command puts there; but a
// program from elsewhere cannot be moved in.
func TestAllowedDirs(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.tool("mine")
		b.tool("out/deep/made")
		tries := []string{"run|out/deep/made|say|ran", "copy|mine|out/new", "run|out/new|say|ran", "copy|mine|new", "run|./new|say|ran",
			"rename|new|out/moved", "link|new|out/linked", "rename|out/new|gone", "run|./gone|say|ran", "become|nameless|out/deep/made",
			"become|removed|out/deep/made", "become|removedproc|deep/made|out", "become|removed|made|out/deep", "become|namelessproc|deep/made|out", "become|proc|out/deep/made"}
		want := []string{"ran", "ok", "ran", "ok", "EACCES", "EXDEV", "EXDEV", "ok", "EACCES", "EACCES", "EACCES", "ran", "ran", "ran", "ran"}
		r := b.run(only("./mine", "./out/"), append([]string{"./mine", "try"}, tries...)...).ended()
		for i, a := range tries {
			if got := r.lines()[a]; got != want[i] {
				t.Errorf("%s: %q, want %q", a, got, want[i])
			}
		}
		if got := r.rec.whole("commands", "refused"); got != 4 {
			t.Errorf("%d refused: %v", got, r.rec["violations"])
		}
	})
}

// A file in memory can be used for data and for code that is mapped.
func TestMemoryUnderAllow(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.tool("mine")
	tries := []string{"memory|0", "memory|1", "memory|2", "memory|3", "memory|8", "memory|0x11", "memory|0x4000"}
	plain := b.plain(append([]string{b.ws + "/mine", "try"}, tries...)...).ended().lines()
	got := b.run(only("./mine"), append([]string{"./mine", "try"}, tries...)...).ended().lines()
	for _, a := range tries {
		if got[a] != plain[a] || got[a] == "" {
			t.Errorf("%s: %q, and without a sandbox %q", a, got[a], plain[a])
		}
	}
}

// If a path is swapped while it is checked, it leads to one file or the other; the kernel executes
// only an allowed one.
func TestSwappedProgramsAreRefused(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "gcc")
	b := newBox(t)
	b.tool("mine")
	for to, how := range map[string][]string{"swap-path": {"swap", "-pthread"}, "good": {"word", "-DGOOD"}, "evil": {"word"}} {
		from, err := compileC(how[0], how[1:]...)
		must(t, err)
		must(t, exec.Command("cp", from, b.ws+"/"+to).Run())
	}
	both := func(r result) (good, evil int) {
		return strings.Count(r.out, "GOOD"), strings.Count(r.out, "EVIL")
	}
	for _, argv := range [][]string{{"./swap-path", "./good", "./evil", "200"}, {"./mine", "swap", "good", "evil", "200"}} {
		if good, evil := both(b.plain(argv...).ended()); good == 0 || evil == 0 {
			t.Errorf("%q: the control ran %d and %d", argv, good, evil)
		}
		r := b.run(only("./mine", "./swap-path", "./good"), argv...).ended()
		if good, evil := both(r); good == 0 || evil != 0 {
			t.Errorf("%q: it ran %d of what is allowed and %d of what is not: %v", argv, good, evil, r)
		}
	}
}

// A denied program is denied by each of its names.
func TestDeniedProgramsAreMasked(t *testing.T) {
	needSandbox(t)
	loader := theLoader(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.others()
		b.env = append(b.env, "LOADER="+loader)
		printf := needPrograms(t, "printf")
		tries := []string{"run|" + printf + "|ran", "become|plain|/bin/printf", "become|fd|/bin/printf", "become|proc|/bin/printf", "become|copy|/bin/printf", "become|memory|/bin/printf",
			"become|loader|/bin/printf", "run|./other|say|ran", "run|./linked|say|ran", "become|devfd|/bin/printf", "become|root|/bin/printf", "become|link|/bin/printf", "become|proc|" + b.ws + "/lacks.sh",
			"read|other", "write|other", "rename|mine|other", "run|./mine|say|ran", "become|loader|/bin/echo", "run|./hard|say|ran", "become|proc|/bin/echo", "become|memoryproc|/bin/echo",
			"become|removed|/bin/echo", "become|removedproc|/bin/echo", "become|namelessproc|/bin/echo"}
		want := []string{"EACCES", "EACCES", "EACCES", "EACCES", "ENOEXEC", "ENOEXEC", "EACCES", "EACCES", "EACCES", "EACCES", "EACCES", "EACCES", "EACCES",
			"read:", "EROFS", "EBUSY", "ran", "EACCES", "ran", "ran", "ran", "ran", "ran", "ran"}
		const denied = 13
		plain := b.plain(append([]string{b.ws + "/mine", "try"}, tries[:denied]...)...).ended().lines()
		os.Remove(b.ws + "/fresh")
		r := b.run(never("printf", "./other"), append([]string{"./mine", "try"}, tries...)...).ended()
		for i, a := range tries {
			if got := r.lines()[a]; got != want[i] || i < denied && !strings.HasSuffix(plain[a], "ran") {
				t.Errorf("%s: %q, want %q; without a sandbox %q", a, got, want[i], plain[a])
			}
		}
		for _, target := range []string{printf, "/bin/printf", b.ws + "/other", loader} {
			if !r.rec.refused("command", target) {
				t.Errorf("no violation about %s: %v", target, r.rec["violations"])
			}
		}
		if got := r.rec.whole("commands", "refused"); got != 12 {
			t.Errorf("%d refused: %v\n%v", got, r.rec["commands"], r.rec["violations"])
		}
	})
}

// A file with many names is one program.
func TestCommandsWithManyNames(t *testing.T) {
	needSandbox(t)
	busybox := needPrograms(t, "busybox")
	b := newBox(t)
	must(t, os.Mkdir(b.ws+"/bin", 0o755))
	must(t, exec.Command("cp", busybox, b.ws+"/bin/busybox").Run())
	for _, name := range []string{"sh", "ls", "id"} {
		must(t, os.Symlink("busybox", b.ws+"/bin/"+name))
	}
	script := "./bin/ls -d . && ./bin/id >/dev/null && /bin/ls; [ $? = 126 ] && echo end"
	if r := b.run(only("./bin/sh"), "./bin/sh", "-c", script).ended(); r.out != ".\nend\n" {
		t.Errorf("%v", r)
	}
	b.run(never("./bin/ls"), "./bin/sh", "-c", script).refused("commands.deny")
	if r := b.sh(never("./bin/ls"), "./bin/id; [ $? = 126 ]").ended(); !strings.Contains(r.rec.reason("commands.deny"), "by whatever name") {
		t.Errorf("%v", r)
	}
}

// These are real jobs with a list of what they need.
func TestJobsUnderAllow(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "git", "make", "gcc")
	b := newBoxElsewhere(t)
	b.write("ws/a.c", "#include <stdio.h>\nint main(void) { puts(\"built\"); return 0; }\n")
	b.write("ws/Makefile", "out/a: out/a.o\n\tgcc -o $@ $<\nout/a.o: a.c\n\tgcc -O1 -c -o $@ $<\n")
	must(t, os.Mkdir(b.ws+"/out", 0o755))
	allow := []string{"sh", "make", "gcc", "git", "./out/"}
	for _, name := range []string{"cc1", "collect2", "as", "ld"} {
		path, err := exec.Command("gcc", "-print-prog-name="+name).Output()
		must(t, err)
		allow = append(allow, strings.TrimSpace(string(path)))
	}
	b.env = append(b.env, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	must(t, exec.Command("git", "-C", b.ws, "init", "-q").Run())
	r := b.sh(only(allow...), "set -e; make -s; ./out/a; git add a.c; git commit -qm one; git log --format=%s").ended()
	if r.out != "built\none\nend\n" {
		t.Errorf("%v", r)
	}
	r = b.sh(only("sh", "make", "gcc", "rm"), "rm -f out/a.o; make -s")
	if !strings.Contains(fmt.Sprint(r.rec["violations"]), "cc1") {
		t.Errorf("no violation names what gcc lacks: %v", r)
	}
}
