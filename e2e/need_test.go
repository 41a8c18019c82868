package e2e

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"sbx/landlock"
)

// lacks skips a test because the host lacks something, and fails it if the run must not skip.
func lacks(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("SBX_TEST_MUST_RUN") == "1" {
		t.Fatal("must run, and cannot: " + why)
	}
	t.Skip(why)
}

// needPrograms skips if one of the programs is not installed, and returns the path of the first.
func needPrograms(t *testing.T, names ...string) string {
	t.Helper()
	first := ""
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			lacks(t, name+" is not installed")
		}
		if first == "" {
			first = path
		}
	}
	return first
}

// needSandbox skips if this host cannot enforce a sandbox with mounts.
func needSandbox(t *testing.T) {
	t.Helper()
	if why := sandboxed(); why != "" {
		lacks(t, "no sandbox with namespaces on this host: "+why)
	}
}

var sandboxed = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "sbx-e2e-try.")
	if err != nil {
		return err.Error()
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command(sbxPath, "exec", "--spec-json", `{"access_mode":"read-only"}`, "--effective", dir+"/r.json", "--", "true")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + dir}
	out, err := cmd.CombinedOutput()
	if err == nil {
		return ""
	}
	return err.Error() + ": " + strings.TrimSpace(string(out))
})

// needScopes skips if Landlock cannot separate a program from processes outside (ABI 6, Linux
// 6.12).
func needScopes(t *testing.T) {
	t.Helper()
	if s := landlock.Probe(); s.ABI < 6 {
		lacks(t, "Landlock has no scopes here: ABI "+strconv.Itoa(s.ABI))
	}
}

// needUserNamespace skips if an ordinary user cannot have a user namespace for the control of a
// denial.
func needUserNamespace(t *testing.T) {
	t.Helper()
	cmd := exec.Command("true")
	cmd.SysProcAttr = ownNamespaces()
	if err := cmd.Run(); err != nil {
		lacks(t, "no user namespace for the control: "+err.Error())
	}
}

// ownNamespaces gives a control every capability over mounts of its own, so that an ordinary user's
// control gets as far as root's.
func ownNamespaces() *syscall.SysProcAttr {
	uid, gid := os.Getuid(), os.Getgid()
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}},
		AmbientCaps: []uintptr{21}, // CAP_SYS_ADMIN, kept over execve for users other than root
	}
}

func isRoot() bool { return os.Getuid() == 0 }
