package e2e

import (
	"os"
	"strings"
	"testing"
)

// What a document's names of programs mean is no matter of the next one's PATH.
func TestNarrowedNamesOfProgramsStay(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.write("ws/other/true", "#!/bin/sh\necho other\n")
	must(t, os.Chmod(b.ws+"/other/true", 0o755))
	path := strings.TrimPrefix(b.env[0], "PATH=")
	b.args = []string{"--spec-json", only("sh", "true"), "--spec-json", `{"environment": {"set": {"PATH": ` + quoted(b.ws+"/other:"+path) + `}}}`}
	if r := b.run("", "/bin/sh", "-c", "true; echo end").refused("true mean"); !strings.Contains(r.err, "the parent has it mean") {
		t.Errorf("%v", r)
	}
}
