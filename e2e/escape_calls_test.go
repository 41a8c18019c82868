package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func callOf(nr int, args ...uint64) string {
	s := fmt.Sprintf("call|%d", nr)
	for _, a := range args {
		s += fmt.Sprintf("|%d", a)
	}
	return s
}

// Calls have arguments that no kernel accepts: a call that gets through fails with another errno
// than a denied one. An ordinary user's control runs in a user namespace of its own, where it has
// the capabilities to get through.
func TestRefusedCalls(t *testing.T) {
	needSandbox(t)
	bad := ^uint64(0)
	const arrives = "EFAULT EINVAL EBADF ENOENT EEXIST ENOTSUP ENAMETOOLONG ok"
	rows := []struct {
		name    string
		nr      int
		args    []uint64
		inside  string
		capable bool // only the host's root gets through
	}{
		{"mount", unix.SYS_MOUNT, []uint64{0, 0, 0, 0, 0}, "EPERM", false},
		{"umount2", unix.SYS_UMOUNT2, []uint64{0, 0}, "EPERM", false},
		{"pivot_root", unix.SYS_PIVOT_ROOT, []uint64{0, 0}, "EPERM", false},
		{"chroot", unix.SYS_CHROOT, []uint64{0}, "EPERM", false},
		{"open_tree", unix.SYS_OPEN_TREE, []uint64{bad, 0, 0}, "EPERM", false},
		{"open_tree of a clone", unix.SYS_OPEN_TREE, []uint64{bad, 0, unix.OPEN_TREE_CLONE}, "EPERM", false},
		{"move_mount", unix.SYS_MOVE_MOUNT, []uint64{bad, 0, bad, 0, 0}, "EPERM", false},
		{"fsopen", unix.SYS_FSOPEN, []uint64{0, 0}, "EPERM", false},
		{"fsconfig", unix.SYS_FSCONFIG, []uint64{bad, 0, 0, 0, 0}, "EPERM", false},
		{"fsmount", unix.SYS_FSMOUNT, []uint64{bad, 0, 0}, "EPERM", false},
		{"fspick", unix.SYS_FSPICK, []uint64{bad, 0, 0}, "EPERM", false},
		{"mount_setattr", unix.SYS_MOUNT_SETATTR, []uint64{bad, 0, 0, 0, 0}, "EPERM", false},
		{"setns", unix.SYS_SETNS, []uint64{bad, 0}, "EPERM", false},
		{"unshare of nothing known", unix.SYS_UNSHARE, []uint64{1}, "EPERM", false},
		{"unshare user", unix.SYS_UNSHARE, []uint64{unix.CLONE_NEWUSER}, "EPERM", false},
		{"clone user", unix.SYS_CLONE, []uint64{unix.CLONE_NEWUSER | unix.CLONE_FS, 0, 0, 0, 0}, "EPERM", false},
		{"clone mount", unix.SYS_CLONE, []uint64{unix.CLONE_NEWNS | unix.CLONE_FS, 0, 0, 0, 0}, "EPERM", false},
		{"clone net, high bits set", unix.SYS_CLONE, []uint64{1<<32 | unix.CLONE_NEWNET | unix.CLONE_NEWUSER | unix.CLONE_FS, 0, 0, 0, 0}, "EPERM", false},
		{"clone3", unix.SYS_CLONE3, []uint64{0, 0}, "ENOSYS", false},
		{"io_uring_setup", unix.SYS_IO_URING_SETUP, []uint64{0, 0}, "ENOSYS EPERM", false},
		{"io_uring_enter", unix.SYS_IO_URING_ENTER, []uint64{bad, 0, 0, 0, 0, 0}, "ENOSYS EPERM", false},
		{"io_uring_register", unix.SYS_IO_URING_REGISTER, []uint64{bad, 0, 0, 0}, "ENOSYS EPERM", false},
		{"keyctl", unix.SYS_KEYCTL, []uint64{1000, 0, 0, 0, 0}, "EPERM", false},
		{"add_key", unix.SYS_ADD_KEY, []uint64{0, 0, 0, 0, 0}, "EPERM", false},
		{"request_key", unix.SYS_REQUEST_KEY, []uint64{0, 0, 0, 0}, "EPERM", false},
		{"bpf", unix.SYS_BPF, []uint64{1000, 0, 0}, "EPERM", true},
		{"perf_event_open", unix.SYS_PERF_EVENT_OPEN, []uint64{0, 0, 0, 0, 0}, "EPERM", false},
		{"userfaultfd", unix.SYS_USERFAULTFD, []uint64{1<<20 | 1}, "EPERM", false},
		{"kexec_load", unix.SYS_KEXEC_LOAD, []uint64{0, 1000, 0, bad}, "EPERM", true},
		{"init_module", unix.SYS_INIT_MODULE, []uint64{0, 0, 0}, "EPERM", true},
		{"finit_module", unix.SYS_FINIT_MODULE, []uint64{bad, 0, 0}, "EPERM", true},
		{"delete_module", unix.SYS_DELETE_MODULE, []uint64{0, 0}, "EPERM", true},
		{"reboot", unix.SYS_REBOOT, []uint64{0, 0, 0, 0}, "EPERM", true},
		{"swapon", unix.SYS_SWAPON, []uint64{0, bad}, "EPERM", true},
		{"acct", unix.SYS_ACCT, []uint64{8}, "EPERM", true},
		{"open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT, []uint64{bad, 0, 0}, "EPERM", true},
		{"fanotify_init", unix.SYS_FANOTIFY_INIT, []uint64{bad, 0}, "EPERM", true},
		{"settimeofday", unix.SYS_SETTIMEOFDAY, []uint64{8, 0}, "EPERM", true},
		{"sethostname", unix.SYS_SETHOSTNAME, []uint64{0, bad >> 32}, "EPERM", true},
		{"syslog", unix.SYS_SYSLOG, []uint64{99, 0, 0}, "EPERM", true},
		{"a delegation", unix.SYS_FCNTL, []uint64{bad, 1<<32 | unix.F_SETLEASE + 16, 0}, "EPERM", false},
		{"a snapshot by btrfs", unix.SYS_IOCTL, []uint64{bad, 0x50009401, 0}, "EPERM", false},
		{"a snapshot by btrfs, the second version", unix.SYS_IOCTL, []uint64{bad, 1<<32 | 0x50009417, 0}, "EPERM", false},
		{"a subvolume of btrfs", unix.SYS_IOCTL, []uint64{bad, 0x5000940e, 0}, "EPERM", false},
		{"the key of an encrypted directory", unix.SYS_IOCTL, []uint64{bad, 0xc0506617, 0}, "EPERM", false},
		{"to take such a key away", unix.SYS_IOCTL, []uint64{bad, 1<<32 | 0xc0406618, 0}, "EPERM", false},
		{"to take it away from all", unix.SYS_IOCTL, []uint64{bad, 0xc0406619, 0}, "EPERM", false},
		{"a subvolume of bcachefs", unix.SYS_IOCTL, []uint64{bad, 0x4020bc10, 0}, "EPERM", false},
	}
	b := newBoxElsewhere(t)
	var argv []string
	for _, r := range rows {
		argv = append(argv, callOf(r.nr, r.args...))
	}
	control := b.capable(argv...)
	for _, spec := range []string{b.inView("read-only"), specWW} {
		inside := b.tries(spec, argv...)
		for i, r := range rows {
			if !oneOf(inside[argv[i]], r.inside) {
				t.Errorf("%s: %s: %s inside, want %s", spec, r.name, inside[argv[i]], r.inside)
			}
		}
	}
	for i, r := range rows {
		out := control[argv[i]]
		if r.capable && !isRoot() {
			continue // the kernel itself denies this user's control; root's run covers it
		}
		if oneOf(out, arrives) && out != r.inside {
			continue
		}
		if out == "ENOSYS" {
			t.Logf("%s: this kernel has no such call, the control shows nothing", r.name)
			continue
		}
		t.Errorf("control: %s: %s outside", r.name, out)
	}
}

// A process group may contain processes of other users: therefore each attempt has a group of its
// own here.
func TestPrioritiesOfGroups(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	argv := []string{"owngroup", callOf(unix.SYS_SETPRIORITY, unix.PRIO_PGRP, 0, 0), callOf(unix.SYS_IOPRIO_SET, 2, 0, 0),
		callOf(unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, 0, 0), callOf(unix.SYS_IOPRIO_SET, 1, 0, 0)}
	for a, got := range b.control(argv...) {
		if got != "ok" {
			t.Errorf("control: %s: %s", a, got)
		}
	}
	for _, spec := range []string{b.inView("read-only"), specWW} {
		got := b.tries(spec, argv...)
		for i, want := range []string{"ok", "EPERM", "EPERM", "ok", "ok"} {
			if got[argv[i]] != want {
				t.Errorf("%s: %s: %s, want %s", spec, argv[i], got[argv[i]], want)
			}
		}
	}
}

// capable runs attempts without a sandbox, in a user namespace if the caller is not root.
func (b *box) capable(attempts ...string) map[string]string {
	b.t.Helper()
	if isRoot() {
		return b.control(attempts...)
	}
	needUserNamespace(b.t)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.probe(), append([]string{"try"}, attempts...)...)
	cmd.SysProcAttr = ownNamespaces()
	cmd.Dir, cmd.Env, cmd.WaitDelay = b.ws, b.env, 2*time.Second
	return b.finish(cmd).ended().lines()
}

