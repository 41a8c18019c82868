package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// supervisorOf returns the process that a container's record names as its supervisor.
func (n *ociNode) supervisorOf() int {
	pid, _ := n.lastRecord()["pid"].(float64)
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", int(pid)))
	if err != nil || !strings.Contains(string(b), "sbx-oci") {
		n.t.Fatalf("no supervisor: %q, %v", b, err)
	}
	return int(pid)
}

// recordIn waits for the record to have a state.
func (n *ociNode) recordIn(state string) map[string]any {
	n.t.Helper()
	r := n.lastRecord()
	for range 200 {
		if r["state"] == state {
			return r
		}
		time.Sleep(20 * time.Millisecond)
		r = n.lastRecord()
	}
	n.t.Fatalf("the record is not %s: %v", state, r)
	return r
}

func violations(r map[string]any) (all []string) {
	list, _ := r["violations"].([]any)
	for _, v := range list {
		v := v.(map[string]any)
		all = append(all, fmt.Sprint(v["kind"], " ", v["action"], " ", v["target"], " ", v["rule"], " ", v["allow_with"]))
	}
	return all
}

// TestOCISupervisor checks what the supervisor of a container enforces and reports, for the first
// process and for those that exec adds: counts, protected names, time, how it ended.
func TestOCISupervisor(t *testing.T) {
	const id = "sbx-e2e-supervised"
	for _, c := range []struct {
		name, spec, script string
		exec               int // processes that are added; each starts one program
		code               any // of the record; nil for none
		by                 string
		started            float64 // in addition to the command itself
		want               []string
		made               bool // the script reaches its mark
	}{
		{"counts", `{"max_commands": 100}`, "/bin/id; /bin/id; touch /vol/mark; sleep 1; exit 7", 2, 7.0, "command", 5, nil, true},
		{"a budget", `{"max_commands": 2}`, "/bin/busybox true; /bin/busybox true; /bin/busybox touch /vol/mark; exit 3", 0, 3.0, "command", 2,
			[]string{"command execute /bin/busybox max_commands: 2 max_commands: 3"}, false},
		{"a budget that ends all", `{"max_commands": 1, "on_exceed": "kill"}`, "/bin/busybox true; /bin/busybox true; touch /vol/mark; exit 3", 0, 124.0, "max_commands", 1,
			[]string{"command execute /bin/busybox max_commands: 1 max_commands: 2"}, false},
		{"a time", `{"limits": {"timeout": "300ms"}}`, "/bin/busybox true; sleep 20; touch /vol/mark", 0, 124.0, "timeout", 2,
			[]string{"limit run on <nil> limits.timeout: 300ms limits.timeout: 600ms"}, false},
		{"a protected name", `{"access_mode": "workspace-write", "working_dir": "/vol"}`, "mkdir -p .git/hooks; touch mark .git/hooks/post-commit; exit 4", 0, 4.0, "command", 0,
			[]string{"filesystem create a directory /vol/.git protected_names filesystem.write: [\".git\"]"}, true},
		{"programs", `{"access_mode": "workspace-write", "working_dir": "/vol", "commands": {"deny": ["mkfifo"]}}`, "touch mark; /opt/mkfifo x; exit 5", 0, 5.0, "command", 0,
			[]string{"command execute /opt/mkfifo commands.deny"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			ociOn(t, func(t *testing.T, n *ociNode) {
				n.allow(c.spec)
				volume := t.TempDir()
				bundle := ociBundle(t, []string{"sh", "-c", c.script}, func(config map[string]any) {
					config["mounts"] = append(config["mounts"].([]any), map[string]any{"destination": "/vol", "type": "bind", "source": volume, "options": []string{"rbind"}})
					process := config["process"].(map[string]any)
					process["cwd"], process["env"] = "/vol", []string{"PATH=/bin:/opt", "HOME=/root"}
					process["capabilities"] = map[string]any{"bounding": []string{"CAP_CHOWN"}} // with others a line says less
				})
				b, err := os.ReadFile(needPrograms(t, "busybox"))
				must(t, err)
				must(t, os.WriteFile(filepath.Join(bundle, "rootfs/opt/mkfifo"), b, 0o755))
				do := func(want int, line []string) {
					t.Helper()
					if got := ociRun(t, bundle, line); got.status != want {
						t.Fatalf("%q: %+v", line, got)
					}
				}
				life := func(line func(...string) []string) {
					must(t, os.RemoveAll(filepath.Join(volume, "mark")))
					must(t, os.RemoveAll(filepath.Join(volume, ".git")))
					do(0, line("create", "--bundle", bundle, id))
					t.Cleanup(func() { ociRun(t, bundle, n.bare("delete", "--force", id)) })
					do(0, line("start", id))
					for range c.exec {
						do(0, line("exec", id, "/bin/busybox", "true"))
					}
				}
				life(n.under)
				r := n.recordIn("exited")
				counts := r["commands"].(map[string]any)
				exit, _ := r["exit"].(map[string]any)
				if exit["code"] != c.code || exit["ended_by"] != c.by {
					t.Errorf("exit: %v, %v", exit, r["container"])
				}
				if counts["started"] != c.started {
					t.Errorf("counted: %v, %v", counts, r["started"])
				}
				got := violations(r)
				for _, w := range c.want {
					if !strings.Contains(strings.Join(got, "\n"), w) {
						t.Errorf("no %q in %q", w, got)
					}
				}
				if len(c.want) == 0 && len(got) > 0 {
					t.Errorf("denied: %q", got)
				}
				if exists(filepath.Join(volume, "mark")) != c.made || exists(filepath.Join(volume, ".git")) {
					t.Errorf("mark %v, .git %v", exists(filepath.Join(volume, "mark")), exists(filepath.Join(volume, ".git")))
				}
				for _, l := range r["enforcement"].([]any) {
					if l := l.(map[string]any); l["field"] == "max_commands" && l["status"] != "enforced" || l["field"] == "limits.timeout" && l["status"] != "enforced" ||
						l["field"] == "new_protected_names" && l["by"] != "seccomp notify, sweep" {
						t.Errorf("%v", l)
					}
				}
				do(0, n.under("delete", "--force", id))
				n.clean()
				if c.name == "a time" {
					return // the control runs for as long
				}
				life(n.bare)
				for range 100 {
					if exists(filepath.Join(volume, "mark")) {
						break
					}
					time.Sleep(20 * time.Millisecond)
				}
				if !exists(filepath.Join(volume, "mark")) {
					t.Error("the control does not come to its mark")
				}
			})
		})
	}
}

