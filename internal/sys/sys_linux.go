package sys

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// Getwd is the current directory as the kernel knows it; $PWD is not asked.
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

// ReadFile reads a regular file of at most max bytes; "" where it cannot.
func ReadFile(path string, max int) string {
	b, _ := read.Regular(path, max)
	return string(b)
}

// PasswdHome is a user's home directory by /etc/passwd (passwd(5)), or "".
func PasswdHome(uid int) string {
	for line := range strings.Lines(ReadFile("/etc/passwd", 16<<20)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), ":")
		if len(f) >= 7 && f[2] == strconv.Itoa(uid) {
			return f[5]
		}
	}
	return ""
}

// SelfPath is this program's own file; "" where that is not known.
func SelfPath() string {
	return read.Link(unix.AT_FDCWD, "/proc/self/exe")
}

// Variable is the value of an environment's variable, "" where it has none.
func Variable(environ []string, name string) string {
	for _, kv := range environ {
		if len(kv) > len(name) && kv[len(name)] == '=' && kv[:len(name)] == name {
			return kv[len(name)+1:]
		}
	}
	return ""
}

// WriteAll writes text; false where the reader is gone.
func WriteAll[T string | []byte](fd int, text T) bool {
	b := []byte(text)
	for len(b) > 0 {
		n, err := unix.Write(fd, b)
		switch err {
		case nil:
			b = b[n:]
		case unix.EINTR:
		case unix.EAGAIN: // the caller's descriptor does not block
			await(fd, unix.POLLOUT)
		default:
			return false
		}
	}
	return true
}

// ReadSome reads what there is, up to the buffer's length; 0 at the end.
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

// await waits until a descriptor that does not block can be used again.
func await(fd int, what int16) {
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: what}}, -1)
}

// IsTerminal tells whether fd is one.
func IsTerminal(fd int) bool {
	_, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	return err == nil
}

// Become executes path in this process's place; nil where there is none.
func Become(path string, args, environ []string) error {
	err := unix.Exec(path, append([]string{path}, args...), environ)
	if err == unix.ENOENT || err == unix.ENOTDIR || err == unix.EACCES {
		return nil
	}
	return err
}

// Exists tells whether something stands at path.
func Exists(path string) bool {
	var st unix.Stat_t
	return unix.Stat(path, &st) == nil
}

// MayWrite tells whether there is a directory that the caller may write.
func MayWrite(dir string) bool {
	return unix.Faccessat(unix.AT_FDCWD, dir, unix.W_OK|unix.X_OK, unix.AT_EACCESS) == nil
}
