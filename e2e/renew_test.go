package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// talk is a shell inside with which the test exchanges lines.
type talk struct {
	*started
	asked int
}

func (b *box) talk(spec string) *talk {
	b.t.Helper()
	s := b.start(spec, "/bin/sh", "-c", `echo ready; while read -r line; do eval "$line"; done; echo end`)
	s.expect("ready")
	return &talk{started: s}
}

// ask runs a line inside and returns its output.
func (k *talk) ask(line string) string {
	k.t.Helper()
	k.asked++
	head := "answer " + strconv.Itoa(k.asked) + ":"
	k.say(`echo "` + head + `$( (` + line + `) 2>&1 | tr '\n' ' ')"`)
	answer := ""
	if !k.out.wait(func(l string) bool {
		rest, ok := strings.CutPrefix(l, head)
		if ok {
			answer = rest
		}
		return ok
	}) {
		k.t.Fatalf("no answer to %q came: %q; stderr %q", line, k.out.all(), k.err.String())
	}
	return strings.TrimSpace(answer)
}

// becomes asks until the answer contains a word.
func (k *talk) becomes(line, word string) {
	k.t.Helper()
	eventually(k.t, line+" gives "+word, func() bool { return strings.Contains(k.ask(line), word) })
}

// settled waits until the watch has begun. An ordinary user cannot look into the supervisor, which
// is not dumpable, and only waits for a time.
func (k *talk) settled() {
	k.t.Helper()
	if os.Getuid() != 0 {
		time.Sleep(600 * time.Millisecond)
		return
	}
	eventually(k.t, "the watch has begun", func() bool {
		list, _ := filepath.Glob("/proc/" + strconv.Itoa(k.cmd.Process.Pid) + "/fd/*")
		for _, fd := range list {
			if to, _ := os.Readlink(fd); to == "anon_inode:inotify" {
				return true
			}
		}
		return false
	})
}

func (k *talk) ends() {
	k.t.Helper()
	if code := k.wait(); code != 0 || lastLine(strings.Join(k.out.all(), "\n")) != "end" {
		k.t.Fatalf("status %d: %q %s", code, k.out.all(), k.err)
	}
}

func (b *box) protected(path string) record {
	b.t.Helper()
	rec, err := readRecord(b.rec)
	must(b.t, err)
	return rec.protected(b.t, path)
}

func (r record) protected(t *testing.T, path string) record {
	t.Helper()
	for _, p := range r.list("protected") {
		if p.text("path") == path {
			return p
		}
	}
	t.Fatalf("the record does not tell of %s: %v", path, r["protected"])
	return nil
}

const readOnly = "Read-only file system"

// A file that the host replaces is mounted again. Writes of which nothing is notified (--violations
// off) show that it is the mount that denies them.
func TestReplacedFilesAreProtectedAgain(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.repository(b.ws)
		git := b.ws + "/.git"
		b.args = []string{"--violations", "off"}
		k := b.talk(specWW)
		// It is replaced before the watch begins, after it, and in every way that tools use.
		b.git(b.ws, "config", "core.abbrev", "11")
		write := "echo x >>" + git + "/config"
		k.becomes(write, readOnly)
		k.settled()
		for i, replace := range []func(){
			func() { b.git(b.ws, "config", "core.abbrev", "12") },
			func() {
				b.write(git+"/config.new", "[core]\n\tbare = false\n")
				must(t, os.Rename(git+"/config.new", git+"/config"))
			},
			func() {
				must(t, os.Remove(git+"/config"))
				b.write(git+"/config", "[core]\n\tbare = false\n")
			},
			func() {
				must(t, os.Rename(git+"/config", git+"/config~"))
				b.write(git+"/config", "[core]\n\tbare = false\n")
			},
		} {
			replace()
			k.becomes(write, readOnly)
			if got := k.ask("mv " + git + "/config x"); !strings.Contains(got, "busy") {
				t.Errorf("%d: renamed: %q", i, got)
			}
		}
		before, err := os.ReadFile(git + "/config")
		must(t, err)
		must(t, os.RemoveAll(git+"/hooks"))
		if got := k.ask("mkdir " + git + "/hooks"); !strings.Contains(got, "not permitted") {
			t.Errorf("hooks that are not there are made inside: %q", got)
		}
		must(t, os.Mkdir(git+"/hooks", 0o755))
		k.becomes("echo x >"+git+"/hooks/evil && rm "+git+"/hooks/evil", readOnly)
		if got := k.ask("git -C " + b.ws + " status --porcelain; echo works >" + b.ws + "/free && cat " + b.ws + "/free"); !strings.HasSuffix(got, "works") {
			t.Errorf("the sandbox does not go on as before: %q", got)
		}
		k.ends()
		b.holds(git+"/config", string(before))

		p := b.protected(git + "/config")
		renewed := 0
		for _, e := range p.list("events") {
			if e.text("renewed_at") == "" {
				continue
			}
			if renewed++; e.text("renewed_at") < e.text("at") || e["unprotected_ms"] == nil || e.text("digest_renewed") == "" {
				t.Errorf("%v", e)
			}
		}
		if renewed < 4 || p.whole("unprotected_ms") <= 0 || p["unprotected_at_end"] != nil {
			t.Errorf("%d renewals: %v", renewed, p)
		}
		if p := b.protected(git + "/hooks"); p.whole("unprotected_ms") <= 0 || p["unprotected_at_end"] != nil {
			t.Errorf("%v", p)
		}
		rec, _ := readRecord(b.rec)
		rec.hasStatus(t, "protected_names", "degraded")
		if why := rec.reason("protected_names"); !strings.Contains(why, "lacked the mount for") {
			t.Errorf("the line says %q", why)
		}
	})
}

