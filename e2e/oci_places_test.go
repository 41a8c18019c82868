package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestOCIRunsWhatTheRuntimeRuns: what works in a container under the runtime alone, and no spec
// forbids, works under a spec.
func TestOCIRunsWhatTheRuntimeRuns(t *testing.T) {
	const workspace = `{"access_mode": "workspace-write", "working_dir": "/work"}`
	ociOn(t, func(t *testing.T, n *ociNode) {
		for _, c := range []struct {
			name, spec, script, want string
			edit                     func(config map[string]any, root, volume string)
		}{
			{"a protected file in the workspace", workspace, "cat /work/.git/config; touch /work/new && echo new", "[core]\nnew\n", func(config map[string]any, _, volume string) {
				must(t, os.Mkdir(filepath.Join(volume, ".git"), 0o755))
				must(t, os.WriteFile(filepath.Join(volume, ".git/config"), []byte("[core]\n"), 0o644))
				mount(config, "/work", volume, "rbind")
			}},
			{"programs alone", `{"commands": {"allow": ["/bin/busybox"]}}`, "echo fin", "fin\n", func(map[string]any, string, string) {}},
			{"a volume at a link to nothing", workspace, "cat /vol/data", "data\n", func(config map[string]any, root, volume string) {
				must(t, os.WriteFile(filepath.Join(volume, "data"), []byte("data\n"), 0o644))
				must(t, os.Symlink("data/real", filepath.Join(root, "vol")))
				mount(config, "/vol", volume, "rbind")
			}},
			{"a resolv.conf in /run", workspace, "cat /etc/resolv.conf", "nameserver\n", func(config map[string]any, root, volume string) {
				must(t, os.WriteFile(filepath.Join(volume, "resolv.conf"), []byte("nameserver\n"), 0o644))
				must(t, os.Mkdir(filepath.Join(root, "run/stub"), 0o755))
				must(t, os.Symlink("../run/stub/resolv.conf", filepath.Join(root, "etc/resolv.conf")))
				mount(config, "/etc/resolv.conf", filepath.Join(volume, "resolv.conf"), "rbind", "ro")
			}},
			{"variables that Go reads", workspace, `echo "$GOMEMLIMIT $GODEBUG"`, "512Mi inittrace=1\n", func(config map[string]any, _, _ string) {
				p := config["process"].(map[string]any)
				p["env"] = append(p["env"].([]string), "GOMEMLIMIT=512Mi", "GODEBUG=inittrace=1")
			}},
		} {
			bundle := ociBundle(t, []string{"sh", "-c", c.script}, nil)
			ociEdit(t, bundle, func(config map[string]any) {
				config["process"].(map[string]any)["env"] = []string{"PATH=/bin", "HOME=/root"}
				c.edit(config, filepath.Join(bundle, "rootfs"), t.TempDir())
			})
			n.allow(c.spec)
			for name, line := range map[string]func(...string) []string{"bare": n.bare, "under": n.under} {
				if name == "bare" && strings.Contains(c.name, "link to nothing") && filepath.Base(n.runtime) == "crun" {
					continue // which does not follow it
				}
				if r := ociRun(t, bundle, line("run", "--bundle", bundle, "sbx-e2e-runs")); r.status != 0 || r.out != c.want || r.err != "" {
					t.Errorf("%s, %s: %+v", c.name, name, r)
				}
			}
		}
		n.clean()
	})
}

