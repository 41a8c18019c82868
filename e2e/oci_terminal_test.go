package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
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

// TestOCISignals checks that the signals which sbx-oci gets while it waits for a container reach its first
// process as they do by the runtime alone, and that the container's processes block and ignore none.
func TestOCISignals(t *testing.T) {
	const number = 40 // of a real-time signal
	script := "trap 'echo TERM' TERM; trap 'echo USR1' USR1; trap 'echo ALRM' ALRM; trap 'echo CONT' CONT; trap 'echo RT; exit 7' 40; " +
		"grep -E 'SigBlk|SigIgn' /proc/self/status; echo ready; while :; do sleep 0.05; done"
	ociOn(t, func(t *testing.T, n *ociNode) {
		free := *n
		free.policy = t.TempDir()
		n.allow(`{"access_mode": "workspace-write", "working_dir": "/work"}`)
		var want string
		for i, line := range []func(...string) []string{n.bare, free.under, n.under} {
			bundle := ociBundle(t, []string{"sh", "-c", script}, nil)
			const id = "sbx-e2e-signals"
			out, err := os.Create(filepath.Join(t.TempDir(), "out"))
			must(t, err)
			defer out.Close()
			words := line("run", "--bundle", bundle, id)
			cmd := exec.Command(words[0], words[1:]...)
			cmd.Stdout = out
			must(t, cmd.Start())
			says := func(word string) string {
				var b []byte
				for deadline := time.Now().Add(limit); !strings.HasSuffix(string(b), word+"\n"); time.Sleep(10 * time.Millisecond) {
					if b, err = os.ReadFile(out.Name()); err != nil || time.Now().After(deadline) {
						_ = cmd.Process.Kill()
						t.Fatalf("%d: no %s: %q, %v", i, word, b, err)
					}
				}
				return string(b)
			}
			says("ready")
			for _, s := range []struct {
				signal syscall.Signal
				word   string
			}{{syscall.SIGTERM, "TERM"}, {syscall.SIGUSR1, "USR1"}, {syscall.SIGALRM, "ALRM"}, {syscall.SIGCONT, "CONT"}, {number, "RT"}} {
				must(t, unix.Kill(cmd.Process.Pid, s.signal))
				says(s.word)
			}
			_ = cmd.Wait()
			got := says("RT")
			if code := cmd.ProcessState.ExitCode(); code != 7 {
				t.Errorf("%d: exit status %d", i, code)
			}
			if want == "" {
				want = got
			} else if got != want {
				t.Errorf("%d: %q, by the runtime alone %q", i, got, want)
			}
		}
		n.clean()
	})
}
