package main

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attempt is what may be tried, by name. An answer "" is a success that needs
// no word.
var attempt map[string]func(a []string) (string, error)

func init() {
	attempt = map[string]func(a []string) (string, error){
		"read": func(a []string) (string, error) {
			b, err := os.ReadFile(a[0])
			return "read:" + strings.TrimSpace(string(b)), err
		},
		"open":      func(a []string) (string, error) { return "", open(a[0], unix.O_RDONLY) },
		"write":     func(a []string) (string, error) { return "", open(a[0], unix.O_WRONLY) }, // nothing is written
		"readwrite": func(a []string) (string, error) { return "", open(a[0], unix.O_RDWR) },
		"append":    appendTo,
		"create":    func(a []string) (string, error) { return "", open(a[0], unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL) },
		"mkdir":     func(a []string) (string, error) { return "", unix.Mkdir(a[0], 0o755) },
		"rmdir":     func(a []string) (string, error) { return "", unix.Rmdir(a[0]) },
		"unlink":    func(a []string) (string, error) { return "", unix.Unlink(a[0]) },
		"barely": func(a []string) (string, error) { // by a thread without capabilities
			runtime.LockOSThread()
			if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &make([]unix.CapUserData, 2)[0]); err != nil {
				return "", err
			}
			return "", unix.Unlink(a[0])
		},
		"rename": func(a []string) (string, error) { return "", unix.Rename(a[0], a[1]) },
		"link":   func(a []string) (string, error) { return "", unix.Link(a[0], a[1]) },
		"mknod":  func(a []string) (string, error) { return "", unix.Mknod(a[0], unix.S_IFIFO|0o644, 0) },
		"exchange": func(a []string) (string, error) {
			return "", unix.Renameat2(unix.AT_FDCWD, a[0], unix.AT_FDCWD, a[1], unix.RENAME_EXCHANGE)
		},
		"openat2": func(a []string) (string, error) {
			fd, err := unix.Openat2(unix.AT_FDCWD, a[0], &unix.OpenHow{Flags: unix.O_CREAT | unix.O_EXCL | unix.O_WRONLY | unix.O_CLOEXEC, Mode: 0o644})
			unix.Close(fd)
			return "", err
		},
		"symlink":  func(a []string) (string, error) { return "", unix.Symlink(a[0], a[1]) },
		"chmod":    func(a []string) (string, error) { return "", unix.Chmod(a[0], 0o700) },
		"chown":    func(a []string) (string, error) { return "", unix.Lchown(a[0], os.Getuid(), os.Getgid()) },
		"chownto":  func(a []string) (string, error) { return "", unix.Lchown(a[0], number(a[1]), number(a[1])) },
		"utimes":   func(a []string) (string, error) { return "", unix.Utimes(a[0], make([]unix.Timeval, 2)) },
		"setxattr": func(a []string) (string, error) { return "", unix.Setxattr(a[0], "user.probe", []byte("x"), 0) },
		"lease": func(a []string) (string, error) {
			fd, err := unix.Open(a[0], unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return "", err
			}
			_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
			return "", err
		},
		"truncate": func(a []string) (string, error) { return "", unix.Truncate(a[0], 0) },
		"mkfifo":   func(a []string) (string, error) { return "", unix.Mkfifo(a[0], 0o600) },
		"mkblock": func(a []string) (string, error) {
			return "", unix.Mknod(a[0], unix.S_IFBLK|0o600, int(unix.Mkdev(7, 0)))
		},
		"mkchar": func(a []string) (string, error) {
			return "", unix.Mknod(a[0], unix.S_IFCHR|0o600, int(unix.Mkdev(1, 5)))
		},
		"chdir":    func(a []string) (string, error) { return "", unix.Chdir(a[0]) },
		"stat":     stat,
		"list":     list,
		"access":   func(a []string) (string, error) { return "", unix.Access(a[0], unix.W_OK) },
		"fdescape": fdEscape,
		"upwards":  upwards,
		"fdlinks":  fdLinks,

		"kill":     func(a []string) (string, error) { return "", unix.Kill(number(a[0]), unix.Signal(number(a[1]))) },
		"owngroup": func([]string) (string, error) { return "", unix.Setpgid(0, 0) },
		"seize":    func(a []string) (string, error) { return "", seize(number(a[0])) },
		"readmem":  func(a []string) (string, error) { return "", readMemory(number(a[0])) },
		"onchild":  onChild,

		"call":     call,
		"ioctl":    ioctl,
		"socket":   socket,
		"pair":     pair,
		"connect":  connect,
		"peer":     peer,
		"tcp":      tcp,
		"datagram": datagram,
		"clone3":   clone3,
		"prlimit":  func(a []string) (string, error) { return "", unix.Prlimit(number(a[0]), unix.RLIMIT_NOFILE, nil, nil) },
		"status":   status,
		"environ":  environs,
		"setuid":   func(a []string) (string, error) { return runs(a) },
		"run":      runs,
		"become":   becomes,
		"memory":   memory,
		"copy":     func(a []string) (string, error) { return copied(a[1], a[0]) },
		"id":       func([]string) (string, error) { return strconv.Itoa(os.Geteuid()), nil },
		"cwd":      func([]string) (string, error) { return os.Getwd() },
		"env":      func(a []string) (string, error) { v, ok := os.LookupEnv(a[0]); return v, present(ok) },
	}
}

