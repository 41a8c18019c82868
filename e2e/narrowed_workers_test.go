package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newShopOf returns a box whose workspace is a workshop, with src and docs in it, and with a
// directory of workers.
func newShopOf(t *testing.T, sandbox string) *box {
	t.Helper()
	needSandbox(t)
	b := newBox(t)
	b.write("ws/src/lib/part", "part\n")
	b.write("ws/docs/page", "page\n")
	b.write("ws/workshop.yaml", "name: a shop\n"+sandbox)
	b.write("out/secret", "outside\n")
	for name, front := range map[string]string{
		"analyzer": "name: analyzer\nsandbox:\n  restrict: /src\n  readonly: true\n",
		"editor":   "name: editor\n",
		"reader":   "sandbox: {readonly: true}\n",
		"writer":   "sandbox: {readonly: false}\n",
		"lib":      "sandbox: {restrict: /lib}\n",
		"out":      "sandbox: {restrict: /../out}\n",
		"link":     "sandbox: {restrict: /leak}\n",
	} {
		b.write("ws/workers/"+name+".worker", "---\n"+front+"---\nThe prompt.\n")
	}
	must(t, os.Symlink(b.out, b.ws+"/leak"))
	return b
}

// work runs a script under the workshop and workers of those names.
func (b *box) work(script string, workers ...string) result {
	b.t.Helper()
	args := []string{"--workshop", b.ws + "/workshop.yaml"}
	for _, w := range workers {
		args = append(args, "--worker", b.ws+"/workers/"+w+".worker")
	}
	b.args = args
	return b.run("", "/bin/sh", "-c", script)
}

const look = `pwd; cat "$WS/src/lib/part" 2>/dev/null; cat "$WS/docs/page" 2>/dev/null; cat "$OUT/secret" 2>/dev/null; touch "$WS/src/new" 2>/dev/null; echo end`

// wrote reports whether the script of look could write into the workshop, and undoes that.
func (b *box) wrote() bool { return os.Remove(b.ws+"/src/new") == nil }

// TestWorkshopTable is what a worker gets, a row a mechanism; spec.TestNarrow has the others.
func TestWorkshopTable(t *testing.T) {
	const rw = "sandbox: {root: .}\n"
	for _, row := range []struct {
		name, shop string
		workers    []string
		want       string // the script's output; "" if it is refused
		field      string
	}{
		{"read-write, nothing", rw, []string{"editor"}, "/ part page written", ""},
		{"no sandbox, nothing", "", []string{"editor"}, "", "-"},
		{"no sandbox, restrict", "", []string{"analyzer"}, "", "-"},
		{"restrict and readonly", rw, []string{"analyzer"}, "/src part", ""},
		{"delegated", rw, []string{"analyzer", "lib"}, "/src/lib part", ""},
		{"leaves by ..", rw, []string{"out"}, "", "restrict"},
		{"leaves by a link", rw, []string{"link"}, "", "restrict"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newShopOf(t, row.shop)
			b.env = append(b.env, "WS="+b.ws, "OUT="+b.out)
			// The control: without a sandbox all of it is visible.
			if r := b.plain("/bin/sh", "-c", look); !strings.Contains(r.out, "outside") || !b.wrote() {
				t.Fatalf("outside: %v", r)
			}
			r := b.work(look, row.workers...)
			switch row.field {
			case "":
				want := strings.Replace(row.want, "/", b.ws+"/", 1)
				got := strings.Join(strings.Fields(strings.TrimSuffix(r.ended().out, "end\n")), " ")
				if b.wrote() {
					got += " written"
				}
				if got != strings.Replace(want, "/ ", " ", 1) {
					t.Errorf("got %q, want %q: %v", got, want, r)
				}
			case "-": // only the files of @system: the working directory is not in view
				if strings.Contains(r.out, "part") || strings.Contains(r.out, "page") || b.wrote() || !strings.Contains(r.out, "end") {
					t.Errorf("%v", r)
				}
			default:
				r.refused(row.field)
			}
		})
	}
}

// A worker alone has nothing that it could restrict.
func TestWorkerWithoutWorkshop(t *testing.T) {
	b := newShopOf(t, "sandbox: {root: .}\n")
	b.env = append(b.env, "WS="+b.ws, "OUT="+b.out)
	b.args = []string{"--worker", b.ws + "/workers/analyzer.worker"}
	r := b.run("", "/bin/sh", "-c", look)
	r.refused("restrict")
	if !strings.Contains(r.err, "it declares restrictions and has no parent sandbox") || !strings.Contains(r.err, "restrict ("+b.ws+"/workers/analyzer.worker:") {
		t.Errorf("%v", r)
	}
	b.args = append(b.args, "--best-effort", "restrict", "--best-effort", "readonly")
	r = b.run("", "/bin/sh", "-c", look).ended()
	r.rec.hasStatus(t, "restrict", "unavailable")
	r.rec.hasStatus(t, "readonly", "enforced")
	b.args = []string{"--worker", b.ws + "/workers/reader.worker"}
	b.run(`{"access_mode":"workspace-write"}`, "/bin/sh", "-c", look).ended()
}

