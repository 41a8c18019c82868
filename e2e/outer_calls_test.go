package e2e

import (
	"context"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// callsScript makes system calls that are side doors, and prints for each whether the filter denied
// it. None of them changes anything.
const callsScript = `
import ctypes, errno, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def tell(name, r, refused):
    print(name, 'refused' if r < 0 and ctypes.get_errno() == refused else 'ok', flush=True)
def inside(name, f):
    pid = os.fork()
    if pid == 0:
        tell(name, f(), errno.EPERM)
        os._exit(0)
    os.waitpid(pid, 0)
inside('new-namespace', lambda: libc.unshare(0x10000000))
inside('clone-namespace', lambda: libc.syscall(%CLONE%, 0x10000000 | 17, 0, 0, 0, 0) or os._exit(0))
tell('keyring', libc.syscall(%KEYCTL%, 0, -3, 0, 0, 0), errno.EPERM)
tell('bpf', libc.syscall(%BPF%, 9999, 0, 0), errno.EPERM)
tell('io-uring', libc.syscall(425, 1, None), errno.ENOSYS)
tell('clone3', libc.syscall(435, None, 0), errno.ENOSYS)
tell('vsock', libc.socket(40, 99, 0), errno.EPERM)
tell('netlink', libc.socket(16, 3, 99), errno.EPERM)
tell('type-at-terminal', libc.ioctl(-1, 0x5412, None), errno.EPERM)
tell('stream', libc.socket(1, 1, 0), errno.EPERM)
print('the end')
`

func callsArgv(t *testing.T) []string {
	t.Helper()
	needPrograms(t, "python3")
	numbers := strings.NewReplacer("%CLONE%", "56", "%KEYCTL%", "250", "%BPF%", "321")
	if runtime.GOARCH == "arm64" {
		numbers = strings.NewReplacer("%CLONE%", "220", "%KEYCTL%", "219", "%BPF%", "280")
	}
	return []string{"/usr/bin/python3", "-c", numbers.Replace(callsScript)}
}

// holdCalls fails unless all of them are denied except one that every program makes.
func holdCalls(t *testing.T, r result, control map[string]string) {
	t.Helper()
	got := told(t, r)
	delete(got, "the")
	for name, how := range got {
		if want := map[bool]string{true: "ok", false: "refused"}[name == "stream"]; how != want {
			t.Errorf("%s is %s", name, how)
		}
		if control[name] != "ok" {
			t.Errorf("control: %s is %s without a sandbox", name, control[name])
		}
	}
}

// Tools that accept sbx's own list of system calls enforce it.
func TestWrappedSystemCalls(t *testing.T) {
	argv := callsArgv(t)
	eachWrapper(t, func(t *testing.T, b *box, tool outerTool) {
		control := told(t, b.plain(argv...))
		a, _ := b.wrap(b.invoked(nil, argv...), tool.flags("--wrapper")...)
		holdCalls(t, a.start(b), control)
	}, "bwrap", "docker", "podman", "runsc")
}

// So do the backends; a container engine has a list of its own.
func TestBackendSystemCalls(t *testing.T) {
	argv := callsArgv(t)
	eachBackend(t, func(t *testing.T, b *box, tool outerTool) {
		control := told(t, b.plain(argv...))
		r := b.run(`{"access_mode":"workspace-write"}`, argv...)
		holdCalls(t, r, control)
	}, "docker", "podman", "runsc")
}

// A descriptor that the caller of sbx left open does not reach the command: an open directory leads
// out of any sandbox.
func TestBackendDescriptors(t *testing.T) {
	eachBackend(t, func(t *testing.T, b *box, tool outerTool) {
		b.write(b.out+"/file", "outside")
		script := "cat /proc/self/fd/3/file; echo the end"
		dir, err := os.Open(b.out)
		must(t, err)
		defer dir.Close()
		run := func(spec string) result {
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			defer cancel()
			cmd := b.command(ctx, spec, "/bin/sh", "-c", script)
			cmd.Dir, cmd.ExtraFiles = b.ws, []*os.File{dir}
			return b.finish(cmd)
		}
		if r := run(`{"access_mode":"workspace-write"}`); r.out != "the end\n" {
			t.Errorf("%s", r)
		}
		if tool.name != "bwrap" { // the others pass none on in any case
			return
		}
		if r := run(`{}`); r.out != "outsidethe end\n" {
			t.Errorf("control: %s", r)
		}
	})
}

// A directory that both the spec and the invocation mount at one place is there once, with the
// narrower mode of the two; a wider one is refused.
func TestWrapMountThatTheSpecHas(t *testing.T) {
	b := newBoxElsewhere(t)
	b.write(b.base+"/data/file", "data")
	for _, c := range []struct {
		spec, asked string
		ok          bool
	}{{"ro", "ro", true}, {"rw", "ro", true}, {"rw", "rw", true}, {"ro", "rw", false}} {
		mount := map[string]string{"kind": "dir", "label": "d", "hostPath": b.base + "/data", "guestPath": "/data", "mode": c.asked}
		spec := `{"access_mode": "workspace-write", "filesystem": {"mounts": [{"label": "d", "source": "` + b.base + `/data", "target": "/data", "mode": "` + c.spec + `"}]}}`
		a, status := b.wrap(b.invoked([]map[string]string{mount}, "true"), "--wrapper", "bwrap", "--spec-json", spec)
		if !c.ok {
			if status != 1 || !strings.Contains(a.Error.Reason, "read-only") {
				t.Errorf("%+v: %d %+v", c, status, a.Error)
			}
			continue
		}
		var flags []string
		for i, arg := range a.Wrapped.Args {
			if arg == "/data" && i > 1 && strings.HasSuffix(a.Wrapped.Args[i-2], "bind") {
				flags = append(flags, a.Wrapped.Args[i-2])
			}
		}
		if want := map[string]string{"ro": "--ro-bind", "rw": "--bind"}[c.asked]; status != 0 || !slices.Equal(flags, []string{want}) {
			t.Errorf("%+v: %d %q %+v", c, status, flags, a.Problems)
		}
	}
}

// The root directory cannot be mounted at another place, because the host's /proc would be in it.
func TestRootIsMountedNowhere(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	for _, mode := range []string{"ro", "rw"} {
		mount := map[string]string{"kind": "dir", "label": "r", "hostPath": "/", "guestPath": "/g", "mode": mode}
		for _, name := range []string{"sbx", "bwrap", "nsjail", "docker"} {
			if a, status := b.wrap(b.invoked([]map[string]string{mount}, "true"), "--wrapper", name, "--image", "x"); status != 1 || !strings.HasPrefix(a.Error.Field, "filesystem.mounts") {
				t.Errorf("%s %s: %d %+v", name, mode, status, a.Error)
			}
		}
		r := b.run(`{"access_mode": "workspace-write", "filesystem": {"mounts": [{"label": "r", "source": "/", "target": "/g", "mode": "`+mode+`"}]}}`, "true")
		if r.code != 125 || !strings.Contains(r.err, "the host's own /proc") {
			t.Errorf("%s: %s", mode, r)
		}
	}
}
