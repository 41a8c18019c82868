package seccomp

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// childEnv makes the test binary the child of TestKernel. Its value is the variant whose filter the
// child loads, or "free" for the control.
const childEnv = "SBX_TEST_SECCOMP_CHILD"

func TestMain(m *testing.M) {
	if variant := os.Getenv(childEnv); variant != "" {
		child(variant)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// attempt is a call with harmless arguments, with the kernel's answers inside and outside of the
// filter. If a kernel may lack the call, or the caller a right, free has several answers.
type attempt struct {
	call   string
	args   [6]uintptr
	inside unix.Errno
	free   []unix.Errno
}

const bad = ^uintptr(0) // -1 as a descriptor, invalid as an address

func attempts() []attempt {
	fault := []unix.Errno{unix.EFAULT, unix.EPERM, unix.ENOSYS, unix.EINVAL}
	sock := func(f, t, p uintptr) [6]uintptr { return [6]uintptr{f, t, p} }
	high := uintptr(1) << 32
	ok := []unix.Errno{0}
	return []attempt{
		{"getppid", [6]uintptr{}, 0, ok},
		{"read", [6]uintptr{bad}, unix.EBADF, []unix.Errno{unix.EBADF}},
		{"personality", [6]uintptr{0xffffffff}, 0, ok},
		{"prlimit64", [6]uintptr{0, 7, 0, 0}, 0, ok},
		{"prlimit64", [6]uintptr{1, 99, 0, 0}, unix.EPERM, []unix.Errno{unix.EINVAL}},
		{"prlimit64", [6]uintptr{1 | high, 99, 0, 0}, unix.EPERM, []unix.Errno{unix.EINVAL}},
		{"mount", [6]uintptr{bad, bad, bad, 0, 0}, unix.EPERM, fault},
		{"umount2", [6]uintptr{bad, 0x1000}, unix.EPERM, fault},
		{"pivot_root", [6]uintptr{bad, bad}, unix.EPERM, []unix.Errno{unix.EFAULT}},
		{"chroot", [6]uintptr{bad}, unix.EPERM, []unix.Errno{unix.EFAULT}},
		{"fsopen", [6]uintptr{bad, 99}, unix.EPERM, fault},
		{"fsmount", [6]uintptr{bad, 99}, unix.EPERM, fault},
		{"open_tree", [6]uintptr{bad, bad, 0}, unix.EPERM, fault},
		{"move_mount", [6]uintptr{bad, bad, bad, bad, 0}, unix.EPERM, fault},
		{"mount_setattr", [6]uintptr{bad, bad, 0, bad, 1}, unix.EPERM, fault},
		{"unshare", [6]uintptr{1}, unix.EPERM, []unix.Errno{unix.EINVAL}},
		{"setns", [6]uintptr{bad, 0}, unix.EPERM, []unix.Errno{unix.EBADF}},
		{"clone", [6]uintptr{unix.CLONE_NEWNS | unix.CLONE_FS}, unix.EPERM, []unix.Errno{unix.EINVAL}},
		{"clone", [6]uintptr{unix.CLONE_NEWNS | unix.CLONE_FS | high}, unix.EPERM, []unix.Errno{unix.EINVAL}},
		{"clone3", [6]uintptr{bad, 0}, unix.ENOSYS, []unix.Errno{unix.EINVAL}},
		{"io_uring_setup", [6]uintptr{1, bad}, unix.ENOSYS, []unix.Errno{unix.EFAULT}},
		{"io_uring_enter", [6]uintptr{bad, 0, 0, 0}, unix.ENOSYS, []unix.Errno{unix.EBADF}},
		{"keyctl", [6]uintptr{9999}, unix.EPERM, []unix.Errno{unix.EOPNOTSUPP}},
		{"add_key", [6]uintptr{bad, bad, bad, 0, 0}, unix.EPERM, []unix.Errno{unix.EFAULT}},
		{"request_key", [6]uintptr{bad, bad, 0, 0}, unix.EPERM, []unix.Errno{unix.EFAULT}},
		{"bpf", [6]uintptr{9999, 0, 0}, unix.EPERM, []unix.Errno{unix.EINVAL}},
		{"perf_event_open", [6]uintptr{bad, 0, 0, bad, 0}, unix.EPERM, []unix.Errno{unix.EFAULT}},
		{"userfaultfd", [6]uintptr{bad}, unix.EPERM, []unix.Errno{unix.EINVAL}},
		{"kexec_load", [6]uintptr{0, 99, bad, bad}, unix.EPERM, []unix.Errno{unix.EINVAL, unix.ENOSYS}},
		{"init_module", [6]uintptr{bad, 1, bad}, unix.EPERM, []unix.Errno{unix.ENOEXEC, unix.EFAULT, unix.ENOSYS}},
		{"finit_module", [6]uintptr{bad, bad, 0}, unix.EPERM, []unix.Errno{unix.EBADF, unix.EFAULT, unix.ENOSYS}},
		{"delete_module", [6]uintptr{bad, 0}, unix.EPERM, []unix.Errno{unix.EFAULT, unix.ENOSYS}},
		{"reboot", [6]uintptr{0, 0, 0, 0}, unix.EPERM, []unix.Errno{unix.EINVAL}},
		{"swapon", [6]uintptr{bad, bad}, unix.EPERM, []unix.Errno{unix.EINVAL}},
		{"swapoff", [6]uintptr{bad}, unix.EPERM, []unix.Errno{unix.EFAULT}},
		{"syslog", [6]uintptr{99}, unix.EPERM, []unix.Errno{unix.EINVAL}},
		{"settimeofday", [6]uintptr{bad, 0}, unix.EPERM, []unix.Errno{unix.EFAULT}},
		{"clock_settime", [6]uintptr{99, bad}, unix.EPERM, []unix.Errno{unix.EINVAL}},
		{"sethostname", [6]uintptr{bad, 9999}, unix.EPERM, []unix.Errno{unix.EINVAL}},
		{"setdomainname", [6]uintptr{bad, 9999}, unix.EPERM, []unix.Errno{unix.EINVAL}},
		{"quotactl_fd", [6]uintptr{bad}, unix.EPERM, []unix.Errno{unix.EBADF}},
		{"open_by_handle_at", [6]uintptr{bad, bad, 0}, unix.EPERM, []unix.Errno{unix.EFAULT, unix.EBADF}},
		{"fanotify_init", [6]uintptr{bad, 0}, unix.EPERM, []unix.Errno{unix.EINVAL}},
		{"mbind", [6]uintptr{1, 1, 99, 0, 0, 0}, unix.EPERM, []unix.Errno{unix.EINVAL}},
		{"ioctl", [6]uintptr{bad, unix.TIOCSTI, 0}, unix.EPERM, []unix.Errno{unix.EBADF}},
		{"ioctl", [6]uintptr{bad, unix.TIOCSTI | high, 0}, unix.EPERM, []unix.Errno{unix.EBADF}},
		{"ioctl", [6]uintptr{bad, tioclinux, 0}, unix.EPERM, []unix.Errno{unix.EBADF}},
		{"ioctl", [6]uintptr{bad, 0xc0406618, 0}, unix.EPERM, []unix.Errno{unix.EBADF}},
		{"ioctl", [6]uintptr{bad, 0x50009401, 0}, unix.EPERM, []unix.Errno{unix.EBADF}},
		{"ioctl", [6]uintptr{bad, 0x50009417 | high, 0}, unix.EPERM, []unix.Errno{unix.EBADF}},
		{"ioctl", [6]uintptr{bad, unix.TCGETS, 0}, unix.EBADF, []unix.Errno{unix.EBADF}},
		{"socket", sock(unix.AF_UNIX, unix.SOCK_STREAM, 0), 0, ok},
		{"socket", sock(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0), unix.EPERM, ok},
		{"socket", sock(unix.AF_UNIX|high, unix.SOCK_RAW|high, 0), unix.EPERM, ok},
		{"socketpair", [6]uintptr{unix.AF_UNIX, unix.SOCK_DGRAM, 0, bad}, unix.EPERM, []unix.Errno{unix.EFAULT}},
		{"socketpair", [6]uintptr{unix.AF_UNIX, unix.SOCK_STREAM, 0, bad}, unix.EFAULT, []unix.Errno{unix.EFAULT}},
		{"socket", sock(unix.AF_INET, unix.SOCK_STREAM, 0), unix.EPERM, ok},
		{"socket", sock(unix.AF_INET6, unix.SOCK_DGRAM, 0), unix.EPERM, []unix.Errno{0, unix.EAFNOSUPPORT}},
		{"socket", sock(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE), 0, ok},
		{"socket", sock(unix.AF_NETLINK, unix.SOCK_RAW, 99), unix.EPERM, []unix.Errno{unix.EPROTONOSUPPORT}},
		{"socket", sock(unix.AF_NETLINK|high, unix.SOCK_RAW, 99), unix.EPERM, []unix.Errno{unix.EPROTONOSUPPORT}},
		{"socket", sock(unix.AF_VSOCK, 99, 0), unix.EPERM, []unix.Errno{unix.EINVAL}},
		{"socket", sock(unix.AF_ALG, 99, 0), unix.EPERM, []unix.Errno{unix.EINVAL}},
		{"mknodat", [6]uintptr{bad, bad, unix.S_IFBLK, 0x800, 0}, unix.EPERM, []unix.Errno{unix.EFAULT}},
		{"mknodat", [6]uintptr{bad, bad, unix.S_IFIFO, 0, 0}, unix.EFAULT, []unix.Errno{unix.EFAULT}},
	}
}

// Each denied call is made twice: with the filter, and without.
func TestKernel(t *testing.T) {
	// A kernel that supports filters fails only when it reads the one at address 0.
	if _, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, 0); e != unix.EFAULT {
		if os.Getenv("SBX_TEST_MUST_RUN") == "1" {
			t.Fatalf("no filters: %v", e)
		}
		t.Skipf("no filters: %v", e)
	}
	o := Options{Root: true, Unix: true, NoInet: true}
	inside, free := runChild(t, strconv.Itoa(o.index())), runChild(t, "free")
	for i, a := range attempts() {
		if inside[i] != a.inside {
			t.Errorf("%s %#x behind the filter: %v, want %v", a.call, a.args, inside[i], a.inside)
		}
		if os.Geteuid() != 0 && free[i] == unix.EPERM {
			continue // the kernel denies it first, because the caller lacks a right
		}
		if !slices.Contains(a.free, free[i]) {
			t.Errorf("%s %#x without a filter: %v, want %v", a.call, a.args, free[i], a.free)
		}
		if a.inside != 0 && a.inside == free[i] && a.inside == unix.EPERM {
			t.Errorf("%s %#x is refused without a filter too, which proves nothing", a.call, a.args)
		}
	}
}

// runChild returns the answers to attempts, in order.
func runChild(t *testing.T, variant string) []unix.Errno {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+variant)
	out, err := cmd.CombinedOutput()
	lines := strings.Fields(string(out))
	if err != nil || len(lines) != len(attempts())+1 || lines[len(lines)-1] != "end" {
		t.Fatalf("the child ended early: %v\n%s", err, out)
	}
	var answers []unix.Errno
	for _, line := range lines[:len(lines)-1] {
		n, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, unix.Errno(n))
	}
	return answers
}

