package e2e

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// sandboxImage is what scripts/image.sh builds.
const sandboxImage = "sbx-sandbox:latest"

// outer is what the tests of other sandboxes share: made on first use, once for
// the run of the package, and ended by TestMain.
var outer struct {
	sync.Mutex
	dir    string // removed at the end
	ending []func()
}

// outerDir is a folder for name that lives as long as the run.
func outerDir(name string) (string, error) {
	outer.Lock()
	defer outer.Unlock()
	if outer.dir == "" {
		// Short: the paths of sockets beneath it have a limit.
		dir, err := os.MkdirTemp("", "sbx-e2e-o.")
		if err != nil {
			return "", err
		}
		outer.dir = dir
		if err := os.Chmod(dir, 0o755); err != nil {
			return "", err
		}
	}
	dir := filepath.Join(outer.dir, name)
	return dir, os.MkdirAll(dir, 0o755)
}

func atEnd(f func()) {
	outer.Lock()
	defer outer.Unlock()
	outer.ending = append(outer.ending, f)
}

// endOuter stops what the tests started, the last first.
func endOuter() {
	for i := len(outer.ending) - 1; i >= 0; i-- {
		outer.ending[i]()
	}
	if outer.dir != "" {
		if err := os.RemoveAll(outer.dir); err != nil {
			fmt.Fprintln(os.Stderr, "e2e:", err)
		}
	}
}

// outerRun runs a program to its end; the error has what it printed.
func outerRun(env []string, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", filepath.Base(name), err, strings.TrimSpace(errs.String()+out.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

func script(name string) string { return filepath.Join(moduleDir, "scripts", name) }

// dockerHost is the environment under which docker reaches an engine of this
// run's own, which has sandboxImage: DOCKER_HOST=… The engine sees no mounts
// that are made on the host after its start.
func dockerHost(t *testing.T) string {
	t.Helper()
	if !isRoot() {
		t.Skip("the engine of the tests is root's alone")
	}
	needPrograms(t, "docker", "dockerd", "busybox")
	host, err := engine()
	if err != nil {
		lacks(t, "no engine of docker: "+err.Error())
	}
	return host
}

// dockerRunsc is dockerHost where the engine has gVisor as the runtime runsc.
func dockerRunsc(t *testing.T) string {
	t.Helper()
	host := dockerHost(t)
	needPrograms(t, "runsc")
	if err := dockerTries(host); err != nil {
		lacks(t, "gVisor does not run in docker: "+err.Error())
	}
	return host
}

// dockerTries tells what keeps the engine from running gVisor; the host is the
// same in each call.
func dockerTries(host string) error {
	triedRunsc.Do(func() {
		_, triedRunsc.err = outerRun([]string{host}, "docker", "run", "--rm", "--pull", "never", "--network", "none",
			"--runtime", "runsc", sandboxImage, "true")
	})
	return triedRunsc.err
}

var triedRunsc struct {
	sync.Once
	err error
}

var engine = sync.OnceValues(func() (string, error) {
	dir, err := outerDir("d")
	if err != nil {
		return "", err
	}
	cmd := exec.Command(script("dockerd.sh"), "serve", dir)
	stdin, err := cmd.StdinPipe() // it ends with this process, and the engine with it
	if err != nil {
		return "", err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		stdin.Close()
		err = errors.Join(err, cmd.Wait())
		return "", fmt.Errorf("%w: %s", err, strings.TrimSpace(errs.String()))
	}
	go io.Copy(io.Discard, stdout)
	atEnd(func() {
		stdin.Close()
		late := time.AfterFunc(limit, func() { cmd.Process.Kill() })
		defer late.Stop()
		if err := cmd.Wait(); err != nil {
			fmt.Fprintf(os.Stderr, "e2e: the engine: %v: %s\n", err, errs.String())
		}
	})
	host := strings.TrimSpace(line)
	if _, err := outerRun([]string{host, "SBX=" + sbxPath}, script("image.sh"), "docker"); err != nil {
		return "", err
	}
	return host, nil
})

// podmanReady is the environment under which podman has storage of this run's
// own with sandboxImage in it, and runtimes that know this host.
func podmanReady(t *testing.T) []string {
	t.Helper()
	needPrograms(t, "podman", "runc", "busybox")
	env, err := podman()
	switch {
	case err != nil && !isRoot(): // who has no ids of his own to give away has no podman
		t.Skip("podman does not run for this user: " + err.Error())
	case err != nil:
		lacks(t, "podman does not run: "+err.Error())
	}
	return env
}

var podman = sync.OnceValues(func() ([]string, error) {
	dir, err := outerDir("p")
	if err != nil {
		return nil, err
	}
	write := func(name, text string) {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
		}
	}
	write("storage.conf", fmt.Sprintf("[storage]\ndriver = \"vfs\"\ngraphroot = \"%s/root\"\nrootless_storage_path = \"%[1]s/root\"\nrunroot = \"%[1]s/run\"\n", dir))
	// crun refuses control groups of mixed versions; no journal or bus is asked for.
	write("containers.conf", fmt.Sprintf("[engine]\nruntime = \"runc\"\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"none\"\ntmp_dir = \"%s/tmp\"\n", dir))
	if err != nil {
		return nil, err
	}
	env := []string{
		"CONTAINERS_STORAGE_CONF=" + filepath.Join(dir, "storage.conf"),
		"CONTAINERS_CONF=" + filepath.Join(dir, "containers.conf"),
		"XDG_RUNTIME_DIR=" + dir,
	}
	atEnd(func() {
		if isRoot() {
			return
		}
		// Files of the user's other ids are only theirs to remove.
		if _, err := outerRun(env, "podman", "unshare", "rm", "-rf", filepath.Join(dir, "root"), filepath.Join(dir, "run")); err != nil {
			fmt.Fprintln(os.Stderr, "e2e:", err)
		}
	})
	if _, err := outerRun(append(env, "SBX="+sbxPath), script("image.sh"), "podman"); err != nil {
		return nil, err
	}
	// Both limits, since podman would raise them beyond what the host allows.
	if _, err := outerRun(env, "podman", "run", "--rm", "--pull", "never", "--network", "none",
		"--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024", sandboxImage, "true"); err != nil {
		return nil, err
	}
	return env, nil
})

