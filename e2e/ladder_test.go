package e2e

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// refusing returns the command line that simulates a host which denies something: a program that
// runs another behind a filter.
func refusing(t *testing.T, what ...string) []string {
	t.Helper()
	path, err := refuseBuilt()
	must(t, err)
	return append(append([]string{path}, what...), "--")
}

// on runs sbx on a host that the words before it simulate.
func (b *box) on(host []string, spec string, argv ...string) result {
	b.t.Helper()
	os.Remove(b.rec)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	args := append(append([]string{}, host...), sbxPath)
	args = append(args, b.execArgs(spec, argv...)...)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = b.ws, b.env, 2*time.Second
	return b.finish(cmd)
}

// reason returns the reason in a line of the enforcement.
func (r record) reason(field string) string {
	for _, l := range r.list("enforcement") {
		if l.text("field") == field {
			return l.text("reason")
		}
	}
	return ""
}

const (
	modeOnly   = `{"access_mode": "workspace-write"}`
	modeEffort = `{"access_mode": "workspace-write", "best_effort": ["*"]}`
)

// ladderHost is a host that lacks something, and what is left on it.
type ladderHost struct {
	name string
	make func(t *testing.T) []string
	step string // the step that the reason names
	land bool   // Landlock is left
	only string // "root", "user"; "" for both
}

func ladderHosts() []ladderHost {
	by := func(what ...string) func(*testing.T) []string {
		return func(t *testing.T) []string { return refusing(t, what...) }
	}
	return []ladderHost{
		{"no user namespaces", by("userns"), "clone on namespaces: operation not permitted", true, "user"},
		{"no mounts", by("mount"), "mount on /: operation not permitted", true, ""},
		{"no mounts nor Landlock", by("mount", "landlock"), "mount on /: operation not permitted", false, ""},
		{"no mounts, a domain refused", by("mount", "restrict"), "mount on /: operation not permitted", false, ""},
		{"inside bwrap", func(t *testing.T) []string {
			bwrap := needPrograms(t, "bwrap")
			host := []string{bwrap, "--unshare-user", "--disable-userns", "--cap-drop", "ALL", "--dev-bind", "/", "/", "--"}
			if out, err := exec.Command(host[0], append(host[1:], "true")...).CombinedOutput(); err != nil {
				lacks(t, "bwrap does not work here: "+strings.TrimSpace(string(out)))
			}
			return host
		}, "", true, ""},
	}
}

func (l *ladderHost) each(t *testing.T, f func(t *testing.T, b *box, host []string)) {
	t.Run(l.name, func(t *testing.T) {
		if l.only == "user" && isRoot() || l.only == "root" && !isRoot() {
			t.Skip("for the other kind of user")
		}
		f(t, newBox(t), l.make(t))
	})
}

// If something cannot be enforced, sbx refuses before the command starts, with the field, the step
// that the host denied, and a hint.
func TestLadderRefuses(t *testing.T) {
	needSandbox(t)
	for _, l := range ladderHosts() {
		l.each(t, func(t *testing.T, b *box, host []string) {
			r := b.on(host, modeOnly, "/bin/sh", "-c", "touch ran; echo end")
			r.refused("access_mode")
			b.absent("ws/ran")
			for _, word := range []string{l.step, "no namespaces", "best_effort"} {
				if !strings.Contains(r.err, word) {
					t.Errorf("stderr does not say %q: %v", word, r)
				}
			}
			if r.rec.text("state") != "refused" || r.rec.text("error", "field") != "access_mode" || !strings.Contains(r.rec.text("error", "reason"), l.step) ||
				r.rec.text("error", "help") == "" {
				t.Errorf("the record does not tell of the refusal: %v", r)
			}
		})
	}
}

