package e2e

import (
	"os"
	"strings"
	"testing"
)

// What is hidden is hidden, too, where a mount of the host's shows it once more:
// the folder that homes are bound from, and a part of one at another place.
func TestSecretsSeenByASecondMount(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	for _, dir := range []string{"/.ssh", "/notes", "/plain"} {
		must(t, os.Mkdir(b.home+dir, 0o755))
	}
	for _, file := range []string{"/.ssh/id", "/.netrc", "/notes/one", "/plain/one"} {
		b.write(b.home+file, "kept\n")
	}
	host := mounting(t, "mkdir again keys plain ws && mount --bind "+b.home+" again && mount --bind "+b.home+"/.ssh keys && mount --bind "+
		b.home+"/plain plain && mkdir over && mount --bind "+b.home+" over && mount -t tmpfs none over")
	hidden := []string{b.home + "/.ssh/id", srv + "/again/.ssh/id", srv + "/again/.netrc", srv + "/again/notes/one", srv + "/keys/id"}
	open := []string{srv + "/again/plain/one", srv + "/plain/one"}
	script := "cat " + strings.Join(append(append([]string{}, hidden...), open...), " ") + " 2>/dev/null; echo end"
	spec := specWith(specWW, `"filesystem":{"hide":["~/notes"]}`)
	r := b.on(host, `{}`, "/bin/sh", "-c", script).ended()
	if got := strings.Count(r.out, "kept"); got != len(hidden)+len(open) {
		t.Errorf("control: %d of them are seen: %v", got, r)
	}
	r = b.on(host, spec, "/bin/sh", "-c", script).ended()
	if got := strings.Count(r.out, "kept"); got != len(open) {
		t.Errorf("%d are seen: %v", got, r)
	}
	opened := specWith(specWW, `"filesystem":{"read":["/",`+quoted(srv+"/keys")+`]}`)
	if r = b.on(host, opened, "/bin/cat", srv+"/keys/id"); r.out != "kept\n" {
		t.Errorf("opened by its other name: %v", r)
	}
}