func present(ok bool) error {
	if !ok {
		return unix.ENOENT
	}
	return nil
}

func number(s string) int {
	n, err := strconv.ParseInt(s, 0, 64)
	if err != nil {
		u, uerr := strconv.ParseUint(s, 0, 64)
		if uerr != nil {
			panic(err)
		}
		return int(u)
	}
	return int(n)
}

func open(path string, flags int) error {
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0o644)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func appendTo(a []string) (string, error) {
	f, err := os.OpenFile(a[0], os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	_, err = f.WriteString("probe\n")
	return "", err
}

func stat(a []string) (string, error) {
	var st unix.Stat_t
	if err := unix.Lstat(a[0], &st); err != nil {
		return "", err
	}
	kind := map[uint32]string{unix.S_IFREG: "file", unix.S_IFDIR: "folder", unix.S_IFLNK: "link",
		unix.S_IFCHR: "char", unix.S_IFBLK: "block", unix.S_IFSOCK: "socket", unix.S_IFIFO: "fifo"}
	return kind[st.Mode&unix.S_IFMT], nil
}

// list tells the names of a directory.
func list(a []string) (string, error) {
	entries, err := os.ReadDir(a[0])
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return "[" + strings.Join(names, " ") + "]", err
}

// upwards opens a file through a descriptor that the command was handed.
func upwards(a []string) (string, error) {
	fd, err := unix.Openat(number(a[0]), a[1], unix.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	unix.Close(fd)
	return "", nil
}

// fdLinks follows the descriptors of a process.
func fdLinks(a []string) (string, error) {
	entries, err := os.ReadDir("/proc/" + a[0] + "/fd")
	if err != nil {
		return "", err
	}
	found := ""
	for _, e := range entries {
		path := "/proc/" + a[0] + "/fd/" + e.Name()
		to, err := os.Readlink(path)
		if err == nil || open(path, unix.O_PATH) == nil {
			found += path + "=" + to + " "
		}
	}
	if found == "" {
		return "", unix.EACCES
	}
	return found, nil
}

// fdEscape looks for a descriptor of this process or of pid 1 that leads to a
// directory, and goes up from there to a file of the host.
func fdEscape(a []string) (string, error) {
	found := ""
	for _, pid := range []string{"self", "1", strconv.Itoa(os.Getppid())} {
		for n := 0; n < 64; n++ {
			dir := "/proc/" + pid + "/fd/" + strconv.Itoa(n)
			for up := 0; up < 12; up++ {
				path := dir + "/" + strings.Repeat("../", up) + strings.TrimPrefix(a[0], "/")
				if b, err := os.ReadFile(path); err == nil {
					found += path + "=" + strings.TrimSpace(string(b)) + " "
				}
			}
		}
		for _, link := range []string{"root", "cwd"} {
			if b, err := os.ReadFile("/proc/" + pid + "/" + link + a[0]); err == nil {
				found += pid + "/" + link + "=" + strings.TrimSpace(string(b)) + " "
			}
		}
	}
	if found == "" {
		return "", unix.ENOENT
	}
	return found, nil
}

func seize(pid int) error {
	runtime.LockOSThread()
	if _, _, e := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(pid), 0, 0, 0, 0); e != 0 {
		return e
	}
	return nil
}

func readMemory(pid int) error {
	var b [8]byte
	local := []unix.Iovec{{Base: &b[0], Len: 8}}
	// Nothing is mapped there: who may look is told EFAULT.
	_, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: 8, Len: 8}}, 0)
	return err
}