// With best_effort the command runs, the record says what is not enforced and why, and the
// remaining rules really are enforced.
func TestLadderBestEffort(t *testing.T) {
	needSandbox(t)
	for _, l := range ladderHosts() {
		l.each(t, func(t *testing.T, b *box, host []string) {
			outside := b.write("out/file", "host\n")
			tries := []string{"write|" + outside, "mkdir|" + b.out + "/dir", "create|" + b.ws + "/new"}
			control := b.control(tries...)
			os.Remove(b.out + "/dir")
			os.Remove(b.ws + "/new")
			r := b.on(host, modeEffort, append([]string{b.probe(), "try"}, tries...)...).ended()
			want := "degraded"
			if !l.land {
				want = "unavailable"
			}
			r.rec.hasStatus(t, "access_mode", want)
			r.rec.hasStatus(t, "network", "degraded")
			for _, field := range []string{"secrets", "private_folders", "protected_names", "new_protected_names"} {
				r.rec.hasStatus(t, field, "unavailable")
			}
			r.rec.hasStatus(t, "processes", "degraded")
			r.rec.hasStatus(t, "record", "degraded")
			r.rec.hasStatus(t, "no_new_privs", "enforced")
			for _, field := range []string{"access_mode", "network", "secrets"} {
				if why := r.rec.reason(field); !strings.Contains(why, l.step) || !strings.Contains(why, "no namespaces") {
					t.Errorf("the line for %s does not name the step: %q", field, why)
				}
			}
			if r.rec["access_mode"] != nil {
				t.Errorf("access_mode is %v, and it does not hold", r.rec["access_mode"])
			}
			if got := r.rec.text("host", "rung"); got != "landlock and seccomp alone" {
				t.Errorf("the rung is %q", got)
			}
			if l.land && !r.rec.refused("filesystem", outside) {
				t.Errorf("the refused write is no violation: %v", r.rec["violations"])
			}
			got := r.lines()
			for i, a := range tries {
				if control[a] != "ok" {
					t.Errorf("the control of %s: %s", a, control[a])
				}
				refused := "EACCES"
				if i == 2 || !l.land {
					refused = "ok"
				}
				if got[a] != refused {
					t.Errorf("%s: %s, want %s", a, got[a], refused)
				}
			}
		})
	}
}

// Without a network namespace seccomp denies the network.
func TestLadderFilterHolds(t *testing.T) {
	needSandbox(t)
	python := needPrograms(t, "python3")
	b := newBox(t)
	script := b.write("ws/inet.py", `import socket, errno
for f in (socket.AF_INET, socket.AF_INET6):
    try:
        socket.socket(f, socket.SOCK_STREAM).close()
        print("made")
    except OSError as e:
        print(errno.errorcode[e.errno])
print("end")
`)
	if r := b.plain(python, script); !strings.HasPrefix(r.out, "made\n") {
		t.Fatalf("the control: %v", r)
	}
	r := b.on(refusing(t, "mount"), modeEffort, python, script)
	if r.out != "EPERM\nEPERM\nend\n" {
		t.Errorf("sockets can be made: %v", r)
	}
}

// Landlock alone can enforce a list of readable paths: files that are not on it cannot be opened.
// Their names and metadata stay in view, so the document has to accept that.
func TestLadderReadListByLandlockAlone(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	if elsewhere == "" {
		b = newBox(t)
	}
	secret := b.write("out/file", "host\n")
	inside := b.write("ws/file", "mine\n")
	plain := b.on(refusing(t, "mount"), `{"filesystem": {"read": ["@system", "."]}}`, b.probe(), "try", "read|"+inside)
	if plain.code != 125 {
		t.Errorf("without best_effort: %v", plain)
	}
	spec := `{"filesystem": {"read": ["@system", "."]}, "best_effort": ["filesystem.read"]}`
	tries := []string{"read|" + inside, "read|" + secret, "list|" + b.out, "write|" + inside, "create|" + b.ws + "/new"}
	control := b.control(tries...)
	os.Remove(b.ws + "/new")
	r := b.on(refusing(t, "mount"), spec, append([]string{b.probe(), "try"}, tries...)...).ended()
	r.rec.hasStatus(t, "filesystem.read", "degraded")
	got := r.lines()
	want := []string{"read:mine", "EACCES", "EACCES", "EACCES", "EACCES"}
	for i, a := range tries {
		if got[a] != want[i] {
			t.Errorf("%s: %s, want %s", a, got[a], want[i])
		}
		if control[a] == "EACCES" || control[a] == "" {
			t.Errorf("the control of %s: %s", a, control[a])
		}
	}
}

// Without Landlock, namespaces and mounts enforce everything, and the record says so.
func TestLadderWithoutLandlock(t *testing.T) {
	needSandbox(t)
	for name, what := range map[string]string{"not built": "landlock", "a domain refused": "restrict"} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			outside := b.write("out/file", "host\n")
			try := "write|" + outside
			r := b.on(refusing(t, what), modeOnly, b.probe(), "try", try).ended()
			r.rec.hasStatus(t, "access_mode", "enforced")
			if got := r.lines()[try]; got != "ENOENT" && got != "EROFS" { // a private /tmp, or a read-only directory
				t.Errorf("%s: %s", try, got)
			}
			if b.control(try)[try] != "ok" {
				t.Error("the control failed")
			}
			if why := r.rec.reason("side_doors"); !strings.Contains(why, "no Landlock") {
				t.Errorf("the line for side_doors says %q", why)
			}
		})
	}
}