// child loads a filter for its thread, makes the calls and prints the errnos.
func child(variant string) {
	runtime.LockOSThread()
	if i, err := strconv.Atoi(variant); err == nil {
		prog := fprog(embedded(Variants()[i]))
		if _, _, e := unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); e != 0 {
			fmt.Println("no_new_privs", e)
			os.Exit(1)
		}
		if _, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog))); e != 0 {
			fmt.Println("seccomp", e)
			os.Exit(1)
		}
	}
	for _, a := range attempts() {
		nr, _ := Native.Number(a.call)
		_, _, e := unix.RawSyscall6(uintptr(nr), a.args[0], a.args[1], a.args[2], a.args[3], a.args[4], a.args[5])
		fmt.Println(int(e))
	}
	fmt.Println("end")
}

// BenchmarkLoad measures what the filter adds to a start: each round is a thread that loads it and
// ends.
func BenchmarkLoad(b *testing.B) {
	prog := fprog(embedded(Options{Root: true, Unix: true}))
	var took int64
	for b.Loop() {
		done := make(chan int64)
		go func() {
			runtime.LockOSThread() // never unlocked, so that the thread ends
			var from, to unix.Timespec
			unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0)
			unix.ClockGettime(unix.CLOCK_MONOTONIC, &from)
			unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
			unix.ClockGettime(unix.CLOCK_MONOTONIC, &to)
			done <- to.Nano() - from.Nano()
		}()
		took += <-done
	}
	b.ReportMetric(float64(took)/float64(b.N), "ns/load")
}
