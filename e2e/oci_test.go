package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// ociDir has the program sbx-oci with sbx-init next to it, and a policy and a state of this
// run's own.
var ociDir = sync.OnceValues(func() (string, error) {
	dir, err := outerDir("oci")
	if err != nil {
		return "", err
	}
	for _, name := range []string{"sbx-oci", "sbx-init"} {
		b, err := os.ReadFile(filepath.Join(filepath.Dir(sbxPath), name))
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o755); err != nil {
			return "", err
		}
	}
	return dir, os.MkdirAll(filepath.Join(dir, "policy"), 0o755)
})

// ociNode is a node: its policy, its state, and a runtime proper.
type ociNode struct {
	t       *testing.T
	program string
	policy  string
	state   string
	before  []string // of the runtime's command line
	runtime string
	global  []string // flags
}

// ociOn calls each with a node of this test's own, for each runtime that exists.
func ociOn(t *testing.T, each func(t *testing.T, n *ociNode)) {
	for _, name := range []string{"runc", "crun"} {
		t.Run(name, func(t *testing.T) {
			if !isRoot() {
				t.Skip("the runtimes of the tests are root's alone")
			}
			needPrograms(t, "busybox")
			line := runcReady
			if name == "crun" {
				line = crunReady
			}
			each(t, newNode(t, line(t), name))
		})
	}
}

func newNode(t *testing.T, line []string, name string) *ociNode {
	dir, err := ociDir()
	must(t, err)
	own := t.TempDir()
	n := &ociNode{t: t, program: filepath.Join(dir, "sbx-oci"), policy: filepath.Join(own, "policy"), state: filepath.Join(own, "state")}
	must(t, os.Mkdir(n.policy, 0o755))
	i := slices.IndexFunc(line, func(w string) bool { return filepath.Base(w) == name })
	n.before, n.runtime, n.global = line[:i], line[i], line[i+1:]
	return n
}

// bare returns the command line of the runtime proper, after the beginning of the node's.
func (n *ociNode) bare(args ...string) []string {
	return slices.Concat(n.before, []string{n.runtime}, n.global, args)
}

func (n *ociNode) under(args ...string) []string {
	return slices.Concat(n.before, []string{n.program, "--sbx-runtime", n.runtime, "--sbx-policy", n.policy, "--sbx-state=" + n.state}, n.global, args)
}

// allow puts specs into the policy, in the order of their names.
func (n *ociNode) allow(specs ...string) {
	for i, s := range specs {
		must(n.t, os.WriteFile(filepath.Join(n.policy, string(rune('a'+i))+".json"), []byte(s), 0o644))
	}
}

// ran is the result of a command line.
type ran struct {
	status   int
	out, err string
}

func ociRun(t *testing.T, dir string, line []string) ran {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Dir = dir
	var files [2]*os.File // not pipes, which a container would keep open
	for i := range files {
		f, err := os.CreateTemp(t.TempDir(), "out")
		must(t, err)
		defer f.Close()
		files[i] = f
	}
	cmd.Stdout, cmd.Stderr = files[0], files[1]
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	out, err := os.ReadFile(files[0].Name())
	must(t, err)
	errs, err := os.ReadFile(files[1].Name())
	must(t, err)
	return ran{cmd.ProcessState.ExitCode(), string(out), string(errs)}
}

