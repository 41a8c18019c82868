package main

import (
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/sys"
	"sbx/wrap/launch"
)

// environ avoids package os: the initialization of that costs every sandbox fifty
// microseconds.
func environ() []string { return launch.Environ() }
func exit(status int)   { unix.Exit(status) }

func getuid() int { return unix.Getuid() }

// besideAndPath lists where a program of that name may be: next to this one, then in the
// directories of PATH.
func besideAndPath(name string, environ []string) []string {
	var list []string
	if self := sys.SelfPath(); self != "" {
		list = append(list, self[:strings.LastIndexByte(self, '/')+1]+name)
	}
	for _, dir := range strings.Split(sys.Variable(environ, "PATH"), ":") {
		if dir != "" {
			list = append(list, dir+"/"+name)
		}
	}
	return list
}

// sameFile reports whether two descriptors refer to the same file.
func sameFile(a, b int) bool {
	var s, t unix.Stat_t
	return unix.Fstat(a, &s) == nil && unix.Fstat(b, &t) == nil && s.Dev == t.Dev && s.Ino == t.Ino
}
