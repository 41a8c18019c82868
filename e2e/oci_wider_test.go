package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOCISpecWidensNothing checks that the engine's restrictions stay if the spec has a workspace.
// Each attempt fails under the bare runtime, too, and succeeds under both if the engine leaves it
// open.
func TestOCISpecWidensNothing(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(`{"access_mode":"workspace-write","working_dir":"/work","filesystem":{"write":["/data/sub","/opt"]}}`)
		volume := func(t *testing.T, flags uintptr) string {
			dir := t.TempDir()
			must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o777))
			b, err := os.ReadFile(needPrograms(t, "busybox"))
			must(t, err)
			must(t, os.WriteFile(filepath.Join(dir, "sub/busybox"), b, 0o755))
			if flags != 0 {
				must(t, unix.Mount(dir, dir, "", unix.MS_BIND, ""))
				t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
				must(t, unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|flags, ""))
			}
			return dir
		}
		for name, c := range map[string]struct {
			inside string
			edit   func(t *testing.T, c map[string]any, open bool)
		}{
			"a volume that is read-only": {"touch /work/x && echo DID", func(t *testing.T, c map[string]any, open bool) {
				mount(c, "/work", volume(t, 0), "rbind", map[bool]string{true: "rw", false: "ro"}[open])
				mount(c, "/data", volume(t, 0), "rbind")
			}},
			"a directory of one": {"touch /data/sub/x && echo DID", func(t *testing.T, c map[string]any, open bool) {
				mount(c, "/data", volume(t, 0), "rbind", map[bool]string{true: "rw", false: "ro"}[open])
			}},
			"one that the host has read-only": {"touch /data/sub/x && echo DID", func(t *testing.T, c map[string]any, open bool) {
				mount(c, "/data", volume(t, map[bool]uintptr{true: 0, false: unix.MS_RDONLY}[open]), "rbind")
			}},
			"one without programs": {"/data/sub/busybox echo DID", func(t *testing.T, c map[string]any, open bool) {
				mount(c, "/data", volume(t, 0), "rbind", map[bool]string{true: "exec", false: "noexec"}[open])
			}},
			"a root that is read-only": {"touch /opt/x && echo DID", func(t *testing.T, c map[string]any, open bool) {
				mount(c, "/data", volume(t, 0), "rbind")
				member(c, "root")["readonly"] = !open
			}},
		} {
			t.Run(name, func(t *testing.T) {
				n := *n
				n.t = t
				did := func(line func(...string) []string, open bool) bool {
					bundle := ociBundle(t, []string{"sh", "-c", c.inside + "; echo fin"}, func(config map[string]any) { c.edit(t, config, open) })
					r := ociRun(t, bundle, line("run", "--bundle", bundle, "sbx-e2e-wider"))
					if !strings.Contains(r.out, "fin") {
						t.Errorf("%+v", r)
					}
					return strings.Contains(r.out, "DID")
				}
				if name == "one that the host has read-only" && filepath.Base(n.runtime) == "crun" {
					if did(n.under, false) {
						t.Error("the spec opens what the host has shut")
					}
					return // crun mounts it writable: there is no control
				}
				if did(n.bare, false) || !did(n.bare, true) || !did(n.under, true) {
					t.Error("control: the restriction is not what decides")
				}
				if did(n.under, false) {
					t.Error("the spec opens what the engine has shut")
				}
			})
		}
		n.clean()
	})
}

// TestOCIAbsentCapabilities checks that a process without the member has no capabilities, also
// under a spec.
func TestOCIAbsentCapabilities(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(ociRO)
		bundle := ociBundle(t, []string{"grep", "CapEff", "/proc/self/status"}, func(c map[string]any) { delete(member(c, "process"), "capabilities") })
		for _, line := range [][]string{n.bare("run", "--bundle", bundle, "sbx-e2e-caps"), n.under("run", "--bundle", bundle, "sbx-e2e-caps")} {
			if r := ociRun(t, bundle, line); !strings.HasSuffix(r.out, "0000000000000000\n") {
				t.Errorf("%+v", r)
			}
		}
		n.clean()
	})
}

