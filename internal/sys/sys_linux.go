package sys

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// Getwd returns the current directory from the kernel; it ignores $PWD.
func Getwd() (string, error) {
	var buf [unix.PathMax]byte
	n, err := unix.Getcwd(buf[:])
	if err != nil {
		return "", err
	}
	dir := string(buf[:n-1])
	if !strings.HasPrefix(dir, "/") {
		return "", unix.ENOENT // "(unreachable)", getcwd(3)
	}
	return dir, nil
}

// ReadFile returns the contents of a regular file of at most max bytes; "" on any failure.
func ReadFile(path string, max int) string {
	b, _ := read.Regular(path, max)
	return string(b)
}

// PasswdHome returns a user's home directory from /etc/passwd (passwd(5)), or "".
func PasswdHome(uid int) string {
	for line := range strings.Lines(ReadFile("/etc/passwd", 16<<20)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), ":")
		if len(f) >= 7 && f[2] == strconv.Itoa(uid) {
			return f[5]
		}
	}
	return ""
}

// SelfPath returns the path of the running executable, or "".
func SelfPath() string {
	return read.Link(unix.AT_FDCWD, "/proc/self/exe")
}

// Variable returns the value of the variable name in environ, or "".
func Variable(environ []string, name string) string {
	for _, kv := range environ {
		if len(kv) > len(name) && kv[len(name)] == '=' && kv[:len(name)] == name {
			return kv[len(name)+1:]
		}
	}
	return ""
}

// WriteAll writes all of text to fd, waiting as needed.
func WriteAll[T string | []byte](fd int, text T) error {
	b := []byte(text)
	for len(b) > 0 {
		n, err := unix.Write(fd, b)
		switch err {
		case nil:
			b = b[n:]
		case unix.EINTR:
		case unix.EAGAIN: // the caller passed a non-blocking descriptor
			await(fd, unix.POLLOUT)
		default:
			return err
		}
	}
	return nil
}

// ReadSome waits for data and reads at most len(into) bytes; it returns 0 at the end.
func ReadSome(fd int, into []byte) (int, error) {
	for {
		n, err := unix.Read(fd, into)
		switch err {
		case unix.EINTR:
		case unix.EAGAIN:
			await(fd, unix.POLLIN)
		default:
			return max(n, 0), err
		}
	}
}

// await waits until poll(2) reports the events what for a non-blocking descriptor.
func await(fd int, what int16) {
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: what}}, -1)
}

// IsTerminal reports whether fd is a terminal.
func IsTerminal(fd int) bool {
	_, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	return err == nil
}

// Become replaces this process with the program at path. It returns nil if there is no such
// program or it may not be executed.
func Become(path string, args, environ []string) error {
	err := unix.Exec(path, append([]string{path}, args...), environ)
	if err == unix.ENOENT || err == unix.ENOTDIR || err == unix.EACCES {
		return nil
	}
	return err
}

// Exists reports whether path exists; it follows symlinks.
func Exists(path string) bool {
	var st unix.Stat_t
	return unix.Stat(path, &st) == nil
}

// MayWrite reports whether the directory exists and the caller may write to it.
func MayWrite(dir string) bool {
	return unix.Faccessat(unix.AT_FDCWD, dir, unix.W_OK|unix.X_OK, unix.AT_EACCESS) == nil
}

// Errno returns the error number of a failed call; EPERM for an error that has none.
func Errno(err error) unix.Errno {
	if e, ok := err.(unix.Errno); ok {
		return e
	}
	return unix.EPERM
}