// TestOCISupervisorIgnoresSignals: what ends all processes of a node politely does not take a container's
// supervisor before the container.
func TestOCISupervisorIgnoresSignals(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(`{"max_commands": 100}`)
		bundle := ociBundle(t, []string{"sh", "-c", "/bin/id; exit 7"}, nil)
		const id = "sbx-e2e-polite"
		if got := ociRun(t, bundle, n.under("create", "--bundle", bundle, id)); got.status != 0 {
			t.Fatalf("%+v", got)
		}
		for s := syscall.SIGHUP; s <= 64; s++ {
			switch s {
			case syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, // which nobody sends to it
				syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGTRAP, syscall.SIGSYS, syscall.SIGABRT, syscall.SIGSTKFLT, 32, 33, 34:
				continue
			}
			must(t, syscall.Kill(n.supervisorOf(), s))
		}
		if got := ociRun(t, bundle, n.under("start", id)); got.status != 0 {
			t.Errorf("%+v", got)
		}
		if r := n.recordIn("exited"); r["commands"].(map[string]any)["started"] != 1.0 {
			t.Errorf("%v", r)
		}
		if got := ociRun(t, bundle, n.under("delete", "--force", id)); got.status != 0 {
			t.Errorf("%+v", got)
		}
		n.clean()
	})
}

