package outer

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/world"
)

const (
	lines = "../../testdata/wrappers"
	plans = "../../testdata/plans"
)

// wrapped are the specs for which every wrapper's line is kept, on the named hosts.
var wrapped = []struct {
	name, spec, facts, on string
	mounts                []DirMount
}{
	{"read-only", `{"access_mode": "read-only"}`, "", "all root", nil},
	{"workspace-write", `{"access_mode": "workspace-write"}`, "", "all root", nil},
	{"danger-full-access", `{"access_mode": "danger-full-access"}`, "", "all", nil},
	{"empty", `{}`, "", "all", nil},
	{"read-list", `{"access_mode": "workspace-write", "filesystem": {"read": ["@system"]}}`, "", "all", nil},
	{"hide", `{"access_mode": "workspace-write", "filesystem": {"hide": ["/srv/data", "main.go"]}}`, "", "all", nil},
	{"hide-alone", `{"filesystem": {"hide": ["/srv/data"]}}`, "", "all", nil},
	{"network-host", `{"access_mode": "read-only", "network": {"mode": "host"}}`, "", "all", nil},
	{"worktree", `{"access_mode": "workspace-write"}`, "cwd /home/u/t\nfile /home/u/t/.git\nfile /home/u/w/.git/worktrees/t/commondir\nfile /home/u/w/.git/worktrees/t/gitdir\ndir /home/u/w/.git/worktrees/o\nworktree /home/u/t /home/u/w/.git/worktrees/t /home/u/w/.git /home/u/w/.git/worktrees/o", "all", nil},
	{"workspace-in-tmp", `{"access_mode": "workspace-write"}`, "cwd /tmp/w\nfile /tmp/w/.git/config\nfile /tmp/w/a", "all", nil},
	{"workshop", `{"sandbox": {"root": "/home/u/w"}}`, "", "all", nil},
	{"environment", `{"access_mode": "read-only", "environment": {"pass": ["PATH"], "set": {"A": "b c", "API_KEY": "s3cret"}}}`, "", "all", nil},
	{"limits", `{"access_mode": "read-only", "limits": {"memory": "64MiB", "cpus": 0.5, "pids": 16, "open_files": 64, "file_size": "1MiB", "timeout": "90s"}}`, "", "all all+", nil},
	{"budget", `{"access_mode": "read-only", "max_commands": 5}`, "", "all all+", nil},
	{"allow", `{"access_mode": "workspace-write", "commands": {"allow": ["make"]}}`, "", "all all+", nil},
	{"deny", `{"access_mode": "workspace-write", "commands": {"deny": ["sh"]}}`, "", "all", nil},
	{"loaders", `{"access_mode": "read-only", "environment": {"pass": ["*"], "set": {"LD_LIBRARY_PATH": "/home/u/w/lib", "DOCKER_HOST": "tcp://other", "GODEBUG": "x=1"}}}`, "", "all", nil},
	{"syscalls", `{"access_mode": "read-only", "syscalls": "/srv/profile.json"}`, "file /srv/profile.json", "all all+", nil},
	{"odd-names", `{"access_mode": "workspace-write", "filesystem": {"write": ["/srv/a,b", "/srv/q\"uote"], "mounts": [{"label": "c", "source": "/srv/c:d", "target": "/opt/c:d", "mode": "ro"}, {"label": "t", "target": "/opt/t", "mode": "tmpfs"}]}}`,
		"dir /srv/a,b\ndir /srv/q\"uote\ndir /srv/c:d\ndir /opt/c:d\ndir /opt/t", "all", nil},
	{"submounts", `{"access_mode": "read-only", "filesystem": {"read": ["@system", "/srv"]}}`, "mounted /srv/data ext4", "all", nil},
	{"kernel-mounts", `{"access_mode": "workspace-write"}`, "file /srv/data/jail/proc/sys\nmounted /srv/data/jail/proc proc\nfile /home/u/w/jail/stat\nmounted /home/u/w/jail sysfs", "all", nil},
	{"sockets", `{"access_mode": "workspace-write"}`, "dir /srv/e/d\nsocket /srv/e/d/s\nsocket /srv/e/s\ndir /srv/e/d/k\nsocket /srv/e/d/k/s", "all", nil},
	{"submount-colon", `{"access_mode": "read-only", "filesystem": {"read": ["@system", "/srv"]}}`, "dir /srv/a:b\nmounted /srv/a:b ext4", "all", nil},
	{"wasmtime-dir", `{"access_mode": "workspace-write", "network": {"mode": "none"}, "filesystem": {"write": ["/home/u/w/out"], "mounts": [{"label": "in", "source": "/srv/data", "target": "/srv/data", "mode": "ro"}, {"label": "in", "source": "/srv/data", "target": "/data", "mode": "ro"}, {"label": "out", "source": "/home/u/w/out", "target": "/out", "mode": "rw"}]}}`, "", "all",
		[]DirMount{{"in", "/srv/data", "/data", spec.MountRO}, {"out", "/home/u/w/out", "/out", spec.MountRW}}},
}

