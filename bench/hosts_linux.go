package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// hostShape says how much a host has of the things that grow with a machine.
type hostShape struct{ homes, mounts, sockets int }

// keptInHome are fifty places of secrets.
const keptInHome = ".ssh/id .netrc .aws/x .config/gh/x .npmrc .pypirc .git-credentials .kube/config .docker/config.json .gnupg/x .bash_history " +
	".python_history .psql_history .mysql_history .lesshst .config/gcloud/x .azure/x .cargo/credentials.toml .local/share/keyrings/x .password-store/x " +
	".mozilla/x .config/google-chrome/x .vault-token .pgpass .my.cnf .terraform.d/credentials.tfrc.json .config/rclone/rclone.conf .oci/config " +
	".claude/.credentials.json .codex/auth.json .gemini/oauth_creds.json .zsh_history .node_repl_history .sqlite_history .viminfo .config/doctl/config.yaml " +
	".config/hub .config/sops/age/keys.txt .ICEauthority .Xauthority .local/share/fish/fish_history .irb_history .rediscli_history .boto .s3cfg " +
	".config/op/x .thunderbird/x .electrum/x .config/chromium/x .config/containers/auth.json"

// hosts returns the jobs that compare machines with much of something with one that has little.
// Each machine is a mount namespace and a network namespace of its own, for which the benchmark
// needs root, with homes in /home, mounts in /mnt and sockets in /run.
func (b *bencher) hosts() []job {
	if !b.root || !exists("/home") || !exists("/mnt") {
		return nil
	}
	var list []job
	for _, h := range []struct {
		name, what string
		shape      hostShape
	}{
		{"host-homes", "start beside 100 homes of 50 secrets", hostShape{homes: 100}},
		{"host-mounts", "start beside 1,000 mounts", hostShape{mounts: 1000}},
		{"host-sockets", "start beside 10,000 sockets", hostShape{sockets: 10000}},
		{"host-big", "start on a host with all three", hostShape{100, 1000, 10000}},
	} {
		on := map[string]string{} // for each contestant the process that holds its host
		at := func(name string) contestant {
			return contestant{name, func(b *bencher, p place, argv []string) []string {
				return append([]string{filepath.Join(p.workspace, helper), "on", on[name]}, sbx.wrap(b, p, argv)...)
			}}
		}
		list = append(list, job{name: h.name, what: h.what, place: b.own, argv: []string{"/bin/true"}, told: true, rounds: 60, quick: 10,
			of: []contestant{at("small"), at("sbx")}, base: "small", on: "sbx", gate: 1.20, aim: 1.05, before: func() (err error) {
				if on["small"], err = b.hold(hostShape{}); err == nil {
					on["sbx"], err = b.hold(h.shape)
				}
				return err
			}})
	}
	return list
}

// hold starts a process that makes a host of that shape and ends with this one. It returns the
// process's number after the host is complete.
func (b *bencher) hold(s hostShape) (pid string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(self, "host", b.dir, strconv.Itoa(s.homes), strconv.Itoa(s.mounts), strconv.Itoa(s.sockets))
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS | unix.CLONE_NEWNET}
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // the host ends when this pipe closes
		return "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
		return "", fmt.Errorf("no such host: %w", err)
	}
	return strconv.Itoa(cmd.Process.Pid), nil
}

// host is the process that hold starts.
func host(args []string) error {
	var s hostShape
	if _, err := fmt.Sscan(strings.Join(args[1:], " "), &s.homes, &s.mounts, &s.sockets); err != nil {
		return err
	}
	tmpfs := func(at string) error { return unix.Mount("tmpfs", at, "tmpfs", 0, "mode=755") }
	for _, at := range []string{"/home", "/mnt", "/run"} {
		if err := tmpfs(at); err != nil {
			return err
		}
	}
	if err := s.makeHomes(); err != nil {
		return err
	}
	for i := range s.mounts {
		at := "/mnt/" + strconv.Itoa(i)
		if err := os.MkdirAll(at, 0o755); err != nil {
			return err
		}
		if err := tmpfs(at); err != nil {
			return err
		}
	}
	room := unix.Rlimit{Cur: uint64(s.sockets) + 100, Max: uint64(s.sockets) + 100}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &room); err != nil {
		return err
	}
	for i := range s.sockets {
		name := "/run/" + strconv.Itoa(i)
		if i%2 == 0 {
			name = "@bench/" + strconv.Itoa(i)
		}
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err == nil {
			err = unix.Bind(fd, &unix.SockaddrUnix{Name: name})
		}
		if err == nil {
			err = unix.Listen(fd, 1)
		}
		if err != nil {
			return err
		}
	}
	fmt.Print(".")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// makeHomes makes homes with secrets, and a password file that lists them.
func (s hostShape) makeHomes() error {
	text, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return err
	}
	for i := range s.homes {
		home, id := "/home/u"+strconv.Itoa(i), 70000+i
		for _, name := range strings.Fields(keptInHome) {
			if err := put(filepath.Join(home, name), "x"); err != nil {
				return err
			}
		}
		if err := os.Chown(home, id, id); err != nil {
			return err
		}
		text = fmt.Appendf(text, "u%d:x:%d:%d::%s:/bin/sh\n", i, id, id, home)
	}
	if err := put("/run/passwd", string(text)); err != nil {
		return err
	}
	return unix.Mount("/run/passwd", "/etc/passwd", "", unix.MS_BIND, "")
}

// startOn runs a command in the mount and network namespace of another process, and prints how many
// nanoseconds it took.
func startOn(pid string, argv []string) error {
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	for _, ns := range []string{"net", "mnt"} {
		f, err := os.Open("/proc/" + pid + "/ns/" + ns)
		if err != nil {
			return err
		}
		if err := unix.Setns(int(f.Fd()), 0); err != nil {
			return err
		}
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	begin := time.Now()
	proc, err := os.StartProcess(argv[0], argv, &os.ProcAttr{Dir: dir, Files: []*os.File{null, null, os.Stderr}})
	if err != nil {
		return err
	}
	state, err := proc.Wait()
	if err == nil && !state.Success() {
		err = fmt.Errorf("%v", state)
	}
	fmt.Println(time.Since(begin).Nanoseconds())
	return err
}
