package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// ociTry has the attempts of a container in the tests with engines: a file in the image's root, a
// new user namespace.
const ociTry = `touch /opt-new 2>/dev/null && echo wrote; unshare -U true 2>/dev/null && echo unshared; touch /work/x && echo works; grep Seccomp_filters /proc/self/status`

// ociReads lists the files in view, and ociSees prints whether the engine's own file, and files
// that are not listed, are in view.
const (
	ociReads = "filesystem: {read: ['@system']}"
	ociSees  = `grep -q localhost /etc/hosts && echo hosts; test -e /output && echo unlisted; test -e /sys/class && echo sysfs; test -w /dev/null && echo null`
)

// engineNode returns the node that all engines of the tests share.
func engineNode(t *testing.T, specs ...string) *ociNode {
	t.Helper()
	dir, err := ociDir()
	if err != nil {
		lacks(t, "no sbx-oci: "+err.Error())
	}
	n := &ociNode{t: t, program: filepath.Join(dir, "sbx-oci"), policy: filepath.Join(dir, "policy"), state: filepath.Join(dir, "state")}
	old, err := filepath.Glob(filepath.Join(n.policy, "*.json"))
	must(t, err)
	for _, f := range old {
		must(t, os.Remove(f))
	}
	n.allow(specs...)
	return n
}

// script returns the program with its flags: containerd passes none to a runtime, and podman none
// with every verb.
func (n *ociNode) script(flags ...string) string {
	path := filepath.Join(n.t.TempDir(), "runtime")
	line := append([]string{"exec", n.program, "--sbx-policy", n.policy, "--sbx-state", n.state}, flags...)
	must(n.t, os.WriteFile(path, []byte("#!/bin/sh\n"+strings.Join(line, " ")+` "$@"`+"\n"), 0o755))
	return path
}

// TestOCIDocker makes containers with Docker's engine and sbx-oci.
func TestOCIDocker(t *testing.T) {
	env := []string{dockerHost(t)}
	n := engineNode(t, ociSpec)
	docker := func(args ...string) (string, error) { return outerRun(env, "docker", args...) }
	run := func(runtime string, args ...string) (string, error) {
		return docker(append([]string{"run", "--rm", "--pull", "never", "--network", "none", "--user", "0", "--runtime", runtime, sandboxImage}, args...)...)
	}
	out, err := run("sbx", "sh", "-c", ociTry)
	if err != nil || strings.Contains(out, "wrote") || strings.Contains(out, "unshared") || !strings.Contains(out, "works") || !strings.Contains(out, "filters:\t2") {
		t.Errorf("under the spec: %q, %v", out, err)
	}
	if out, err := run("runc", "sh", "-c", ociTry); err != nil || !strings.Contains(out, "wrote") || !strings.Contains(out, "filters:\t1") {
		t.Errorf("the control: %q, %v", out, err)
	}
	if _, err := run("sbx", "sh", "-c", "exit 7"); err == nil || !strings.Contains(err.Error(), "exit status 7") {
		t.Errorf("the exit status: %v", err)
	}
	if r := n.lastRecord(); r["container"].(map[string]any)["engine"] != "docker" || r["state"] != "exited" {
		t.Errorf("the record: %v", r)
	}

	const name = "sbx-e2e-oci"
	step := func(args ...string) string {
		t.Helper()
		out, err := docker(args...)
		if err != nil {
			t.Fatalf("docker %q: %v", args, err)
		}
		return out
	}
	step("run", "--detach", "--name", name, "--pull", "never", "--network", "none", "--runtime", "sbx", sandboxImage, "sh", "-c", "echo begun; sleep 100")
	if out := step("exec", name, "sh", "-c", ociTry); strings.Contains(out, "wrote") || !strings.Contains(out, "works") || !strings.Contains(out, "filters:\t2") {
		t.Errorf("exec: %q", out)
	}
	if out := step("logs", name); out != "begun" {
		t.Errorf("logs: %q", out)
	}
	step("kill", name)
	step("start", name)
	step("stop", "--time", "1", name)
	step("rm", name)
	if out := step("run", "--rm", "--tty", "--pull", "never", "--network", "none", "--runtime", "sbx", sandboxImage, "sh", "-c", "tty; echo typed > /dev/tty"); !strings.Contains(out, "/dev/") || !strings.Contains(out, "typed") {
		t.Errorf("with a terminal: %q", out)
	}

	engineNode(t, `{"filesystem": {"read": ["@system"]}}`)
	if out, err := run("sbx", "sh", "-c", ociSees); err != nil || out != "hosts\nnull" {
		t.Errorf("a list: %q, %v", out, err)
	}
	if out, err := run("runc", "sh", "-c", ociSees); err != nil || out != "hosts\nunlisted\nsysfs\nnull" {
		t.Errorf("a list, the control: %q, %v", out, err)
	}
	engineNode(t, `{"network": {"mode": "allow", "allow": ["h:1"]}}`)
	if _, err := run("sbx", "true"); err == nil || !strings.Contains(err.Error(), "sbx exec alone makes the connections") {
		t.Errorf("a spec that cannot be held: %v", err)
	}
	n = engineNode(t)
	if out, err := run("sbx", "sh", "-c", ociTry); err != nil || !strings.Contains(out, "wrote") {
		t.Errorf("nothing asked: %q, %v", out, err)
	}
	if r := n.lastRecord(); r["container"].(map[string]any)["nothing_asked"] != true {
		t.Errorf("the record: %v", r)
	}
	n.clean()
}

