package e2e

import (
	"os"
	"strings"
	"testing"
)

// What a document's names of programs mean is no matter of the next one's PATH,
// nor of what it mounts in a directory of that.
func TestNarrowedNamesOfProgramsStay(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.write("ws/other/true", "#!/bin/sh\necho other\n")
	must(t, os.Chmod(b.ws+"/other/true", 0o755))
	path := strings.TrimPrefix(b.env[0], "PATH=")
	set := func(path string) string { return `{"environment": {"set": {"PATH": ` + quoted(path) + `}}}` }
	for name, c := range map[string]struct {
		commands, child string
		refused         bool
	}{
		"allowed":  {`{"allow": ["sh", "true"]}`, set(b.ws + "/other:" + path), true},
		"denied":   {`{"deny": ["true"]}`, set(b.ws + "/other"), true},
		"mounted":  {`{"allow": ["sh", "true"]}`, `{"filesystem": {"mounts": [{"label": "l", "source": "other", "target": "/opt/first", "mode": "ro"}]}}`, true},
		"the same": {`{"allow": ["sh", "true"]}`, set(path + ":" + b.out), false},
	} {
		t.Run(name, func(t *testing.T) {
			parent := `{"access_mode": "workspace-write", "commands": ` + c.commands + `, "environment": {"set": {"PATH": ` + quoted("/opt/first:"+path) + `}}}`
			if !c.refused {
				parent = `{"access_mode": "workspace-write", "commands": ` + c.commands + `}`
			}
			b.args = []string{"--spec-json", parent, "--spec-json", c.child}
			r := b.run("", "/bin/sh", "-c", "true; echo end")
			if !c.refused {
				r.ended()
			} else if r.refused("true mean"); !strings.Contains(r.err, "the parent has it mean") {
				t.Errorf("%v", r)
			}
		})
	}
}
