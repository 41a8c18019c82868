package broker

import (
	"os"
	"strings"
	"testing"

	"sbx/internal/broker/wire"
)

// A tool's program is searched once, and never through a path that the sandbox can write: each way
// through its workspace is refused, and the same way elsewhere accepted.
func TestAToolsProgramIsHeld(t *testing.T) {
	dir := t.TempDir()
	ws, out := dir+"/ws", dir+"/out"
	script := func(path, first string) {
		if err := os.WriteFile(path, []byte("#!"+first+"\necho ran\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link := func(target, path string) {
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
	}
	for _, top := range []string{ws, out, out + "/sub"} {
		if err := os.Mkdir(top, 0o755); err != nil {
			t.Fatal(err)
		}
		script(top+"/prog", "/bin/sh")
		script(top+"/only-"+top[strings.LastIndexByte(top, '/')+1:], "/bin/sh")
		link(out+"/prog", top+"/link")
	}
	link(ws+"/prog", out+"/leads")
	link(ws+"/link", out+"/twice")
	link(ws, out+"/in-ws")
	link("sub", out+"/in-out")
	link("../out/sub/../in-ws", out+"/back")
	script(out+"/by-ws", ws+"/prog")
	script(out+"/by-link", out+"/in-ws/prog")
	script(out+"/by-out", out+"/prog")
	script(out+"/relative", "prog")
	script(out+"/env-ws", "/usr/bin/env only-ws")
	script(out+"/env-out", "/usr/bin/env -S only-out -x")
	script(out+"/twice-by-ws", out+"/by-ws")
	for _, c := range []struct{ run, path, why string }{
		{out + "/prog", "", ""},
		{out + "/link", "", ""},
		{out + "/in-out/prog", "", ""},
		{out + "/by-out", "", ""},
		{"env-out", out, ""},
		{"prog", ws + ":" + out, ""}, // not the one in the workspace
		{"prog", out + "/in-ws:relative::" + out, ""},
		{ws + "/prog", "", "can write " + ws + ","},
		{ws + "/link", "", "can write " + ws},
		{out + "/leads", "", "can write " + ws},
		{out + "/twice", "", "can write " + ws},
		{out + "/in-ws/prog", "", "can write " + ws},
		{out + "/back/prog", "", "can write " + ws},
		{out + "/by-ws", "", "can write " + ws},
		{out + "/by-link", "", "can write " + ws},
		{out + "/twice-by-ws", "", "can write " + ws},
		{out + "/relative", "", "by a relative path"},
		{"env-ws", ws + ":" + out, "what env runs"},
		{"only-ws", ws + ":" + out, "not found"},
		{"./prog", out, "no path from the root"},
	} {
		d, p := newDecider(&wire.Start{Workspace: ws, Granted: wire.Granted{View: []wire.Place{{Path: "/", Access: "read-only", Source: "/"}, {Path: ws, Access: "writable", Source: ws}}},
			Broker: wire.Document{Name: "b.yaml", Text: []byte("version: 1\ntools: {t: {run: [" + c.run + "]}}\n")}})
		if p != nil {
			t.Fatal(p)
		}
		tool := d.doc.Tools[0]
		p = d.findProgram(tool, d.search(c.path+":/usr/bin:/bin"))
		if got := ""; p != nil {
			if got = p.Why; c.why == "" || !strings.Contains(got, c.why) {
				t.Errorf("%s along %s: %s", c.run, c.path, got)
			}
		} else if c.why != "" {
			t.Errorf("%s along %s is %v, want %q", c.run, c.path, tool.Files, c.why)
		} else if !strings.HasPrefix(tool.Files[0], out) {
			t.Errorf("%s along %s is found at %v", c.run, c.path, tool.Files)
		}
	}
}