// Without a filter the side doors are open: that is refused, or reported.
func TestLadderWithoutSeccomp(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	r := b.on(refusing(t, "seccomp"), modeOnly, "/bin/sh", "-c", "touch ran; echo end").refused("side_doors")
	if !strings.Contains(r.err, "seccomp: operation not permitted") {
		t.Errorf("the step is not named: %v", r)
	}
	b.absent("ws/ran")
	try := "write|" + b.write("out/file", "host\n")
	r = b.on(refusing(t, "seccomp"), modeEffort, b.probe(), "try", try).ended()
	r.rec.hasStatus(t, "side_doors", "unavailable")
	r.rec.hasStatus(t, "access_mode", "enforced")
	if got := r.lines()[try]; got != "ENOENT" && got != "EROFS" {
		t.Errorf("%s: %s", try, got)
	}
}

// Root falls back to namespaces without a user namespace if none can be made, or if it cannot have
// a /proc of its own: containers mount over parts of theirs.
func TestLadderAsRoot(t *testing.T) {
	if !isRoot() {
		t.Skip("root's part")
	}
	needSandbox(t)
	unshare := needPrograms(t, "unshare", "mount")
	covered := []string{unshare, "-m", "/bin/sh", "-c", `mount -t tmpfs none /proc/acpi && mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys && exec "$@"`, "sh"}
	if out, err := exec.Command(covered[0], append(covered[1:], "true")...).CombinedOutput(); err != nil {
		lacks(t, "nothing can be mounted over /proc here: "+strings.TrimSpace(string(out)))
	}
	for name, host := range map[string][]string{"no user namespaces": refusing(t, "userns"), "covered proc": covered} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			outside := b.write("out/file", "host\n")
			tries := []string{"write|" + outside, "create|" + b.ws + "/new", "write|/proc/sys/kernel/core_pattern", "list|/proc/1/root/" + strings.TrimPrefix(b.out, "/")}
			r := b.on(host, modeOnly, append([]string{b.probe(), "try"}, tries...)...).ended()
			r.rec.hasStatus(t, "access_mode", "enforced")
			if got := r.rec.text("host", "rung"); got != "namespaces as root" {
				t.Errorf("the rung is %q", got)
			}
			got := r.lines()
			if got[tries[1]] != "ok" {
				t.Errorf("%s: %s", tries[1], got[tries[1]])
			}
			for _, a := range []string{tries[0], tries[2], tries[3]} {
				if got[a] == "ok" || strings.HasPrefix(got[a], "read:") || got[a] == "" {
					t.Errorf("%s: %q", a, got[a])
				}
			}
		})
	}
}

// Without process_vm_readv, as under Docker 20.10's filter, the supervisor still sees the arguments
// of a call, with namespaces or without.
func TestListenerWithoutReadv(t *testing.T) {
	needSandbox(t)
	for _, what := range [][]string{{"nothing"}, {"readv"}, {"noreadv"}, {"readv", "ptrace"}, {"mount", "nothing"}, {"mount", "readv"}, {"mount", "noreadv", "ptrace"}} {
		b := newBoxElsewhere(t)
		new, git, dir := "create|"+b.ws+"/new", "create|"+b.ws+"/.envrc", "openat2|"+b.ws+"/second"
		r := b.on(refusing(t, what...), modeEffort, b.probe(), "try", new, git, dir, "run|/bin/true").ended()
		want, violations := "EPERM", 1
		if what[0] == "mount" { // nothing watches, as the record says
			want, violations = "ok", 0
			r.rec.hasStatus(t, "protected_names", "unavailable")
		}
		got := r.lines()
		if got[new] != "ok" || got[dir] != "ok" || got[git] != want || strings.Contains(r.err, "protected_names:  is") {
			t.Errorf("%v: %v: %v", what, got, r)
		}
		if v := r.rec.list("violations"); len(v) != violations || violations == 1 && v[0].text("target") != b.ws+"/.envrc" {
			t.Errorf("%v: %v", what, v)
		}
		if c, ok := r.rec.at("commands", "programs").([]any); !ok || len(c) != 1 || c[0].(map[string]any)["name"] != "true" {
			t.Errorf("%v: %v", what, r.rec.at("commands"))
		}
	}
}
