package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOCIInitReplaced holds that nothing in a container comes to stand in the place of
// sbx-init, whatever the image has at /dev.
func TestOCIInitReplaced(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(`{"max_commands": 1000}`)
		const replace = "cp /bin/busybox /dev/.sbx-init.new; mv -f /dev/.sbx-init.new /dev/.sbx-init; rm /dev/.sbx-init; mv /dev /opt/dev; mkdir -p /dev; cp /bin/busybox /dev/.sbx-init; " +
			"cat /dev/.sbx-init >/opt/init"
		noDev := func(config map[string]any) {
			var all []any
			for _, m := range config["mounts"].([]any) {
				if !strings.HasPrefix(m.(map[string]any)["destination"].(string), "/dev") {
					all = append(all, m)
				}
			}
			config["mounts"] = all
		}
		for _, edit := range []func(map[string]any){nil, noDev} {
			n.attack([]string{"sleep", "1000"}, edit, func(root string) {
				for _, applet := range []string{"cp", "mv", "rm"} {
					must(t, os.Symlink("busybox", filepath.Join(root, "bin", applet)))
				}
				must(t, os.WriteFile(filepath.Join(root, "opt/place"), nil, 0o755))
				must(t, os.Symlink("/opt/place", filepath.Join(root, "dev/.sbx-init")))
			}, func(a *attacked, control bool) {
				a.do("exec", a.id, "sh", "-c", replace)
				theirs, err := os.ReadFile(filepath.Join(a.bundle, "rootfs/opt/init"))
				must(t, err)
				busybox, err := os.ReadFile(filepath.Join(a.bundle, "rootfs/bin/busybox"))
				must(t, err)
				if bytes.Equal(theirs, busybox) != control {
					t.Errorf("control %v: in the place of sbx-init are %d bytes", control, len(theirs))
				}
				if control {
					return // a runtime needs a /dev/null for exec
				}
				if got := a.asEngines(); got != filtered {
					t.Errorf("exec has %q", got)
				}
			})
		}
		bundle := ociBundle(t, []string{"true"}, noDev)
		must(t, os.Remove(filepath.Join(bundle, "rootfs/dev")))
		must(t, os.Symlink("opt", filepath.Join(bundle, "rootfs/dev")))
		if got := ociRun(t, bundle, n.under("run", "--bundle", bundle, "sbx-e2e-link")); got.status == 0 || !strings.Contains(got.err, "its image has a link there") {
			t.Errorf("%+v", got)
		}
		if got := ociRun(t, bundle, n.bare("run", "--bundle", bundle, "sbx-e2e-link")); got.status != 0 {
			t.Errorf("the control: %+v", got)
		}
	})
}

// TestOCIInitOfAnotherNamespace holds that exec starts nothing in the place of sbx-init that a user
// namespace helps to put there: neither one that the first process enters, and exec after it, nor one
// in which the mount is left behind and the file below it unlinked, which unmounts it in all
// namespaces. The control does the same to a file that is mounted in /dev.
func TestOCIInitOfAnotherNamespace(t *testing.T) {
	const (
		fake  = "printf '#!/bin/sh\necho replaced\n' >/opt/fake; chmod 755 /opt/fake; "
		over  = fake + "for f in held .sbx-init; do mount --bind /opt/fake /dev/$f; done; >/opt/done; exec sleep 1000"
		leave = "cd /dev && mount -t tmpfs none /opt/n && mkdir /opt/n/old /opt/n/bin && cp /bin/busybox /opt/n/bin/ && pivot_root /opt/n /opt/n/old && " +
			"/bin/busybox umount -l /old && /bin/busybox rm -f held .sbx-init"
	)
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(`{"max_commands": 1000}`)
		for _, args := range [][]string{
			{"unshare", "-Umr", "sh", "-c", over},
			{"sh", "-c", fake + "unshare -Umr sh -c '" + leave + "'; for f in held .sbx-init; do cp /opt/fake /dev/$f; done; >/opt/done; exec sleep 1000"},
		} {
			n.attack(args, func(config map[string]any) {
				// Without CAP_SETFCAP nobody maps uid 0 into a namespace of its own.
				config["process"].(map[string]any)["capabilities"] = capabilities("CAP_SETFCAP")
				mount(config, "/dev/held", "/etc/passwd", "bind", "ro")
			}, func(root string) {
				must(t, os.Mkdir(filepath.Join(root, "opt/n"), 0o755))
				for _, applet := range []string{"chmod", "cp", "rm", "mount", "pivot_root"} {
					must(t, os.Symlink("busybox", filepath.Join(root, "bin", applet)))
				}
			}, func(a *attacked, control bool) {
				within(t, limit, "the container has tried it", func() bool { return exists(filepath.Join(a.bundle, "rootfs/opt/done")) })
				got := a.do("exec", a.id, "/dev/held")
				if crun := control && args[0] == "unshare" && got.status != 0; !crun && (got.out == "replaced\n") != control {
					t.Errorf("control %v, %s: %+v", control, args[0], got)
				}
			})
		}
	})
}

// TestOCIInitIsTheContainersOwn holds that a container whose system calls are only counted has
// sbx-init as a copy on a file system of its own: with capabilities over mounts it could
// otherwise change what every container of the host starts, by leases hold that up, and by
// handles (open_by_handle_at(2)) open the host's files.
func TestOCIInitIsTheContainersOwn(t *testing.T) {
	const attempt = "for f in /dev/held /dev/.sbx-init; do mount -o remount,bind,rw $f && cat /bin/busybox >$f; done; stat -c %d /dev/.sbx-init"
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(`{"max_commands": 1000}`)
		program := filepath.Join(filepath.Dir(n.program), "sbx-init")
		before, err := os.ReadFile(program)
		must(t, err)
		t.Cleanup(func() { must(t, os.WriteFile(program, before, 0o755)) })
		held := filepath.Join(t.TempDir(), "held")
		must(t, os.WriteFile(held, nil, 0o755))
		bundle := ociBundle(t, []string{"sh", "-c", attempt}, func(config map[string]any) {
			config["process"].(map[string]any)["capabilities"] = capabilities("CAP_SYS_ADMIN")
			mount(config, "/dev/held", held, "bind", "ro")
		})
		for _, applet := range []string{"mount", "stat"} {
			must(t, os.Symlink("busybox", filepath.Join(bundle, "rootfs/bin", applet)))
		}
		got := ociRun(t, bundle, n.under("run", "--bundle", bundle, "sbx-e2e-own"))
		if b, err := os.ReadFile(held); err != nil || len(b) == 0 {
			t.Errorf("the control: %d bytes, %v, %+v", len(b), err, got)
		}
		if b, err := os.ReadFile(program); err != nil || !bytes.Equal(b, before) {
			t.Errorf("sbx-init was changed: %v", err)
		}
		var st unix.Stat_t
		must(t, unix.Stat(program, &st))
		if dev := strings.TrimSpace(got.out); dev == "" || dev == strconv.FormatUint(st.Dev, 10) {
			t.Errorf("sbx-init is on device %q, the host's on %d", dev, st.Dev)
		}
		n.clean()
	})
}
