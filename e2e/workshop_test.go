package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// shop makes a workshop's tree in the box's workspace, with names that no host has in its root
// directory.
func (b *box) shop() {
	b.t.Helper()
	b.write(b.ws+"/sbx-src/main", "MAIN")
	b.write(b.ws+"/sbx-src/lib/part", "PART")
	b.write(b.ws+"/sbx-docs/page", "PAGE")
	b.write(b.ws+"/sbx-note", "NOTE")
	b.write(b.out+"/file", "HOST")
	must(b.t, os.Symlink("sbx-src", b.ws+"/sbx-in"))
	b.copyProbe(b.ws + "/sbx-src/lib/probe.bin")
}

// inShop runs attempts of the probe under a spec of the workshop.
func (b *box) inShop(more string, attempts ...string) map[string]string {
	b.t.Helper()
	argv := append([]string{b.ws + "/sbx-src/lib/probe.bin", "try"}, attempts...)
	return b.run(`{"sandbox": {"root": "`+b.ws+`"}`+more+`}`, argv...).ended().lines()
}

// The entries of the root are in view at their own path and at their virtual one, and at no other:
// a table with a column for each worker.
func TestWorkshop(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.shop()
		rows := []struct{ attempt, plain, all, readonly, part string }{
			{"cwd", b.ws, b.ws, b.ws, b.ws + "/sbx-src"},
			{"read|" + b.ws + "/sbx-src/main", "read:MAIN", "read:MAIN", "read:MAIN", "read:MAIN"},
			{"read|/sbx-src/main", "ENOENT", "read:MAIN", "read:MAIN", "read:MAIN"},
			{"read|/sbx-src/lib/part", "ENOENT", "read:PART", "read:PART", "read:PART"},
			{"read|/sbx-docs/page", "ENOENT", "read:PAGE", "read:PAGE", "ENOENT"},
			{"read|" + b.ws + "/sbx-docs/page", "read:PAGE", "read:PAGE", "read:PAGE", "ENOENT"},
			{"read|/sbx-note", "ENOENT", "read:NOTE", "read:NOTE", "ENOENT"},
			{"read|/sbx-in/main", "ENOENT", "read:MAIN", "read:MAIN", "ENOENT"},
			{"read|" + b.out + "/file", "read:HOST", "ENOENT", "ENOENT", "ENOENT"},
			{"create|/sbx-src/one", "ENOENT", "ok", "EROFS", "EROFS"},
			{"create|" + b.ws + "/sbx-src/two", "ok", "ok", "EROFS", "EROFS"},
			{"write|/sbx-note", "ENOENT", "ok", "EROFS", "ENOENT"},
			{"create|/sbx-new", "", "EROFS", "EROFS", "EROFS"},
			{"open|/etc/passwd", "ok", "ok", "ok", "ok"},
		}
		var attempts []string
		for _, r := range rows {
			attempts = append(attempts, r.attempt)
		}
		for _, c := range []struct {
			what, spec string
			want       func(int) string
		}{
			{"readonly", `, "readonly": true`, func(i int) string { return rows[i].readonly }},
			{"part", `, "restrict": "/sbx-src", "readonly": true`, func(i int) string { return rows[i].part }},
			{"all", "", func(i int) string { return rows[i].all }},
		} {
			got := b.inShop(c.spec, attempts...)
			for i, r := range rows {
				if got[r.attempt] != c.want(i) {
					t.Errorf("%s: %s: got %s, want %s", c.what, r.attempt, got[r.attempt], c.want(i))
				}
			}
		}
		for _, made := range []string{"/sbx-src/one", "/sbx-src/two"} {
			must(t, os.Remove(b.ws+made)) // left by the last run, if it may write
		}
		b.write(b.ws+"/sbx-note", "NOTE")
		got := b.control(attempts...)
		for _, r := range rows {
			if r.plain != "" && got[r.attempt] != r.plain {
				t.Errorf("without a sandbox: %s: got %s, want %s", r.attempt, got[r.attempt], r.plain)
			}
		}
	})
}

// If another file replaces one, as editors do, its virtual path shows the new one.
func TestVirtualFileIsTheNewOne(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.shop()
	r := b.sh(`{"sandbox": {"root": "`+b.ws+`"}}`, `echo NEW > sbx-note.new && mv sbx-note.new sbx-note && cat /sbx-note`).ended()
	if !strings.HasPrefix(r.out, "NEW\n") {
		t.Error(r)
	}
}

// A part that is named by a link is in view under the name in the worker's text, and under its own.
func TestRestrictByLink(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.shop()
	got := b.inShop(`, "restrict": "/sbx-in/lib"`, "cwd", "read|/sbx-in/lib/part", "read|/sbx-src/lib/part", "read|/sbx-src/main", "create|/sbx-in/lib/new")
	for attempt, want := range map[string]string{
		"cwd": b.ws + "/sbx-src/lib", "read|/sbx-in/lib/part": "read:PART", "read|/sbx-src/lib/part": "read:PART", "read|/sbx-src/main": "ENOENT", "create|/sbx-in/lib/new": "ok",
	} {
		if got[attempt] != want {
			t.Errorf("%s: got %s, want %s", attempt, got[attempt], want)
		}
	}
	b.holds(b.ws+"/sbx-src/lib/new", "")
}

