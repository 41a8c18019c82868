package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOCIDockerTerminal works at a terminal in a container, and ends containers by Docker's engine:
// by sbx-oci as by runc.
func TestOCIDockerTerminal(t *testing.T) {
	host := dockerHost(t)
	engineNode(t, ociSpec)
	flags := func(runtime string, more ...string) []string {
		return append([]string{"run", "--pull", "never", "--network", "none", "--user", "0", "--runtime", runtime}, more...)
	}
	for _, runtime := range []string{"runc", "sbx"} {
		t.Run(runtime, func(t *testing.T) {
			x := (&box{t: t, ws: t.TempDir(), env: append(os.Environ(), host)}).onTerminal(append([]string{"docker"}, flags(runtime, "--rm", "-it", sandboxImage, "sh")...)...)
			x.expect("# ")
			x.send("tty; stty size; touch /opt-new && echo wro''te; sleep 1000\n")
			x.expect("/dev/pts/0")
			x.expect("31 97")
			if runtime == "sbx" {
				x.expect("Read-only file system")
			} else {
				x.expect("wrote")
			}
			x.send("\x03")
			x.expect("# ")
			x.send("exit 5\n")
			if got := x.wait(); got != 5 {
				t.Errorf("ended with %d: %s", got, x.all())
			}
			docker := func(args ...string) string {
				out, err := outerRun([]string{host}, "docker", args...)
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			const name = "sbx-e2e-ended"
			for _, end := range []struct {
				args []string
				want string
			}{{[]string{"kill", name}, "137"}, {[]string{"kill", "--signal", "USR1", name}, "9"}, {[]string{"stop", "--time", "30", name}, "8"}} {
				docker(flags(runtime, "--detach", "--name", name, sandboxImage, "sh", "-c", "trap 'exit 8' TERM; trap 'exit 9' USR1; echo begun; while :; do sleep 0.1; done")...)
				for docker("logs", name) != "begun" {
				}
				docker(end.args...)
				if got := docker("wait", name); got != end.want {
					t.Errorf("%q: ended with %s", end.args, got)
				}
				docker("rm", name)
			}
		})
	}
}

// TestOCIPodmanRootless makes containers with an ordinary user's podman and sbx-oci.
func TestOCIPodmanRootless(t *testing.T) {
	if isRoot() {
		t.Skip("an ordinary user's")
	}
	env := podmanReady(t)
	dir, err := ociDir()
	must(t, err)
	own := t.TempDir()
	n := &ociNode{t: t, program: filepath.Join(dir, "sbx-oci"), policy: filepath.Join(own, "policy"), state: filepath.Join(own, "state")}
	must(t, os.Mkdir(n.policy, 0o755))
	sbx := []string{"--runtime", n.script("--sbx-runtime", needPrograms(t, "runc"))}
	run := func(runtime []string, args ...string) (string, error) {
		line := append(runtime[:len(runtime):len(runtime)], "run", "--rm", "--pull", "never", "--network", "none", "--user", "0", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024")
		return outerRun(env, "podman", append(line, args...)...)
	}
	n.allow(ociSpec)
	if out, err := run(sbx, sandboxImage, "sh", "-c", ociTry); err != nil || strings.Contains(out, "wrote") || strings.Contains(out, "unshared") || !strings.Contains(out, "works") {
		t.Errorf("under the spec: %q, %v", out, err)
	}
	if out, err := run(nil, sandboxImage, "sh", "-c", ociTry); err != nil || !strings.Contains(out, "wrote") {
		t.Errorf("the control: %q, %v", out, err)
	}
	if out, err := run(sbx, "--annotation", "dev.sbx.spec="+ociReads, sandboxImage, "sh", "-c", ociSees); err != nil || out != "hosts\nnull" {
		t.Errorf("a list: %q, %v", out, err)
	}
	if _, err := run(sbx, "--annotation", "dev.sbx.spec=limits: {pids: 10}", sandboxImage, "true"); err == nil || !strings.Contains(err.Error(), "limits.pids") {
		t.Errorf("a limit: %v", err)
	}
	n.allow(`{"access_mode": "workspace-write", "working_dir": "/work", "limits": {"pids": 10}, "best_effort": ["limits.pids"]}`)
	if _, err := run(sbx, sandboxImage, "true"); err != nil {
		t.Errorf("a limit with best_effort: %v", err)
	}
	held := ""
	for _, l := range n.lastRecord()["enforcement"].([]any) {
		if l := l.(map[string]any); l["field"] == "limits.pids" {
			held = l["status"].(string)
		}
	}
	if held == "" || held == "enforced" {
		t.Errorf("limits.pids with best_effort: %q", held)
	}
	n.clean()
}
