package main

import (
	"strings"

	"golang.org/x/sys/unix"

	"sbx/spec"
	"sbx/wrap"
)

// lookUp finds the command as execvp(3) would with the environment that it
// will have: along PATH where its name has no slash. missing is the exit
// status where it is not there or not executable.
func lookUp(name, dir string, r *spec.Resolved) (prog wrap.Program, missing int) {
	if strings.Contains(name, "/") {
		path := name
		if path[0] != '/' {
			path = strings.TrimRight(dir, "/") + "/" + path
		}
		return program(path, "", r)
	}
	missing = exitNotFound
	path := variable(r.Env, "PATH")
	if path == "" {
		path = "/bin:/usr/bin" // execvp(3), for an environment without PATH
	}
	for _, folder := range strings.Split(path, ":") {
		at := folder + "/" + name
		if folder == "" || folder[0] != '/' {
			at = strings.TrimRight(dir, "/") + "/" + at
		}
		p, m := program(at, folder, r)
		if m == 0 {
			return p, 0
		}
		if m == exitNoExec && p.Real != "" && missing == exitNotFound {
			prog, missing = p, m
		}
	}
	return prog, missing
}

// program looks at one candidate.
func program(path, folder string, r *spec.Resolved) (wrap.Program, int) {
	p := wrap.Program{Path: path, Folder: folder}
	if strings.IndexByte(path, 0) >= 0 {
		return p, exitNotFound
	}
	path, p.Mapped = r.Outside(path)
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		if err == unix.EACCES { // along PATH, a folder that may not be entered is passed over
			return p, exitNoExec
		}
		return p, exitNotFound
	}
	p.Real = path
	if st.Mode&unix.S_IFMT != unix.S_IFREG || unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS) != nil {
		return p, exitNoExec
	}
	if real, err := spec.Real(path, spec.HostPaths{}); err == nil {
		p.Real = real
	}
	p.Interpreters = interpreters(p.Real, 0)
	return p, 0
}

// maxInterpreters is how deep the kernel follows "#!" (execve(2), since 5.1).
const maxInterpreters = 4

// interpreters are the programs of a script's "#!" chain, links resolved.
func interpreters(path string, depth int) []string {
	head := readFile(path, 256)
	if len(head) > 256 {
		head = head[:256]
	}
	if !strings.HasPrefix(head, "#!") || depth == maxInterpreters {
		return nil
	}
	line, _, _ := strings.Cut(head[2:], "\n")
	words := strings.Fields(line)
	if len(words) == 0 || words[0][0] != '/' {
		return nil
	}
	real, err := spec.Real(words[0], spec.HostPaths{})
	if err != nil {
		return nil // the kernel's own error tells
	}
	return append([]string{real}, interpreters(real, depth+1)...)
}