func TestOtherEntries(t *testing.T) {
	needSandbox(t)
	if runtime.GOARCH != "amd64" {
		t.Skip("x32 and the 32-bit entry are amd64's")
	}
	b := newBoxElsewhere(t)
	const x32 = 0x40000000
	// getpid, execve by its x32 number, ptrace by its own.
	argv := []string{callOf(x32 | 39), callOf(x32|520, 0, 0, 0), callOf(x32|521, 0, 1, 0, 0)}
	for _, spec := range []string{b.inView("read-only"), specWW} {
		for _, a := range argv {
			r := b.run(spec, b.probe(), "try", a)
			if r.code == 128+int(unix.SIGSYS) {
				continue // ended by the filter
			}
			if got := r.ended().lines()[a]; got != "ENOSYS" {
				t.Errorf("%s: %s inside", a, got)
			}
		}
	}
	t.Run("int80", func(t *testing.T) {
		control := b.plain(b.probe(), "int80")
		if !strings.HasPrefix(control.out, "pid\n") {
			first, _, _ := strings.Cut(control.err, "\n")
			t.Skip("this host has no 32-bit entry: the control says " + first)
		}
		for _, spec := range []string{b.inView("read-only"), specWW} {
			r := b.run(spec, b.probe(), "int80")
			if r.code == 128+int(unix.SIGSYS) && r.out == "" {
				continue
			}
			if r.ended().out != "errno 38\nend\n" {
				t.Errorf("the 32-bit entry: %v", r)
			}
		}
	})
}