// However often the host replaces a protected file, a program that uses its path finds no moment in
// which it may change it; the same goes for files under a directory that the host replaces.
func TestReplacedFilesAreRefusedByName(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "gcc")
	eachPlace(t, func(t *testing.T, b *box) {
		b.repository(b.ws)
		b.inBox("x", 0o755)
		config := b.ws + "/.git/config"
		text, err := os.ReadFile(config)
		must(t, err)
		for _, path := range []string{".git/config", "./.git/../.git/config", b.ws + "/.git/config"} {
			s := b.start(specWW, "./x", "replaced", path)
			s.expect("ready")
			for range 200 {
				b.write(config+".new", string(text))
				must(t, os.Rename(config+".new", config))
				time.Sleep(time.Millisecond)
			}
			b.write(b.ws+"/stop", "")
			if code := s.wait(); code != 0 {
				t.Fatalf("status %d: %s", code, s.err)
			}
			if got := s.out.all(); lastLine(strings.Join(got, "\n")) != "opened 0 removed 0 replaced 0 renamed 0 linked 0 truncated 0 other 0 (Success)" {
				t.Errorf("%s: %q", path, got)
			}
			b.holds(config, string(text))
			must(t, os.Remove(b.ws+"/stop"))
		}
		b.write(b.ws+"/free", "x")
		b.write(b.ws+"/further", "x")
		must(t, os.Remove(b.ws+"/further"))
		b.write(b.ws+"/soon", "sleep 0.2; touch stop")
		if r := b.sh(specWW, "sh ./soon & ./x replaced free; wait"); !strings.Contains(r.out, "opened ") || strings.Contains(r.out, "opened 0") || strings.Contains(r.out, "truncated 0") {
			t.Errorf("the control, a file that is not protected: %v", r)
		}
	})
}

// Until the mount is restored, the listener refuses to open the file for writing, and to create it
// while the host has removed it.
func TestBareFilesAreNotWritten(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.repository(b.ws)
	config := b.ws + "/.git/config"
	k := b.talk(specWW)
	for i := range 20 {
		b.git(b.ws, "config", "core.abbrev", strconv.Itoa(10+i))
		if got := k.ask("echo x >>" + config); !strings.Contains(got, readOnly) {
			t.Errorf("round %d: %q", i, got)
		}
		if got := k.ask("rm -f " + config); !strings.Contains(got, "busy") {
			t.Errorf("round %d, removed: %q", i, got)
		}
	}
	must(t, os.Rename(config, config+".away"))
	for _, make := range []string{"echo x >" + config, "cp file " + config, "ln file " + config, "ln -s file " + config, "mv file " + config, "mkdir " + config} {
		if got := k.ask(make); !strings.Contains(got, "not permitted") {
			t.Errorf("%s: %q", make, got)
		}
	}
	b.absent(config)
	must(t, os.Rename(config+".away", config))
	k.becomes("echo x >>"+config, readOnly)
	k.ends()
	if text, _ := os.ReadFile(config); strings.Contains(string(text), "x\n") && strings.HasSuffix(string(text), "x\n") {
		t.Errorf("the inside wrote to it: %q", text)
	}
}

