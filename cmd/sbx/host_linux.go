package main

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/read"
	"sbx/wrap/launch"
)

// The program does without package os: its start costs every sandbox fifty
// microseconds.
func environ() []string { return launch.Environ() }
func exit(status int)   { unix.Exit(status) }

func getuid() int { return unix.Getuid() }

// getwd is the current folder as the kernel knows it; $PWD is not asked.
func getwd() (string, error) {
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

// passwdHome is uid's home folder by /etc/passwd, or "".
func passwdHome(uid int) string {
	for _, line := range strings.Split(readFile("/etc/passwd", 1<<20), "\n") {
		f := strings.Split(line, ":")
		if len(f) >= 7 && f[2] == strconv.Itoa(uid) {
			return f[5]
		}
	}
	return ""
}

// readFile reads a regular file of at most max bytes; "" where it cannot.
func readFile(path string, max int) string {
	b, _ := read.Regular(path, max)
	return string(b)
}

// selfPath is this program's own file; "" where that is not known.
func selfPath() string {
	return read.Link(unix.AT_FDCWD, "/proc/self/exe")
}

// besideAndPath lists where a program of that name may stand: beside this one,
// then along PATH.
func besideAndPath(name string, environ []string) []string {
	var list []string
	if self := selfPath(); self != "" {
		list = append(list, self[:strings.LastIndexByte(self, '/')+1]+name)
	}
	for _, dir := range strings.Split(variable(environ, "PATH"), ":") {
		if dir != "" {
			list = append(list, dir+"/"+name)
		}
	}
	return list
}

func variable(environ []string, name string) string {
	for _, kv := range environ {
		if len(kv) > len(name) && kv[len(name)] == '=' && kv[:len(name)] == name {
			return kv[len(name)+1:]
		}
	}
	return ""
}

// writeAll writes text; false where the reader is gone.
func writeAll[T string | []byte](fd int, text T) bool {
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

// readSome reads what there is, up to the buffer's length; 0 at the end.
func readSome(fd int, into []byte) (int, error) {
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

// isTerminal tells whether fd is one.
func isTerminal(fd int) bool {
	_, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	return err == nil
}

// become executes path in this process's place; nil where there is none.
func become(path string, args, environ []string) error {
	err := unix.Exec(path, append([]string{path}, args...), environ)
	if err == unix.ENOENT || err == unix.ENOTDIR || err == unix.EACCES {
		return nil
	}
	return err
}

// artifactsOf lists what lies in a job's output folder.
func artifactsOf(dir string) ([]audit.Artifact, int, error) {
	fd, err := audit.OpenReal(dir, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, 0, err
	}
	defer unix.Close(fd)
	return audit.Artifacts(fd)
}

// exists tells whether something stands at path.
func exists(path string) bool {
	var st unix.Stat_t
	return unix.Stat(path, &st) == nil
}

// mayWrite tells whether there is a folder that the caller may write.
func mayWrite(dir string) bool {
	return unix.Faccessat(unix.AT_FDCWD, dir, unix.W_OK|unix.X_OK, unix.AT_EACCESS) == nil
}

// isPublic tells whether everybody may make files where path stands: /tmp/NAME is
// anybody's.
func isPublic(path string) bool {
	var st unix.Stat_t
	return unix.Stat(path[:strings.LastIndexByte(path, '/')+1], &st) == nil && st.Mode&0o002 != 0
}

// sameFile tells whether two descriptors lead to one file.
func sameFile(a, b int) bool {
	var s, t unix.Stat_t
	return unix.Fstat(a, &s) == nil && unix.Fstat(b, &t) == nil && s.Dev == t.Dev && s.Ino == t.Ino
}