// TestOCILeavesTheHostsMounts checks that a mount which hides files in a volume that the engine
// shares with the host stays in the container, and that no mount of the host's in the volume is
// lost.
func TestOCILeavesTheHostsMounts(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		dir := t.TempDir()
		must(t, unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"))
		t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
		must(t, unix.Mount("", dir, "", unix.MS_SHARED, ""))
		must(t, os.WriteFile(filepath.Join(dir, "secret"), []byte("SECRET"), 0o644))
		below := filepath.Join(dir, "ws/sub")
		must(t, os.MkdirAll(below, 0o755))
		must(t, unix.Mount("tmpfs", below, "tmpfs", 0, "size=64k"))
		n.allow(`{"access_mode":"workspace-write","working_dir":"/vol/ws","filesystem":{"hide":["/vol/secret"]}}`)
		bundle := ociBundle(t, []string{"sh", "-c", "cat /vol/secret; touch x; echo fin"}, func(c map[string]any) {
			mount(c, "/vol", dir, "rbind", "rshared")
			member(c, "linux")["rootfsPropagation"] = "rshared"
		})
		if r := ociRun(t, bundle, n.bare("run", "--bundle", bundle, "sbx-e2e-shared")); !strings.Contains(r.out, "SECRET") {
			t.Errorf("control: %+v", r)
		}
		if r := ociRun(t, bundle, n.under("run", "--bundle", bundle, "sbx-e2e-shared")); r.out != "fin\n" {
			t.Errorf("%+v", r)
		}
		b, err := os.ReadFile("/proc/self/mountinfo")
		must(t, err)
		if c := bytes.Count(b, []byte(" "+dir)); c != 2 || !bytes.Contains(b, []byte(" "+below+" ")) {
			t.Errorf("%d mounts at %s on the host:\n%s", c, dir, b)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "secret")); string(text) != "SECRET" {
			t.Errorf("the host's file is %q, %v", text, err)
		}
		n.clean()
	})
}

// TestOCIPathsOfTheRuntime checks that rules apply to the runtime's files in /proc, /sys and /dev,
// and to volumes there. A mount whose content cannot be examined before is refused.
func TestOCIPathsOfTheRuntime(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "data"), []byte("DATA"), 0o644))
		inside := "cat /proc/cpuinfo /dev/vol/data | wc -c; ls /sys/kernel | wc -l; touch /dev/vol/x && echo WROTE; echo fin"
		bundle := ociBundle(t, []string{"sh", "-c", inside}, func(c map[string]any) { mount(c, "/dev/vol", dir, "rbind") })
		if r := ociRun(t, bundle, n.bare("run", "--bundle", bundle, "sbx-e2e-paths")); strings.HasPrefix(r.out, "0\n") || !strings.Contains(r.out, "WROTE") {
			t.Errorf("control: %+v", r)
		}
		n.allow(`{"access_mode":"workspace-write","working_dir":"/work","filesystem":{"hide":["/proc/cpuinfo","/sys/kernel"]}}`)
		if r := ociRun(t, bundle, n.under("run", "--bundle", bundle, "sbx-e2e-paths")); r.out != "0\n0\nfin\n" {
			t.Errorf("%+v", r)
		}
		if r := record(n.lastRecord()); r.status("filesystem.hide") != "enforced" || !strings.Contains(r.reason("filesystem.hide"), "/proc/cpuinfo is masked by the runtime") {
			t.Errorf("%v", r["enforcement"])
		}
		n.allow(`{"access_mode":"workspace-write","filesystem":{"hide":["/proc"]}}`)
		if r := ociRun(t, bundle, n.under("run", "--bundle", bundle, "sbx-e2e-paths")); r.status == 0 || !strings.Contains(r.err, "/proc") {
			t.Errorf("%+v", r)
		}
		n.allow(ociRO)
		for target, kind := range map[string]string{"/dev": "bind", "/work": "overlay"} {
			bundle := ociBundle(t, []string{"true"}, func(c map[string]any) {
				mount(c, target, dir, "rbind")
				all := c["mounts"].([]any)
				if kind == "overlay" {
					all[len(all)-1] = map[string]any{"destination": target, "type": kind, "source": kind, "options": []string{"lowerdir=" + dir + ":" + dir}}
				}
			})
			if r := ociRun(t, bundle, n.under("run", "--bundle", bundle, "sbx-e2e-paths")); r.status == 0 || !strings.Contains(r.err, target) || !strings.Contains(r.err, "is mounted there") {
				t.Errorf("%s: %+v", target, r)
			}
			if _, err := os.Stat(filepath.Join(dir, ".sbx-init")); err == nil {
				t.Error("sbx-init is in the volume")
			}
		}
		n.clean()
	})
}

// TestOCIRecordOfWhatWasNotStarted checks that `run` leaves the record of a refused container if
// the runtime fails.
func TestOCIRecordOfWhatWasNotStarted(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(ociRO)
		for want, edit := range map[string]func(c map[string]any){
			"exited": nil,
			"refused": func(c map[string]any) {
				member(c, "process")["rlimits"] = []any{map[string]any{"type": "RLIMIT_NOSUCH", "hard": 1, "soft": 1}}
			},
		} {
			bundle := ociBundle(t, []string{"sh", "-c", "exit 1"}, edit)
			if r := ociRun(t, bundle, n.under("run", "--bundle", bundle, "sbx-e2e-unmade")); r.status == 0 || n.lastRecord()["state"] != want {
				t.Errorf("%s: %+v, %v", want, r, n.lastRecord()["exit"])
			}
		}
		n.clean()
	})
}

