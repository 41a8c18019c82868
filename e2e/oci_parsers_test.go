package e2e

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestOCINames checks that a name which crun reads otherwise than sbx-oci leads past no spec: a member
// that a NUL ends, and an id that is a path.
func TestOCINames(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		isCrun := filepath.Base(n.runtime) == "crun"
		n.allow(ociRO)
		bundle := ociBundle(t, []string{"sh", "-c", "echo OWN"}, nil)
		rewrite(t, bundle, "{", `{"process\u0000": {"args": ["sh", "-c", "echo OTHER"], "cwd": "/", "env": ["PATH=/bin"]},`)
		if r := ociRun(t, bundle, n.bare("run", "--bundle", bundle, "sbx-e2e-names")); isCrun && r.out != "OTHER\n" {
			t.Errorf("control: %+v", r)
		}
		if r := ociRun(t, bundle, n.under("run", "--bundle", bundle, "sbx-e2e-names")); r.status == 0 || r.out != "" || !strings.Contains(r.err, "NUL") {
			t.Errorf("a NUL: %+v", r)
		}

		bundle = ociBundle(t, []string{"sleep", "1000"}, nil)
		const id = "sbx-e2e-path"
		create := func(line func(...string) []string) ran {
			defer ociRun(t, bundle, n.bare("delete", "--force", id))
			return ociRun(t, bundle, line("create", "--bundle", bundle, "--no-new-keyring", "./"+id))
		}
		if r := create(n.bare); isCrun && r.status != 0 {
			t.Errorf("control: %+v", r)
		}
		if r := create(n.under); r.status == 0 || !strings.Contains(r.err, "no file name") {
			t.Errorf("created by a path: %+v", r)
		}
		n.attack([]string{"sleep", "1000"}, nil, nil, func(a *attacked, control bool) {
			r := a.do("exec", "./"+a.id, "grep", "Seccomp:", "/proc/self/status")
			if control && isCrun && strings.TrimSpace(r.out) != noFilter {
				t.Errorf("control: %+v", r)
			}
			if !control && (r.status == 0 || r.out != "" || !strings.Contains(r.err, "no file name")) {
				t.Errorf("exec by a path: %+v", r)
			}
		})
	})
}

// rewrite replaces the first text in a bundle's config.json.
func rewrite(t *testing.T, bundle, text, by string) {
	t.Helper()
	file := filepath.Join(bundle, "config.json")
	b, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, []byte(strings.Replace(string(b), text, by, 1)), 0o644))
}

// TestOCIDescriptors checks that a container under a spec gets the descriptors that its engine hands on
// by --preserve-fds, and neither those of systemd nor the runtime's own.
func TestOCIDescriptors(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(ociRO)
		given := filepath.Join(t.TempDir(), "given")
		must(t, os.WriteFile(given, []byte("GIVEN\n"), 0o644))
		bundle := ociBundle(t, []string{"sh", "-c", "cat <&3; echo fin"}, nil)
		const open, systemd = "exec 3<" + "$GIVEN; ", "export LISTEN_FDS=1 LISTEN_PID=$$ NOTIFY_SOCKET=/nosuch; "
		t.Setenv("GIVEN", given)
		for _, c := range []struct {
			script        string
			flags         []string
			control, want string // of the output
			refused       string
		}{
			{open, []string{"--preserve-fds", "1"}, "GIVEN\nfin\n", "GIVEN\nfin\n", ""},
			{open, []string{"--preserve-fds=01"}, "GIVEN\nfin\n", "GIVEN\nfin\n", ""},
			{open + systemd, nil, "GIVEN\nfin\n", "fin\n", ""},
			{open, []string{"--preserve-fds", "40"}, "", "", "descriptor 4 is not open"},
			{open, []string{"--preserve-fds", "9999999999"}, "", "", "a number up to"},
			{open, []string{"--preserve-fds", "0x1"}, "", "", "a number up to"},
		} {
			args := append([]string{"run", "--bundle", bundle}, append(c.flags, "sbx-e2e-fds")...)
			by := func(line []string) ran {
				return ociRun(t, bundle, append([]string{"sh", "-c", c.script + `exec "$@"`, "sh"}, line...))
			}
			// crunReady's shell is not the process of LISTEN_PID.
			if r := by(n.bare(args...)); c.control != "" && !strings.HasSuffix(c.control, r.out) && len(n.before) == 0 {
				t.Errorf("control: %q, %q: %+v", c.script, c.flags, r)
			}
			if r := by(n.under(args...)); r.out != c.want || (r.status == 0) != (c.refused == "") || !strings.Contains(r.err, c.refused) {
				t.Errorf("%q, %q: %+v", c.script, c.flags, r)
			}
		}
		n.policy = t.TempDir() // without a spec, the runtime decides
		args := []string{"run", "--preserve-fds", "9999999999", "--bundle", bundle, "sbx-e2e-fds"}
		if bare, r := ociRun(t, bundle, n.bare(args...)), ociRun(t, bundle, n.under(args...)); bare.status != r.status {
			t.Errorf("%+v, bare %+v", r, bare)
		}
		n.clean()
	})
}

