package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// ociSpec restricts as most specs do.
const ociSpec = `{"access_mode": "workspace-write", "working_dir": "/work"}`

// TestOCIHolds tries, in a container, what a spec denies: under the runtime proper each attempt
// succeeds.
func TestOCIHolds(t *testing.T) {
	const network = `{"network": {"mode": "none"}}`
	for _, c := range []struct {
		name, spec string
		tries      []string
	}{
		{"workspace-write", ociSpec, []string{"touch /opt/x", "grep secret /root/.ssh/id", "grep secret /etc/shadow", "touch /work/.git/hooks/post-commit", "touch /vol/x", "test -e /tmp/left",
			"env | grep GITHUB_TOKEN", "grep -q CapBnd:.*2023 /proc/self/status", "grep -q NoNewPrivs:.*0 /proc/self/status", "unshare -U true"}},
		{"hidden", `{"filesystem": {"hide": ["/root/.ssh"]}}`, []string{"grep secret /root/.ssh/id"}},
		{"read-only", `{"access_mode": "read-only", "working_dir": "/work"}`, []string{"touch /work/x"}},
		{"protected names of a volume", `{"access_mode": "workspace-write", "working_dir": "/vol"}`, []string{"touch /vol/.git/hooks/post-commit"}},
		{"open files", `{"limits": {"open_files": 64}}`, []string{"test $(ulimit -n) -gt 64"}},
		{"what is not listed", `{"filesystem": {"read": ["@system"]}}`, []string{"test -e /opt", "ls /etc | grep shadow", "ls /sys/class"}},
		{"a volume that is not listed", `{"filesystem": {"read": ["@system", "/opt"]}}`, []string{"test -e /vol"}},
		{"writing what is listed", `{"filesystem": {"read": ["@system", "/vol"], "write": ["/work"]}}`, []string{"touch /vol/x"}},
		{"a secret in what is listed", `{"filesystem": {"read": ["/"]}}`, []string{"grep secret /root/.ssh/id"}},
		{"network", network, []string{"grep -q sbxhost /proc/net/unix || ip -o link | grep -v ' lo:'"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ociOn(t, func(t *testing.T, n *ociNode) {
				n.allow(c.spec)
				script, all := "", ""
				for i, try := range c.tries {
					script += fmt.Sprintf("(%s) >/dev/null && echo %d; ", try, i)
					all += strconv.Itoa(i) + "\n"
				}
				bundle := ociBundle(t, []string{"sh", "-c", script + "echo finished"}, func(config map[string]any) {
					linux := config["linux"].(map[string]any)
					if c.spec == network { // the host's
						var kept []any
						for _, ns := range linux["namespaces"].([]any) {
							if ns.(map[string]any)["type"] != "network" {
								kept = append(kept, ns)
							}
						}
						linux["namespaces"] = kept
					}
					delete(config["process"].(map[string]any), "rlimits")
					volume := t.TempDir()
					must(t, os.MkdirAll(filepath.Join(volume, ".git/hooks"), 0o755))
					config["mounts"] = append(config["mounts"].([]any), map[string]any{"destination": "/vol", "type": "bind", "source": volume, "options": []string{"rbind", "rprivate"}})
				})
				root := filepath.Join(bundle, "rootfs")
				for _, d := range []string{"work/.git/hooks", "work/.git/objects", "work/.git/refs"} {
					must(t, os.MkdirAll(filepath.Join(root, d), 0o755))
				}
				must(t, os.WriteFile(filepath.Join(root, "work/.git/HEAD"), []byte("ref: refs/heads/main\n"), 0o644))
				must(t, os.WriteFile(filepath.Join(root, "tmp/left"), nil, 0o644))
				got := ociRun(t, bundle, n.under("run", "--bundle", bundle, "sbx-e2e-holds"))
				if got.out != "finished\n" || got.status != 0 {
					t.Errorf("under the spec: %+v of %q", got, c.tries)
				}
				want := ociRun(t, bundle, n.bare("run", "--bundle", bundle, "sbx-e2e-holds"))
				if want.out != all+"finished\n" {
					t.Errorf("the control: %+v of %q", want, c.tries)
				}
				r := n.lastRecord()
				if r["state"] != "exited" || len(r["enforcement"].([]any)) == 0 || len(r["container"].(map[string]any)["edits"].([]any)) == 0 {
					t.Errorf("the record: %v", r)
				}
				n.clean()
			})
		})
	}
}

// ociShut stands for a container whose own list of system calls lacks seccomp(2).
const ociShut = "shut"

