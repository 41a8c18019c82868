package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// ociVolumes returns a bundle with volumes: /vol, one under it, one in /work, and a file that the
// engine puts over the image's.
func ociVolumes(t *testing.T, args []string, edit func(map[string]any)) string {
	t.Helper()
	volume, inner, hosts := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "hosts")
	for _, d := range []string{"sub/inner", "other"} {
		must(t, os.MkdirAll(filepath.Join(volume, d), 0o755))
	}
	must(t, os.WriteFile(filepath.Join(volume, "sub/a"), []byte("of the volume\n"), 0o644))
	must(t, os.WriteFile(filepath.Join(inner, "b"), []byte("of the inner one\n"), 0o644))
	must(t, os.WriteFile(hosts, []byte("127.0.0.1 engine\n"), 0o644))
	bundle := ociBundle(t, args, func(config map[string]any) {
		for _, m := range [][2]string{{"/vol", volume}, {"/vol/sub/inner", inner}, {"/etc/hosts", hosts}, {"/work/deep", inner}} {
			config["mounts"] = append(config["mounts"].([]any), map[string]any{"destination": m[0], "type": "bind", "source": m[1], "options": []string{"rbind", "rprivate"}})
		}
		if edit != nil {
			edit(config)
		}
	})
	b, err := os.ReadFile(needPrograms(t, "busybox"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(bundle, "rootfs/opt/true"), b, 0o755))
	return bundle
}

// TestOCIReads checks what a list shows of a container: of its image, its volumes and the kernel's
// file systems, to the first process and to one that exec adds, with Landlock and without.
func TestOCIReads(t *testing.T) {
	const (
		id   = "sbx-e2e-reads"
		look = "ls -A / | tr '\\n' ' '; ls /vol; cat /etc/hosts /vol/sub/a /vol/sub/inner/b; ls -d /sys/devices/system/cpu; touch /work/x /work/deep/y && echo written; touch /vol/sub/x 2>/dev/null || echo kept"
		want = "bin dev etc proc root run sys tmp var vol work sub\n127.0.0.1 engine\nof the volume\nof the inner one\n/sys/devices/system/cpu\nwritten\nkept\n"
	)
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(`{"filesystem": {"read": ["@system", "/vol/sub"], "write": ["/work"]}}`)
		for _, without := range []string{"landlock_create_ruleset", "nosuchcall"} {
			bundle := ociVolumes(t, []string{"sh", "-c", look + "; /opt/true; read x < /work/fifo"}, func(config map[string]any) {
				config["linux"].(map[string]any)["seccomp"] = map[string]any{"defaultAction": "SCMP_ACT_ALLOW",
					"syscalls": []any{map[string]any{"names": []string{without}, "action": "SCMP_ACT_ERRNO"}}}
			})
			must(t, os.Symlink("busybox", filepath.Join(bundle, "rootfs/bin/tr")))
			must(t, syscall.Mkfifo(filepath.Join(bundle, "rootfs/work/fifo"), 0o600))
			for _, args := range [][]string{{"create", "--bundle", bundle, id}, {"start", id}} {
				if got := ociRun(t, bundle, n.under(args...)); got.status != 0 {
					t.Fatalf("%q: %+v", args, got)
				}
			}
			t.Cleanup(func() { ociRun(t, bundle, n.bare("delete", "--force", id)) })
			if got := ociRun(t, bundle, n.under("exec", id, "sh", "-c", look)); got.out != want {
				t.Errorf("without %s: %+v", without, got)
			}
			must(t, os.WriteFile(filepath.Join(bundle, "rootfs/work/fifo"), []byte("\n"), 0)) // the first process ends
			r := n.recordIn("exited")
			if got := violations(r); !slices.Contains(got, `command execute /opt/true filesystem.read filesystem.read: ["@system", "/vol/sub", "/opt/true"]`) ||
				!slices.Contains(got, `filesystem create /vol/sub/x filesystem.read filesystem.write: ["/work", "/vol/sub"]`) {
				t.Errorf("denied: %q", got)
			}
			for _, l := range r["enforcement"].([]any) {
				if l := l.(map[string]any); l["field"] == "filesystem.read" && l["status"] != "enforced" {
					t.Errorf("%v", l)
				}
			}
			if got := ociRun(t, bundle, n.under("delete", "--force", id)); got.status != 0 {
				t.Errorf("delete: %+v", got)
			}
			n.clean()
			bare := ociRun(t, bundle, n.bare("run", "--bundle", ociVolumes(t, []string{"sh", "-c", look}, nil), id))
			if !strings.Contains(bare.out, "opt") || !strings.Contains(bare.out, "other\n") || strings.Contains(bare.out, "kept") {
				t.Errorf("the control: %+v", bare)
			}
		}
	})
}

