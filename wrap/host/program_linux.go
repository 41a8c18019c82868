package host

import (
	"strings"

	"golang.org/x/sys/unix"

	"sbx/spec"
	"sbx/wrap"
)

// Search is the outcome of looking for a program.
type Search uint8

// The outcomes.
const (
	Found Search = iota
	NotFound
	NotExecutable
)

// LookUp finds a command as execvp(3) would in the command's environment: along PATH if its
// name has no slash.
func LookUp(name string, r *spec.Resolved) (wrap.Program, Search) {
	if strings.Contains(name, "/") {
		return lookAt(fromWorkDir(r, name), "", r)
	}
	outcome := NotFound
	var unfit wrap.Program
	for _, at := range candidates(name, r) {
		p, o := lookAt(at.path, at.dir, r)
		if o == Found {
			return p, Found
		}
		if o == NotExecutable && p.Real != "" && outcome == NotFound {
			unfit, outcome = p, o
		}
	}
	return unfit, outcome
}

// fromWorkDir makes a path absolute, counted from the working directory.
func fromWorkDir(r *spec.Resolved, path string) string {
	if path != "" && path[0] == '/' {
		return path
	}
	return strings.TrimRight(r.Start(), "/") + "/" + path
}

// candidate is a path that a program name may have along PATH.
type candidate struct{ path, dir string }

// candidates returns all paths that a name may have along PATH, in order.
func candidates(name string, r *spec.Resolved) []candidate {
	path := "/bin:/usr/bin" // execvp(3), for an environment without PATH
	for _, kv := range r.Env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok && v != "" {
			path = v
			break
		}
	}
	var all []candidate
	for dir := range strings.SplitSeq(path, ":") {
		all = append(all, candidate{fromWorkDir(r, dir+"/"+name), dir})
		if dir == "" {
			all[len(all)-1].path = fromWorkDir(r, name)
		}
	}
	return all
}

// lookAt examines one candidate.
func lookAt(path, dir string, r *spec.Resolved) (wrap.Program, Search) {
	p := wrap.Program{Path: path, Dir: dir}
	if strings.IndexByte(path, 0) >= 0 {
		return p, NotFound
	}
	path, p.Mapped = r.Outside(path)
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		if err == unix.EACCES { // LookUp skips a directory of PATH that it may not enter
			return p, NotExecutable
		}
		return p, NotFound
	}
	p.Real = path
	if st.Mode&unix.S_IFMT != unix.S_IFREG || unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS) != nil {
		return p, NotExecutable
	}
	if real, err := spec.Real(path, spec.HostPaths{}); err == nil {
		p.Real = real
	}
	head := readHead(p.Real)
	p.Interpreters = interpreters(head, 0)
	if len(r.Deny) > 0 || r.Limited {
		p.Loader = loader(p.Real, head)
		p.Linked = st.Nlink > 1
		uid := uint32(unix.Geteuid())
		p.Owned = st.Uid == uid
		p.Changeable = uid == 0 || p.Owned || unix.Faccessat(unix.AT_FDCWD, p.Real, unix.W_OK, unix.AT_EACCESS) == nil
	}
	return p, Found
}

// maxInterpreters is how many levels of "#!" the kernel follows (execve(2), since 5.1).
const maxInterpreters = 4

// interpreters returns the programs of a script's chain of "#!" lines, without symlinks.
func interpreters(head string, depth int) []string {
	name, _ := interpreter(head)
	if name == "" || name[0] != '/' || depth == maxInterpreters {
		return nil
	}
	real, err := spec.Real(name, spec.HostPaths{})
	if err != nil {
		return nil // the kernel will report the error
	}
	return append([]string{real}, interpreters(readHead(real), depth+1)...)
}

// interpreter splits a script's first line into the program and the rest.
func interpreter(head string) (name, rest string) {
	text, ok := strings.CutPrefix(head, "#!")
	if !ok {
		return "", ""
	}
	line, _, _ := strings.Cut(text, "\n")
	line = strings.Trim(line, " \t")
	if i := strings.IndexAny(line, " \t"); i >= 0 {
		return line[:i], strings.Trim(line[i:], " \t")
	}
	return line, ""
}

// Interpreter returns the program that a script's first line names; "" for other files.
func Interpreter(path string) string {
	name, _ := interpreter(readHead(path))
	return name
}

// FirstLine returns the words that execute a script's first line, with the arguments of
// env -S split; nil for a file that is not a script.
func FirstLine(path string) []string {
	name, rest := interpreter(readHead(path))
	words, split := strings.CutPrefix(rest, "-S")
	switch {
	case name == "":
		return nil
	case split && name[strings.LastIndexByte(name, '/')+1:] == "env":
		return strings.Fields(words)
	case rest == "":
		return []string{name}
	}
	return []string{name, rest}
}