// A workshop's root lies in the workshop, also after links are followed.
func TestWorkshopRootStaysInside(t *testing.T) {
	for root, word := range map[string]string{"../out": "workshop", "leak": "workshop", "nowhere": "does not exist"} {
		b := newShopOf(t, "sandbox: {root: "+root+"}\n")
		if r := b.work("echo end", "editor"); r.code != 125 || !strings.Contains(r.err, word) {
			t.Errorf("%s: %v", root, r)
		}
	}
}

// The example documents run unchanged.
func TestExampleWorkshop(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	must(t, os.CopyFS(b.ws, os.DirFS(filepath.Join(moduleDir, "testdata/workshop"))))
	for _, config := range []string{"workshop.yaml", "golem-forge.config.yaml"} {
		b.args = []string{"--workshop", b.ws + "/" + config, "--worker", b.ws + "/workers/analyzer.worker"}
		r := b.run("", "/bin/sh", "-c", "cat main.txt /src/lib/part.txt; touch x 2>/dev/null && echo written; ls ../docs 2>/dev/null && echo seen; echo end").ended()
		if strings.Contains(r.out, "written") || strings.Contains(r.out, "seen") {
			t.Errorf("%s: %v", config, r)
		}
		b.args[3] = b.ws + "/workers/editor.worker"
		r = b.run("", "/bin/sh", "-c", "cat src/main.txt; touch docs/x && echo written; echo end").ended()
		if !strings.Contains(r.out, "written") {
			t.Errorf("%s: %v", config, r)
		}
	}
	// A file in the old style is reported on stderr and in the record.
	b.args = []string{"--workshop", b.ws + "/workshop.yaml", "--worker", b.ws + "/workers/old-style.worker"}
	r := b.run("", "/bin/sh", "-c", "touch docs/y && echo written; echo end").ended()
	if !strings.Contains(r.err, "--migrate") || len(r.rec.list("warnings")) == 0 && r.rec["warnings"] == nil || r.rec.status("sandbox.paths") != "unavailable" || !strings.Contains(r.out, "written") {
		t.Errorf("%v; %v", r, r.rec["warnings"])
	}
	// If the workshop has no sandbox, the file's paths are relative to the workshop.
	must(t, os.WriteFile(b.ws+"/bare.yaml", []byte("name: bare\n"), 0o644))
	b.args[1] = b.ws + "/bare.yaml"
	r = b.run("", "/bin/sh", "-c", "cd "+b.ws+"; cat input/letter.txt; touch input/x 2>/dev/null && echo written; touch output/x && echo out; ls src 2>/dev/null && echo seen; echo end").ended()
	if strings.Contains(r.out, "written") || !strings.Contains(r.out, "out\n") || strings.Contains(r.out, "seen") {
		t.Errorf("%v", r)
	}
}

// The project of an agent's profile is the directory in which the documents before it let the
// command start, wherever sbx is called; alone, it is the current directory.
func TestAnAgentsProfileIsScopedToTheirDir(t *testing.T) {
	b := newShopOf(t, "sandbox: {root: .}\n")
	b.write("agent.md", "---\nname: frontend-coder\ntools: Read, Write\n---\n")
	agent := []string{"--agent", b.base + "/agent.md", "--best-effort", "tools_allowed"}
	shop := []string{"--workshop", b.ws + "/workshop.yaml"}
	for name, c := range map[string]struct {
		args []string
		dir  string
	}{
		"the current directory": {nil, b.out},
		"a working_dir":         {[]string{"--spec-json", `{"access_mode": "workspace-write", "working_dir": "` + b.ws + `/src"}`}, b.ws + "/src"},
		"a workshop":            {shop, b.ws},
		"a worker":              {append(shop, "--worker", b.ws+"/workers/lib.worker"), ""}, // there is no lib at the top
		"workers":               {append(shop, "--worker", b.ws+"/workers/src.worker", "--worker", b.ws+"/workers/lib.worker"), b.ws + "/src/lib"},
	} {
		b.write("ws/workers/src.worker", "---\nsandbox: {restrict: /src}\n---\n")
		b.args = append(append([]string{}, c.args...), agent...)
		r := b.runIn(b.out, "", "", "/bin/sh", "-c", "pwd; touch new; cat "+b.ws+"/docs/page; echo end")
		if c.dir == "" {
			r.refused("restrict")
			continue
		}
		if r.ended(); !strings.HasPrefix(r.out, c.dir+"\n") || strings.Contains(r.out, "page") != (c.dir == b.ws) {
			t.Errorf("%s: %v", name, r)
		}
		if os.Remove(c.dir+"/new") != nil {
			t.Errorf("%s: the project is not written: %v", name, r)
		}
	}
}
