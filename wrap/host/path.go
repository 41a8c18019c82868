package host

import (
	"slices"
	"strconv"
	"strings"

	"sbx/internal/view"
)

func itoa(n int) string { return strconv.Itoa(n) }

func within(path, dir string) bool { return view.Within(path, dir) }

// beneath reports whether path lies under dir and is not dir itself.
func beneath(path, dir string) bool { return len(path) > len(dir) && within(path, dir) }

func join(dir, rel string) string { return view.Join(dir, rel) }

// isClean reports whether an absolute path has no empty, "." or ".." name in it.
func isClean(path string) bool {
	p := path + "/"
	return !strings.Contains(p, "//") && !strings.Contains(p, "/./") && !strings.Contains(p, "/../")
}

func parent(path string) string { return view.Parent(path) }

// base returns the last name of path.
func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// relative returns path relative to dir; "" for dir itself and outside dir.
func relative(path, dir string) string {
	rel, _ := view.Relative(path, dir)
	return rel
}

// absolute returns path, counted from dir if it is relative. The result may contain ".." and
// "."; resolve removes them.
func absolute(dir, path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	return join(dir, path)
}

// anyWithin reports whether path is in dirs or lies under one of them.
func anyWithin(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return within(path, d) })
}

// isKernelPath reports whether reading path would ask the kernel or a device rather than
// read a file, which may have effects.
func isKernelPath(path string) bool {
	return within(path, "/proc") || within(path, "/sys") || within(path, "/dev")
}