// TestOCIRefuses holds that nothing starts where a spec does not hold, and that the engine
// is told why. outer.TestContainerCannot has the fields.
func TestOCIRefuses(t *testing.T) {
	for _, c := range []struct{ name, node, annotation, value, want string }{
		{"a wider spec", ociSpec, "dev.sbx.spec", `{"access_mode": "danger-full-access"}`, "danger-full-access"},
		{"a bad spec", ociSpec, "dev.sbx.spec", `{"acces_mode": "read-only"}`, "unknown field"},
		{"a file outside of the directories", ociSpec, "dev.sbx.spec-file", "/etc/passwd", "no directory of specs"},
		{"allow", `{"network": {"mode": "allow", "allow": ["h:1"]}}`, "", "", "have the engine's network keep to the list"},
		{"a time that nobody can keep", `{"limits": {"timeout": "1m"}}`, ociShut, "", "shuts seccomp"},
		{"a working directory that is not there", `{"access_mode": "read-only", "working_dir": "/nosuch"}`, "", "", "/nosuch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ociOn(t, func(t *testing.T, n *ociNode) {
				n.allow(c.node)
				mark := filepath.Join(t.TempDir(), "started")
				bundle := ociBundle(t, []string{"touch", "/vol/started"}, func(config map[string]any) {
					if config["annotations"] = map[string]any{c.annotation: c.value}; c.annotation == ociShut {
						config["linux"].(map[string]any)["seccomp"] = map[string]any{"defaultAction": "SCMP_ACT_ALLOW",
							"syscalls": []any{map[string]any{"names": []string{"seccomp"}, "action": "SCMP_ACT_ERRNO"}}}
					}
					config["mounts"] = append(config["mounts"].([]any), map[string]any{"destination": "/vol", "type": "bind", "source": filepath.Dir(mark), "options": []string{"rbind"}})
				})
				log := filepath.Join(t.TempDir(), "log.json")
				n.global = append(n.global, "--log", log, "--log-format", "json")
				got := ociRun(t, bundle, n.under("run", "--bundle", bundle, "sbx-e2e-refused"))
				text, err := os.ReadFile(log)
				must(t, err)
				if got.status != 1 || !strings.Contains(got.err, c.want) || !strings.Contains(string(text), c.want) || !strings.HasPrefix(string(text), "{") {
					t.Errorf("%+v, log %s", got, text)
				}
				if _, err := os.Stat(mark); err == nil {
					t.Error("it was started")
				}
				if r := n.lastRecord(); r["state"] != "refused" || r["error"] == nil {
					t.Errorf("the record: %v", r)
				}
				n.clean()
				if ociRun(t, bundle, n.bare("run", "--bundle", bundle, "sbx-e2e-refused")); !exists(mark) {
					t.Error("the control does not start")
				}
			})
		})
	}
}

// TestOCINarrows checks that each spec narrows the one before, and that the lower of two limits
// applies.
func TestOCINarrows(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		if strings.Contains(strings.Join(n.global, " "), "disabled") {
			t.Skip("crun makes no control groups here")
		}
		n.allow(ociSpec, `{"limits": {"pids": 100, "memory": "100MiB"}}`)
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "a.yaml"), []byte("limits: {pids: 50}\n"), 0o644))
		must(t, os.WriteFile(filepath.Join(n.policy, "spec-folders"), []byte(dir+"\n"), 0o644))
		for _, c := range []struct {
			own  int
			pids string
		}{{0, "40"}, {30, "30"}, {90, "40"}} {
			bundle := ociBundle(t, []string{"sh", "-c", "cat /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/pids.max 2>/dev/null; echo $((1+1))"}, func(config map[string]any) {
				config["annotations"] = map[string]any{"dev.sbx.spec-file": filepath.Join(dir, "a.yaml"), "dev.sbx.spec": `{"limits": {"pids": 40}}`}
				if c.own > 0 {
					config["linux"].(map[string]any)["resources"].(map[string]any)["pids"] = map[string]any{"limit": c.own}
				}
			})
			if got := ociRun(t, bundle, n.under("run", "--bundle", bundle, "sbx-e2e-narrows")); got.out != c.pids+"\n2\n" {
				t.Errorf("%d: %+v", c.own, got)
			}
			if s := n.lastRecord()["sources"].([]any); len(s) != 4 {
				t.Errorf("sources: %v", s)
			}
		}
		must(t, os.RemoveAll(filepath.Join(n.policy, "a.json")))
		bundle := ociBundle(t, []string{"touch", "/opt/x"}, nil)
		if got := ociRun(t, bundle, n.under("run", "--bundle", bundle, "sbx-e2e-limits")); got.status != 0 {
			t.Errorf("limits alone: %+v", got)
		}
		for _, l := range n.lastRecord()["enforcement"].([]any) {
			if l := l.(map[string]any); l["status"] != "enforced" {
				t.Errorf("limits alone: %v", l)
			}
		}
		n.clean()
	})
}

