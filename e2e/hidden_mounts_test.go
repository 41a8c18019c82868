package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// hiddenMounts are mounts to places that are hidden by default: the mount is in view there, and
// nothing else of the place.
var hiddenMounts = []struct {
	name, source, target, mode string
	want                       string // the content of the target
}{
	{"a file of a hidden directory onto itself", "HOME/.aws/credentials", "HOME/.aws/credentials", "ro", "KEY"},
	{"a hidden directory onto itself", "HOME/.aws", "HOME/.aws", "ro", "KEY CONF"},
	{"a hidden file onto itself", "HOME/.netrc", "HOME/.netrc", "ro", "NETRC"},
	{"another file in place of a hidden one", "HOME/data/f", "HOME/.netrc", "rw", "DATA"},
	{"another file into a hidden directory", "HOME/data/f", "HOME/.aws/credentials", "rw", "DATA"},
	{"a file that the hidden directory has not", "HOME/data/f", "HOME/.aws/new", "ro", "DATA"},
	{"a directory deeper in a hidden directory", "HOME/data", "HOME/.aws/x/y", "rw", "DATA"},
	{"a directory in place of a hidden one", "HOME/data", "HOME/.aws", "rw", "DATA"},
	{"a tmpfs in a hidden directory", "", "HOME/.aws/t", "tmpfs", ""},
}

// hiddenHome fills a home. If a name in it is hidden, a home with few names is rebuilt, and one
// with many becomes an overlay.
func (b *box) hiddenHome(many bool) {
	for path, text := range map[string]string{".aws/credentials": "KEY", ".aws/config": "CONF", ".netrc": "NETRC", ".ssh/id": "ID", "data/f": "DATA"} {
		b.write(b.home+"/"+path, text)
	}
	for i := range 20 {
		if many {
			b.write(fmt.Sprintf("%s/f%d", b.home, i), "")
		}
	}
}

// showing is a script that prints the content of a target, and then any secrets that can be read.
func showing(home, target string) string {
	return `cd ` + target + ` 2>/dev/null && { set -- *; [ -e "$1" ] || set --; cd /; for f in "$@"; do set -- ` + target + `/"$f"; cat "$1"; printf ' '; done; } || cat ` + target + `; echo
for f in ` + home + `/.aws/* ` + home + `/.netrc ` + home + `/.ssh/*; do case $f in ` + target + `|` + target + `/*) ;; *) cat "$f" 2>/dev/null;; esac; done; echo end`
}

func hiddenMountSpec(b *box, base string, source, target, mode string) string {
	m := `"label": "m", "target": "` + target + `", "mode": "` + mode + `"`
	if source != "" {
		m += `, "source": "` + source + `"`
	}
	return strings.ReplaceAll(strings.ReplaceAll(base, "MOUNTS", `"mounts": [{`+m+`}]`), "HOME", b.home)
}

// A mount at a path that is hidden by default is in view there, and the rest stays hidden.
func TestMountsIntoHidden(t *testing.T) {
	needSandbox(t)
	bases := []string{
		`{"access_mode": "workspace-write", "filesystem": {MOUNTS}}`,
		`{"access_mode": "read-only", "filesystem": {"read": ["@system"], MOUNTS}}`,
		`{"access_mode": "workspace-write", "filesystem": {"read": ["@system", "HOME"], MOUNTS}}`,
		`{"access_mode": "workspace-write", "working_dir": "HOME", "filesystem": {MOUNTS}}`,
		`{"filesystem": {"read": ["@system", "HOME"], MOUNTS}}`,
	}
	eachPlace(t, func(t *testing.T, b *box) {
		for _, many := range []bool{false, true} {
			b.hiddenHome(many)
			for _, base := range bases {
				for _, row := range hiddenMounts {
					source, target := strings.ReplaceAll(row.source, "HOME", b.home), strings.ReplaceAll(row.target, "HOME", b.home)
					script := showing(b.home, target)
					if r := b.plain("/bin/sh", "-c", script); !strings.Contains(r.out, "ID") {
						t.Fatalf("control: %v", r)
					}
					r := b.run(hiddenMountSpec(b, base, source, target, row.mode), "/bin/sh", "-c", script)
					shown, rest, _ := strings.Cut(r.out, "\n")
					if len(strings.Fields(shown)) != len(strings.Fields(row.want)) || !sameWords(shown, row.want) || rest != "end\n" || r.rec.status("filesystem.mounts") != "enforced" {
						t.Errorf("%s, %s, many %v: %q, want %q: %v", row.name, base, many, shown, row.want, r)
					}
					if row.mode != "rw" {
						continue
					}
					script = "printf + >>" + target + "/f || printf + >>" + target + "; echo end"
					b.run(hiddenMountSpec(b, base, source, target, row.mode), "/bin/sh", "-c", script).ended()
					b.holds(b.home+"/data/f", "DATA+")
					b.write(b.home+"/data/f", "DATA")
				}
			}
		}
		b.holds(b.home+"/.aws/credentials", "KEY")
		b.absent(b.home + "/.aws/new")
		b.absent(b.home + "/.aws/x")
	})
}

