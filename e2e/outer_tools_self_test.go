package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// This tests the helpers: each sandboxing tool exists and runs the image, so that a test which
// needs one fails only for a reason of its own.
func TestOuterTools(t *testing.T) {
	image := []string{"run", "--rm", "--pull", "never", "--network", "none", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"}
	id := func(t *testing.T, env []string, name string, args ...string) {
		t.Helper()
		out, err := outerRun(env, name, append(args, "sh", "-c", "sbx version >/dev/null && id -u")...)
		if err != nil {
			t.Fatal(err)
		}
		if out != "65534" {
			t.Errorf("id -u is %q", out)
		}
	}
	t.Run("docker", func(t *testing.T) {
		id(t, []string{dockerHost(t)}, "docker", append(image, sandboxImage)...)
	})
	t.Run("docker with runsc", func(t *testing.T) {
		id(t, []string{dockerRunsc(t)}, "docker", append(image, "--runtime", "runsc", sandboxImage)...)
	})
	t.Run("podman", func(t *testing.T) {
		id(t, podmanReady(t), "podman", append(image, sandboxImage)...)
	})
	t.Run("runsc", func(t *testing.T) { runscReady(t) })
	t.Run("runc", func(t *testing.T) {
		line := append(runcReady(t), "list", "--quiet")
		if _, err := outerRun(nil, line[0], line[1:]...); err != nil {
			t.Error(err)
		}
	})
	t.Run("crun", func(t *testing.T) { crunReady(t) })
	t.Run("bwrap", func(t *testing.T) { bwrapReady(t) })
	t.Run("nsjail", func(t *testing.T) {
		if _, err := outerRun(nil, nsjailReady(t), "-Mo", "--really_quiet", "--chroot", "/", "--", "/bin/true"); err != nil {
			t.Error(err)
		}
	})
	t.Run("wazero", func(t *testing.T) {
		runner, module := wasiReady(t)
		data, out := t.TempDir(), t.TempDir()
		if err := os.WriteFile(filepath.Join(data, "in.txt"), []byte("hello"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := outerRun(nil, runner, "run", "-mount", data+":/data:ro", "-mount", out+":/out", module); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(out, "x")); string(got) != "HELLO" {
			t.Errorf("the module wrote %q, %v", got, err)
		}
	})
	t.Run("the image's files", func(t *testing.T) {
		for _, name := range []string{"/bin/sh", "/usr/bin/sbx", "/work"} {
			if _, err := os.Lstat(imageRoot(t) + name); err != nil {
				t.Error(err)
			}
		}
	})
}