// TestOCIVerbs checks that a process of exec is restricted like the first, that start removes a
// network that was added after create, and what the record says at each step.
func TestOCIVerbs(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		needPrograms(t, "ip", "nsenter")
		n.allow(ociSpec)
		const id = "sbx-e2e-verbs"
		bundle := ociBundle(t, []string{"sleep", "100"}, nil)
		pid := filepath.Join(t.TempDir(), "pid")
		do := func(want int, args ...string) ran {
			t.Helper()
			got := ociRun(t, bundle, n.under(args...))
			if got.status != want {
				t.Errorf("%q: %+v", args, got)
			}
			return got
		}
		do(0, "create", "--bundle", bundle, "--pid-file", pid, id)
		t.Cleanup(func() { ociRun(t, bundle, n.bare("delete", "--force", id)) })
		text, err := os.ReadFile(pid)
		must(t, err)
		if r := n.lastRecord(); r["state"] != "running" || r["pid"] == nil {
			t.Errorf("after create: %v", r)
		}
		inside := []string{"nsenter", "--net=/proc/" + string(text) + "/ns/net"}
		link := func(args ...string) ran { return ociRun(t, bundle, append(append([]string{}, inside...), args...)) }
		if got := link("ip", "link", "add", "eth0", "type", "veth", "peer", "name", "eth1"); got.status != 0 {
			lacks(t, "no interface can be made: "+got.err)
		}
		do(0, "start", id)
		do(0, "exec", id, "true") // it is admitted after that
		if got := link("ip", "-o", "link"); !strings.Contains(got.out, "lo:") || strings.Contains(got.out, "eth") {
			t.Errorf("after start: %+v", got)
		}
		const try = "touch /opt/x || echo denied; unshare -U true || echo denied; grep -q Seccomp:.*2 /proc/self/status && echo filtered"
		if got := do(0, "exec", id, "sh", "-c", try); strings.Count(got.out, "denied") != 2 || !strings.Contains(got.out, "filtered") {
			t.Errorf("exec: %+v", got)
		}
		process := filepath.Join(t.TempDir(), "process.json")
		must(t, os.WriteFile(process, []byte(`{"user": {"uid": 0, "gid": 0}, "args": ["sh", "-c", "`+try+`; env; grep Cap /proc/self/status"], "env": ["PATH=/bin", "GITHUB_TOKEN=x"],
			"cwd": "/", "capabilities": {"bounding": ["CAP_SYS_ADMIN"], "effective": ["CAP_SYS_ADMIN"], "permitted": ["CAP_SYS_ADMIN"]}}`), 0o644))
		if got := do(0, "exec", "--process", process, id); strings.Count(got.out, "denied") != 2 || !strings.Contains(got.out, "filtered") ||
			strings.Contains(got.out, "GITHUB_TOKEN") || !strings.Contains(got.out, "CapEff:\t0000000000000000") || !strings.Contains(got.out, "CapBnd:\t0000000800000000") { // CAP_WAKE_ALARM
			t.Errorf("exec --process: %+v", got)
		}
		if got := ociRun(t, bundle, n.bare("exec", "--process", process, id)); !strings.Contains(got.out, "GITHUB_TOKEN") || strings.Contains(got.out, "filtered") {
			t.Errorf("the control: %+v", got)
		}
		do(1, "exec", "--env", "A=b", id, "true")
		do(3, "exec", id, "sh", "-c", "exit 3")
		do(127, "exec", id, "nosuch")
		// If the rules of a container are no longer known, no process is admitted.
		kept, err := filepath.Glob(n.state + "/sbx/made/*/narrowing.json")
		must(t, err)
		if len(kept) != 1 {
			t.Fatalf("it is kept at %q", kept)
		}
		must(t, os.Rename(kept[0], kept[0]+".away"))
		if got := do(1, "exec", id, "true"); !strings.Contains(got.err, "cannot know what holds for the container") {
			t.Errorf("exec into the unknown: %+v", got)
		}
		must(t, os.Rename(kept[0]+".away", kept[0]))
		do(0, "exec", id, "true")
		do(0, "kill", id, "KILL")
		do(0, "delete", "--force", id)
		r := n.lastRecord()
		exit, _ := r["exit"].(map[string]any)
		if why, _ := r["container"].(map[string]any)["exit_unknown"].(string); r["state"] != "exited" || exit["code"] != 137.0 && !strings.Contains(why, "engine alone") {
			t.Errorf("after delete: %v", r)
		}
		n.clean()
	})
}