func TestSocketFamilies(t *testing.T) {
	needSandbox(t)
	sock := func(family, kind, proto int) string { return fmt.Sprintf("socket|%d|%d|%d", family, kind, proto) }
	const high = 1 << 40
	rows := []struct {
		name, attempt, inside string
		root                  bool // the control needs CAP_NET_RAW
	}{
		{"AF_UNIX stream", sock(unix.AF_UNIX, unix.SOCK_STREAM, 0), "ok", false},
		{"AF_UNIX seqpacket", sock(unix.AF_UNIX, unix.SOCK_SEQPACKET, 0), "ok", false},
		{"AF_UNIX datagram", sock(unix.AF_UNIX, unix.SOCK_DGRAM, 0), "EPERM", false},
		{"AF_UNIX raw", sock(unix.AF_UNIX, unix.SOCK_RAW, 0), "EPERM", false},
		{"AF_UNIX datagram, flags", sock(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0), "EPERM", false},
		{"AF_UNIX datagram pair", fmt.Sprintf("pair|%d|%d", unix.AF_UNIX, unix.SOCK_DGRAM), "EPERM", false},
		{"AF_UNIX stream pair", fmt.Sprintf("pair|%d|%d", unix.AF_UNIX, unix.SOCK_STREAM), "ok", false},
		{"AF_INET stream", sock(unix.AF_INET, unix.SOCK_STREAM, 0), "ok", false},
		{"AF_INET6 datagram", sock(unix.AF_INET6, unix.SOCK_DGRAM, 0), "ok EAFNOSUPPORT", false},
		{"AF_NETLINK route", sock(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE), "ok", false},
		{"AF_NETLINK netfilter", sock(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER), "EPERM", false},
		{"AF_NETLINK audit", sock(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT), "EPERM", false},
		{"AF_NETLINK uevent", sock(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT), "EPERM", false},
		{"AF_NETLINK generic", sock(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_GENERIC), "EPERM", false},
		{"AF_VSOCK", sock(unix.AF_VSOCK, unix.SOCK_STREAM, 0), "EPERM", false},
		{"AF_ALG", sock(unix.AF_ALG, unix.SOCK_SEQPACKET, 0), "EPERM", false},
		{"AF_PACKET", sock(unix.AF_PACKET, unix.SOCK_RAW, 0), "EPERM", true},
		{"raw AF_INET", sock(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP), "EPERM", true},
		{"raw AF_INET6", sock(unix.AF_INET6, unix.SOCK_RAW, unix.IPPROTO_ICMPV6), "EPERM", true},
		{"AF_BLUETOOTH", sock(unix.AF_BLUETOOTH, unix.SOCK_RAW, 0), "EPERM", true},
		{"AF_XDP", sock(unix.AF_XDP, unix.SOCK_RAW, 0), "EPERM", true},
		{"AF_VSOCK, high bits set", sock(high|unix.AF_VSOCK, unix.SOCK_STREAM, 0), "EPERM", false},
		{"AF_UNIX datagram, high bits set", sock(high|unix.AF_UNIX, high|unix.SOCK_DGRAM, 0), "EPERM", false},
	}
	b := newBoxElsewhere(t)
	var argv []string
	for _, r := range rows {
		argv = append(argv, r.attempt)
	}
	control := b.control(argv...)
	for _, spec := range []string{b.inView("read-only"), specWW} {
		inside := b.tries(spec, argv...)
		for _, r := range rows {
			out, in := control[r.attempt], inside[r.attempt]
			if !oneOf(in, r.inside) {
				t.Errorf("%s: %s inside, want %s (%s outside)", r.name, in, r.inside, out)
			}
			// A kernel that was built without a feature answers with another errno.
			if out == "EPERM" && !(r.root && !isRoot()) {
				t.Errorf("control: %s: %s outside", r.name, out)
			}
		}
	}
}