// A repository that the host creates again is protected like the old one, and so are the
// directories that lead to it.
func TestRepositoryMadeAnew(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.repository(b.ws)
		b.args = []string{"--violations", "off"}
		k := b.talk(specWW)
		k.settled()
		must(t, os.RemoveAll(b.ws+"/.git"))
		b.git(b.ws, "init", "-q")
		k.becomes("echo x >>.git/config", readOnly)
		k.becomes("echo x >.git/hooks/evil && rm .git/hooks/evil", readOnly)
		k.becomes("mv .git old && mv old .git", "busy")
		b.git(b.ws, "config", "core.abbrev", "11")
		k.becomes("echo x >>.git/config", readOnly)
		k.ends()
		b.git(b.ws, "status")
		rec, _ := readRecord(b.rec)
		if moved := rec.moved(); len(moved) != 0 {
			t.Errorf("the host's own was moved away: %v", moved)
		}
	})
}

// A hidden file in a writable directory is masked again when the host rotates it.
func TestReplacedSecretsAreMaskedAgain(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		secret := b.write(b.ws+"/token", "hidden 0\n")
		inDir := b.write(b.ws+"/keys/one", "hidden one\n")
		npmrc := b.write(b.ws+"/.npmrc", "hidden 1\n")
		b.env = append(b.env, "HOME="+b.ws)
		for _, read := range []string{"", `"read":["@system","."],`} {
			k := b.talk(specWith(specWW, `"filesystem":{`+read+`"hide":["token","keys"]}`))
			if got := k.ask("cat token .npmrc; ls keys"); strings.Contains(got, "hidden") || strings.Contains(got, "one") {
				t.Fatalf("at the start: %q", got)
			}
			for i := range 3 {
				for _, path := range []string{secret, npmrc} {
					b.write(path+".new", fmt.Sprintf("hidden %d\n", i))
					must(t, os.Rename(path+".new", path))
				}
				eventually(t, "the files are masked again", func() bool { return !strings.Contains(k.ask("cat token .npmrc"), "hidden") })
				k.settled()
			}
			must(t, os.RemoveAll(filepath.Dir(inDir)))
			b.write(inDir, "hidden one\n")
			eventually(t, "the directory is masked again", func() bool { return k.ask("ls keys") == "" })
			if got := k.ask("echo x >token || echo y >keys/two"); !strings.Contains(got, readOnly) {
				t.Errorf("written: %q", got)
			}
			k.ends()
			b.holds(secret, "hidden 2\n")
			if p := b.protected(secret); p.whole("unprotected_ms") <= 0 || p["digest_before"] != nil || strings.Contains(fmt.Sprint(p), "digest") {
				t.Errorf("%v", p)
			}
			rec, _ := readRecord(b.rec)
			rec.hasStatus(t, "filesystem.hide", "degraded")
		}
	})
}

// A program inside that puts a link in place of a directory above gains nothing, and the record
// says that the mount could not be made.
func TestLinksOnTheWayAreNotFollowed(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.repository(b.ws)
	b.write(b.ws+"/sub/hooks/pre-commit", "kept\n")
	b.write(b.ws+"/evil/hooks/pre-commit", "kept\n")
	b.git(b.ws, "config", "core.hooksPath", "sub/hooks")
	k := b.talk(specWW)
	k.settled()
	if got := k.ask("mv sub sub2; ln -sfT evil sub; ln -sfT ../evil/hooks sub/hooks"); strings.Count(got, "busy") < 1 {
		t.Errorf("a directory on the way can be replaced: %q", got)
	}
	must(t, os.RemoveAll(b.ws+"/sub"))
	k.ask("ln -sT evil sub")
	if to, err := os.Readlink(b.ws + "/sub"); err != nil || to != "evil" {
		t.Fatalf("the case is not the one that was meant: %q %v", to, err)
	}
	time.Sleep(300 * time.Millisecond) // for a renewal
	if got := k.ask("echo x >evil/hooks/mine && grep -c evil /proc/self/mountinfo"); got != "0" {
		t.Errorf("something was mounted behind the link: %q", got)
	}
	// After the host puts the directory back, its files are protected again.
	must(t, os.Remove(b.ws+"/sub"))
	b.write(b.ws+"/sub/hooks/pre-commit", "kept\n")
	k.becomes("echo x >>sub/hooks/pre-commit", readOnly)
	must(t, os.RemoveAll(b.ws+"/sub"))
	k.ask("ln -sT evil sub")
	time.Sleep(300 * time.Millisecond)
	k.ends()
	p := b.protected(b.ws + "/sub")
	if p["unprotected_at_end"] != true || !strings.Contains(p.text("reason"), "link") {
		t.Errorf("%v", p)
	}
	if !strings.Contains(k.err.String(), "cannot mount "+b.ws+"/sub") || strings.Count(k.err.String(), "cannot mount") != 1 {
		t.Errorf("stderr: %q", k.err)
	}
}

