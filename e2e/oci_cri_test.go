package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
)

// kubernetesCheck is packaging/kubernetes/check, a module of its own, built.
var kubernetesCheck = sync.OnceValues(func() (string, error) {
	dir, err := outerDir("k")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(dir, "check"), ".")
	cmd.Dir = filepath.Join(moduleDir, "packaging/kubernetes/check")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return filepath.Join(dir, "check"), nil
})

// criConfig is the configuration of a containerd separate from any other, with all of its files
// under one directory. Its Pods have an interface, by the CNI plugins that come with podman.
const criConfig = `version = 2
root = "%[1]s/root"
state = "%[1]s/state"
[grpc]
  address = "%[1]s/c.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "docker.io/library/pause:local"
  restrict_oom_score_adj = true
  disable_apparmor = true
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "/usr/lib/cni"
  conf_dir = "%[1]s/cni"
[plugins."io.containerd.grpc.v1.cri".containerd]
  snapshotter = "native"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
`

// installer returns the script of the DaemonSet.
func installer(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(moduleDir, "packaging/kubernetes/daemonset.yaml"))
	must(t, err)
	for _, text := range strings.Split(string(b), "\n---\n") {
		var m struct {
			Data map[string]string
		}
		must(t, yaml.Unmarshal([]byte(text), &m))
		if script := m.Data["install.sh"]; script != "" {
			return script
		}
	}
	t.Fatal("no script")
	return ""
}

