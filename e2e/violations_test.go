package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// refusable are the calls that a violation can be about.
const refusable = "trace=%file,%network,ioctl,prlimit64,clone,unshare,setns,mount,umount2,keyctl,add_key,request_key,bpf,perf_event_open," +
	"userfaultfd,fanotify_init,syslog,quotactl,swapon,reboot,ioperm,iopl"

// truth runs a script inside, under strace, and compares each violation with the calls that strace
// saw failing: none is about a call that succeeded.
func (b *box) truth(script string) (r result, violations int) {
	b.t.Helper()
	logs := b.ws + "/strace"
	must(b.t, os.Mkdir(logs, 0o755))
	ctx, cancel := context.WithTimeout(context.Background(), 6*limit) // strace is slow
	defer cancel()
	cmd := b.command(ctx, specWW, "strace", "-ff", "-qq", "-s", "4096", "-e", "signal=none", "-e", refusable, "-o", logs+"/log", "--",
		"/bin/sh", "-c", "set -e; cd "+b.ws+"; "+script+"\necho end")
	cmd.Dir = b.ws
	r = b.finish(cmd).ended()
	if r.code != 0 {
		b.t.Fatalf("%v", r)
	}
	var failed []string
	files, err := filepath.Glob(logs + "/log.*")
	must(b.t, err)
	for _, f := range files {
		text, err := os.ReadFile(f)
		must(b.t, err)
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, " = -1 E") {
				failed = append(failed, line)
			}
		}
	}
	list := r.rec.list("violations")
	for _, v := range list {
		target, action := v.text("target"), v.text("action")
		if v.text("program") == "strace" { // strace itself is not traced
			continue
		}
		seen := 0
		for _, line := range failed {
			call, _, _ := strings.Cut(line, "(")
			switch {
			case v.text("kind") == "syscall" && call == action,
				target != "" && strings.Contains(line, filepath.Base(target)+`"`),
				v.text("kind") == "network" && call == "connect":
				seen++
			}
		}
		if seen < max(v.whole("count"), 1) {
			b.t.Errorf("strace saw %d calls fail as of %v", seen, v)
		}
	}
	return r, len(list)
}

// A violation is about a call that failed: in builds, installs, git, and where calls are denied on
// purpose.
func TestViolationsAreTrue(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "strace")
	for _, job := range []struct {
		name, script string
		programs     []string
		prepare      func(b *box)
	}{
		{"refusals", `! touch /etc/x /usr/bin/y 2>/dev/null; ! mkdir .vscode .idea 2>/dev/null; ! mv a .envrc 2>/dev/null
			! ln -s a .mcp.json 2>/dev/null; ! rm /etc/passwd 2>/dev/null; ! mv /etc/hosts . 2>/dev/null; ! unshare -m true 2>/dev/null
			(echo x >/etc/passwd) 2>/dev/null || :; mkdir -p d /usr/lib; touch d/ok; mv d/ok d/fine; rm d/fine; : >/dev/null; cat <a >b`, nil,
			func(b *box) { b.write("ws/a", "a") }},
		{"git", `git init -q 2>/dev/null || :; cd repo; echo x >>file; git add .; git -c user.name=n -c user.email=e@x commit -qm two; git checkout -q -b other; git stash list; git gc -q; git status`, []string{"git"},
			func(b *box) { b.repository(b.ws + "/repo") }},
		{"make", "make -s -j2 && ./prog", []string{"gcc", "make"}, func(b *box) {
			b.write("ws/a.c", "int main(void) { return 0; }\n")
			b.write("ws/Makefile", "prog: a.o\n\tgcc -o prog a.o\n%.o: %.c\n\tgcc -O1 -c -o $@ $<\n")
		}},
		{"go", "go build -o hello . && ./hello", []string{"go"}, func(b *box) {
			b.write("ws/go.mod", "module example.com/hello\n\ngo 1.21\n")
			b.write("ws/main.go", "package main\n\nfunc main() { println(1) }\n")
			b.env = append(b.env, "GOFLAGS=-mod=mod", "GOPROXY=off", "GOTOOLCHAIN=local", "GOCACHE="+b.ws+"/.gocache", "GOPATH="+b.ws+"/.gopath", "CGO_ENABLED=0", "GOTELEMETRY=off", "GOROOT="+goRoot(b.t))
		}},
		{"npm", "npm install --silent", []string{"npm", "node"}, func(b *box) {
			b.write("ws/lib/package.json", `{"name":"lib","version":"1.0.0","main":"index.js"}`)
			b.write("ws/lib/index.js", "module.exports = 1\n")
			b.write("ws/package.json", `{"name":"app","version":"1.0.0","dependencies":{"lib":"file:./lib"}}`)
			b.env = append(b.env, "npm_config_cache="+b.ws+"/.npm", "npm_config_update_notifier=false", "npm_config_offline=true", "npm_config_audit=false", "npm_config_fund=false")
		}},
		{"python", "python3 -c 'import json, subprocess, tempfile; subprocess.run([\"true\"]); tempfile.TemporaryFile()'", []string{"python3"}, func(*box) {}},
	} {
		t.Run(job.name, func(t *testing.T) {
			needPrograms(t, append([]string{"sh"}, job.programs...)...)
			b := newBoxElsewhere(t)
			job.prepare(b)
			r, n := b.truth(job.script)
			least := 8
			if !isRoot() { // this user may not write /etc anyway
				least = 5
			}
			if job.name == "refusals" && n < least {
				t.Errorf("only %d violations: %v", n, r.rec["violations"])
			}
		})
	}
}