// TestOCIVolumeOverTheRoot: a volume at / is refused, whose files nobody would have looked at.
func TestOCIVolumeOverTheRoot(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(`{"filesystem": {"hide": ["/opt/secret"]}}`)
		for _, target := range []string{"/", "/opt/.."} {
			bundle := ociBundle(t, []string{"cat", "/opt/secret"}, nil)
			must(t, os.WriteFile(filepath.Join(bundle, "rootfs/opt/secret"), []byte("secret"), 0o644))
			ociEdit(t, bundle, func(config map[string]any) { mount(config, target, filepath.Join(bundle, "rootfs"), "rbind") })
			if r := ociRun(t, bundle, n.bare("run", "--bundle", bundle, "sbx-e2e-over")); filepath.Base(n.runtime) == "runc" && r.out != "secret" {
				t.Errorf("control, %s: %+v", target, r)
			}
			if r := ociRun(t, bundle, n.under("run", "--bundle", bundle, "sbx-e2e-over")); r.status == 0 || r.out != "" || !strings.Contains(r.err, "over its root") {
				t.Errorf("%s: %+v", target, r)
			}
		}
		n.clean()
	})
}

// TestOCILeavesVolumesAlone: sbx-oci makes nothing in a volume that the engine mounts
// read-only, where it looks for what a spec means, and takes none in the place of its own files.
func TestOCILeavesVolumesAlone(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(ociRO)
		for _, own := range []string{"/dev/.sbx-init", "/dev/.sbx-walls"} {
			bundle := ociBundle(t, []string{"true"}, func(config map[string]any) { mount(config, own, "/etc/passwd", "bind", "ro") })
			if r := ociRun(t, bundle, n.under("run", "--bundle", bundle, "sbx-e2e-alone")); r.status == 0 || !strings.Contains(r.err, own) {
				t.Errorf("%s: %+v", own, r)
			}
		}
		volume, other := t.TempDir(), t.TempDir()
		bundle := ociBundle(t, []string{"true"}, func(config map[string]any) {
			mount(config, "/vol", volume, "rbind", "ro")
			mount(config, "/vol/made", other, "rbind")
			config["process"].(map[string]any)["cwd"] = "/vol/dir"
		})
		r := ociRun(t, bundle, n.under("run", "--bundle", bundle, "sbx-e2e-alone"))
		if made, err := os.ReadDir(volume); filepath.Base(n.runtime) == "runc" && (err != nil || len(made) > 0 || r.status == 0) {
			t.Errorf("%v, %v, %+v", made, err, r)
		}
		n.clean()
	})
}

// TestOCIInitByADescriptor: a process of another mount namespace that has a directory of the
// container's, here the test's own by /proc, can put a program in the place of sbx-init, or a script
// that has sbx-init itself as its interpreter read other walls than its own. exec starts nothing then,
// and the container's processes run on.
func TestOCIInitByADescriptor(t *testing.T) {
	const fake = "#!/bin/sh\n>/opt/replaced\n>/work/replaced\necho replaced\n"
	attacks := map[string]func(path, root string){
		"a program": func(path, _ string) {
			must(t, os.Remove(path)) // and the mount goes with it
			must(t, os.WriteFile(path, []byte(fake), 0o755))
		},
		"an interpreter": func(path, root string) {
			dev := filepath.Dir(path)
			must(t, os.Rename(path, dev+"/real")) // with the mount
			must(t, os.WriteFile(path, []byte("#!sh2\n"), 0o755))
			must(t, os.WriteFile(dev+"/.sbx-walls", make([]byte, 64), 0o644))
			must(t, os.WriteFile(root+"/work/sh2", []byte("#!/dev/real 0\n"), 0o755))
			must(t, os.WriteFile(root+"/bin/sh2", []byte(fake), 0o755))
		},
	}
	ociOn(t, func(t *testing.T, n *ociNode) {
		for _, spec := range []string{
			`{"max_commands": 1000}`, `{"commands": {"allow": ["/bin/busybox"]}}`, `{"filesystem": {"hide": ["/etc/x"]}}`,
			`{"access_mode": "workspace-write", "working_dir": "/work"}`,
		} {
			for kind, put := range attacks {
				n.allow(spec)
				held := filepath.Join(t.TempDir(), "held")
				must(t, os.WriteFile(held, nil, 0o644))
				n.attack([]string{"sleep", "1000"}, func(config map[string]any) { mount(config, "/dev/held", held, "bind", "ro") }, nil, func(a *attacked, control bool) {
					var state struct{ Pid int }
					must(t, json.Unmarshal([]byte(a.must("state", a.id)), &state))
					name, rootfs := "/dev/.sbx-init", filepath.Join(a.bundle, "rootfs")
					if control {
						name = "/dev/held"
					} else if got := a.asEngines(); got != filtered {
						t.Errorf("exec has %q before", got)
					}
					path := "/proc/" + strconv.Itoa(state.Pid) + "/root" + name
					if control {
						attacks["a program"](path, rootfs)
						if got := a.do("exec", a.id, name); got.out != "replaced\n" {
							t.Errorf("the control: %+v", got)
						}
						return
					}
					put(path, rootfs)
					if got := a.do("exec", "--cwd", "/work", a.id, "true"); got.status == 0 || got.out != "" {
						t.Errorf("%s, %s: %+v", spec, kind, got)
					}
					if exists(rootfs+"/opt/replaced") || exists(rootfs+"/work/replaced") {
						t.Errorf("%s, %s: it ran", spec, kind)
					}
					if got := a.must("state", a.id); !strings.Contains(got, "running") {
						t.Errorf("%s, %s: %s", spec, kind, got)
					}
				})
			}
		}
	})
}

