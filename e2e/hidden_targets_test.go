package e2e

import (
	"os"
	"testing"
)

// Hide beats mounts also if a mount shows something under a hidden path.
func TestHideBeatsMountsBeneath(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.write(b.home+"/data/f", "data\n")
		b.write(b.home+"/h/b/f", "beneath\n")
		hidden, absent := b.home+"/h", b.home+"/none"
		for _, target := range []string{hidden + "/b", absent, absent + "/x"} {
			for _, read := range []string{"", `"read": ["@system"], `, `"read": ["@system", "` + hidden + `"], `} {
				mounts := read + `"mounts": [{"label": "m", "source": "` + b.home + `/data", "target": "` + target + `", "mode": "rw"}]`
				parent := `{"access_mode": "workspace-write", "filesystem": {` + mounts + `}}`
				script := "cat " + target + "/f; echo x >" + target + "/new; echo end"
				if r := b.run(parent, "sh", "-c", script); r.code == 125 {
					continue // there is no place to mount
				} else if r.ended().out != "data\nend\n" {
					t.Errorf("control: %s, read %s: %v", target, read, r)
				}
				b.holds(b.home+"/data/new", "x\n")
				must(t, os.Remove(b.home+"/data/new"))
				hide := `"hide": ["` + hidden + `", "` + absent + `"]`
				one := b.run(`{"access_mode": "workspace-write", "filesystem": {`+hide+`, `+mounts+`}}`, "sh", "-c", script)
				b.args = []string{"--spec-json", `{"filesystem": {` + hide + `}}`}
				child := b.run(parent, "sh", "-c", script)
				b.args = nil
				for name, r := range map[string]result{"one document": one, "a child's": child} {
					if r.ended().out != "end\n" || r.rec.status("filesystem.hide") != "enforced" {
						t.Errorf("%s: %s, read %s: %v", name, target, read, r)
					}
					b.absent(b.home + "/data/new")
				}
			}
		}
	})
}
