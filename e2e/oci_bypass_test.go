package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ociRO is a policy under which nothing can be written.
const ociRO = `{"access_mode":"read-only"}`

// member returns a member of a configuration, and adds it if it is missing.
func member(c map[string]any, name string) map[string]any {
	m, ok := c[name].(map[string]any)
	if !ok {
		m = map[string]any{}
		c[name] = m
	}
	return m
}

func mount(c map[string]any, target, source string, options ...string) {
	kind := "bind"
	if source == "" {
		kind, source = "tmpfs", "tmpfs"
	}
	c["mounts"] = append(c["mounts"].([]any), map[string]any{"destination": target, "type": kind, "source": source, "options": options})
}

// TestOCILinesThatHideADocument checks that the container is under the policy, or refused, however
// a line is spelled.
func TestOCILinesThatHideADocument(t *testing.T) {
	const opened = "touch /opt/x && echo WROTE; echo fin"
	ociOn(t, func(t *testing.T, n *ociNode) {
		long := strings.Repeat("a", 200)
		bundle := ociBundle(t, []string{"sh", "-c", opened}, nil)
		for _, args := range [][]string{
			{"run", "--bundle", bundle, "c1"}, {"run", "c1", "--bundle", bundle}, {"run", "-b" + bundle, "c1"}, {"run", "--bund", bundle, "c1"},
			{"run", "-bundle", bundle, "c1"}, {"run", "--bundle", bundle, long}, {"run", "--bundle", bundle, "--", "c1"},
		} {
			control := ociRun(t, bundle, n.bare(args...))
			for _, id := range []string{"c1", long} {
				ociRun(t, bundle, n.bare("delete", "--force", id))
			}
			n.allow(ociRO)
			got := ociRun(t, t.TempDir(), n.under(args...))
			if strings.Contains(got.out, "WROTE") || got.status == 0 && !strings.Contains(got.out, "fin") {
				t.Errorf("%q: %+v", args, got)
			}
			if control.status == 0 && !strings.Contains(control.out, "WROTE") {
				t.Errorf("control: %q: %+v", args, control)
			}
		}
		n.clean()
	})
}

// TestOCIExecFindsItsContainer checks that exec is under the container's spec, whatever the
// spelling of the runtime's own directory, and of the members of its process.
func TestOCIExecFindsItsContainer(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		root := t.TempDir()
		saved := n.global
		rooted := func(dir string) { n.global = append(append([]string{}, saved...), "--root", dir) }
		rooted(root)
		n.allow(`{"access_mode":"read-only","environment":{"set":{"TOKEN":"spec"}}}`)
		bundle := ociBundle(t, []string{"sleep", "100"}, nil)
		const id = "sbx-e2e-finds"
		for _, verb := range [][]string{{"create", "--bundle", bundle, id}, {"start", id}} {
			if r := ociRun(t, bundle, n.under(verb...)); r.status != 0 {
				t.Fatalf("%q: %+v", verb, r)
			}
		}
		link := filepath.Join(t.TempDir(), "link")
		must(t, os.Symlink(root, link))
		const inside = `grep Seccomp: /proc/self/status; touch /opt/x && echo WROTE; echo "$TOKEN"`
		for _, dir := range []string{root, root + "/", root + "/.", link} {
			rooted(dir)
			if r := ociRun(t, bundle, n.bare("state", id)); r.status != 0 {
				t.Errorf("control: the runtime does not find it by %s: %+v", dir, r)
			}
			if r := ociRun(t, bundle, n.under("exec", id, "sh", "-c", inside)); r.status != 0 || strings.Contains(r.out, "WROTE") || !strings.Contains(r.out, "2\nspec") {
				t.Errorf("by %s: %+v", dir, r)
			}
		}
		rooted(root)
		process := func(edit func(p map[string]any)) string {
			p := map[string]any{"args": []string{"sh", "-c", inside}, "cwd": "/", "user": map[string]any{"uid": 0, "gid": 0}, "env": []string{"PATH=/bin", "TOKEN=engine"}}
			edit(p)
			text, err := json.Marshal(p)
			must(t, err)
			file := filepath.Join(t.TempDir(), "process.json")
			must(t, os.WriteFile(file, text, 0o644))
			return file
		}
		same, other := process(func(map[string]any) {}), process(func(p map[string]any) { p["ARGS"] = []string{"sh", "-c", "echo OTHER"} })
		if r := ociRun(t, bundle, n.under("exec", "--process", same, id)); r.status != 0 || !strings.Contains(r.out, "2\nspec") {
			t.Errorf("%+v", r)
		}
		if r := ociRun(t, bundle, n.under("exec", "--process", other, id)); r.status == 0 || strings.Contains(r.out, "OTHER") || !strings.Contains(r.err, "ARGS") {
			t.Errorf("a member of another case: %+v", r)
		}
		if r := ociRun(t, bundle, n.bare("exec", "--process", other, id)); r.status != 0 {
			t.Errorf("control: %+v", r)
		}
		ociRun(t, bundle, n.under("delete", "--force", id))
		n.clean()
	})
}

// TestOCISpecFolders checks that a line of spec-folders names one directory, and that a comment
// names none.
func TestOCISpecFolders(t *testing.T) {
	if !isRoot() {
		t.Skip("a node is root's")
	}
	n := newNode(t, runcReady(t), "runc")
	outside := t.TempDir()
	listed := filepath.Join(t.TempDir(), "a dir")
	must(t, os.Mkdir(listed, 0o755))
	for _, dir := range []string{outside, listed} {
		must(t, os.WriteFile(filepath.Join(dir, "s.json"), []byte(ociRO), 0o644))
	}
	must(t, os.WriteFile(filepath.Join(n.policy, "spec-folders"), []byte("# not "+outside+"\n"+listed+"\n"), 0o644))
	for dir, want := range map[string]bool{outside: false, listed: true} {
		bundle := ociBundle(t, []string{"sh", "-c", "echo fin"}, func(c map[string]any) {
			member(c, "annotations")["dev.sbx.spec-file"] = filepath.Join(dir, "s.json")
		})
		if r := ociRun(t, bundle, n.under("run", "--bundle", bundle, "sbx-e2e-folders")); (r.status == 0) != want {
			t.Errorf("%s: %+v", dir, r)
		}
	}
	n.clean()
}