// listener is a socket of the host.
func (b *box) listener(args ...string) *started {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	cmd := exec.CommandContext(ctx, probePath, append([]string{"listen"}, args...)...)
	cmd.Dir, cmd.Env = b.base, b.env
	return b.launch(cmd, cancel)
}

func TestSocketsOfTheHostAreOutOfReach(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		abstract := "@" + uniqueName(t)
		path := b.out + "/sock"
		if len(path) > 100 {
			t.Skip("the path is longer than a socket's name may be")
		}
		two := []*started{b.listener(abstract), b.listener(path)}
		for _, s := range two {
			s.expect("ready")
		}
		web := b.listener("tcp")
		port := ""
		if !web.out.wait(func(l string) bool {
			var ok bool
			port, ok = strings.CutPrefix(l, "port ")
			return ok
		}) {
			t.Fatal("no port")
		}
		argv := []string{"connect|" + abstract, "connect|" + path, "tcp|" + port}
		for a, got := range b.control(argv...) {
			if got != "ok" {
				t.Errorf("control: %s: %s", a, got)
			}
		}
		for _, spec := range []string{b.inView("read-only"), b.inView("workspace-write")} {
			got := b.tries(spec, argv...)
			for _, a := range argv {
				if !oneOf(got[a], "EPERM EACCES ECONNREFUSED ENOENT ENETUNREACH") {
					t.Errorf("%s: %s: %s", spec, a, got[a])
				}
			}
		}
		// If the network is the host's, TCP and abstract sockets have rules of their own: the scope
		// still applies.
		host := specWith(b.inView("workspace-write"), `"network":{"mode":"host"}`)
		got := b.tries(host, argv...)
		if got["tcp|"+port] != "ok" {
			t.Errorf("network host: TCP: %s", got["tcp|"+port])
		}
		if got[argv[0]] == "ok" {
			t.Errorf("network host: the abstract socket is reached")
		}
		for i, s := range two {
			s.say("")
			s.wait()
			if came := (result{out: strings.Join(s.out.all(), "\n")}).lines()["came"]; came != "1" && (i == 0 || came != "2") {
				t.Errorf("%s: %q connections came, want the control's one", argv[i], came)
			}
		}
		web.say("")
	})
}