// ociBundle makes a bundle whose root has busybox, with a configuration that edit changes.
func ociBundle(t *testing.T, args []string, edit func(c map[string]any)) string {
	t.Helper()
	dir := t.TempDir()
	root := filepath.Join(dir, "rootfs")
	for _, d := range []string{"bin", "dev", "proc", "sys", "tmp", "run", "etc", "root/.ssh", "work", "opt"} {
		must(t, os.MkdirAll(filepath.Join(root, d), 0o755))
	}
	must(t, os.Chmod(filepath.Join(root, "tmp"), 0o1777))
	write := func(name, text string) { must(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644)) }
	write("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n")
	write("etc/shadow", "root:secret:0\n")
	write("root/.ssh/id", "secret\n")
	b, err := os.ReadFile(needPrograms(t, "busybox"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(root, "bin/busybox"), b, 0o755))
	for _, name := range []string{"sh", "cat", "touch", "id", "ls", "sleep", "grep", "env", "unshare", "mkdir", "ip", "true", "wc"} {
		must(t, os.Symlink("busybox", filepath.Join(root, "bin", name)))
	}
	must(t, exec.Command(needPrograms(t, "runc"), "spec", "--bundle", dir).Run())
	ociEdit(t, dir, func(c map[string]any) {
		p := c["process"].(map[string]any)
		p["terminal"], p["args"] = false, args
		p["env"] = []string{"PATH=/bin", "HOME=/root", "GITHUB_TOKEN=x"}
		p["capabilities"] = capabilities("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_SYS_ADMIN", "CAP_NET_RAW", "CAP_KILL")
		delete(p, "noNewPrivileges")
		c["root"].(map[string]any)["readonly"] = false
		if edit != nil {
			edit(c)
		}
	})
	return dir
}

// ociEdit changes a bundle's config.json.
func ociEdit(t *testing.T, bundle string, edit func(config map[string]any)) {
	t.Helper()
	file := filepath.Join(bundle, "config.json")
	b, err := os.ReadFile(file)
	must(t, err)
	var config map[string]any
	must(t, json.Unmarshal(b, &config))
	edit(config)
	b, err = json.Marshal(config)
	must(t, err)
	must(t, os.WriteFile(file, b, 0o644))
}

// capabilities are those of a process that can use them.
func capabilities(names ...string) map[string]any {
	return map[string]any{"bounding": names, "effective": names, "permitted": names}
}

// records returns those of the node, oldest first.
func (n *ociNode) records() (all []map[string]any) {
	files, err := filepath.Glob(filepath.Join(n.state, "sbx/runs/*/effective.json"))
	must(n.t, err)
	slices.Sort(files)
	for _, f := range files {
		text, err := os.ReadFile(f)
		must(n.t, err)
		var r map[string]any
		must(n.t, json.Unmarshal(text, &r))
		all = append(all, r)
	}
	return all
}

func (n *ociNode) lastRecord() map[string]any {
	all := n.records()
	if len(all) == 0 {
		n.t.Fatal("there is no record")
	}
	return all[len(all)-1]
}

// clean fails if anything but its record is left of a container.
func (n *ociNode) clean() {
	n.t.Helper()
	for _, dir := range []string{"sbx/made", "sbx/containers"} {
		entries, err := os.ReadDir(filepath.Join(n.state, dir))
		if err != nil && !os.IsNotExist(err) || len(entries) > 0 {
			n.t.Errorf("%s: %v, %v", dir, entries, err)
		}
	}
	if b, err := os.ReadFile("/proc/self/mountinfo"); err != nil || bytes.Contains(b, []byte(n.state)) {
		n.t.Errorf("something stays mounted: %v", err)
	}
}

// changing matches what differs between two calls of a runtime.
var changing = regexp.MustCompile(`time="[^"]*"|\d{4}-\d\d-\d\dT[0-9:.]+Z?|"pid": ?\d+|\b\d+ +(running|created|stopped)`)

