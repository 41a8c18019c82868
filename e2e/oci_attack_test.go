package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// attacked is a running container, with its id and its bundle.
type attacked struct {
	n      *ociNode
	bundle string
	id     string
	line   func(...string) []string
}

func (a *attacked) do(args ...string) ran { return ociRun(a.n.t, a.bundle, a.line(args...)) }

// must is do for a call that has to succeed.
func (a *attacked) must(args ...string) string {
	a.n.t.Helper()
	got := a.do(args...)
	if got.status != 0 {
		a.n.t.Fatalf("%q: %+v", args, got)
	}
	return got.out
}

// attack makes and starts a container whose root has the probe, under the node's specs and, as the
// control, without them, and calls each with both.
func (n *ociNode) attack(args []string, edit func(config map[string]any), change func(root string), each func(a *attacked, control bool)) {
	n.t.Helper()
	for _, control := range []bool{true, false} {
		bundle := ociBundle(n.t, args, edit)
		b, err := os.ReadFile(probePath)
		must(n.t, err)
		must(n.t, os.WriteFile(filepath.Join(bundle, "rootfs/opt/probe"), b, 0o755))
		if change != nil {
			change(filepath.Join(bundle, "rootfs"))
		}
		a := &attacked{n, bundle, "sbx-e2e-attacked", n.under}
		if control {
			a.line = n.bare
		}
		a.must("create", "--bundle", bundle, a.id)
		n.t.Cleanup(func() { ociRun(n.t, bundle, n.bare("delete", "--force", a.id)) })
		a.must("start", a.id)
		each(a, control)
		a.must("delete", "--force", a.id)
	}
	n.clean()
}

// asEngines returns which filter of system calls a process has that an engine adds.
func (a *attacked) asEngines() string {
	a.n.t.Helper()
	return a.process([]string{"CAP_CHOWN"}, "grep", "Seccomp:", "/proc/self/status")
}

// process is exec as an engine calls it, with a process of the engine's own in a file. It returns
// its output.
func (a *attacked) process(caps []string, args ...string) string {
	a.n.t.Helper()
	file := filepath.Join(a.n.t.TempDir(), "process.json")
	b, err := json.Marshal(map[string]any{"user": map[string]int{"uid": 0, "gid": 0}, "args": args, "env": []string{"PATH=/bin"}, "cwd": "/", "capabilities": capabilities(caps...)})
	must(a.n.t, err)
	must(a.n.t, os.WriteFile(file, b, 0o600))
	return strings.TrimSpace(a.must("exec", "--process", file, a.id))
}

const (
	noFilter = "Seccomp:\t0"
	filtered = "Seccomp:\t2"
)

// TestOCIMadeTwice checks that a second container with the same name, even one without a spec,
// takes nothing away from the first: neither the rules for exec nor its record.
func TestOCIMadeTwice(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(`{"max_commands": 100}`)
		n.attack([]string{"sleep", "1000"}, nil, nil, func(a *attacked, control bool) {
			again := func(line []string) {
				if got := ociRun(t, a.bundle, line); got.status != 1 {
					t.Errorf("made twice: %+v", got)
				}
			}
			free := a.line("create", "--bundle", a.bundle, a.id)
			if i := slices.Index(free, "--sbx-policy"); i > 0 {
				free[i+1] = t.TempDir()
			}
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() { again(a.line("create", "--bundle", a.bundle, a.id)) })
				all.Go(func() { again(free) })
			}
			all.Wait()
			want := filtered
			if control {
				want = noFilter
			}
			if got := a.asEngines(); got != want {
				t.Errorf("control %v: exec has %q", control, got)
			}
		})
		if r := n.recordIn("exited"); len(n.records()) != 1 || r["commands"].(map[string]any)["started"] != 1.0 {
			t.Errorf("%d records: %v", len(n.records()), r)
		}
	})
}

// TestOCIMadeAtOnce makes several containers of one name at the same time: one is created,
// completely.
func TestOCIMadeAtOnce(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(`{"max_commands": 100}`)
		a := &attacked{n, ociBundle(t, []string{"sleep", "1000"}, nil), "sbx-e2e-once", n.under}
		t.Cleanup(func() { ociRun(t, a.bundle, n.bare("delete", "--force", a.id)) })
		for range 3 {
			var all sync.WaitGroup
			var got [6]ran
			for i := range got {
				all.Go(func() { got[i] = a.do("create", "--bundle", a.bundle, a.id) })
			}
			all.Wait()
			made := 0
			for i := range got {
				if got[i].status == 0 {
					made++
				}
			}
			if made != 1 {
				t.Fatalf("%d are made: %+v", made, got)
			}
			a.must("start", a.id)
			if got := a.asEngines(); got != filtered {
				t.Errorf("exec has %q", got)
			}
			a.must("delete", "--force", a.id)
		}
		n.clean()
	})
}