// TestOCIPodman makes containers with podman and sbx-oci.
func TestOCIPodman(t *testing.T) {
	env := podmanReady(t)
	if !isRoot() {
		t.Skip("a node of root's own")
	}
	n := engineNode(t, ociSpec)
	run := func(runtime []string, args ...string) (string, error) {
		line := append(runtime, "run", "--rm", "--pull", "never", "--network", "none", "--user", "0", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024")
		return outerRun(env, "podman", append(line, args...)...)
	}
	sbx := []string{"--runtime", n.script("--sbx-runtime", needPrograms(t, "runc"))}
	out, err := run(sbx, sandboxImage, "sh", "-c", ociTry)
	if err != nil || strings.Contains(out, "wrote") || strings.Contains(out, "unshared") || !strings.Contains(out, "works") {
		t.Errorf("under the spec: %q, %v", out, err)
	}
	if out, err := run(nil, sandboxImage, "sh", "-c", ociTry); err != nil || !strings.Contains(out, "wrote") {
		t.Errorf("the control: %q, %v", out, err)
	}
	if out, err := run(sbx, "--init", sandboxImage, "sh", "-c", "cat /proc/1/comm; touch /run/podman-init; "+ociTry); err != nil || !strings.HasPrefix(out, "podman-init") || !strings.Contains(out, "works") || strings.Contains(out, "wrote") {
		t.Errorf("podman's own init: %q, %v", out, err)
	}
	if r := n.lastRecord(); r["container"].(map[string]any)["engine"] != "podman" {
		t.Errorf("the record: %v", r)
	}
	if out, err := run(sbx, "--annotation", "dev.sbx.spec=access_mode: read-only", sandboxImage, "sh", "-c", ociTry); err != nil || strings.Contains(out, "works") {
		t.Errorf("narrowed: %q, %v", out, err)
	}
	if out, err := run(sbx, "--annotation", "dev.sbx.spec="+ociReads, sandboxImage, "sh", "-c", ociSees); err != nil || out != "hosts\nnull" {
		t.Errorf("a list: %q, %v", out, err)
	}
	if _, err := run(sbx, "--annotation", "dev.sbx.spec=access_mode: danger-full-access", sandboxImage, "true"); err == nil || !strings.Contains(err.Error(), "danger-full-access") {
		t.Errorf("widened: %v", err)
	}
	n.clean()
}

// TestOCIContainerd makes containers with the containerd of Docker's engine and sbx-oci.
func TestOCIContainerd(t *testing.T) {
	host := dockerHost(t)
	needPrograms(t, "ctr")
	n := engineNode(t, ociSpec)
	dir := t.TempDir()
	program := n.script()
	bundle := ociBundle(t, []string{"true"}, nil)
	socket := filepath.Join(filepath.Dir(strings.TrimPrefix(host, "DOCKER_HOST=unix://")), "exec/containerd/containerd.sock")
	run := func(id string, more ...string) (string, error) {
		line := append([]string{"--address", socket, "--namespace", "sbx-e2e", "run", "--rm", "--fifo-dir", dir, "--runtime", "io.containerd.runc.v2"}, more...)
		return outerRun(nil, "ctr", append(line, "--rootfs", filepath.Join(bundle, "rootfs"), id, "/bin/sh", "-c", ociTry)...)
	}
	out, err := run("held", "--runc-binary", program)
	if err != nil || strings.Contains(out, "wrote") || strings.Contains(out, "unshared") || !strings.Contains(out, "works") {
		t.Errorf("under the spec: %q, %v", out, err)
	}
	if r := n.lastRecord(); r["container"].(map[string]any)["engine"] != "containerd" || r["container"].(map[string]any)["namespace"] != "sbx-e2e" || r["state"] != "exited" {
		t.Errorf("the record: %v", r)
	}
	if _, err := run("wider", "--runc-binary", program, "--annotation", `dev.sbx.spec={"access_mode": "danger-full-access"}`); err == nil || !strings.Contains(err.Error(), "danger-full-access") {
		t.Errorf("widened: %v", err)
	}
	if out, err := run("bare"); err != nil || !strings.Contains(out, "wrote") {
		t.Errorf("the control: %q, %v", out, err)
	}
	n.clean()
}

// TestOCIShimKilled kills containerd's shim, the process that stays with a container: containerd
// makes the runtime delete the rest of it, and the record says how it ended.
func TestOCIShimKilled(t *testing.T) {
	host := dockerHost(t)
	needPrograms(t, "ctr")
	n := engineNode(t, ociSpec)
	bundle := ociBundle(t, []string{"true"}, nil)
	socket := filepath.Join(filepath.Dir(strings.TrimPrefix(host, "DOCKER_HOST=unix://")), "exec/containerd/containerd.sock")
	ctr := func(args ...string) (string, error) {
		return outerRun(nil, "ctr", append([]string{"--address", socket, "--namespace", "sbx-e2e"}, args...)...)
	}
	for _, c := range []struct{ id, runtime string }{{"shim-held", n.script()}, {"shim-bare", ""}} {
		line := []string{"run", "--detach", "--null-io", "--runtime", "io.containerd.runc.v2"}
		if c.runtime != "" {
			line = append(line, "--runc-binary", c.runtime)
		}
		if out, err := ctr(append(line, "--rootfs", filepath.Join(bundle, "rootfs"), c.id, "/bin/sleep", "1000")...); err != nil {
			t.Fatalf("%s: %q, %v", c.id, out, err)
		}
		shim, first := 0, 0 // by their numbers here: the engine has a pid namespace
		for deadline := time.Now().Add(limit); first == 0; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: no shim with a container: %d", c.id, shim)
			}
			for _, file := range processesWith("-id\x00" + c.id + "\x00") {
				shim, _ = strconv.Atoi(filepath.Base(filepath.Dir(file)))
			}
			for _, pid := range childrenOf(t, shim) {
				if b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); string(b) == "sleep\n" {
					first = pid
				}
			}
		}
		must(t, unix.Kill(shim, unix.SIGKILL))
		for deadline := time.Now().Add(limit); unix.Kill(first, 0) == nil; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: its process goes on", c.id)
			}
		}
		var out string
		var err error
		for deadline := time.Now().Add(limit); ; time.Sleep(100 * time.Millisecond) {
			if out, err = ctr("containers", "delete", c.id); err == nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: %q, %v", c.id, out, err)
			}
		}
	}
	var r map[string]any
	for deadline := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		if r = n.lastRecord(); r["state"] == "exited" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the record: %v", r)
		}
	}
	if exit, _ := r["exit"].(map[string]any); exit["signal"] != 9.0 && r["container"].(map[string]any)["exit_unknown"] == nil {
		t.Errorf("the record: %v", r)
	}
	n.clean()
}
