package e2e

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// srv is a directory that every host has and that no private directory of a sandbox covers.
const srv = "/srv"

// mounting returns a host on which a script has mounted something before the command runs: for root
// in a mount namespace, for others in one of a user namespace's own. It begins in srv, where there
// is an empty file system.
func mounting(t *testing.T, script string) []string {
	t.Helper()
	unshare := needPrograms(t, "unshare", "mount")
	host := []string{unshare, "-m"}
	if !isRoot() {
		host = []string{unshare, "-Urm"}
	}
	if _, err := os.Stat(srv); err != nil {
		lacks(t, "there is no "+srv)
	}
	host = append(host, "/bin/sh", "-ec", "at=$PWD; mount -t tmpfs -o mode=755 none "+srv+"; cd "+srv+"; "+script+"\ncd $at; "+`exec "$@"`, "sh")
	if out, err := exec.Command(host[0], append(host[1:], "true")...).CombinedOutput(); err != nil {
		lacks(t, "nothing can be mounted here: "+strings.TrimSpace(string(out)))
	}
	return host
}

// setAttrHosts returns a host on which a whole tree of mounts can be changed at once, and one on
// which each mount has to be changed by itself.
func setAttrHosts(t *testing.T) map[string][]string {
	return map[string][]string{"mount_setattr": refusing(t, "nothing"), "each by itself": refusing(t, "setattr")}
}

// mountsOf returns the options of the mounts in a mountinfo, by their paths: of all mounts at one
// place, except those on which another is mounted.
func mountsOf(text string) map[string]string {
	m, path, over := map[string]string{}, map[string]string{}, map[string]bool{}
	lines := strings.Split(text, "\n")
	for _, l := range lines {
		if f := strings.Fields(l); len(f) > 6 {
			path[f[0]] = f[4]
		}
	}
	for _, l := range lines {
		if f := strings.Fields(l); len(f) > 6 && path[f[1]] == f[4] {
			over[f[1]] = true
		}
	}
	for _, l := range lines {
		if f := strings.Fields(l); len(f) > 6 && !over[f[0]] {
			m[f[4]] += f[5] + " "
		}
	}
	return m
}

// Without mount_setattr(2) every mount under a tree is made read-only by itself, with the same
// result.
func TestMountsAreReadOnlyEachByItself(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.repository(b.ws)
	script := `
mkdir top; mount -t tmpfs -o noexec,noatime none top; cd top
mkdir -p a s in; touch file; mount -t tmpfs none a; mkdir a/b; mount -t tmpfs -o nosuid,nodiratime none a/b
touch a/b/file; mount --bind file a/b/file
for i in $(seq 30); do mkdir m$i; mount -t tmpfs none m$i; done
mount -t tmpfs none s; mkdir s/under; mount -t tmpfs none s/under; mount -t tmpfs none s; touch s/over
mount --bind -o ro a in; mount -o remount,bind,ro in
mkdir 'o\dd name'; mount -t tmpfs none 'o\dd name'
cd ` + b.ws + `
mkdir -p sub; mount -t tmpfs none sub; mkdir sub/deep; mount -t tmpfs none sub/deep
mkdir -p .git/hooks/h; mount -t tmpfs none .git/hooks/h
`
	base := mounting(t, script)
	top := srv + "/top"
	var tries []string
	for _, dir := range []string{"", "/a", "/a/b", "/s", "/o\\dd name", "/m1", "/m17", "/m30"} {
		tries = append(tries, "create|"+top+dir+"/new")
	}
	tries = append(tries, "write|"+top+"/a/b/file", "create|"+b.ws+"/.git/hooks/h/new", "create|"+b.ws+"/sub/new", "create|"+b.ws+"/sub/deep/new")
	// The control: all of it can be written before.
	plain := b.plain(append(slices.Clone(base), append([]string{b.probe(), "try"}, tries...)...)...).ended()
	for _, a := range tries {
		if got := plain.lines()[a]; got != "ok" {
			t.Errorf("the control of %s: %s", a, got)
		}
	}
	var have map[string]string
	for name, host := range setAttrHosts(t) {
		r := b.on(append(slices.Clone(base), host...), modeOnly, append([]string{b.probe(), "try"}, tries...)...).ended()
		r.rec.hasStatus(t, "access_mode", "enforced")
		if got := r.rec.text("host", "rung"); got == "landlock and seccomp alone" {
			t.Errorf("%s: the rung is %q", name, got)
		}
		got := r.lines()
		for _, a := range tries {
			want := "EROFS"
			if strings.Contains(a, b.ws+"/sub") {
				want = "ok"
			}
			if got[a] != want {
				t.Errorf("%s: %s: %s, want %s", name, a, got[a], want)
			}
		}
		r = b.on(append(slices.Clone(base), host...), modeOnly, "/bin/sh", "-c", "cat /proc/self/mountinfo; echo end").ended()
		mounts := mountsOf(r.out)
		for path, word := range map[string]string{top: "ro,nosuid,nodev,noexec,noatime", top + "/a/b": "ro,nosuid,nodev,nodiratime", top + "/a/b/file": "noexec",
			top + "/in": "ro,", b.ws + "/sub": "rw,nosuid,nodev", b.ws + "/sub/deep": "rw,nosuid,nodev"} {
			if !strings.Contains(mounts[path], word) {
				t.Errorf("%s: %s is %q, want %s", name, path, mounts[path], word)
			}
		}
		// A path under another mount cannot be reached, and stays; a path in a directory of root's
		// (containers' layers) is not this user's.
		maps.DeleteFunc(mounts, func(path, _ string) bool {
			_, err := os.Lstat(path)
			return strings.HasSuffix(path, "/top/s/under") || errors.Is(err, fs.ErrPermission)
		})
		if have == nil {
			have = mounts
		}
		for path := range have {
			if have[path] != mounts[path] {
				t.Errorf("%s is %q by one way and %q by the other", path, have[path], mounts[path])
			}
		}
		if len(have) != len(mounts) || len(have) < 40 {
			t.Errorf("%d mounts by one way and %d by the other", len(have), len(mounts))
		}
	}
}

