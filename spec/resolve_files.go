package spec

import (
	"slices"
	"strconv"
	"strings"
)

// absolute makes p absolute: "~" is the home directory, and a relative path counts from base.
func (r *resolver) absolute(p, base string) (abs, why string) {
	switch {
	case p[0] == '/':
		return p, ""
	case p == "~" || strings.HasPrefix(p, "~/"):
		if r.in.Home == "" {
			return "", "no home directory is known: HOME is not set to one, and the password file has none"
		}
		return r.in.Home + p[1:], ""
	}
	return joinPath(base, p), ""
}

// walk resolves the path that f names. Even with an error, the Path contains everything that is
// known about it.
func (r *resolver) walk(f Field, asked, base string) (p Path, why string) {
	if asked == "" || strings.IndexByte(asked, 0) >= 0 { // the decoder rejects such a path
		return Path{Asked: asked, Field: f, At: r.at(f)}, "it is not a path"
	}
	abs, why := r.absolute(asked, base)
	if why != "" {
		return Path{Asked: asked, Field: f, At: r.at(f)}, why
	}
	if r.inJob(abs) {
		abs = clean(abs)
		return Path{Asked: asked, Abs: abs, Real: abs, Field: f, At: r.at(f)}, ""
	}
	p, err := resolvePath(r.in.Paths, abs)
	p.Asked, p.Field, p.At = asked, f, r.at(f)
	if err != nil {
		return p, err.Error()
	}
	return p, ""
}

// inJob reports whether p is a path of the job layout, which does not exist on the host.
func (r *resolver) inJob(p string) bool {
	p = clean(p)
	return r.out.Job != nil && (under(p, "/work") || under(p, "/input") || under(p, "/output"))
}

// mustExist resolves a path that has to exist.
func (r *resolver) mustExist(f Field, do, asked, base string) (Path, bool) {
	p, why := r.follow(f, do, asked, base)
	if why == "" && !p.Exists && !r.inJob(p.Abs) {
		why = missing(p)
	}
	if why != "" {
		r.refuse(f, do, why, "")
		return p, false
	}
	return p, true
}

// missing returns the error about a path that does not exist, with the link that led to it.
func missing(p Path) string {
	why := odd(p.Abs) + " does not exist"
	if n := len(p.Links); n > 0 && p.Real != p.Abs {
		why += " (" + odd(p.Links[n-1].Path) + " is a link to " + odd(p.Links[n-1].Target) + ")"
	}
	return why
}

func (r *resolver) mustBeDir(f Field, do, asked, base string) (Path, bool) {
	p, ok := r.mustExist(f, do, asked, base)
	if ok && !p.IsDir {
		r.refuse(f, do, odd(p.Abs)+" is not a directory", "")
		return p, false
	}
	return p, ok
}

func (r *resolver) workingDir() {
	out, asked := &r.out, r.spec.WorkingDir
	switch {
	case out.Job != nil:
		out.WorkingDir = Path{Asked: "/work", Abs: "/work", Real: "/work", IsDir: true}
		if asked.Set && clean(asked.Value) != "/work" {
			r.refuse("working_dir", "start in "+odd(asked.Value), "with --input and --output the command starts in /work", "leave working_dir out")
		}
	case asked.Set:
		out.WorkingDir, _ = r.mustBeDir("working_dir", "start in "+odd(asked.Value), asked.Value, r.spec.Source.baseDir(&r.in))
		if !r.spec.AccessMode.Set {
			r.note("working_dir", "without an access_mode it only says where the command starts")
		}
	case out.Root.Abs != "":
		out.WorkingDir = implied(out.Restricted)
	default:
		out.WorkingDir, _ = r.mustBeDir("working_dir", "start in the current directory", r.in.Cwd, "/")
		out.WorkingDir = implied(out.WorkingDir)
	}
}

// implied returns p as a path that no field names.
func implied(p Path) Path {
	p.Field, p.At = "", ""
	return p
}

func (r *resolver) files() {
	fs := r.spec.Filesystem.Value
	if r.out.Root.Abs != "" {
		r.out.Read = append(r.out.Read, r.out.Restricted)
	}
	for i, asked := range fs.Read.Value {
		if asked == System {
			continue
		}
		if strings.HasPrefix(asked, "@") {
			r.preset(item("filesystem.read", i), asked, false)
			continue
		}
		if p, ok := r.mustExist(item("filesystem.read", i), "have "+odd(asked)+" in view", asked, r.out.WorkingDir.Abs); ok {
			r.out.Read = append(r.out.Read, p)
		}
	}
	// The working directory becomes visible if a document names or implies it, but not if sbx
	// merely happens to be started there.
	named := r.out.AccessMode == ReadOnly || r.spec.WorkingDir.Set && r.out.AccessMode != WorkspaceWrite
	if named && !r.in.unseenCwd && r.out.Visible && r.out.Job == nil && r.out.Root.Abs == "" && r.out.WorkingDir.Exists {
		r.out.Read = append(r.out.Read, implied(r.out.WorkingDir))
	}
	r.write(fs.Write.Value)
	for i, m := range fs.Mounts.Value {
		r.mount(item("filesystem.mounts", i), m)
	}
	for i, asked := range fs.Hide.Value {
		if f := item("filesystem.hide", i); strings.HasPrefix(asked, Anywhere) {
			r.hideAnywhere(f, asked)
		} else {
			r.hide(f, asked)
		}
	}
}