// TestOCIReadLists checks which lists apply, one narrowing the other, and that a command which no
// list has in view is refused with a line that helps.
func TestOCIReadLists(t *testing.T) {
	for _, c := range []struct{ name, node, own, args, want string }{
		{"the node's alone", `["@system", "/vol"]`, "", "ls /vol", "other\nsub\n"},
		{"a narrower one", `["@system", "/vol"]`, `["@system", "/vol/sub"]`, "ls /vol", "sub\n"},
		{"a wider one", `["@system", "/vol/sub"]`, `["@system", "/vol"]`, "ls /vol", "refused: the parent has only what is named in view"},
		{"all", `["@system"]`, `["/"]`, "ls /vol", "refused: the parent has only what is named in view"},
		{"the container's own alone", "", `["@system", "/vol/other"]`, "ls /vol", "other\n"},
		{"everything", `["/"]`, "", "ls /vol", "other\nsub\n"},
		{"a secret by its name", `["/", "/root/.ssh/id"]`, "", "cat /root/.ssh/id", "secret\n"},
		{"a command out of view", `["@system"]`, "", "/opt/true", `refused: filesystem.read: ["@system", "/opt/true"]`},
		{"and by that line", `["@system", "/opt/true"]`, "", "/opt/true", ""},
		{"a part of the kernel's", `["@system", "/sys/class"]`, "", "true", "refused: name /sys itself"},
		{"the kernel's", `["@system", "/sys"]`, "", "ls -d /sys/class", "/sys/class\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ociOn(t, func(t *testing.T, n *ociNode) {
				list := func(l string) string { return fmt.Sprintf(`{"filesystem": {"read": %s}}`, l) }
				if c.node != "" {
					n.allow(list(c.node))
				}
				bundle := ociVolumes(t, strings.Fields(c.args), func(config map[string]any) {
					if c.own != "" {
						config["annotations"] = map[string]any{"dev.sbx.spec": list(c.own)}
					}
				})
				got := ociRun(t, bundle, n.under("run", "--bundle", bundle, "sbx-e2e-lists"))
				if why, refused := strings.CutPrefix(c.want, "refused: "); refused {
					if got.status != 1 || !strings.Contains(got.err, why) {
						t.Errorf("%+v", got)
					}
				} else if got.status != 0 || got.out != c.want {
					t.Errorf("%+v", got)
				}
				n.clean()
			})
		})
	}
}

// TestOCIVolumesOfAWorkspace checks that a volume which the engine mounts in a workspace is there.
func TestOCIVolumesOfAWorkspace(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(ociSpec)
		bundle := ociVolumes(t, []string{"sh", "-c", "cat /work/deep/b && touch /work/deep/y /work/y && cat /etc/hosts; touch /vol/x || echo kept"}, nil)
		if got := ociRun(t, bundle, n.under("run", "--bundle", bundle, "sbx-e2e-volumes")); got.out != "of the inner one\n127.0.0.1 engine\nkept\n" {
			t.Errorf("%+v", got)
		}
		if got := ociRun(t, bundle, n.bare("run", "--bundle", bundle, "sbx-e2e-volumes")); got.out != "of the inner one\n127.0.0.1 engine\n" {
			t.Errorf("the control: %+v", got)
		}
	})
}
