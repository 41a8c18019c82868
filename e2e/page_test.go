package e2e

import (
	"context"
	"encoding/json"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// faults returns the faults that a browser finds in a page, at 390 and at 1,280 pixels, light or
// dark.
func faults(t *testing.T, page string, dark bool) (found []string) {
	t.Helper()
	look, err := os.ReadFile(filepath.Join(moduleDir, "e2e", "testdata", "page.js"))
	must(t, err)
	dir := t.TempDir()
	outer := "<!doctype html><meta charset=utf-8><pre id=out></pre>"
	for _, width := range []string{"390", "1280"} {
		outer += `<iframe style="border:0;width:` + width + `px;height:900px" srcdoc="` + html.EscapeString(page) + `"></iframe>`
	}
	must(t, os.WriteFile(dir+"/outer.html", []byte(outer+"<script>"+string(look)+"</script>"), 0o644))
	scheme := "preferredColorScheme=1"
	if dark {
		scheme = "preferredColorScheme=0"
	}
	ctx, cancel := context.WithTimeout(context.Background(), 4*limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, needPrograms(t, "chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking", "--user-data-dir="+dir+"/profile", "--blink-settings="+scheme, "--dump-dom", "file://"+dir+"/outer.html")
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_CACHE_HOME="+dir)
	dom, err := cmd.Output()
	_, text, begun := strings.Cut(string(dom), "BEGIN")
	text, _, ended := strings.Cut(text, "END")
	if err != nil || !begun || !ended {
		t.Fatalf("chromium: %v\n%.2000s", err, dom)
	}
	must(t, json.Unmarshal([]byte(html.UnescapeString(text)), &found))
	return found
}

// The page of a run fits a phone and a desk, breaks no word, is readable in light and in dark mode,
// and runs nothing, whatever names the command gave itself and its files.
func TestPageInABrowser(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	markup := `<img src=x onerror=top.ran=1>`
	long := strings.Repeat("long_", 40)
	b.write(b.ws+"/"+markup, "#!/bin/sh\nsleep 0.1\n")
	must(t, os.Chmod(b.ws+"/"+markup, 0o755))
	b.write(b.ws+"/"+long, "#!/bin/sh\n")
	must(t, os.Chmod(b.ws+"/"+long, 0o755))
	r := b.run(`{"access_mode": "workspace-write", "max_commands": 60, "environment": {"set": {"<b>": "x"}}, "filesystem": {"hide": ["<s>"]}}`, "sh", "-c",
		`./"$1"; (./"$2"; ls; date); echo >"$1.txt"; echo >"$2.txt"; echo >"../out/$1"; echo >"../out/$2"; mkdir .vscode; echo finished`, `"><script>top.ran=1</script>`, markup, long)
	if !strings.Contains(r.out, "finished") || len(r.rec.list("started")) < 4 || len(r.rec.list("violations")) < 3 {
		t.Fatalf("%v", r)
	}
	must(t, os.Rename(b.rec, b.base+"/kept.json"))
	page := b.plain(sbxPath, "show", "--html", b.base+"/kept.json")
	for _, want := range []string{"<h2>timeline</h2>", "✗ create", "a spec that would have allowed it", "may be written (", "opened to write", "&lt;img src=x onerror=top.ran=1&gt;.txt"} {
		if !strings.Contains(page.out, want) {
			t.Errorf("the page lacks %s: %s", want, page.err)
		}
	}
	for _, dark := range []bool{false, true} {
		for _, f := range faults(t, page.out, dark) {
			t.Errorf("dark %v: %s", dark, f)
		}
	}
	// The control: a page with each fault.
	wrong := `<body style="background:#fff;color:#aaa"><p style="width:40px;overflow-wrap:anywhere">enforced</p><div style="width:1400px">x</div>` + markup
	got := strings.Join(faults(t, wrong, false), "\n")
	for _, want := range []string{"390: a word is broken: enforced", "1280: the page is wider", "a box is outside", "hard to read", "it could run", "a script ran"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not found in a wrong page: %s", want, got)
		}
	}
}