// Repeated renewals leave no descriptor, process or mount behind.
func TestRenewalsLeaveNothing(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.repository(b.ws)
	b.args = []string{"--violations", "off"}
	k := b.talk(specWW)
	k.settled()
	pid := strconv.Itoa(k.cmd.Process.Pid)
	count := func(pattern string) int { list, _ := filepath.Glob(pattern); return len(list) }
	children := func() string {
		text, err := os.ReadFile("/proc/" + pid + "/task/" + pid + "/children")
		must(t, err)
		return string(text)
	}
	b.git(b.ws, "config", "core.abbrev", "9")
	k.becomes("echo x >>.git/config", readOnly)
	k.ask("for i in $(seq 50); do /bin/true; done; echo done") // a supervisor that answers so many has a descriptor of its own
	fds, kids, mounts := count("/proc/"+pid+"/fd/*"), children(), k.ask("grep -c '/.git' /proc/self/mountinfo")
	for i := range 50 {
		b.git(b.ws, "config", "core.abbrev", strconv.Itoa(10+i%10))
		k.becomes("echo x >>.git/config", readOnly)
	}
	eventually(t, "as many descriptors and processes as before", func() bool { return count("/proc/"+pid+"/fd/*") == fds && children() == kids })
	if got := k.ask("grep -c '/.git' /proc/self/mountinfo"); got != mounts {
		t.Errorf("%s mounts, before there were %s", got, mounts)
	}
	k.ends()
}

// If the host replaces a file all the time, that keeps nothing busy, and the record is bounded.
func TestRenewalsAreBounded(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.repository(b.ws)
	k := b.talk(specWW)
	k.settled()
	config := b.ws + "/.git/config"
	until := time.Now().Add(time.Second)
	n := 0
	for ; time.Now().Before(until); n++ {
		must(t, os.WriteFile(config+".new", []byte("[core]\n\tbare = false\n"), 0o644))
		must(t, os.Rename(config+".new", config))
	}
	k.becomes("echo x >>"+config, readOnly)
	k.ends()
	p := b.protected(config)
	events := len(p.list("events"))
	if left := p.whole("events_omitted"); events > 50 || events+left < 20 {
		t.Errorf("%d replacements: %d events and %d left out", n, events, left)
	}
}

// A denied program that the host replaces, as an upgrade does, is denied again.
func TestReplacedProgramIsDeniedAgain(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	program := b.write(b.ws+"/tool", "#!/bin/sh\necho it ran\n")
	must(t, os.Chmod(program, 0o755))
	b.args = []string{"--violations", "off"}
	k := b.talk(specWith(specWW, `"commands":{"deny":[`+quoted(program)+`]}`))
	k.settled()
	if got := k.ask("./tool"); strings.Contains(got, "it ran") {
		t.Fatalf("at the start: %q", got)
	}
	for range 3 {
		b.write(program+".new", "#!/bin/sh\necho it ran\n")
		must(t, os.Chmod(program+".new", 0o755))
		must(t, os.Rename(program+".new", program))
		eventually(t, "it is denied again", func() bool { return !strings.Contains(k.ask("./tool"), "it ran") })
	}
	k.ends()
	if p := b.protected(program); p["unprotected_at_end"] != nil {
		t.Errorf("%v", p)
	}
}
