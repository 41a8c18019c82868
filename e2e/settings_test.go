package e2e

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// A directory in which projects keep other things can be created, but a protected name in it can
// neither be created nor be brought with a directory that is put in its place.
func TestDirsOnTheWayThatMayBeMade(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		for dir, in := range map[string]string{".direnv": "flake-profile-0.rc", ".github": "hooks", ".clinerules": "hooks", ".config": "mise.toml", "mise": "config.toml"} {
			at := b.ws + "/" + dir
			got := b.tries(specWW, "mkdir|"+at, "mkdir|"+at+"/"+in, "create|"+at+"/"+in, "create|"+at+"/other")
			for try, want := range map[string]string{"mkdir|" + at: "ok", "mkdir|" + at + "/" + in: "EPERM", "create|" + at + "/" + in: "EPERM", "create|" + at + "/other": "ok"} {
				if got[try] != want {
					t.Errorf("%s: %s, want %s", try, got[try], want)
				}
			}
			b.absent(at + "/" + in)
			if _, err := os.Stat(at + "/other"); err != nil {
				t.Errorf("it did not stay: %v", err)
			}
			must(t, os.RemoveAll(at))
			script := "mkdir away; echo x >away/" + in + "; mv away " + dir + " 2>/dev/null; mv -T away " + dir + " 2>/dev/null; ln -s away " + dir + " 2>/dev/null; ls -d " + dir + "/" + in
			if r := b.sh(specWW, script+" 2>/dev/null").ended(); r.out != "end\n" {
				t.Errorf("%s: %v", dir, r)
			}
			b.absent(at)
			must(t, os.RemoveAll(b.ws+"/away"))
			if r := b.sh(specNone, script).ended(); !strings.HasPrefix(r.out, dir+"/"+in+"\n") {
				t.Errorf("control: %v", r)
			}
			must(t, os.RemoveAll(at))
		}
	})
}

// A second working copy of Jujutsu's has a file that names the repository, and so its
// configuration.
func TestWorkingCopyOfJujutsu(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		file := b.write("ws/.jj/repo", "../../main/.jj/repo")
		const script = `(echo /evil >.jj/repo) 2>/dev/null; rm -f .jj/repo 2>/dev/null; mv .jj away 2>/dev/null; echo x >.jj/other`
		b.sh(specWW, script).ended()
		b.holds(file, "../../main/.jj/repo")
		b.holds(b.ws+"/.jj/other", "x\n")
		b.sh(specNone, `echo /evil >.jj/repo`).ended()
		b.holds(file, "/evil\n")
	})
}

// A restriction in a project's own profiles stays for the next run.
func TestProfilesOfAProjectStay(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.write("ws/.sbx/profiles.yaml", "profiles:\n  write:\n    spec:\n      limits:\n        pids: 99\n")
		asks := func() string {
			return b.plain(sbxPath, "profile", "show", "--project", b.ws, "write").out
		}
		before := asks()
		if !strings.Contains(before, "99") {
			t.Fatalf("the project's file is not heeded: %s", before)
		}
		const script = `rm -f .sbx/profiles.yaml; rm -r .sbx; mv .sbx away; (echo "profiles: {}" >.sbx/profiles.yaml)`
		b.sh(specWW, script+" 2>/dev/null").ended()
		if now := asks(); now != before {
			t.Errorf("it was\n%s\nand is\n%s", before, now)
		}
		b.sh(specNone, script+" 2>/dev/null").ended()
		if now := asks(); now == before {
			t.Errorf("control: %s", now)
		}
	})
}

// A FIFO in place of a system call profile is not waited for.
func TestProfileOfSystemCallsIsAPlainFile(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	const asks = `{"access_mode":"read-only","syscalls":"calls.json"}`
	must(t, syscall.Mkfifo(b.ws+"/calls.json", 0o600))
	if r := b.sh(asks, "true"); r.code != 125 || !strings.Contains(r.err, "is not a regular file") {
		t.Errorf("%v", r)
	}
	must(t, os.Remove(b.ws+"/calls.json"))
	b.write("ws/calls.json", `{"defaultAction":"SCMP_ACT_ALLOW"}`)
	b.sh(asks, "true").ended()
}
