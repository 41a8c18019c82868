package e2e

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestLongLists: lists as long as they may be are enforced to the last item, and longer ones
// refused by name. A document of 65,000 items took minutes once.
func TestLongLists(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	list := func(n int) string {
		items := make([]string, n)
		for i := range items {
			items[i] = quoted("many/" + strconv.Itoa(i))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	const most = 4096
	must(t, os.Mkdir(b.ws+"/many", 0o755))
	for i := range most {
		must(t, os.WriteFile(b.ws+"/many/"+strconv.Itoa(i), []byte("#!/bin/sh\necho ran\n"), 0o755))
	}
	try := []string{"sh", "-c", "cd many; [ -s 4095 ] && echo there; ./4095 2>/dev/null; echo end"}
	if r := b.plain(try...).ended(); r.out != "there\nran\nend\n" {
		t.Fatalf("without a sandbox: %v", r)
	}
	for _, c := range []struct{ before, after, out string }{
		{`{"access_mode":"workspace-write","filesystem":{"hide":`, `}}`, "end\n"},
		{`{"access_mode":"workspace-write","commands":{"deny":`, `}}`, "end\n"},
	} {
		run := func(n int) result { // too long for an argument
			b.args = []string{"--spec", b.write("out/spec.json", c.before+list(n)+c.after)}
			return b.run("", try...)
		}
		if r := run(most).ended(); r.out != c.out {
			t.Errorf("%s: %v", c.before, r)
		}
		run(65000).refused("want at most 4096 items, got 65000")
	}
}

// TestManyMounts: of more mounts than there may be the refusal names the list.
func TestManyMounts(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	var mounts []string
	for i := range 50 {
		mounts = append(mounts, `{"label":"","source":"`+b.out+`","target":"/opt/m`+strconv.Itoa(i)+`","mode":"ro"}`)
	}
	r := b.run(`{"access_mode":"workspace-write","filesystem":{"mounts":[`+strings.Join(mounts, ",")+`]}}`, "echo", "end")
	if r.refused("cannot bind in so many paths"); !strings.HasPrefix(r.rec.text("error", "field"), "filesystem.mounts[") {
		t.Errorf("%v", r)
	}
}