// A mount in a directory that is mounted over cannot be opened, but may become reachable again:
// without mount_setattr(2), which reaches it, the sandbox is refused.
func TestCoveredMountRefusesNamespaces(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	const covered = srv + "/x/y"
	base := mounting(t, "mkdir -p "+covered+" && mount -t tmpfs none "+covered+" && mount -t tmpfs none "+srv+"/x")
	hosts := setAttrHosts(t)
	b.on(append(slices.Clone(base), hosts["mount_setattr"]...), modeOnly, "/bin/sh", "-c", "echo end").ended()
	r := b.on(append(slices.Clone(base), hosts["each by itself"]...), modeOnly, "/bin/sh", "-c", "touch ran; echo end").refused("access_mode")
	if !strings.Contains(r.err, "remount each on "+covered+": operation not supported") {
		t.Errorf("the mount is not named: %v", r)
	}
	b.absent("ws/ran")
}

// A mount in a directory that neither sbx nor the command may enter stays as it is, unless the
// directory belongs to the caller, who could open it.
func TestMountsInShutDirs(t *testing.T) {
	if !isRoot() {
		t.Skip("root's part: it takes another user's directory")
	}
	needSandbox(t)
	const nobody = 65534
	setpriv := needPrograms(t, "setpriv")
	for name, owner := range map[string]int{"another's": 0, "the caller's": nobody} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			must(t, exec.Command("chown", "-R", strconv.Itoa(nobody), b.base).Run())
			const shut = srv + "/shut"
			base := mounting(t, "mkdir -p "+shut+"/m && mount -t tmpfs none "+shut+"/m && chown "+strconv.Itoa(owner)+" "+shut+" && chmod 000 "+shut)
			base = append(base, setpriv, "--reuid="+strconv.Itoa(nobody), "--regid="+strconv.Itoa(nobody), "--clear-groups", "--")
			try := "create|" + shut + "/m/new"
			r := b.on(append(slices.Clone(base), refusing(t, "setattr")...), modeOnly, b.probe(), "try", try)
			if owner == nobody {
				r.refused("access_mode")
				if !strings.Contains(r.err, "remount each on "+shut+"/m") {
					t.Errorf("the mount is not named: %v", r)
				}
				r = b.on(append(slices.Clone(base), refusing(t, "nothing")...), modeOnly, b.probe(), "try", try)
			}
			r.ended()
			r.rec.hasStatus(t, "access_mode", "enforced")
			if got := r.lines()[try]; got != "EACCES" {
				t.Errorf("%s: %s", try, got)
			}
		})
	}
}

// A file that the host replaces is read-only after it is mounted again, also if a process inside
// has it open for writing all the time.
func TestReplacedFilesEachByItself(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.repository(b.ws)
	git := b.ws + "/.git"
	b.args, b.host = []string{"--violations", "off"}, refusing(t, "setattr")
	k := b.talk(specWW)
	k.settled()
	k.ask("(while test ! -e stop; do (exec 3>>" + git + "/config; sleep 0.01); done) >/dev/null 2>&1 &")
	for _, value := range []string{"11", "12", "13"} {
		b.git(b.ws, "config", "core.abbrev", value)
		k.becomes("echo x >>"+git+"/config", readOnly)
		k.becomes("echo x >>"+git+"/config", readOnly)
		if got := k.ask("mv " + git + "/config x"); !strings.Contains(got, "busy") {
			t.Errorf("renamed: %q", got)
		}
	}
	must(t, os.RemoveAll(git+"/hooks"))
	must(t, os.Mkdir(git+"/hooks", 0o755))
	k.becomes("echo x >"+git+"/hooks/evil && rm "+git+"/hooks/evil", readOnly)
	k.ask("touch stop")
	k.ends()
	if p := b.protected(git + "/config"); p.whole("unprotected_ms") <= 0 || p["unprotected_at_end"] != nil {
		t.Errorf("%v", p)
	}
}
