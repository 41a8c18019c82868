package run

import (
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/sys"
	"sbx/spec"
	"sbx/spec/agent"
	"sbx/wrap/defaults"
)

// Identify finds out which agent a command is, from its name or because a document says so.
// The name does not count if a sandboxed command may have created the program: an agent gets
// its keys and a network; unproven has the message about that. named is true if only a
// document says that the command is an agent.
func Identify(argv []string, docs []*spec.SandboxSpec, in spec.Inputs) (c agent.Command, named bool, unproven []string) {
	file := func(name string) string { return programFile(name, in.Environ) }
	c = agent.Identify(argv, file)
	if c.Agent != 0 {
		if file := forgeable(c, docs, in); file != "" {
			name := c.Agent.String()
			unproven = []string{spec.Name(file) + " is not taken for " + name + ", and gets neither its keys nor its network: a command may have put it there",
				"hint: if it is meant, say so in the spec: {\"agent\": \"" + name + "\"}"}
			c = agent.Command{}
		}
	}
	for _, d := range docs {
		switch {
		case !d.Agent.Set:
		case d.Agent.Value == spec.NoAgent:
			c, named, unproven = agent.Command{}, false, nil
		default:
			named = named || d.Agent.Value != c.Agent
			c, unproven = agent.Named(d.Agent.Value, argv, file), nil
		}
	}
	return c, named, unproven
}

// forgeable returns the first of the files by which the command counts as an agent that a
// sandboxed command may have created or replaced; "" for none.
func forgeable(c agent.Command, docs []*spec.SandboxSpec, in spec.Inputs) string {
	trees := spec.TreesOf(in, docs...)
	var paths []string
	for _, name := range c.By {
		path := programPath(name, in.Environ)
		if strings.Contains(name, "/") && name[0] != '/' && path != "" && !installed(path, c.Agent, in.Environ) {
			return path
		}
		paths = append(paths, path)
	}
	for _, name := range c.Near {
		for dir := in.Cwd; dir != ""; dir = dir[:strings.LastIndexByte(dir, '/')] {
			paths = append(paths, dir+"/"+name)
		}
	}
	for _, path := range paths {
		if path != "" && sys.Exists(path) && (trees.Holds(path) || isPublic(path)) {
			return path
		}
	}
	return ""
}

// installed reports whether a program is in a directory for programs: one of PATH or of
// the system, or one to which the agent's name leads from there. Sandboxed commands may
// have written to any other directory, except the current one.
func installed(path string, a spec.Agent, environ []string) bool {
	dir, err := spec.Real(path[:strings.LastIndexByte(path, '/')+1], spec.HostPaths{})
	switch {
	case err != nil:
		return false
	case dir == "/", dir == "/opt", strings.HasPrefix(dir, "/opt/"), defaults.Lists().System(dir):
		return true
	}
	for _, on := range strings.Split(sys.Variable(environ, "PATH"), ":") {
		if real, err := spec.Real(on, spec.HostPaths{}); err == nil && strings.HasPrefix(on, "/") && real == dir {
			return true
		}
	}
	file := programFile(a.String(), environ)
	return file != "" && file == programFile(path, environ)
}

// InstalledIn returns the directory of an agent's program and its packages; "" if every
// sandbox shows that directory. program is the program's name or path.
func InstalledIn(program string, environ []string) string {
	file := programFile(program, environ)
	if file == "" || defaults.Lists().System(file) {
		return ""
	}
	const modules = "/node_modules"
	if i := strings.Index(file, modules+"/"); i >= 0 {
		return file[:i+len(modules)]
	}
	return file
}

// programFile returns the file to which a program's name or path leads; "" for none.
func programFile(name string, environ []string) string {
	path := programPath(name, environ)
	if path == "" { // Real would take "" for the root
		return ""
	}
	real, err := spec.Real(path, spec.HostPaths{})
	if err != nil {
		return ""
	}
	return real
}

// programPath returns where a program is found by its name or path; "" for nowhere.
func programPath(name string, environ []string) string {
	dirs := []string{""}
	if !strings.Contains(name, "/") {
		dirs = strings.Split(sys.Variable(environ, "PATH"), ":")
	}
	for _, dir := range dirs {
		path := name
		if dir != "" {
			path = dir + "/" + name
		} else if !strings.Contains(name, "/") {
			continue
		}
		if !strings.HasPrefix(path, "/") {
			cwd, err := sys.Getwd()
			if err != nil {
				continue
			}
			path = cwd + "/" + strings.TrimPrefix(path, "./")
		}
		if sys.Exists(path) { // one system call for a directory, not one for each part of its path
			return path
		}
	}
	return ""
}

// isPublic reports whether everybody may create files in the directory of path, as in
// /tmp.
func isPublic(path string) bool {
	var st unix.Stat_t
	return unix.Stat(path[:strings.LastIndexByte(path, '/')+1], &st) == nil && st.Mode&0o002 != 0
}
