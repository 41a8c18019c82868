package e2e

import "testing"

// A writable directory that lies in another keeps its protected names, even if a mount names the
// larger one, and existing files are not taken for new and moved away.
func TestProtectedNamesOfATreeInAnother(t *testing.T) {
	needSandbox(t)
	mount := func(source, target string) string {
		return `{"label": "l", "source": "` + source + `", "target": "` + target + `", "mode": "rw"}`
	}
	for name, spec := range map[string]func(b *box) string{
		"the workspace in what is written": func(b *box) string {
			return `{"access_mode": "workspace-write", "filesystem": {"write": ["` + b.base + `"]}}`
		},
		"the workspace in what is mounted": func(b *box) string {
			return `{"access_mode": "workspace-write", "filesystem": {"mounts": [` + mount(b.base, b.out+"/all") + `]}}`
		},
		"a mount in what is mounted": func(b *box) string {
			return `{"access_mode": "read-only", "working_dir": "` + b.home + `", "filesystem": {"mounts": [` + mount(b.base, b.out+"/all") + `, ` + mount(b.ws, b.out+"/part") + `]}}`
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBoxElsewhere(t)
			for _, f := range []string{"ws/.envrc", "ws/.vscode/tasks.json", "out/all/x", "out/part/x"} {
				b.write(f, "mine\n")
			}
			b.sh(spec(b), `for top in `+b.ws+` `+b.out+`/all/ws `+b.out+`/part; do
for f in .envrc .vscode/tasks.json .vscode/new; do echo theirs >>$top/$f; done; done 2>/dev/null`).ended()
			b.holds("ws/.envrc", "mine\n")
			b.holds("ws/.vscode/tasks.json", "mine\n")
			b.absent("ws/.vscode/new")
		})
	}
}