func item(f Field, i int) Field { return f + "[" + Field(strconv.Itoa(i)) + "]" }

// write resolves the writable paths. A path that does not exist must lie in a writable directory
// that exists, so existing paths come first.
func (r *resolver) write(asked []string) {
	out := &r.out
	if !r.spec.downgraded() {
		switch {
		case out.Job != nil: // /work and /output are not host paths
		case out.AccessMode == WorkspaceWrite && out.WorkingDir.Real == "/" && !r.spec.WorkingDir.Set:
			// Containers and services start in /, but nobody requested to make the whole host
			// writable.
			r.note("access_mode", "the current directory is /, which is not a workspace: only paths in filesystem.write can be written")
		case out.AccessMode == WorkspaceWrite:
			out.Write = append(out.Write, out.WorkingDir)
		case out.Root.Abs != "" && out.AccessMode != ReadOnly && !r.in.listed:
			out.Write = append(out.Write, out.Restricted)
		}
	}
	var absent []Path
	for i, path := range asked {
		if strings.HasPrefix(path, Anywhere) {
			out.Globs = append(out.Globs, path)
			continue
		}
		f := item("filesystem.write", i)
		if strings.HasPrefix(path, "@") {
			r.preset(f, path, true)
			continue
		}
		do := "write " + odd(path)
		p, why := r.follow(f, do, path, out.WorkingDir.Abs)
		switch {
		case why != "":
			r.refuse(f, do, why, "")
		case r.spec.downgraded():
			r.keepReading(p)
		case !p.Exists:
			absent = append(absent, p)
		default:
			out.Write = append(out.Write, p)
		}
	}
	for _, p := range absent {
		if !r.insideWritable(p) {
			help := "create it first, or name a directory above it that exists"
			if strings.HasPrefix(p.Abs, "/dev/") { // nothing there can be created or replaced
				help = "name a device that the host has"
			}
			r.refuse(p.Field, "write "+odd(p.Asked), missing(p)+", and no writable directory holds it", help)
			continue
		}
		out.Write = append(out.Write, p)
	}
}

// InWrite reports whether p is an entry of filesystem.write.
func (p *Path) InWrite() bool { return strings.HasPrefix(string(p.Field), "filesystem.write") }

// keepReading keeps a path of filesystem.write readable if readonly makes it read-only.
func (r *resolver) keepReading(p Path) {
	r.note(p.Field, "it may only be read: readonly is true")
	r.out.Earlier = append(r.out.Earlier, p.Real) // an earlier command might have written to it
	if r.out.Visible && p.Exists {
		r.out.Read = append(r.out.Read, p)
	}
}

// insideWritable reports whether p, which does not exist, lies in a writable directory.
func (r *resolver) insideWritable(p Path) bool {
	for _, w := range r.out.Write {
		if w.Exists && w.IsDir && under(p.Real, w.Real) {
			return true
		}
	}
	return r.inJob(p.Abs) && !under(p.Abs, "/input")
}

func (r *resolver) hide(f Field, asked string) {
	p, why := r.walk(f, asked, r.out.WorkingDir.Abs)
	if why == NoEntry.Error() || why == NotDirectory.Error() { // nothing is there
		why, p.Exists = "", false
	}
	if why == "" && !p.Exists && strings.ContainsAny(asked, "[{$") {
		why = "nothing has that name, and globs and variables are not expanded"
	}
	if why != "" {
		r.refuse(f, "hide "+odd(asked), why, "")
		return
	}
	r.out.Hide = append(r.out.Hide, p)
}

func (r *resolver) mount(f Field, m Mount) {
	do := "mount at " + odd(m.Target)
	target, why := r.absolute(m.Target, "/")
	target = clean(target)
	if why == "" && target == "/" {
		why = "nothing can be mounted over /"
	}
	for _, other := range r.out.Mounts {
		if why == "" && other.Target == target {
			why = "two mounts on " + odd(target)
		}
	}
	if why != "" {
		r.refuse(f+".target", do, why, "")
		return
	}
	at := MountAt{Mount: m, Target: target, Field: f, At: r.at(f)}
	if m.Mode != MountTmpfs {
		var ok bool
		if at.Source, ok = r.mustExist(f+".source", do, m.Source, r.out.WorkingDir.Abs); !ok {
			return
		}
	}
	if m.Mode == MountRW && r.spec.downgraded() {
		at.Mode = MountRO
		r.note(f, "it may only be read: readonly is true")
	}
	r.out.Mounts = append(r.out.Mounts, at)
}

// HomeDir returns the directory that "~" stands for: HOME if it is the absolute path of an existing
// directory, or else the home directory of the password file; "" if neither is known.
func HomeDir(environ []string, passwdHome func() string, p Paths) string {
	i := slices.IndexFunc(environ, func(v string) bool { return strings.HasPrefix(v, "HOME=") })
	if i >= 0 {
		if home := environ[i][len("HOME="):]; strings.HasPrefix(home, "/") {
			if at, err := resolvePath(p, home); err == nil && at.IsDir {
				return clean(home)
			}
		}
	}
	if home := passwdHome(); strings.HasPrefix(home, "/") {
		return clean(home)
	}
	return ""
}
