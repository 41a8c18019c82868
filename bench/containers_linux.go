package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// containers returns the job that measures what sbx-oci adds to runc's create and start of a
// container. Both keep their files on a tmpfs.
func (b *bencher) containers() []job {
	runc, err := exec.LookPath("runc")
	oci := filepath.Join(filepath.Dir(b.sbx), "sbx-oci")
	if err != nil || !b.root || !exists(oci) || !exists("/dev/shm") {
		return nil
	}
	dir := b.memoryDir()
	of := func(name string, line ...string) contestant {
		return contestant{name, func(_ *bencher, p place, argv []string) []string {
			return append(append(append([]string{filepath.Join(p.workspace, helper), "contain", dir + "/bundle"}, line...), "--root", dir+"/runc"), argv...)
		}}
	}
	under := func(name, policy string) contestant {
		return of(name, oci, "--sbx-runtime", runc, "--sbx-state", dir, "--sbx-policy", dir+policy)
	}
	return []job{{name: "container", what: "create and start of a container under a spec; with nothing asked", place: b.own, told: true, rounds: 60, quick: 20,
		of: []contestant{of("runc", runc), under("sbx-oci", "/policy"), under("sbx-oci, nothing asked", "/none")}, base: "runc", on: "sbx-oci", gate: 1.15, aim: 1.05,
		also:   []bound{{"sbx-oci, nothing asked", 1.15, 1.05}},
		before: func() error { return b.bundle(dir, runc) }, pause: 20 * time.Millisecond}}
}

// bundle makes a container's bundle, and a policy.
func (b *bencher) bundle(dir, runc string) error {
	root := dir + "/bundle/rootfs"
	for _, d := range []string{"/proc", "/dev", "/sys", "/tmp", "/run", "/etc", "/root/.ssh", "/work"} {
		if err := os.MkdirAll(root+d, 0o755); err != nil {
			return err
		}
	}
	for _, d := range []string{"/none", "/policy"} {
		if err := os.MkdirAll(dir+d, 0o755); err != nil {
			return err
		}
	}
	if err := copyProgram(filepath.Join(b.own.workspace, helper), root+"/"+helper); err != nil {
		return err
	}
	if out, err := exec.Command(runc, "spec", "--bundle", dir+"/bundle").CombinedOutput(); err != nil {
		return fmt.Errorf("runc spec: %w: %s", err, out)
	}
	text, err := os.ReadFile(dir + "/bundle/config.json")
	if err != nil {
		return err
	}
	var config map[string]any
	if err := json.Unmarshal(text, &config); err != nil {
		return err
	}
	process := config["process"].(map[string]any)
	process["terminal"], process["args"] = false, []string{"/" + helper, "nothing"}
	if text, err = json.Marshal(config); err != nil {
		return err
	}
	for name, text := range map[string][]byte{"/bundle/config.json": text, "/bundle/rootfs/etc/shadow": nil,
		"/policy/a.json": []byte(`{"access_mode": "workspace-write", "working_dir": "/work"}`)} {
		if err := os.WriteFile(dir+name, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// contain makes, starts and removes a container, and prints how long the first two steps took.
func contain(bundle string, line []string) error {
	id := "bench" + strconv.Itoa(os.Getpid())
	pidFile := bundle + "/pid"
	run := func(args ...string) (time.Duration, error) {
		cmd := exec.Command(line[0], append(append([]string{}, line[1:]...), args...)...)
		cmd.Stderr = os.Stderr
		begin := time.Now()
		err := cmd.Run()
		return time.Since(begin), err
	}
	made, err := run("create", "--bundle", bundle, "--pid-file", pidFile, id)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(pidFile)
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return err
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err
	}
	started, err := run("start", id)
	if err == nil {
		_, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 10_000)
	}
	if _, e := run("delete", "--force", id); err == nil {
		err = e
	}
	fmt.Println(int64(made + started))
	return err
}