// by returns the node with a shell script in the place of the runtime proper, whose path is $R.
func (n *ociNode) by(script string) *ociNode {
	n.t.Helper()
	path := filepath.Join(n.t.TempDir(), "runtime")
	must(n.t, os.WriteFile(path, []byte("#!/bin/sh\nR="+n.runtime+"\n"+script+"\n"), 0o755))
	other := *n
	other.runtime = path
	return &other
}

// TestOCIRuntimeKilled checks that nothing of a container runs on whose runtime was killed when it had
// made it, and that its record claims no exit status.
func TestOCIRuntimeKilled(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(ociSpec)
		const id = "sbx-e2e-orphan"
		for verb, script := range map[string]string{
			"create": `case " $* " in *" create "*) "$R" "$@" </dev/null >/dev/null 2>&1; kill -9 $$;; esac; exec "$R" "$@"`,
			"run": `case " $* " in *" run "*) "$R" "$@" </dev/null >/dev/null 2>&1 &
				until "$R" ` + strings.Join(n.global, " ") + ` state ` + id + ` 2>/dev/null | grep -q running; do sleep 0.1; done; kill -9 $$;; esac; exec "$R" "$@"`,
		} {
			bundle := ociBundle(t, []string{"sleep", "1000"}, nil)
			killed := n.by(script)
			if r := ociRun(t, bundle, killed.under(verb, "--bundle", bundle, id)); r.status != 137 {
				t.Errorf("%s: %+v", verb, r)
			}
			if r := ociRun(t, bundle, n.bare("state", id)); r.status == 0 {
				t.Errorf("%s: it is there: %+v", verb, r)
				ociRun(t, bundle, n.bare("delete", "--force", id))
			}
			n.leaves(id)
			switch r := n.lastRecord(); {
			case verb == "create" && r["state"] != "refused":
				t.Errorf("the record: %v", r)
			case verb == "run" && (r["state"] != "exited" || !strings.Contains(fmt.Sprint(r["container"]), "was killed")):
				t.Errorf("the record: %v", r)
			}
			// The control: without a spec the container stays, as under the runtime alone.
			free := *killed
			free.policy = t.TempDir()
			if r := ociRun(t, bundle, free.under(verb, "--bundle", bundle, id)); r.status != 137 {
				t.Errorf("control, %s: %+v", verb, r)
			}
			if r := ociRun(t, bundle, n.bare("state", id)); r.status != 0 && verb == "create" { // what run has left may end by itself
				t.Errorf("control, %s: %+v", verb, r)
			}
			if r := ociRun(t, bundle, n.under("delete", "--force", id)); r.status != 0 {
				t.Errorf("control, %s: %+v", verb, r)
			}
			n.leaves(id)
		}
	})
}

// TestOCILongState checks that the length of a container's state, or of its config.json, keeps neither
// exec from finding its spec nor a verb from its end.
func TestOCILongState(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(ociRO)
		long := func(root string) {
			rewrite(t, filepath.Dir(root), "{", `{"annotations": {"text": "`+strings.Repeat("<", 800_000)+`"},`) // which runc writes as \u003c
		}
		n.attack([]string{"sleep", "1000"}, func(config map[string]any) { delete(config, "annotations") }, long, func(a *attacked, control bool) {
			state := n.state
			n.state = t.TempDir()
			want := filtered
			if control {
				want = noFilter
			}
			if got := a.asEngines(); got != want {
				t.Errorf("control %v: %s", control, got)
			}
			n.state = state
		})
		// A runtime that is late finds the edited file, and leaves the pipe unread.
		late := n.by(`case " $* " in *" create "*) sleep 1;; esac; exec "$R" "$@"`)
		bundle := ociBundle(t, []string{"sleep", "1000"}, nil)
		long(filepath.Join(bundle, "rootfs"))
		for _, args := range [][]string{{"create", "--bundle", bundle, "sbx-e2e-late"}, {"start", "sbx-e2e-late"}, {"delete", "--force", "sbx-e2e-late"}} {
			if r := ociRun(t, bundle, late.under(args...)); r.status != 0 {
				t.Errorf("%q: %+v", args, r)
			}
		}
		n.clean()
	})
}

