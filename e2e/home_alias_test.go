package e2e

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// A home that another mount shows counts as the home there as well: its protected names are
// protected, and a command can neither make nor move sbx's own state.
func TestHomeSeenTwice(t *testing.T) {
	needSandbox(t)
	words := []string{needPrograms(t, "unshare"), "--mount"}
	if !isRoot() {
		words = append(words, "--user", "--map-current-user", "--keep-caps")
	}
	const script = `for f in .bashrc .profile .config/git/config .local/state/sbx/runs/forged/effective.json; do
	mkdir -p "${f%/*}" 2>/dev/null; echo x > "$f"; done 2>/dev/null; mv .local/state .local/moved; echo x > own; echo end`
	for name, row := range map[string]struct{ from, to, in string }{
		"the home":               {"home", "shown", "shown"},
		"the directory above it": {".", "shown", "shown/home"},
		"in a tree":              {"home", "tree/deep/shown", "tree"},
	} {
		t.Run(name, func(t *testing.T) {
			// returns what is left in the home, and the parent of the state directory under another
			// name
			run := func(sandboxed bool) (left []string) {
				b := newBox(t)
				b.env = slices.DeleteFunc(b.env, func(kv string) bool { return strings.HasPrefix(kv, "XDG_STATE_HOME=") })
				for _, dir := range []string{b.home + "/.local/state", b.base + "/shown", b.base + "/tree/deep/shown"} {
					must(t, os.MkdirAll(dir, 0o755))
				}
				in := b.base + "/" + row.in
				b.host = append(slices.Clone(words), "/bin/sh", "-c", `mount --bind "$1" "$2" && cd "$3" && shift 3 && exec "$@"`, "sh",
					b.base+"/"+row.from, b.base+"/"+row.to, in)
				do := script
				if row.in == "tree" {
					do = "cd deep/shown; " + script
				}
				if sandboxed {
					b.run("", "/bin/sh", "-c", do).ended()
				} else {
					b.plain(append(b.host, "/bin/sh", "-c", do)...).ended()
				}
				for _, name := range []string{".bashrc", ".profile", ".config/git/config", ".local/state/sbx/runs/forged", ".local/moved", "own"} {
					if _, err := os.Lstat(b.home + "/" + name); err == nil {
						left = append(left, name)
					}
				}
				return left
			}
			if got := strings.Join(run(false), " "); got != ".bashrc .profile .config/git/config .local/moved own" {
				t.Fatalf("control: %s", got)
			}
			if got := strings.Join(run(true), " "); got != "own" {
				t.Errorf("the command has left %s", got)
			}
		})
	}
}