// However often a call is denied, it is one line of the record.
func TestViolationsAreFolded(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "gcc", "git")
	b := newBox(t)
	b.repository(b.ws)
	b.inBox("x", 0o755)
	r := b.run(specWW, "./x", "refused", "10000", ".git/config")
	v := r.rec.list("violations")
	if r.out != "refused 10000\n" || len(v) != 1 || v[0].whole("count") != 10000 || v[0].text("target") != b.ws+"/.git/config" || v[0].text("kind") != "filesystem" {
		t.Errorf("%v; violations %v", r, v)
	}
	if lines := strings.Count(r.err, "\n"); lines != 1 {
		t.Errorf("stderr has %d lines: %s", lines, r.err)
	}
	// Different ones are bounded, and those left out are counted.
	r = b.sh(specWW, "i=0; while [ $i -lt 300 ]; do (: >.git/hooks/x$i) 2>/dev/null; i=$((i+1)); done; echo end").ended()
	if n := len(r.rec.list("violations")); n != 200 || fmt.Sprint(r.rec["violations_omitted"]) != "100" {
		t.Errorf("%d are listed, %v left out", n, r.rec["violations_omitted"])
	}
}

// Denials of a program's threads count as the program's, whatever names the threads have: its
// probing is one line. Another program's is another.
func TestThreadsAreTheirProgram(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "python3", "mkdir")
	r := newBox(t).run(specWW, "python3", "-c", `
import ctypes, subprocess, threading
def probe(name):
    ctypes.CDLL(None).prctl(15, name, 0, 0, 0) # PR_SET_NAME
    try: __import__("os").mkdir(".vscode")
    except PermissionError: pass
for name in b"one", b"two":
    t = threading.Thread(target=probe, args=(name,)); t.start(); t.join()
print(open("/proc/self/comm").read().strip(), subprocess.run(["mkdir", ".vscode"], capture_output=True).returncode)
`)
	v := r.rec.list("violations")
	if r.code != 0 || len(v) != 2 || v[0].whole("count") != 2 || v[1].text("program") != "mkdir" || r.out != v[0].text("program")+" 1\n" {
		t.Errorf("%v; violations %v", r, v)
	}
}

// A read-only file system refuses to create a missing name (EROFS, before ENOENT), and a file
// without a name, and that is reported; failures for other reasons are not.
func TestRefusalsWithoutAName(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "git", "python3")
	b := newBox(t)
	b.repository(b.ws)
	b.write("ws/file", "x")
	script := `import os, errno
def tries(what, *args):
    try: what(*args); print("ok")
    except OSError as e: print(errno.errorcode[e.errno])
tries(os.unlink, ".git/hooks/nosuch")
tries(os.rmdir, os.getcwd() + "/.git/hooks/none")
tries(os.open, ".git/hooks", os.O_TMPFILE | os.O_WRONLY)
tries(os.unlink, "nosuch")
tries(os.unlink, os.getcwd() + "/nosuch/x")
tries(os.open, ".git/config", os.O_TMPFILE | os.O_WRONLY)
tries(os.open, ".git/config", os.O_DIRECTORY | os.O_WRONLY)
tries(os.open, ".", os.O_TMPFILE | os.O_WRONLY)
`
	r := b.run(specWW, "python3", "-c", script)
	if want := "EROFS\nEROFS\nEROFS\nENOENT\nENOENT\nENOTDIR\nENOTDIR\nok\n"; r.out != want {
		t.Errorf("%v, want %q", r, want)
	}
	var told []string
	for _, v := range r.rec.list("violations") {
		told = append(told, v.text("action")+" "+strings.TrimPrefix(v.text("target"), b.ws+"/"))
	}
	if got, want := strings.Join(told, ", "), "remove .git/hooks/nosuch, remove a directory .git/hooks/none, create .git/hooks"; got != want {
		t.Errorf("violations: %s; want %s", got, want)
	}
}