// TestOCIProcOfTheContainer checks that the kernel's files, which are masked in /proc and /sys, are open
// nowhere else, and that no volume is in the directory of a process.
func TestOCIProcOfTheContainer(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(ociRO)
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "data"), []byte("fin\n"), 0o644))
		for target, c := range map[string]struct{ kind, inside string }{
			"/opt/proc":        {"proc", "/opt/proc/sys/kernel/core_pattern"},
			"/opt/sys":         {"sysfs", "/opt/sys/power/state"},
			"/proc/self/task":  {"bind", ""},
			"/proc/1/task":     {"bind", ""},
			"/proc/../proc/00": {"bind", ""},
		} {
			bundle := ociBundle(t, []string{"sh", "-c", "exec 3>>" + c.inside + " && echo OPEN"}, func(config map[string]any) {
				mount(config, target, dir, "rbind")
				if all := config["mounts"].([]any); c.kind != "bind" {
					all[len(all)-1] = map[string]any{"destination": target, "type": c.kind, "source": c.kind}
				}
			})
			if r := ociRun(t, bundle, n.bare("run", "--bundle", bundle, "sbx-e2e-proc")); c.kind == "proc" && filepath.Base(n.runtime) == "runc" && r.out != "OPEN\n" {
				t.Errorf("control, %s: %+v", target, r)
			}
			if r := ociRun(t, bundle, n.under("run", "--bundle", bundle, "sbx-e2e-proc")); r.status == 0 || r.out != "" || !strings.Contains(r.err, target) {
				t.Errorf("%s: %+v", target, r)
			}
		}
		n.clean()
	})
}

// TestOCIFirstCommand checks that the supervisor decides the first command by its file at the time, and
// that limits.timeout begins with an exec that comes before start.
func TestOCIFirstCommand(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(`{"commands": {"deny": ["/bin/busybox"]}}`)
		replace := func(root string) {
			must(t, os.Remove(filepath.Join(root, "opt/first")))
			must(t, os.Symlink("/bin/true", filepath.Join(root, "opt/first")))
		}
		for name, line := range map[string]func(...string) []string{"bare": n.bare, "under": n.under} {
			bundle := ociBundle(t, []string{"/opt/first"}, nil)
			b, err := os.ReadFile(probePath)
			must(t, err)
			must(t, os.WriteFile(filepath.Join(bundle, "rootfs/opt/first"), b, 0o755))
			const id = "sbx-e2e-first"
			if r := ociRun(t, bundle, line("create", "--bundle", bundle, id)); r.status != 0 {
				t.Fatalf("%s: %+v", name, r)
			}
			replace(filepath.Join(bundle, "rootfs"))
			if r := ociRun(t, bundle, line("start", id)); r.status != 0 {
				t.Errorf("%s: %+v", name, r)
			}
			if name == "under" {
				r := n.recordIn("exited")
				if v := violations(r); !slices.ContainsFunc(v, func(v string) bool { return strings.Contains(v, "busybox") }) {
					t.Errorf("%q, %v", v, r["exit"])
				}
			}
			for deadline := time.Now().Add(limit); !strings.Contains(ociRun(t, bundle, line("state", id)).out, `"stopped"`) && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			}
			if r := ociRun(t, bundle, line("delete", id)); r.status != 0 {
				t.Errorf("%s: %+v", name, r)
			}
		}

		n.allow(`{"limits": {"timeout": "2s"}}`)
		bundle := ociBundle(t, []string{"sleep", "1000"}, nil)
		const id = "sbx-e2e-early"
		if r := ociRun(t, bundle, n.under("create", "--bundle", bundle, id)); r.status != 0 {
			t.Fatalf("%+v", r)
		}
		if r := ociRun(t, bundle, n.under("exec", id, "sleep", "1000")); r.status == 0 {
			t.Errorf("an exec ends by itself: %+v", r)
		}
		n.recordIn("exited")
		ociRun(t, bundle, n.under("delete", "--force", id))
		n.clean()
	})
}