// TestOCIHandsOn compares each verb's status and streams with those of the runtime proper.
func TestOCIHandsOn(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		for _, args := range [][]string{
			{}, {"--version"}, {"--help"}, {"features"}, {"list"}, {"list", "-q"}, {"state", "nosuch"}, {"kill", "nosuch", "KILL"}, {"delete", "nosuch"},
			{"delete", "--force", "nosuch"}, {"ps", "nosuch"}, {"exec", "nosuch", "true"}, {"start", "nosuch"}, {"pause", "nosuch"}, {"resume", "nosuch"},
			{"events", "--stats", "nosuch"}, {"update", "--memory", "1000000", "nosuch"}, {"nosuchverb", "x"}, {"--nosuchflag", "create"}, {"create"}, {"create", "a/b"}, {"run", "--nosuchflag", "x"},
			{"create", "--bundle", "/nosuch", "x"}, {"spec", "--help"}, {"checkpoint", "nosuch"}, {"restore", "nosuch"},
		} {
			dir := t.TempDir()
			want, got := ociRun(t, dir, n.bare(args...)), ociRun(t, dir, n.under(args...))
			for _, r := range []*ran{&want, &got} {
				r.out, r.err = changing.ReplaceAllString(r.out, ""), changing.ReplaceAllString(r.err, "")
			}
			if want != got {
				t.Errorf("%q:\n%+v\nbare:\n%+v", args, got, want)
			}
		}
		bundle := ociBundle(t, []string{"sleep", "100"}, nil)
		lives := func(line func(...string) []string, id string) (all []ran) {
			for _, args := range [][]string{
				{"create", "--bundle", bundle, id}, {"create", "--bundle", bundle, id}, {"state", id}, {"start", id}, {"start", id}, {"exec", id, "sh", "-c", "id; grep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status; exit 3"}, {"delete", id},
				{"kill", id, "KILL"}, {"delete", "--force", id}, {"state", id},
				{"run", "--bundle", ociBundle(t, []string{"sh", "-c", "echo out; echo err >&2; env; ls -a /dev; cat /proc/self/timerslack_ns; grep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status; exit 5"}, nil), id},
			} {
				r := ociRun(t, bundle, line(args...))
				r.out, r.err = changing.ReplaceAllString(r.out, ""), changing.ReplaceAllString(r.err, "")
				all = append(all, r)
			}
			return all
		}
		want := lives(n.bare, "sbx-e2e-life")
		got := lives(n.under, "sbx-e2e-life")
		for i := range want {
			if strings.Contains(want[i].out, "bundle") { // the paths of two temporary directories
				want[i].out, got[i].out = "", ""
			}
			if want[i] != got[i] {
				t.Errorf("step %d:\n%+v\nbare:\n%+v", i, got[i], want[i])
			}
		}
		r := n.lastRecord()
		if c := r["container"].(map[string]any); c["nothing_asked"] != true || r["state"] != "exited" || r["exit"].(map[string]any)["code"] != 5.0 {
			t.Errorf("the record: %v", r)
		}
		n.goesOn(bundle)
		n.clean()
	})
}

// goesOn checks that a call which asks nothing but the runtime goes to the one that has made the
// container, unless another is named.
func (n *ociNode) goesOn(bundle string) {
	n.t.Helper()
	const id = "sbx-e2e-on"
	if got := ociRun(n.t, bundle, n.under("create", "--bundle", bundle, id)); got.status != 0 {
		n.t.Fatalf("%+v", got)
	}
	links, err := filepath.Glob(n.state + "/sbx/made/*/free")
	must(n.t, err)
	if len(links) != 1 {
		n.t.Fatalf("it is kept at %q", links)
	}
	if made, err := os.Readlink(links[0]); err != nil || made != n.runtime {
		n.t.Errorf("%s is for %s, %v", links[0], made, err)
	}
	other := filepath.Join(n.t.TempDir(), "other")
	must(n.t, os.WriteFile(other, []byte("#!/bin/sh\necho on \"$@\"\n"), 0o755))
	must(n.t, os.Remove(links[0]))
	must(n.t, os.Symlink(other, links[0]))
	line := n.under("state", id)
	if got := ociRun(n.t, bundle, line); !strings.Contains(got.out, `"created"`) {
		n.t.Errorf("by name: %+v", got)
	}
	i := slices.Index(line, "--sbx-runtime")
	if got := ociRun(n.t, bundle, slices.Delete(line, i, i+2)); got.out != "on "+strings.Join(append(n.global, "state", id), " ")+"\n" {
		n.t.Errorf("by none: %+v", got)
	}
	if got := ociRun(n.t, bundle, n.under("delete", "--force", id)); got.status != 0 {
		n.t.Errorf("%+v", got)
	}
}