func TestProcessesOutsideAreOutOfReach(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	witness := b.listener("@" + uniqueName(t))
	witness.expect("ready")
	pid := witness.cmd.Process.Pid
	secret := uniqueName(t)
	b.env = append(b.env, "WITNESS="+secret)
	other := b.listener("@" + uniqueName(t))
	other.expect("ready")
	kill := fmt.Sprintf("kill|%d|0", pid)
	mem := fmt.Sprintf("readmem|%d", pid)
	control := b.control(kill, "environ|"+secret)
	if control[kill] != "ok" || control["environ|"+secret] != "found" {
		t.Errorf("control: %v", control)
	}
	if got := b.control("onchild|readmem", "onchild|seize", "onchild|prlimit"); got["onchild|readmem"] != "EFAULT" || got["onchild|seize"] != "ok" || got["onchild|prlimit"] != "ok" {
		t.Errorf("control: %v", got)
	}
	b.env = b.env[:len(b.env)-1]
	for _, spec := range []string{b.inView("read-only"), specWW} {
		// Signal 0 harms nothing; -1 stands for every process that can be reached.
		got := b.tries(spec, kill, fmt.Sprintf("kill|-%d|0", pid), mem, "environ|"+secret, "onchild|readmem", "onchild|seize", "onchild|prlimit",
			"seize|1", "readmem|1", "read|/proc/1/environ", "read|/proc/1/mem", "open|/proc/1/exe", "list|/proc/1/root", "list|/proc/1/cwd", "fdlinks|1",
			"read|/proc/1/maps", "open|/proc/1/ns/mnt", "kill|1|9", "kill|-1|15")
		for a, want := range map[string]string{
			kill:                   "ESRCH EPERM",
			mem:                    "ESRCH EPERM",
			"environ|" + secret:    "ENOENT",
			"onchild|readmem":      "EFAULT",
			"onchild|seize":        "ok",
			"onchild|prlimit":      "EPERM",
			"seize|1":              "EPERM",
			"readmem|1":            "EPERM",
			"read|/proc/1/environ": "EACCES",
			"read|/proc/1/mem":     "EACCES",
			"open|/proc/1/exe":     "EACCES",
			"list|/proc/1/root":    "EACCES",
			"list|/proc/1/cwd":     "EACCES",
			"fdlinks|1":            "EACCES",
			"open|/proc/1/ns/mnt":  "EACCES",
			"kill|-1|15":           "ESRCH ok", // only itself and pid 1 are left
		} {
			if !oneOf(got[a], want) {
				t.Errorf("%s: %s: %q, want %s", spec, a, got[a], want)
			}
		}
	}
	// kill(0) stays inside as well: caller and supervisor continue.
	r := b.run(specWW, "/bin/sh", "-c", "trap '' TERM; kill -TERM 0; kill -TERM -1; echo end").ended()
	_ = r
	for _, w := range []*started{witness, other} {
		w.say("")
		if code := w.wait(); code != 0 || !bytes.Contains([]byte(strings.Join(w.out.all(), "\n")), []byte("end")) {
			t.Errorf("a process of the host ended with %d", code)
		}
	}
}

// kill(0) by a command in its caller's process group must not reach the caller.
func TestKillOfTheOwnGroup(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	script := func(line string) string { return "trap 'echo caught' USR1; " + line + "; echo status=$?; echo end" }
	control := b.plain("setsid", "-w", "/bin/sh", "-c", script(`sh -c 'trap "" USR1; kill -USR1 0; exit 3'`)).ended()
	if !strings.Contains(control.out, "caught") || !strings.Contains(control.out, "status=3") {
		t.Errorf("control: %v", control)
	}
	inside := b.plain("setsid", "-w", "/bin/sh", "-c", script(b.typed(specWW, "/bin/sh", "-c", `trap "" USR1; kill -USR1 0; exit 3`))).ended()
	if strings.Contains(inside.out, "caught") || !strings.Contains(inside.out, "status=3") {
		t.Errorf("inside: %v", inside)
	}
}