// TestOCIOrders checks that no annotation makes a runtime do something else than sbx-oci has it do: here
// crun takes another filter of system calls from one.
func TestOCIOrders(t *testing.T) {
	filter := slices.Concat(instruction(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, 0, 0, 0), instruction(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 1, unix.SYS_UNAME),
		instruction(unix.BPF_RET|unix.BPF_K, 0, 0, unix.SECCOMP_RET_ERRNO|uint32(unix.EXDEV)), instruction(unix.BPF_RET|unix.BPF_K, 0, 0, unix.SECCOMP_RET_ALLOW))
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(`{"access_mode": "workspace-write", "working_dir": "/work"}`)
		for key, want := range map[string]bool{"run.oci.seccomp_bpf_data": false, "run.oci.handler": false, "run.oci.nosuch": false, "org.systemd.property.MemoryMax": false,
			"run.oci.keep_original_groups": true, "org.systemd.property.CollectMode": true, "io.example": true} {
			bundle := ociBundle(t, []string{"busybox", "uname"}, func(config map[string]any) {
				config["annotations"] = map[string]any{key: base64.StdEncoding.EncodeToString(filter)}
			})
			r := ociRun(t, bundle, n.bare("run", "--bundle", bundle, "sbx-e2e-orders"))
			if key == "run.oci.seccomp_bpf_data" && filepath.Base(n.runtime) == "crun" && strings.Contains(r.out, "Linux") {
				t.Errorf("control: %+v", r)
			}
			if r := ociRun(t, bundle, n.under("run", "--bundle", bundle, "sbx-e2e-orders")); strings.Contains(r.out, "Linux") != want || !want && !strings.Contains(r.err, key) {
				t.Errorf("%s: %+v", key, r)
			}
		}
		n.clean()
	})
}

// instruction encodes one of a classic BPF program (linux/filter.h).
func instruction(code uint16, yes, no byte, k uint32) []byte {
	return binary.NativeEndian.AppendUint32(append(binary.NativeEndian.AppendUint16(nil, code), yes, no), k)
}

// TestOCIExchanged checks that a container does not run whose root or volume was exchanged after sbx-oci
// had looked at it: what the spec hides could lie elsewhere in that.
func TestOCIExchanged(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(`{"access_mode": "workspace-write", "working_dir": "/work", "filesystem": {"hide": ["/vol/secret", "/work/secret"]}}`)
		policy := n.policy
		for _, what := range []string{"/vol", "/work", "root"} {
			for _, verb := range []string{"create", "run"} {
				for _, control := range []bool{true, false} {
					was, other := filepath.Join(t.TempDir(), "on"), filepath.Join(t.TempDir(), "on")
					for _, dir := range []string{was, other} {
						for _, volume := range []string{"vol", "work"} {
							must(t, os.MkdirAll(filepath.Join(dir, volume), 0o755))
							must(t, os.WriteFile(filepath.Join(dir, volume, "secret"), nil, 0o644))
						}
					}
					secret := filepath.Join(other, what, "s")
					bundle := ociBundle(t, []string{"sh", "-c", "cat /opt/s /vol/s /work/s"}, func(config map[string]any) {
						mount(config, "/vol", filepath.Join(was, "vol"), "rbind", "ro")
						mount(config, "/work", filepath.Join(was, "work"), "rbind")
					})
					if what == "root" {
						was, other = filepath.Join(bundle, "rootfs"), filepath.Join(ociBundle(t, nil, nil), "rootfs")
						secret = filepath.Join(other, "opt/s")
					}
					must(t, os.WriteFile(secret, []byte("SECRET\n"), 0o644))
					if n.policy = policy; control {
						n.policy = t.TempDir()
					}
					exchanges := n.by(`case " $* " in *" ` + verb + ` "*) sleep 0.5; mv ` + was + " " + was + ".was; mv " + other + " " + was + `;; esac; exec "$R" "$@"`)
					const id = "sbx-e2e-exchanged"
					r := ociRun(t, bundle, exchanges.under(verb, "--bundle", bundle, id))
					if control {
						if (verb == "create") != (r.status == 0) || (verb == "run") != (r.out == "SECRET\n") {
							t.Errorf("control, %s, %s: %+v", verb, what, r)
						}
					} else if r.status == 0 || r.out != "" || !strings.Contains(r.err, "exchanged") || n.lastRecord()["state"] != "refused" {
						t.Errorf("%s, %s: %+v, %v", verb, what, r, n.lastRecord()["error"])
					}
					ociRun(t, bundle, n.under("delete", "--force", id))
					n.leaves(id)
				}
			}
		}
	})
}

