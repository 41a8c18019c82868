package e2e

import (
	"os"
	"strings"
	"testing"
)

// A hidden path is hidden, too, where a mount of the host's shows it again: in the directory from
// which homes are bound, and where a part of one is mounted elsewhere.
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

// An overlay shows the contents of its layers again, and its layers show the overlay's.
func TestSecretsSeenByAnOverlay(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	for _, file := range []string{"/.ssh/id", "/.netrc", "/notes/one", "/plain/one"} {
		b.write(b.home+file, "kept\n")
	}
	host := mounting(t, "mkdir all part keys empty up up/up up/work home base base/.ssh && echo kept >base/.ssh/id && echo kept >base/shown && "+
		"mount -t overlay -o lowerdir="+b.home+":empty none all && mount -t overlay -o lowerdir="+b.home+"/plain:empty none part && "+
		"mount -t overlay -o lowerdir=empty:"+b.home+"/.ssh none keys && mount -t overlay -o lowerdir=$PWD/base:$PWD/empty none home")
	hidden := []string{b.home + "/.ssh/id", srv + "/all/.ssh/id", srv + "/all/.netrc", srv + "/all/notes/one", srv + "/keys/id"}
	open := []string{srv + "/all/plain/one", srv + "/part/one"}
	read := func(files ...string) string {
		return "cat " + strings.Join(files, " ") + " 2>/dev/null; echo end"
	}
	script := read(append(append([]string{}, hidden...), open...)...)
	r := b.on(host, `{}`, "/bin/sh", "-c", script).ended()
	if got := strings.Count(r.out, "kept"); got != len(hidden)+len(open) {
		t.Errorf("control: %d of them are seen: %v", got, r)
	}
	r = b.on(host, specWith(specWW, `"filesystem":{"hide":["~/notes"]}`), "/bin/sh", "-c", script).ended()
	if got := strings.Count(r.out, "kept"); got != len(open) {
		t.Errorf("%d are seen: %v", got, r)
	}
	// The home itself is an overlay.
	b.env = append(b.env, "HOME="+srv+"/home")
	script = read(srv+"/home/.ssh/id", srv+"/base/.ssh/id", srv+"/home/shown", srv+"/base/shown")
	if r = b.on(host, `{}`, "/bin/sh", "-c", script).ended(); strings.Count(r.out, "kept") != 4 {
		t.Errorf("control: %v", r)
	}
	if r = b.on(host, specWW, "/bin/sh", "-c", script).ended(); strings.Count(r.out, "kept") != 2 {
		t.Errorf("of the home that is an overlay: %v", r)
	}
}
