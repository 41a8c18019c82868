package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// podmanReady returns the environment in which podman has storage of this run's own with
// sandboxImage in it, and runtimes that know this host.
func podmanReady(t *testing.T) []string {
	t.Helper()
	takesSeconds(t)
	needPrograms(t, "podman", "runc", "busybox")
	env, err := podman()
	switch {
	case err != nil && !isRoot(): // podman needs subordinate ids
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
	// crun refuses control groups of mixed versions. No journal or bus is needed, and the locks are
	// not those in /dev/shm that the host's own podman uses.
	write("containers.conf", fmt.Sprintf("[engine]\nruntime = \"runc\"\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"none\"\nlock_type = \"file\"\ntmp_dir = \"%s/tmp\"\n", dir))
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
		// Only the user's other ids can remove their files. A process that holds the user's
		// namespace stays until it is told to end.
		_, removed := outerRun(env, "podman", "unshare", "rm", "-rf", filepath.Join(dir, "root"), filepath.Join(dir, "run"))
		_, ended := outerRun(env, "podman", "system", "migrate")
		if err := errors.Join(removed, ended); err != nil {
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