// TestOCIMountsAndHooks checks that a mount which is none, and a hook that would run unconfined in the
// container, are refused.
func TestOCIMountsAndHooks(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(`{"access_mode": "workspace-write", "working_dir": "/work", "filesystem": {"hide": ["/data/secret"]}, "max_commands": 2}`)
		for want, edit := range map[string]func(config map[string]any, volume string){
			"": func(config map[string]any, volume string) { mount(config, "/data", volume, "rbind") },
			"remount": func(config map[string]any, volume string) {
				mount(config, "/data", volume, "rbind")
				config["mounts"] = append(config["mounts"].([]any), map[string]any{"destination": "/data", "type": "tmpfs", "source": "tmpfs", "options": []string{"remount"}})
			},
			"startContainer": func(config map[string]any, volume string) {
				mount(config, "/data", volume, "rbind")
				config["hooks"] = map[string]any{"startContainer": []any{map[string]any{"path": "/bin/sh", "args": []string{"sh", "-c", "/bin/id; /bin/id; /bin/id; echo hook >/work/made"}}}}
			},
		} {
			volume := t.TempDir()
			must(t, os.WriteFile(filepath.Join(volume, "secret"), []byte("SECRET\n"), 0o644))
			bundle := ociBundle(t, []string{"sh", "-c", "cat /data/secret /work/made"}, func(config map[string]any) { edit(config, volume) })
			bare, r := ociRun(t, bundle, n.bare("run", "--bundle", bundle, "sbx-e2e-none")), ran{}
			if !strings.Contains(bare.out, "SECRET") || want == "startContainer" && !strings.HasSuffix(bare.out, "hook\n") {
				t.Errorf("control, %s: %+v", want, bare)
			}
			_ = os.Remove(filepath.Join(bundle, "rootfs/work/made"))
			if r = ociRun(t, bundle, n.under("run", "--bundle", bundle, "sbx-e2e-none")); r.out != "" || r.status == 0 || !strings.Contains(r.err, want) {
				t.Errorf("%s: %+v", want, r)
			}
		}
		n.clean()
	})
}

// TestOCILimitsOfExec checks that a process of exec has the spec's resource limits, with a document and
// without.
func TestOCILimitsOfExec(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		for _, spec := range []string{`{"limits": {"file_size": "1MiB", "open_files": 64}}`, `{"access_mode": "read-only", "limits": {"file_size": "1MiB", "open_files": 64}}`} {
			n.allow(spec)
			n.attack([]string{"sleep", "1000"}, nil, nil, func(a *attacked, control bool) {
				const limits = "ulimit -f; ulimit -Hn"
				for name, got := range map[string]string{"line": strings.TrimSpace(a.must("exec", a.id, "sh", "-c", limits)), "document": a.process(nil, "sh", "-c", limits)} {
					if (got == "2048\n64") == control {
						t.Errorf("%s, control %v, %s: %q", spec, control, name, got)
					}
				}
			})
		}
	})
}

// TestOCISignalsWhileMade checks that a signal to all processes of a create leaves no container without
// its supervisor.
func TestOCISignalsWhileMade(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(ociSpec)
		for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
			bundle, mark := ociBundle(t, []string{"sleep", "1000"}, nil), filepath.Join(t.TempDir(), "mark")
			// The runtime itself may end by the signal, as crun does.
			line := n.by(`case " $* " in *" create "*) trap '' TERM INT HUP QUIT; touch `+mark+`; sleep 0.5; trap - TERM INT HUP QUIT;; esac; exec "$R" "$@"`).under("create", "--bundle", bundle, "sbx-e2e-made")
			cmd := exec.Command(line[0], line[1:]...)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			must(t, cmd.Start())
			eventually(t, "the runtime is called", func() bool { _, err := os.Stat(mark); return err == nil })
			must(t, syscall.Kill(-cmd.Process.Pid, s))
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v: %v", s, err)
			}
			if r := ociRun(t, bundle, n.under("start", "sbx-e2e-made")); r.status != 0 {
				t.Errorf("%v: %+v", s, r)
			}
			if r := ociRun(t, bundle, n.under("exec", "sbx-e2e-made", "grep", "Seccomp:", "/proc/self/status")); strings.TrimSpace(r.out) != filtered {
				t.Errorf("%v: %+v", s, r)
			}
			ociRun(t, bundle, n.under("delete", "--force", "sbx-e2e-made"))
			n.leaves("sbx-e2e-made")
		}
	})
}