// TestOCITraced checks that nothing in a container can trace a process that exec adds before that
// process has restricted itself, if Landlock does not prevent that.
func TestOCITraced(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(`{"max_commands": 1000}`)
		n.attack([]string{"sh", "-c", "exec /opt/probe trace /opt/stop >/opt/out"}, func(config map[string]any) {
			config["process"].(map[string]any)["capabilities"] = capabilities("CAP_CHOWN")
		}, nil, func(a *attacked, control bool) {
			for range 30 {
				a.do("exec", a.id, "sleep", "0.1")
			}
			if caps := strings.TrimSpace(a.must("exec", a.id, "grep", "CapPrm", "/proc/self/status")); !strings.HasSuffix(caps, "0000000000000001") {
				t.Errorf("exec has %s", caps)
			}
			must(t, os.WriteFile(filepath.Join(a.bundle, "rootfs/opt/stop"), nil, 0o644))
			var out []byte
			for deadline := time.Now().Add(limit); len(out) == 0 && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
				out, _ = os.ReadFile(filepath.Join(a.bundle, "rootfs/opt/out"))
			}
			var bare, walled int
			if _, err := fmt.Sscanf(string(out), "bare %d walled %d", &bare, &walled); err != nil {
				t.Fatalf("%q: %v", out, err)
			}
			if control && bare == 0 || !control && (bare > 0 || walled == 0) {
				t.Errorf("control %v: %s", control, out)
			}
		})
	})
}

// TestOCIExposed holds that the record says where a capability of the container opens what
// exec adds.
func TestOCIExposed(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		for name, want := range map[string]string{"CAP_SYS_PTRACE": "CAP_SYS_PTRACE", "CAP_SYS_ADMIN": "CAP_SYS_ADMIN", "cap_sys_admin": "CAP_SYS_ADMIN", "CAP_CHOWN": ""} {
			n.allow(`{"max_commands": 1000}`)
			if name == "cap_sys_admin" && filepath.Base(n.runtime) == "runc" {
				continue // crun alone takes it for a name
			}
			bundle := ociBundle(t, []string{"true"}, func(config map[string]any) {
				config["process"].(map[string]any)["capabilities"] = capabilities(name)
			})
			if got := ociRun(t, bundle, n.under("run", "--bundle", bundle, "sbx-e2e-exposed")); got.status != 0 {
				t.Fatalf("%+v", got)
			}
			status := "degraded"
			if want == "" {
				status = "enforced"
			}
			if r := record(n.lastRecord()); r.status("max_commands") != status || !strings.Contains(r.reason("max_commands"), want) {
				t.Errorf("%s: %v", name, r["enforcement"])
			}
		}
	})
}

// TestOCINameSlipped checks that a protected name which is created all the same, by a path that
// changes while it is checked, is removed while the container runs.
func TestOCINameSlipped(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(`{"access_mode": "workspace-write", "working_dir": "/vol"}`)
		volume := ""
		n.attack([]string{"sh", "-c", "exec /opt/probe slip /vol/.git /vol/stop >/vol/out"}, func(config map[string]any) {
			volume = t.TempDir()
			config["process"].(map[string]any)["cwd"] = "/vol"
			config["mounts"] = append(config["mounts"].([]any), map[string]any{"destination": "/vol", "type": "bind", "source": volume, "options": []string{"rbind"}})
		}, nil, func(a *attacked, control bool) {
			said := func(word string) {
				t.Helper()
				var out []byte
				for deadline := time.Now().Add(limit); !strings.HasSuffix(string(out), word+"\n"); time.Sleep(20 * time.Millisecond) {
					if out, _ = os.ReadFile(filepath.Join(volume, "out")); time.Now().After(deadline) {
						t.Fatalf("control %v: %q", control, out)
					}
				}
			}
			if !control {
				said("made\ngone")
				return
			}
			said("made")
			must(t, os.WriteFile(filepath.Join(volume, "stop"), nil, 0o644))
			said("there")
		})
		if swept, _ := n.lastRecord()["swept"].([]any); len(swept) == 0 { // the program may make it twice
			t.Errorf("%v", n.lastRecord()["swept"])
		}
	})
}