// invocation returns the wrapped invocation: a runner of WASI modules, with a token that an audit
// must not show.
func invocation(mounts []DirMount) Invocation {
	return Invocation{Cmd: "/usr/bin/wasmtime", Args: []string{"run", "--dir", "/srv/data::/data", "--dir=/home/u/w/out::/out", "--env", "API_KEY=s3cret", "/home/u/w/mod.wasm", "it's \"odd\"", "", "/home/other/x y"},
		Env: []string{"PATH=/usr/bin:/bin", "LANG=C.UTF-8", "SERVICE_TOKEN=s3cret"}, Mounts: mounts}
}

// TestWrapperGolden compares every wrapper's line and audit for each of the specs with a file.
// -update writes the files again; then a person must read the difference.
func TestWrapperGolden(t *testing.T) {
	want := map[string]bool{}
	for _, c := range wrapped {
		for _, on := range strings.Fields(c.on) {
			for _, name := range Wrappers() {
				file := c.name + "." + name + "." + on + ".txt"
				want[file] = true
				t.Run(file, func(t *testing.T) {
					got := wrapGolden(t, on, name, c.spec, c.facts, c.mounts)
					path := filepath.Join(lines, file)
					world.Golden(t, path, got)
				})
			}
		}
	}
	files, err := os.ReadDir(lines)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !want[f.Name()] {
			t.Errorf("%s belongs to no case", f.Name())
		}
	}
}

// asked is what a tool is asked for by a document on the made-up machine.
func asked(t testing.TB, doc string, facts ...string) (Ask, error) {
	t.Helper()
	w := world.Workstation(t, append(facts, "overlay no it is listed whole")...)
	r, err := w.Resolve(doc)
	if err != nil {
		return Ask{}, err
	}
	h := w.Probed(r)
	h.Overlay = wrap.Answer{}
	w.ListAll(h, "/")
	for _, tool := range wrap.ToolNames() {
		h.Tools = append(h.Tools, wrap.Tool{Name: tool, Path: "/usr/bin/" + tool})
	}
	return Ask{Resolved: r, Host: h, Image: "example/image:1"}, nil
}

// made is a wrapper on the made-up machine.
func made(t testing.TB, on, name, doc, facts string, mounts []DirMount) (Wrapper, error) {
	t.Helper()
	on, effort := strings.CutSuffix(on, "+")
	if effort {
		doc = strings.TrimSuffix(doc, "}") + `, "best_effort": ["*"]}`
	}
	a, err := asked(t, doc, world.Hosts[on], facts)
	if err != nil {
		return nil, err
	}
	a.Mounts = mounts
	return NewWrapper(name, a)
}

func wrapGolden(t *testing.T, on, name, doc, facts string, mounts []DirMount) string {
	t.Helper()
	got := "spec: " + doc + "\n"
	w, err := made(t, on, name, doc, facts, mounts)
	if err != nil {
		return got + world.ProblemText(t, err)
	}
	inv := invocation(mounts)
	out, audit, err := w.Wrap(inv)
	if err != nil {
		return got + world.ProblemText(t, err)
	}
	again, _, _ := w.Wrap(inv)
	if !slices.Equal(out.Args, again.Args) || !slices.Equal(out.Env, again.Env) {
		t.Error("a second answer differs from the first")
	}
	got += out.Cmd + "\n"
	for i, a := range out.Args {
		if i > 0 && out.Args[i-1] == nsjailPolicy { // seccomp's tests check it
			a = nsjailShut
		}
		got += "\t" + a + "\n"
	}
	got += "env: " + strings.Join(out.Env, " ") + "\ncwd: " + out.Cwd + "\n"
	return got + string(audit.AppendJSON(nil)) + "\n"
}

// In a container, a link of the workshop's root must not show a file that is hidden at the link's
// target.
func TestImageLinksToNothingHidden(t *testing.T) {
	for hide, want := range map[string]bool{"[]": true, `["/home/u/w/main.go"]`: false} {
		w, err := made(t, "all", nameDocker, `{"sandbox": {"root": "/home/u/w"}, "filesystem": {"hide": `+hide+`}}`, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		out, _, err := w.Wrap(invocation(nil))
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(out.Args, func(a string) bool { return strings.Contains(a, "source=/home/u/w/main.go") }); got != want {
			t.Errorf("hide %s: main.go is bound: %v\n%q", hide, got, out.Args)
		}
	}
}
