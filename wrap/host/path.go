package host

import (
	"slices"
	"strconv"
	"strings"

	"sbx/internal/view"
)

func itoa(n int) string { return strconv.Itoa(n) }

func within(path, dir string) bool { return view.Within(path, dir) }

// beneath tells whether path lies beneath dir.
func beneath(path, dir string) bool { return len(path) > len(dir) && within(path, dir) }

// join puts name beneath dir.
func join(dir, name string) string {
	if dir == "/" {
		return "/" + name
	}
	return dir + "/" + name
}

// isClean tells whether an absolute path names each directory on its way once.
func isClean(path string) bool {
	p := path + "/"
	return !strings.Contains(p, "//") && !strings.Contains(p, "/./") && !strings.Contains(p, "/../")
}

func parent(path string) string { return view.Parent(path) }

// base is the last name of path.
func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// relative is path as seen from dir, which it is within; "" for dir itself.
func relative(path, dir string) string {
	if !beneath(path, dir) {
		return ""
	}
	return strings.TrimPrefix(path[len(dir):], "/")
}

// against is path, counted from dir where it is relative. The result may hold
// ".." and "."; resolve takes them out.
func absolute(dir, path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	return join(dir, path)
}

// anyWithin tells whether path is or lies beneath one of dirs.
func anyWithin(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return within(path, d) })
}

// remainder is what of path comes after the directory that it lies in, "" for the
// directory itself; put adds it to another directory.
func remainder(path, folder string) string {
	if folder == "/" {
		folder = ""
	}
	if len(path) <= len(folder)+1 {
		return ""
	}
	return path[len(folder)+1:]
}

func joinRest(folder, rest string) string {
	if rest == "" {
		return folder
	}
	return join(folder, rest)
}

// isKernelPath tells whether reading path asks the kernel or a device instead
// of a file, which may have effects.
func isKernelPath(path string) bool {
	return within(path, "/proc") || within(path, "/sys") || within(path, "/dev")
}