// TestOCIInitReplacedBeforeStart: nor does start, where an exec came before it.
func TestOCIInitReplacedBeforeStart(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(`{"max_commands": 1000}`)
		for _, control := range []bool{true, false} {
			args, path, line := []string{"true"}, "/dev/.sbx-init", n.under
			if control {
				args, path, line = []string{"/dev/held"}, "/dev/held", n.bare
			}
			held := filepath.Join(t.TempDir(), "held")
			must(t, os.WriteFile(held, []byte("#!/bin/sh\n"), 0o755))
			bundle := ociBundle(t, args, func(config map[string]any) { mount(config, "/dev/held", held, "bind", "ro") })
			const id = "sbx-e2e-replaced"
			do := func(args ...string) string {
				got := ociRun(t, bundle, line(args...))
				if got.status != 0 {
					t.Fatalf("%q: %+v", args, got)
				}
				return got.out
			}
			do("create", "--bundle", bundle, id)
			t.Cleanup(func() { ociRun(t, bundle, n.bare("delete", "--force", id)) })
			do("exec", id, "true")
			var state struct{ Pid int }
			must(t, json.Unmarshal([]byte(do("state", id)), &state))
			path = "/proc/" + strconv.Itoa(state.Pid) + "/root" + path
			must(t, os.Remove(path))
			must(t, os.WriteFile(path, []byte("#!/bin/sh\n>/opt/replaced\n"), 0o755))
			ociRun(t, bundle, line("start", id)) // crun waits for what it starts, runc does not
			within(t, limit, "it has ended", func() bool { return strings.Contains(do("state", id), "stopped") })
			if ran := exists(filepath.Join(bundle, "rootfs/opt/replaced")); ran != control {
				t.Errorf("control %v: it ran: %v", control, ran)
			}
			do("delete", id)
		}
	})
}

// TestOCIExecHasNoMore: exec gives no capability that the container has not.
func TestOCIExecHasNoMore(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(ociRO)
		n.attack([]string{"sleep", "1000"}, func(config map[string]any) {
			config["process"].(map[string]any)["capabilities"] = map[string]any{}
		}, nil, func(a *attacked, control bool) {
			if has := a.process([]string{"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER"}, "grep", "CapEff", "/proc/self/status"); strings.HasSuffix(has, "\t0000000000000000") == control {
				t.Errorf("control %v: %s", control, has)
			}
		})
	})
}