// onChild makes an attempt on a child of the probe's own.
func onChild(a []string) (string, error) {
	cmd := exec.Command("/proc/self/exe", "sleep", "20")
	if err := cmd.Start(); err != nil {
		return "", err
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	time.Sleep(50 * time.Millisecond)
	return attempt[a[0]](append([]string{strconv.Itoa(cmd.Process.Pid)}, a[1:]...))
}

// call makes the system call of that number with these arguments.
func call(a []string) (string, error) {
	var v [7]uintptr
	for i, s := range a {
		v[i] = uintptr(number(s))
	}
	runtime.LockOSThread()
	r, _, e := unix.Syscall6(v[0], v[1], v[2], v[3], v[4], v[5], v[6])
	if e != 0 {
		return "", e
	}
	_ = r
	return "", nil
}

// ioctl on descriptor a[0] with request a[1] and a byte to point to.
func ioctl(a []string) (string, error) {
	b := [64]byte{'x'}
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(number(a[0])), uintptr(number(a[1])), uintptr(unsafe.Pointer(&b)))
	if e != 0 {
		return "", e
	}
	return "", nil
}

func socket(a []string) (string, error) {
	fd, err := unix.Socket(number(a[0]), number(a[1]), number(a[2]))
	if err == nil {
		unix.Close(fd)
	}
	return "", err
}

func pair(a []string) (string, error) {
	_, err := unix.Socketpair(number(a[0]), number(a[1]), 0)
	return "", err
}

// connect goes to a unix socket; "@name" is an abstract one.
func connect(a []string) (string, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	return "", unix.Connect(fd, &unix.SockaddrUnix{Name: a[0]})
}

// peer is whether a server that listens at a path gets a descriptor of the process
// that connects to it.
func peer(a []string) (string, error) {
	server, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		err = unix.Bind(server, &unix.SockaddrUnix{Name: a[0]})
	}
	if err == nil {
		err = unix.Listen(server, 1)
	}
	if err != nil {
		return "", err
	}
	if _, err = connect(a); err != nil {
		return "", err
	}
	fd, _, err := unix.Accept(server)
	if err != nil {
		return "", err
	}
	if _, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED); err != nil {
		return "", err
	}
	_, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	return "", err
}

func tcp(a []string) (string, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	return "", unix.Connect(fd, &unix.SockaddrInet4{Port: number(a[0]), Addr: [4]byte{127, 0, 0, 1}})
}

// datagram sends one to a unix socket.
func datagram(a []string) (string, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	return "", unix.Sendto(fd, []byte("probe"), 0, &unix.SockaddrUnix{Name: a[0]})
}

// clone3 with a size that no kernel takes: whoever gets there is told EINVAL.
func clone3([]string) (string, error) {
	_, _, e := unix.Syscall(unix.SYS_CLONE3, 0, 0, 0)
	if e != 0 {
		return "", e
	}
	return "", nil
}

// status is a field of /proc/self/status.
func status(a []string) (string, error) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "", err
	}
	for _, l := range strings.Split(string(b), "\n") {
		if k, v, ok := strings.Cut(l, ":"); ok && k == a[0] {
			return strings.TrimSpace(v), nil
		}
	}
	return "", unix.ENOENT
}

// environs looks for a text in the environment of every process in view.
func environs(a []string) (string, error) {
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		return "", err
	}
	for _, d := range dirs {
		if n, err := strconv.Atoi(d.Name()); err != nil || n == os.Getpid() {
			continue
		}
		if b, _ := os.ReadFile("/proc/" + d.Name() + "/environ"); bytes.Contains(b, []byte(a[0])) {
			return "found", nil
		}
	}
	return "", unix.ENOENT
}

// runs starts a program and gives its output's last line.
func runs(a []string) (string, error) {
	out, err := exec.Command(a[0], a[1:]...).CombinedOutput()
	if ee, ok := err.(*exec.ExitError); ok {
		return "status " + strconv.Itoa(ee.ExitCode()), nil
	}
	s := strings.TrimSpace(string(out))
	return s[strings.LastIndexByte(s, '\n')+1:], err
}