func sameWords(got, want string) bool {
	for _, w := range strings.Fields(want) {
		if !strings.Contains(got, w) {
			return false
		}
	}
	return true
}

// The same holds if another tool mounts, and if nothing counts or describes.
func TestWrappedMountsIntoHidden(t *testing.T) {
	eachWrapper(t, func(t *testing.T, b *box, tool outerTool) {
		b.hiddenHome(true)
		for _, row := range hiddenMounts {
			source, target := strings.ReplaceAll(row.source, "HOME", b.home), strings.ReplaceAll(row.target, "HOME", b.home)
			spec := hiddenMountSpec(b, `{"access_mode": "workspace-write", "filesystem": {MOUNTS}}`, source, target, row.mode)
			a, _ := b.wrap(b.invoked(nil, "/bin/sh", "-c", showing(b.home, target)), append(tool.flags("--wrapper"), "--spec-json", spec)...)
			r := a.start(b)
			shown, rest, _ := strings.Cut(r.out, "\n")
			if !sameWords(shown, row.want) || rest != "end\n" {
				t.Errorf("%s: %q, want %q: %v", row.name, shown, row.want, r)
			}
		}
	}, "docker", "podman", "runsc") // an image has none of these directories
}

// A mount that something hides is not reported as enforced: filesystem.hide beats it, and the line
// says so; otherwise it is a refusal.
func TestMountsThatStayHidden(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.hiddenHome(true)
	must(t, os.Mkdir(b.home+"/h", 0o755))
	mount := func(source, target string) string {
		return `{"label": "m` + target + `", "source": "` + source + `", "target": "` + target + `", "mode": "ro"}`
	}
	at := func(hide string) string {
		return `{"access_mode": "workspace-write", "filesystem": {"hide": [` + hide + `], "mounts": [` + mount(b.home+"/data", b.home+"/h") + `]}}`
	}
	if r := b.sh(at(""), "cat "+b.home+"/h/f; echo"); r.ended().out != "DATA\nend\n" || r.rec.status("filesystem.mounts") != "enforced" {
		t.Fatalf("control: %v", r)
	}
	if r := b.sh(at(quoted(b.home+"/h")), "cat "+b.home+"/h/f"); r.ended().out != "end\n" || r.rec.status("filesystem.mounts") != "degraded" {
		t.Errorf("hidden by the document: %v", r)
	}
	twice := `{"access_mode": "workspace-write", "filesystem": {"mounts": [` + mount(b.home, "/mnt") + `, ` + mount(b.home+"/data/f", "/mnt/.aws/credentials") + `]}}`
	b.sh(twice, "cat /mnt/.aws/credentials").refused("/mnt/.aws/credentials")
}

// A directory mounted onto itself shows none of its secrets, whatever the document names in them;
// and a tmpfs hides what is under it.
func TestMountsOverTheHome(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.hiddenHome(true)
		itself := `{"source": "` + b.home + `", "target": "` + b.home + `", "mode": "ro"}`
		empty := `{"target": "` + b.home + `", "mode": "tmpfs"}`
		at := func(name string) string {
			return `{"source": "` + b.home + `/data", "target": "` + b.home + `/` + name + `", "mode": "ro"}`
		}
		for _, c := range []struct{ write, mounts, script, want string }{
			{"", "", "cat ~/.aws/*; echo", "\nend\n"},
			{quoted(b.home + "/.aws/credentials"), "", "cat ~/.aws/*; echo", "KEY\nend\n"},
			{"", itself, "cat ~/.aws/*; cat ~/data/f; echo", "DATA\nend\n"},
			{quoted(b.home + "/.aws/credentials"), itself, "cat ~/.aws/*; cat ~/data/f; echo", "DATA\nend\n"},
			{"", empty + ", " + at("data"), "ls ~; cat ~/data/f; echo", "data\nDATA\nend\n"},
			{"", empty + ", " + at("f1"), "ls ~; cat ~/f1/f; echo", "f1\nDATA\nend\n"},
			{quoted(b.home + "/data"), empty + ", " + strings.ReplaceAll(at("data"), `"ro"`, `"rw"`), "ls ~; cat ~/data/f; echo", "data\nDATA\nend\n"},
			{"", empty + ", " + at("new"), "ls ~; cat ~/new/f; echo", "new\nDATA\nend\n"},
		} {
			spec := `{"access_mode": "read-only", "working_dir": "/", "filesystem": {"write": [` + c.write + `], "mounts": [` + c.mounts + `]}}`
			if r := b.sh(spec, c.script); r.ended().out != c.want {
				t.Errorf("%s: %q, want %q: %v", spec, r.out, c.want, r)
			}
		}
	})
}
