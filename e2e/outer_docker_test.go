package e2e

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// dockerHost returns the environment by which docker reaches an engine of this run's own, which has
// sandboxImage: DOCKER_HOST=… The engine does not see mounts that are made on the host after its
// start.
func dockerHost(t *testing.T) string {
	t.Helper()
	if !isRoot() {
		t.Skip("the engine of the tests is root's alone")
	}
	takesSeconds(t)
	needPrograms(t, "docker", "dockerd", "busybox")
	host, err := engine()
	if err != nil {
		lacks(t, "no engine of docker: "+err.Error())
	}
	return host
}

// dockerRunsc is dockerHost if the engine has gVisor as the runtime runsc.
func dockerRunsc(t *testing.T) string {
	t.Helper()
	host := dockerHost(t)
	needPrograms(t, "runsc")
	if err := dockerTries(host); err != nil {
		lacks(t, "gVisor does not run in docker: "+err.Error())
	}
	return host
}

// dockerTries returns what keeps the engine from running gVisor; the host is the same in each call.
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
	if oci, err := ociDir(); err == nil { // else its tests skip
		cmd.Env = append(os.Environ(), "SBX_OCI="+oci)
	}
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
