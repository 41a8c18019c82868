package host

import (
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/wrap"
)

// maxFile bounds how much is read of a file.
const maxFile = 1 << 20

// kindAt returns the kind of the file at path, without following symlinks.
func kindAt(path string) wrap.Kind { return kindIn(unix.AT_FDCWD, path, unix.DT_UNKNOWN) }

func kindOf(mode uint32) wrap.Kind {
	switch mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return wrap.Dir
	case unix.S_IFREG:
		return wrap.File
	case unix.S_IFSOCK:
		return wrap.Socket
	case unix.S_IFLNK:
		return wrap.Symlink
	case unix.S_IFCHR, unix.S_IFBLK:
		return wrap.Device
	}
	return wrap.Other
}

// kindOfEntry returns the kind that a directory entry states; false if the file system does
// not state one.
func kindOfEntry(dtype byte) (wrap.Kind, bool) {
	if dtype == unix.DT_UNKNOWN {
		return wrap.Absent, false
	}
	return kindOf(uint32(dtype) << 12), true // DT_* are the S_IFMT bits
}

// follow opens a name in dir, following symlinks, and returns the kind of its target and the
// path that the kernel has for it. A dangling symlink is Absent.
func follow(dir int, name string) (real string, kind wrap.Kind) {
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", wrap.Absent
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	real = pathOf(fd)
	if real == "" || unix.Fstat(fd, &st) != nil {
		return "", wrap.Absent
	}
	return real, kindOf(st.Mode)
}

// pathOf returns the path of an open descriptor; "" if it has no visible one.
func pathOf(fd int) string {
	path := read.Link(unix.AT_FDCWD, "/proc/self/fd/"+itoa(fd))
	if !strings.HasPrefix(path, "/") {
		return ""
	}
	return path
}

// resolved is the result of resolving a path.
type resolved struct {
	path  string    // without symlinks, as far as the path exists
	kind  wrap.Kind // Absent if the path does not exist
	links []string  // every symlink on the way, including the last name
}

// resolve is resolveIn for an absolute path.
func resolve(path string) resolved { return resolveIn("/", path) }

// resolveIn follows path one name at a time, as the kernel would, and records each symlink.
// A relative path counts from the directory dir, whose path contains no symlink. At most 40
// symlinks are followed, as in path_resolution(7).
func resolveIn(dir, path string) resolved {
	res := resolved{path: dir, kind: wrap.Dir}
	left := path
	if path != "" && path[0] == '/' {
		res.path = "/"
	}
	for {
		name, rest, _ := strings.Cut(strings.TrimLeft(left, "/"), "/")
		left = rest
		switch name {
		case "":
			return res
		case ".":
			continue
		case "..":
			res.path = parent(res.path)
			continue
		}
		at := join(res.path, name)
		if res.kind == wrap.Absent {
			res.path = at
			continue
		}
		res.kind = kindAt(at)
		if res.kind != wrap.Symlink {
			res.path = at
			continue
		}
		res.links = append(res.links, at)
		text := read.Link(unix.AT_FDCWD, at)
		if len(res.links) > 40 || text == "" || len(text)+len(left) > 8192 {
			return resolved{path: at, kind: wrap.Absent, links: res.links}
		}
		if text[0] == '/' {
			res.path = "/"
		}
		res.kind = wrap.Dir
		left = text + "/" + left
	}
}

// readHead reads the part of a file from which the kernel recognises its format. It opens
// only regular files, as read.Regular does.
func readHead(path string) string {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil || kindOf(st.Mode) != wrap.File {
		return ""
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	var buf [256]byte
	return readAt(fd, buf[:], 0)
}

// readAt reads a regular file at an offset, up to the length of buf.
func readAt(fd int, buf []byte, at int64) string {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return ""
	}
	n, err := unix.Pread(fd, buf, at)
	if err != nil || n <= 0 {
		return ""
	}
	return string(buf[:n])
}

// sysctl reads a one-line file of /proc/sys or /sys; "" if there is none.
func sysctl(path string) string {
	b, _ := read.Proc(path, maxFile)
	return strings.TrimSpace(string(b))
}