// criNode starts a containerd whose configuration the DaemonSet's script has edited, on a node with
// that node's policy, and returns its directory.
func criNode(t *testing.T, n *ociNode) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "sbx-cri") // the address of a socket has 108 bytes
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	for _, d := range []string{"cni", "host/etc/containerd", "sbx", "policy"} {
		must(t, os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	write := func(name, text string) { must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755)) }
	write("cni/net.conflist", `{"cniVersion": "0.4.0", "name": "e2e", "plugins": [{"type": "ptp", "ipam": {"type": "host-local", "subnet": "10.99.0.0/24", "dataDir": "`+dir+`/ipam"}}]}`)
	config := filepath.Join(dir, "host/etc/containerd/config.toml")
	must(t, os.WriteFile(config, []byte(fmt.Sprintf(criConfig, dir)), 0o644))
	// The image's programs are what a node of the tests needs: this run's programs, with its flags.
	write("sbx-oci", "#!/bin/sh\nexec "+strings.Join([]string{n.program, "--sbx-policy", n.policy, "--sbx-state", n.state}, " ")+" \"$@\"\n")
	write("sbx-init", "")
	write("10-node.yaml", "{}")
	script := strings.NewReplacer(`"/sbx/$program"`, dir+"/$program", "/policy/*", dir+"/10-node.yaml").Replace(installer(t))
	for range 2 { // the second time changes nothing
		cmd := exec.Command(needPrograms(t, "busybox"), "sh", "-c", script)
		cmd.Env = append(os.Environ(), "HOST="+filepath.Join(dir, "host"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	text, err := os.ReadFile(config)
	must(t, err)
	if strings.Count(string(text), "runtimes.sbx]") != 1 {
		t.Fatalf("the configuration: %s", text)
	}
	must(t, os.WriteFile(config, []byte(strings.ReplaceAll(string(text), "/opt/sbx/", dir+"/host/opt/sbx/")), 0o644))

	log, err := os.Create(filepath.Join(dir, "log"))
	must(t, err)
	defer log.Close()
	cmd := exec.Command("unshare", "--mount", "--pid", "--net", "--fork", "--kill-child", "--mount-proc", "sh", "-c",
		`set -e; for d in /run/containerd /run/netns /opt; do mkdir -p $d; mount -t tmpfs none $d; done; ip link set lo up; exec containerd --config `+config)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must(t, cmd.Start())
	t.Cleanup(func() {
		must(t, cmd.Process.Kill()) // and with it everything in its pid namespace
		_ = cmd.Wait()
		removeGroups(t, "sbx-e2e-pod")
	})
	deadline := time.Now().Add(limit)
	for _, err := outerRun(nil, "ctr", "--address", dir+"/c.sock", "version"); err != nil; _, err = outerRun(nil, "ctr", "--address", dir+"/c.sock", "version") {
		if time.Now().After(deadline) {
			b, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Fatalf("containerd does not answer: %v: %s", err, b)
		}
		time.Sleep(50 * time.Millisecond)
	}
	image := filepath.Join(dir, "image.tar")
	criImages(t, dir, image)
	if _, err := outerRun(nil, "ctr", "--address", dir+"/c.sock", "--namespace", "k8s.io", "images", "import", "--snapshotter", "native", image); err != nil {
		t.Fatal(err)
	}
	return dir
}

// criImages writes an archive in Docker's form: an image of busybox with a workspace, and that of a
// pause container, which has only a command, like Kubernetes' own.
func criImages(t *testing.T, dir, to string) {
	t.Helper()
	top := filepath.Join(dir, "archive")
	must(t, os.MkdirAll(top, 0o755))
	var list []any
	for _, name := range []string{"tests", "pause"} {
		root := filepath.Join(ociBundle(t, []string{"true"}, nil), "rootfs")
		files := []string{"."}
		if name == "pause" {
			files = []string{"./bin"}
		}
		layer := name + ".tar"
		must(t, exec.Command("tar", append([]string{"-C", root, "-cf", filepath.Join(top, layer)}, files...)...).Run())
		sum, err := exec.Command("sha256sum", filepath.Join(top, layer)).Output()
		must(t, err)
		b, err := json.Marshal(map[string]any{"architecture": runtime.GOARCH, "os": "linux", "config": map[string]any{"Cmd": []string{"/bin/sleep", "100000"}, "Env": []string{"PATH=/bin"}},
			"rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + string(sum[:64])}}})
		must(t, err)
		must(t, os.WriteFile(filepath.Join(top, name+".json"), b, 0o644))
		list = append(list, map[string]any{"Config": name + ".json", "RepoTags": []string{name + ":local"}, "Layers": []string{layer}})
	}
	b, err := json.Marshal(list)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(top, "manifest.json"), b, 0o644))
	must(t, exec.Command("tar", "-C", top, "-cf", to, ".").Run())
}

// removeGroups removes empty control groups of a name.
func removeGroups(t *testing.T, name string) {
	t.Helper()
	tops, err := filepath.Glob("/sys/fs/cgroup/*/" + name)
	must(t, err)
	for _, top := range append(tops, "/sys/fs/cgroup/"+name) {
		_ = exec.Command("find", top, "-depth", "-type", "d", "-exec", "rmdir", "{}", "+").Run()
	}
}

// TestOCIKubernetes has containerd make Pods by sbx-oci as for a kubelet, by the entry that the
// DaemonSet adds to its configuration.
func TestOCIKubernetes(t *testing.T) {
	takesSeconds(t)
	if !isRoot() {
		t.Skip("a node is root's")
	}
	needPrograms(t, "containerd", "ctr", "runc", "busybox", "ip")
	check, err := kubernetesCheck()
	must(t, err)
	manifests, err := filepath.Glob(filepath.Join(moduleDir, "packaging/kubernetes/*.yaml"))
	must(t, err)
	if out, err := outerRun(nil, check, append([]string{"manifests"}, manifests...)...); err != nil || out != "Namespace sbx-system\nConfigMap policy\nConfigMap install\nDaemonSet install\nPod tests\nRuntimeClass sbx" {
		t.Errorf("manifests: %q, %v", out, err)
	}
	broken := filepath.Join(t.TempDir(), "broken.yaml")
	must(t, os.WriteFile(broken, []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {runtimeClas: sbx}\n"), 0o644))
	if _, err := outerRun(nil, check, "manifests", broken); err == nil || !strings.Contains(err.Error(), "runtimeClas") {
		t.Errorf("a member that is none: %v", err)
	}

	n := newNode(t, []string{needPrograms(t, "runc")}, "runc")
	n.allow(`{"access_mode": "workspace-write", "working_dir": "/work"}`)
	dir := criNode(t, n)
	run := func(handler string, annotations map[string]string) (string, error) {
		b, err := json.Marshal(map[string]any{"Annotations": annotations})
		must(t, err)
		return outerRun(nil, check, "run", dir+"/c.sock", handler, "tests:local", string(b), "sh", "-c",
			"touch /opt-new 2>/dev/null && echo wrote; unshare -U true 2>/dev/null && echo unshared; touch /work/x && echo works; ip -o link | grep -c eth0; grep -q Seccomp:.*2 /proc/self/status && echo filtered; exit 7")
	}
	if out, err := run("runc", nil); err != nil || out != "wrote\nunshared\nworks\n1\nended with 7" {
		t.Errorf("the control: %q, %v", out, err)
	}
	if out, err := run("sbx", nil); err != nil || out != "works\n0\nfiltered\nended with 7" {
		t.Errorf("under the node's policy: %q, %v", out, err)
	}
	var of []string
	for _, r := range n.records() {
		c := r["container"].(map[string]any)
		of = append(of, fmt.Sprint(c["engine"], " ", c["namespace"], " ", c["pod_namespace"], " ", c["pod"], " ", c["name"], " ", r["state"]))
	}
	if got := strings.Join(of, "\n"); got != "containerd k8s.io default tests <nil> exited\ncontainerd k8s.io default tests tests exited" {
		t.Errorf("the records: %s", got)
	}
	if out, err := run("sbx", map[string]string{"dev.sbx.spec": "access_mode: read-only\nworking_dir: /work\n"}); err != nil || strings.Contains(out, "works") {
		t.Errorf("narrowed: %q, %v", out, err)
	}
	if _, err := run("sbx", map[string]string{"dev.sbx.spec": "access_mode: danger-full-access"}); err == nil || !strings.Contains(err.Error(), "danger-full-access") {
		t.Errorf("widened: %v", err)
	}
	n.clean()
}
