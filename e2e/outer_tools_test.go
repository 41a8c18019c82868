package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// sandboxImage is the image that scripts/image.sh builds.
const sandboxImage = "sbx-sandbox:latest"

// outer has what the tests of other sandboxes share: it is made on first use, once for the run of
// the package, and ended by TestMain.
var outer struct {
	sync.Mutex
	dir    string // removed at the end
	ending []func()
}

// outerDir returns a directory for name that exists as long as the run.
func outerDir(name string) (string, error) {
	outer.Lock()
	defer outer.Unlock()
	if outer.dir == "" {
		// Short, because the paths of sockets under it have a limit.
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

// endOuter stops everything that the tests started, the last first.
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

// outerRun runs a program to its end; the error contains its output.
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

// takesSeconds skips a -short run, in which there is no time to prepare what the test needs.
func takesSeconds(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes seconds to make ready")
	}
}

func script(name string) string { return filepath.Join(moduleDir, "scripts", name) }

// imageRoot returns the file system of sandboxImage as a directory, for tools that take no image.
// Nothing may be written to it.
func imageRoot(t *testing.T) string {
	t.Helper()
	takesSeconds(t)
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

// runscReady returns the beginning of a command line of gVisor that works on this host: its path
// and its own options, with state of the run's own.
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

// runcReady returns the beginning of a command line of runc, with state of the run's own.
func runcReady(t *testing.T) []string {
	t.Helper()
	dir, err := outerDir("runc")
	if err != nil {
		t.Fatal(err)
	}
	return []string{needPrograms(t, "runc"), "--root", dir}
}

// crunReady returns the beginning of a command line of crun, with state of the run's own. crun
// refuses control groups of mixed versions, so it is shown only those of version 2, and makes none.
func crunReady(t *testing.T) []string {
	t.Helper()
	dir, err := outerDir("crun")
	if err != nil {
		t.Fatal(err)
	}
	crun := needPrograms(t, "crun", "unshare")
	line := []string{"unshare", "--mount"}
	if !isRoot() { // keeps its ids, with the capabilities in a namespace of its own
		line = append(line, "--user", "--cgroup", "--keep-caps", "--map-user="+strconv.Itoa(os.Getuid()), "--map-group="+strconv.Itoa(os.Getgid()))
	}
	line = append(line, "sh", "-c", `mount -t cgroup2 none /sys/fs/cgroup && exec "$@"`, "sh", crun, "--cgroup-manager=disabled", "--root", dir)
	if _, err := outerRun(nil, line[0], append(line[1:len(line):len(line)], "list", "--quiet")...); err != nil {
		lacks(t, "crun does not run: "+err.Error())
	}
	return line
}

// bwrapReady returns the path of bwrap if it can make a sandbox.
func bwrapReady(t *testing.T) string {
	t.Helper()
	path := needPrograms(t, "bwrap")
	if _, err := outerRun(nil, path, "--ro-bind", "/", "/", "--unshare-all", "true"); err != nil {
		lacks(t, "bwrap does not run: "+err.Error())
	}
	return path
}

// wasiReady returns a WASI runner, wazero, and the module of testdata/wasi. The runner follows
// links out of its mounts, so only the sandbox stops the module there.
func wasiReady(t *testing.T) (runner, module string) {
	t.Helper()
	takesSeconds(t)
	dir, err := wasi()
	if err != nil {
		lacks(t, "no WASI runner: "+err.Error())
	}
	return filepath.Join(dir, "wazero"), filepath.Join(dir, "job.wasm")
}

var wasi = sync.OnceValues(func() (string, error) {
	switch dir := os.Getenv("SBX_TEST_WASI"); dir {
	case "none":
		return "", errors.New("scripts/wasi.sh could not build it")
	case "":
	default:
		return dir, nil
	}
	dir, err := outerDir("wasi")
	if err != nil {
		return "", err
	}
	_, err = outerRun(nil, script("wasi.sh"), dir)
	return dir, err
})

// nsjailReady returns the path of nsjail, which no distribution packages: its tests run only if it
// is installed.
func nsjailReady(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("nsjail")
	if err != nil {
		t.Skip("nsjail is not installed")
	}
	return path
}