// imageRoot is the file system of sandboxImage as a folder, for tools that take
// no image. Nothing may be written to it.
func imageRoot(t *testing.T) string {
	t.Helper()
	needPrograms(t, "busybox", "tar")
	dir, err := unpacked()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var unpacked = sync.OnceValues(func() (string, error) {
	dir, err := outerDir("image")
	if err != nil {
		return "", err
	}
	tar := dir + ".tar"
	if _, err := outerRun([]string{"SBX=" + sbxPath}, script("image.sh"), "tar", tar); err != nil {
		return "", err
	}
	_, err = outerRun(nil, "tar", "-C", dir, "--no-same-owner", "-xf", tar)
	return dir, err
})

// runscReady is the start of a command line of gVisor that works on this host:
// its path and its own options, with state of the run's own.
func runscReady(t *testing.T) []string {
	t.Helper()
	line := []string{needPrograms(t, "runsc"), "--platform=ptrace", "--network=none"}
	if !isRoot() {
		line = append(line, "--rootless", "--ignore-cgroups")
	}
	dir, err := outerDir("runsc")
	if err != nil {
		t.Fatal(err)
	}
	line = append(line, "--root", dir)
	if _, err := outerRun(nil, line[0], append(line[1:len(line):len(line)], "do", "true")...); err != nil {
		lacks(t, "gVisor does not run: "+err.Error())
	}
	return line
}

// runcReady is the start of a command line of runc, with state of the run's own.
func runcReady(t *testing.T) []string {
	t.Helper()
	dir, err := outerDir("runc")
	if err != nil {
		t.Fatal(err)
	}
	return []string{needPrograms(t, "runc"), "--root", dir}
}

// bwrapReady is the path of bwrap where it can make a sandbox.
func bwrapReady(t *testing.T) string {
	t.Helper()
	path := needPrograms(t, "bwrap")
	if _, err := outerRun(nil, path, "--ro-bind", "/", "/", "--unshare-all", "true"); err != nil {
		lacks(t, "bwrap does not run: "+err.Error())
	}
	return path
}

// nsjailReady is the path of nsjail, which no distribution packages: it is run
// where it is found.
func nsjailReady(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("nsjail")
	if err != nil {
		t.Skip("nsjail is not installed")
	}
	return path
}