// TestOCIDoorIsForSbxInit: what is not the container's sbx-init and reaches the supervisor's
// socket changes nothing: the supervisor once took the first that came for the container.
func TestOCIDoorIsForSbxInit(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(`{"access_mode": "workspace-write", "working_dir": "/work"}`)
		bundle := ociBundle(t, []string{"sh", "-c", "mkdir /work/.git && echo made"}, nil)
		if r := ociRun(t, bundle, n.bare("run", "--bundle", bundle, "sbx-e2e-door")); r.out != "made\n" {
			t.Errorf("control: %+v", r)
		}
		must(t, os.Remove(filepath.Join(bundle, "rootfs/work/.git")))
		must(t, os.WriteFile(filepath.Join(bundle, "rootfs/work/out"), nil, 0o666))
		ociEdit(t, bundle, func(config map[string]any) {
			config["process"].(map[string]any)["args"] = []string{"sh", "-c", "mkdir /work/.git && echo made >/work/out"}
		})
		if r := ociRun(t, bundle, n.under("create", "--bundle", bundle, "sbx-e2e-door")); r.status != 0 {
			t.Fatalf("%+v", r)
		}
		t.Cleanup(func() { ociRun(t, bundle, n.under("delete", "--force", "sbx-e2e-door")) })
		doors, err := filepath.Glob(filepath.Join(n.state, "sbx/made/*/supervisor"))
		if err != nil || len(doors) != 1 {
			t.Fatal(doors, err)
		}
		dir, err := os.Open(filepath.Dir(doors[0]))
		must(t, err)
		defer dir.Close()
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
		must(t, err)
		defer unix.Close(fd)
		must(t, unix.Connect(fd, &unix.SockaddrUnix{Name: "/proc/self/fd/" + strconv.Itoa(int(dir.Fd())) + "/supervisor"}))
		must(t, unix.Sendmsg(fd, []byte{0}, unix.UnixRights(int(dir.Fd())), nil, 0))
		_, _ = unix.Read(fd, make([]byte, 1)) // until it is answered, or hung up on
		if r := ociRun(t, bundle, n.under("start", "sbx-e2e-door")); r.status != 0 {
			t.Errorf("%+v", r)
		}
		for deadline := time.Now().Add(limit); n.lastRecord()["state"] != "exited" && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		}
		if out, err := os.ReadFile(filepath.Join(bundle, "rootfs/work/out")); err != nil || len(out) > 0 || len(violations(n.lastRecord())) == 0 {
			t.Errorf("%q, %v, %v", out, err, violations(n.lastRecord()))
		}
		if r := ociRun(t, bundle, n.under("delete", "--force", "sbx-e2e-door")); r.status != 0 {
			t.Errorf("%+v", r)
		}
		n.clean()
	})
}

// TestOCIUmaskOfTheEngine: a container's user reads what is made for it, whatever the engine's
// umask.
func TestOCIUmaskOfTheEngine(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		for _, spec := range []string{`{"max_commands": 1000}`, ociRO, `{"filesystem": {"read": ["/bin"]}}`} {
			n.allow(spec)
			bundle := ociBundle(t, []string{"id", "-u"}, func(config map[string]any) {
				config["process"].(map[string]any)["user"] = map[string]any{"uid": 1000, "gid": 1000}
			})
			line := append([]string{"sh", "-c", `umask 077; exec "$@"`, "sh"}, n.under("run", "--bundle", bundle, "sbx-e2e-umask")...)
			if r := ociRun(t, bundle, line); r.out != "1000\n" {
				t.Errorf("%s: %+v", spec, r)
			}
		}
		n.clean()
	})
}

// TestOCIExecOfAnotherState: exec finds a container's spec also if it is called with another
// --sbx-state than create was.
func TestOCIExecOfAnotherState(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(ociRO)
		n.attack([]string{"sleep", "1000"}, nil, nil, func(a *attacked, control bool) {
			state := n.state
			n.state = t.TempDir()
			defer func() { n.state = state }()
			want := filtered
			if control {
				want = noFilter
			}
			if got := a.asEngines(); got != want {
				t.Errorf("control %v: %s", control, got)
			}
		})
	})
}