// If a name of the root is taken inside, it has no virtual path, which sbx reports with what takes
// it, and nothing else happens: most projects have such names.
func TestVirtualPathIsTaken(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.shop()
	spec := `{"sandbox": {"root": "` + b.ws + `"}}`
	const script = "cat /sbx-src/main; cat bin/own /bin/own; ls -d /usr/bin; echo end"
	if r := b.sh(spec, script).ended(); strings.Contains(r.err, "warning") || !strings.HasPrefix(r.out, "MAIN/usr/bin\n") {
		t.Error(r)
	}
	names := []string{"bin", "lib", "usr", "etc", "proc", "dev", "sys", "tmp", "run", "var", strings.Split(b.home, "/")[1]}
	for _, name := range names {
		b.write(b.ws+"/"+name+"/own", "OWN")
	}
	r := b.sh(spec, script).ended()
	if !strings.HasPrefix(r.out, "MAINOWN/usr/bin\n") {
		t.Errorf("%v", r)
	}
	r.rec.hasStatus(t, "sandbox.root", "enforced")
	for _, name := range names {
		for where, text := range map[string]string{"stderr": r.err, "the record's line": r.rec.reason("sandbox.root"), "its warnings": fmt.Sprint(r.rec["warnings"])} {
			if !strings.Contains(text, b.ws+"/"+name+" (") || !strings.Contains(text, " /"+name) {
				t.Errorf("%s does not name %s and what has it: %s", where, name, text)
			}
		}
	}
	if strings.Contains(r.err, b.ws+"/sbx-") {
		t.Errorf("%v", r)
	}
	r = b.sh(`{"sandbox": {"root": "`+b.ws+`"}, "restrict": "/lib"}`, "cat own; pwd; cat /lib/own; echo end").ended()
	if !strings.HasPrefix(r.out, "OWN"+b.ws+"/lib\nend") || !strings.Contains(r.err, b.ws+"/lib (") {
		t.Errorf("%v", r)
	}
	b.args = []string{"-q"}
	if r = b.sh(spec, "echo end").ended(); r.err != "" {
		t.Errorf("%v", r)
	}
	r = b.sh(`{"sandbox": {"root": "`+b.ws+`"}, "filesystem": {"mounts": [{"source": "`+b.out+`", "target": "/sbx-src", "mode": "ro"}]}}`, "cat /sbx-src/file; echo end").ended()
	if !strings.HasPrefix(r.out, "HOST") || !strings.Contains(r.rec.reason("sandbox.root"), "a mount has /sbx-src there") {
		t.Errorf("%v", r)
	}
	b.sh(`{"sandbox": {"root": "`+b.ws+`"}, "restrict": "/sbx-none"}`, "true").refused(b.ws + "/sbx-none does not exist")
}

// Each of a root's many names has a virtual path.
func TestVirtualPathsOfManyNames(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.shop()
	for i := range 600 {
		b.write(fmt.Sprintf("%s/sbx-%d-a-name-that-makes-the-folder-large", b.ws, i), "")
	}
	r := b.sh(`{"sandbox": {"root": "`+b.ws+`"}}`, "ls -d /sbx-*-large | wc -l; cat /sbx-src/main; echo").ended()
	if !strings.HasPrefix(r.out, "600\nMAIN") {
		t.Error(r)
	}
}

// A mount under another is visible whatever their order in the spec, and creates nothing on the
// host.
func TestMountBeneathAMount(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.write(b.out+"/inner/file", "HIDDEN")
	b.write(b.home+"/file", "SEEN")
	outer := `{"source": "` + b.out + `", "target": "/sbx-a", "mode": "rw"}`
	spec := func(list ...string) string {
		return `{"filesystem": {"mounts": [` + strings.Join(list, ", ") + `]}}`
	}
	inner := func(name string) string {
		return `{"source": "` + b.home + `", "target": "/sbx-a/` + name + `", "mode": "ro"}`
	}
	for _, s := range []string{spec(outer, inner("inner")), spec(inner("inner"), outer)} {
		if r := b.sh(s, "cat /sbx-a/inner/file; echo").ended(); !strings.HasPrefix(r.out, "SEEN") {
			t.Errorf("%s: %v", s, r)
		}
	}
	if r := b.sh(spec(outer), "cat /sbx-a/inner/file; echo").ended(); !strings.HasPrefix(r.out, "HIDDEN") {
		t.Error(r)
	}
	b.sh(spec(outer, inner("none")), "true").refused("sbx makes nothing in a directory of the host")
	b.sh(spec(inner("none"), outer), "true").refused("sbx makes nothing in a directory of the host")
	b.absent(b.out + "/none")
	tmpfs := `{"target": "/sbx-a", "mode": "tmpfs"}`
	if r := b.sh(spec(inner("none"), tmpfs), "cat /sbx-a/none/file; echo").ended(); !strings.HasPrefix(r.out, "SEEN") {
		t.Error(r)
	}
}