// TestOCITmpfsOfTheEngine checks that a tmpfs which the engine mounts is writable if it lies in the
// spec's workspace, and that one under a private directory of the spec's is harmless.
func TestOCITmpfsOfTheEngine(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(`{"access_mode":"workspace-write","working_dir":"/work"}`)
		const inside = "touch /work/x /work/deep/x /tmp/x /run/x && echo DID; touch /opt/x || echo fin"
		bundle := ociBundle(t, []string{"sh", "-c", inside}, func(c map[string]any) {
			for _, dir := range []string{"/work", "/work/deep", "/tmp", "/run", "/run/lock", "/tmp/foo"} {
				mount(c, dir, "", "nosuid", "size=64k")
			}
			mount(c, "/cache", "", "nosuid", "size=64k")
		})
		for _, line := range [][]string{n.bare("run", "--bundle", bundle, "sbx-e2e-tmpfs"), n.under("run", "--bundle", bundle, "sbx-e2e-tmpfs")} {
			if r := ociRun(t, bundle, line); !strings.Contains(r.out, "DID") {
				t.Errorf("%+v", r)
			}
		}
		if r := ociRun(t, bundle, n.under("run", "--bundle", bundle, "sbx-e2e-tmpfs")); !strings.Contains(r.out, "fin") {
			t.Errorf("%+v", r)
		}
		n.clean()
	})
}

// TestOCIExecIsOfTheContainer checks that a process of exec can signal the others, has no
// capability that the first lacks, and starts as another user, who cannot reach every writable
// path.
func TestOCIExecIsOfTheContainer(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		for spec, caps := range map[string]string{
			`{"access_mode":"workspace-write","working_dir":"/work","filesystem":{"write":["/priv/out"]}}`: "0000000000000000", // none by the spec
			`{"max_commands":100}`: "0000000000000020",
		} {
			n.allow(spec)
			bundle := ociBundle(t, []string{"sh", "-c", `trap "echo caught; exit 7" USR1; while :; do sleep 0.1; done`}, func(c map[string]any) {
				p := member(c, "process")
				p["capabilities"] = capabilities("CAP_KILL")
			})
			must(t, os.MkdirAll(filepath.Join(bundle, "rootfs/priv/out"), 0o755))
			must(t, os.Chmod(filepath.Join(bundle, "rootfs/priv"), 0o700))
			process := filepath.Join(t.TempDir(), "process.json")
			must(t, os.WriteFile(process, []byte(`{"args":["grep","CapEff","/proc/self/status"],"cwd":"/","env":["PATH=/bin"],"user":{"uid":0,"gid":0},
				"capabilities":{"bounding":["CAP_SYS_ADMIN","CAP_KILL"],"effective":["CAP_SYS_ADMIN","CAP_KILL"],"permitted":["CAP_SYS_ADMIN","CAP_KILL"]}}`), 0o644))
			const id = "sbx-e2e-of"
			for _, c := range []struct {
				line func(...string) []string
				caps string
			}{{n.bare, "0000000000200020"}, {n.under, caps}} {
				for _, verb := range [][]string{{"create", "--bundle", bundle, id}, {"start", id}} {
					if r := ociRun(t, bundle, c.line(verb...)); r.status != 0 {
						t.Fatalf("%q: %+v", verb, r)
					}
				}
				if r := ociRun(t, bundle, c.line("exec", "--process", process, id)); !strings.Contains(r.out, c.caps) {
					t.Errorf("%+v, want %s", r, c.caps)
				}
				if r := ociRun(t, bundle, c.line("exec", "--user", "1000:1000", id, "id")); !strings.Contains(r.out, "uid=1000") {
					t.Errorf("as another user: %+v", r)
				}
				if r := ociRun(t, bundle, c.line("exec", id, "sh", "-c", "kill -USR1 1")); r.status != 0 {
					t.Errorf("a signal: %+v", r)
				}
				eventually(t, "the first process has ended", func() bool { return strings.Contains(ociRun(t, bundle, c.line("state", id)).out, "stopped") })
				ociRun(t, bundle, c.line("delete", "--force", id))
			}
		}
		n.clean()
	})
}

// TestOCITerminationLog checks that a container can tell Kubernetes why it ended, also under a
// spec.
func TestOCITerminationLog(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(ociRO)
		for name, line := range map[string]func(...string) []string{"bare": n.bare, "under": n.under} {
			kubelets, volume := filepath.Join(t.TempDir(), "pods/uid/containers/name"), t.TempDir()
			must(t, os.MkdirAll(kubelets, 0o755))
			for _, c := range []struct {
				mounted, file, path string
				written             bool
			}{
				{kubelets + "/0", kubelets + "/0", "/dev/termination-log", true},
				{volume + "/log", volume + "/log", "/dev/termination-log", name == "bare"},
				{volume, volume + "/log", "/dev/termination-log/log", name == "bare"},
			} {
				must(t, os.WriteFile(c.file, nil, 0o666))
				bundle := ociBundle(t, []string{"sh", "-c", "echo why >" + c.path}, func(config map[string]any) {
					mount(config, "/dev/termination-log", c.mounted, "bind", "rprivate", "rw")
				})
				r := ociRun(t, bundle, line("run", "--bundle", bundle, "sbx-e2e-log"))
				if text, err := os.ReadFile(c.file); (string(text) == "why\n") != c.written {
					t.Errorf("%s, %s: %+v, %q, %v", name, c.mounted, r, text, err)
				}
			}
		}
		n.clean()
	})
}