// mv first tries to create its target (RENAME_NOREPLACE, coreutils 9): that a directory exists is
// no denial, even if it is a mount. A denied one is still reported.
func TestMovingIntoAMountedDirIsNoViolation(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "git")
	b := newBox(t)
	b.repository(b.ws)
	b.write("ws/a", "a")
	r := b.sh(specWW, "mv a .git/ && mv .git/a b && echo moved").ended()
	if v := r.rec.list("violations"); r.out != "moved\nend\n" || r.err != "" || len(v) != 0 {
		t.Errorf("%v; violations %v", r, v)
	}
	r = b.sh(specWW, "mv -T b .git/config; mv b .git/hooks/").ended()
	for _, name := range []string{"config", "hooks/b"} {
		if !slices.ContainsFunc(r.rec.list("violations"), func(v record) bool { return v.text("target") == b.ws+"/.git/"+name }) {
			t.Errorf("no violation for %s: %v", name, r.rec["violations"])
		}
	}
}

// A path through one of the caller's own descriptors is reported by its usual name.
func TestViolationsBeneathDescriptors(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	if b.private() {
		t.Skip("no place that no private directory covers")
	}
	r := b.sh(specWW, `exec 7<`+b.out+`
		(echo x >/proc/self/fd/7/one) 2>/dev/null || :
		(echo x >/dev/fd/7/two) 2>/dev/null || :
		mkdir /proc/self/fd/7/three 2>/dev/null || :`).ended()
	for _, name := range []string{"one", "two", "three"} {
		b.absent("out/" + name)
		if !slices.ContainsFunc(r.rec.list("violations"), func(v record) bool { return v.text("target") == b.out+"/"+name }) {
			t.Errorf("no violation for %s: %v", name, r.rec["violations"])
		}
	}
}

// The line that is said to allow a denied call does allow it, in a spec of its own: so it names no
// file that does not exist, for creating or removing a name it names the directory, and it is
// absent if no line would help.
func TestTheLineThatAllowsDoes(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	if b.private() {
		t.Skip("no place that no private directory covers")
	}
	b.write("out/there", "")
	b.write("out/gone", "")
	b.write("out/old", "")
	b.write("out/hidden/x", "")
	for script, want := range map[string]string{
		"echo x >>" + b.out + "/there":        b.out + "/there",
		"echo x >" + b.out + "/new":           b.out,
		"mkdir -p " + b.out + "/a/b/c":        b.out,
		"rm " + b.out + "/gone":               b.out,
		"mv " + b.out + "/old " + b.ws + "/x": b.out,
		"echo x >" + b.out + "/hidden/new":    "",
		"echo x >/sys/kernel/uevent_helper":   "",
		"echo x >/none-such":                  "",
	} {
		spec := specWith(specWW, `"filesystem":{"hide":["`+b.out+`/hidden"]}`)
		refused := b.sh(spec, script+" || echo refused")
		if !strings.Contains(refused.out, "refused") {
			t.Fatalf("%s: %v", script, refused)
		}
		list := refused.rec.list("violations")
		if len(list) == 0 && want == "" { // what this user could not do anyway is not a violation
			continue
		}
		if len(list) == 0 {
			t.Errorf("%s: no violation: %v", script, refused)
			continue
		}
		allow := ""
		if want != "" {
			allow = `filesystem.write: ["` + want + `"]`
		}
		if got := list[0].text("allow_with"); got != allow {
			t.Errorf("%s: %q, not %q", script, got, allow)
			continue
		}
		if want != "" {
			b.sh(specWith(specWW, `"filesystem":{"write":["`+want+`"]}`), script).ended()
		}
	}
	r := b.sh(`{"sandbox":{"root":"`+b.ws+`","readonly":true}}`, "echo x >new || :").ended()
	list := r.rec.list("violations")
	if len(list) != 1 || list[0].text("rule") != "sandbox.readonly: true" || list[0].text("allow_with") != "sandbox.readonly: false" {
		t.Errorf("a workshop that may only be read: %v", list)
	}
}

// A shell's own history file is not reported; a write to the same file by another program is.
func TestAShellsHistoryIsNotTold(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "bash")
	b := newBoxElsewhere(t)
	if b.private() {
		t.Skip("no place outside of the private directories")
	}
	const typed = "echo typed\necho end\n"
	history := b.home + "/.bash_history"
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	free := exec.CommandContext(ctx, "bash", "--norc", "-i")
	free.Dir, free.Env, free.Stdin = b.ws, b.env, strings.NewReader(typed)
	if r := b.finish(free); r.code != 0 || !isFile(history) {
		t.Fatalf("the control keeps no history: %v", r)
	}
	for _, there := range []bool{true, false} {
		if !there {
			must(t, os.Remove(history))
		}
		r := b.runIn(b.ws, typed, specWW, "bash", "--norc", "-i")
		if r.code != 0 || !r.rec.refused("filesystem", history) || strings.Contains(r.err, "sbx: ") {
			t.Errorf("there %v: %v %v", there, r, r.rec["violations"])
		}
		r = b.sh(specWW, "echo x 2>/dev/null >>"+history+"; touch "+b.home+"/new 2>/dev/null; echo end").ended()
		if !strings.Contains(r.err, history+" may only be read") {
			t.Errorf("there %v: another program's write is not told: %v", there, r)
		}
	}
}

func isFile(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