// TestOCISupervisorKilled checks that nothing more starts after a container's supervisor was
// killed, and that the record says so.
func TestOCISupervisorKilled(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(`{"access_mode": "workspace-write", "working_dir": "/vol"}`)
		volume := t.TempDir()
		bundle := ociBundle(t, []string{"sh", "-c", "while [ ! -e go ]; do sleep 0.05 || break; done; /bin/busybox touch more || echo no > denied; read x < fifo"}, func(config map[string]any) {
			config["process"].(map[string]any)["cwd"] = "/vol"
			config["mounts"] = append(config["mounts"].([]any), map[string]any{"destination": "/vol", "type": "bind", "source": volume, "options": []string{"rbind"}})
		})
		must(t, syscall.Mkfifo(filepath.Join(volume, "fifo"), 0o600))
		const id = "sbx-e2e-orphan"
		life := func(line func(...string) []string, killed bool) {
			for _, step := range []string{"create", "start"} {
				args := []string{step, id}
				if step == "create" {
					args = []string{step, "--bundle", bundle, id}
				}
				if got := ociRun(t, bundle, line(args...)); got.status != 0 {
					t.Fatalf("%q: %+v", args, got)
				}
			}
			t.Cleanup(func() { ociRun(t, bundle, n.bare("delete", "--force", id)) })
			if killed {
				must(t, syscall.Kill(n.supervisorOf(), syscall.SIGKILL))
			}
			must(t, os.WriteFile(filepath.Join(volume, "go"), nil, 0o644))
			for range 200 {
				if exists(filepath.Join(volume, "more")) || exists(filepath.Join(volume, "denied")) {
					break
				}
				time.Sleep(20 * time.Millisecond)
			}
		}
		life(n.bare, false)
		if !exists(filepath.Join(volume, "more")) {
			t.Error("the control starts nothing")
		}
		ociRun(t, bundle, n.bare("delete", "--force", id))
		for _, name := range []string{"go", "more", "denied"} {
			must(t, os.RemoveAll(filepath.Join(volume, name)))
		}
		life(n.under, true)
		if exists(filepath.Join(volume, "more")) {
			t.Error("without a supervisor a program was started")
		}
		if got := ociRun(t, bundle, n.under("exec", id, "true")); got.status != 1 || !strings.Contains(got.err, "its supervisor does not answer") {
			t.Errorf("exec: %+v", got)
		}
		if got := ociRun(t, bundle, n.under("delete", "--force", id)); got.status != 0 {
			t.Errorf("delete: %+v", got)
		}
		r := n.lastRecord()
		if why, _ := r["container"].(map[string]any)["exit_unknown"].(string); r["state"] != "exited" || r["exit"] != nil || why != "its supervisor was killed" {
			t.Errorf("the record: %v", r)
		}
		n.clean()
	})
}

// TestOCISupervisorKeepsNothing checks that the processes which exec adds leave the supervisor
// nothing to keep, and that it has only the host's and the container's mounts.
func TestOCISupervisorKeepsNothing(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(`{"access_mode": "workspace-write", "working_dir": "/work"}`)
		const id = "sbx-e2e-keeps"
		bundle := ociBundle(t, []string{"sleep", "100"}, nil)
		do := func(args ...string) {
			t.Helper()
			if got := ociRun(t, bundle, n.under(args...)); got.status != 0 {
				t.Fatalf("%q: %+v", args, got)
			}
		}
		pid := filepath.Join(t.TempDir(), "pid")
		do("create", "--bundle", bundle, "--pid-file", pid, id)
		t.Cleanup(func() { ociRun(t, bundle, n.bare("delete", "--force", id)) })
		do("start", id)
		supervisor := fmt.Sprintf("/proc/%d", n.supervisorOf())
		first, err := os.ReadFile(pid)
		must(t, err)
		mounts := func(process string) string {
			ns, err := os.Readlink(process + "/ns/mnt")
			must(t, err)
			return ns
		}
		fds := func() int {
			list, err := os.ReadDir(supervisor + "/fd")
			must(t, err)
			return len(list)
		}
		added := func() { do("exec", id, "sh", "-c", "touch /work/x; /bin/busybox true") }
		added()
		before := fds()
		for range 10 {
			added()
		}
		for range 100 {
			if fds() <= before {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if now := fds(); now > before {
			t.Errorf("%d descriptors, %d before ten more processes", now, before)
		}
		threads, err := os.ReadDir(supervisor + "/task")
		must(t, err)
		for _, thread := range threads {
			ns, err := os.Readlink(supervisor + "/task/" + thread.Name() + "/ns/mnt")
			if os.IsNotExist(err) {
				continue // that of a process which has just ended
			}
			must(t, err)
			if ns != mounts(supervisor) && ns != mounts("/proc/"+string(first)) {
				t.Errorf("a thread has mounts of its own: %s", ns)
			}
		}
		if cwd, err := os.Readlink(supervisor + "/cwd"); cwd != "/" {
			t.Errorf("it is in %s, %v", cwd, err)
		}
		do("delete", "--force", id)
		n.clean()
	})
}
