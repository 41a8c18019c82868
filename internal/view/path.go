package view

import "strings"

// The paths of these functions are absolute and clean.

// Within reports whether path is dir or lies beneath it.
func Within(path, dir string) bool {
	return dir == "/" || path == dir || len(path) > len(dir) && path[len(dir)] == '/' && path[:len(dir)] == dir
}

// Parent returns the directory that contains path; "/" for "/".
func Parent(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}

// Relative returns path relative to dir, "" for dir itself; ok is false if path is not within
// dir.
func Relative(path, dir string) (rel string, ok bool) {
	if !Within(path, dir) {
		return "", false
	}
	return strings.TrimPrefix(path[len(dir):], "/"), true
}

// Join returns the path of rel, relative to dir; "" is dir itself.
func Join(dir, rel string) string {
	switch {
	case rel == "":
		return dir
	case dir == "/":
		return dir + rel
	}
	return dir + "/" + rel
}
