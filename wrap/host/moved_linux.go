package host

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/wrap"
	"sbx/wrap/defaults"
)

// movedDirs looks for a home's secrets in the directories to which
// environment variables move them.
func (p *secretSearch) movedDirs(ofHome []defaults.Secret) {
	for _, m := range defaults.MovedDirs() {
		dir, ok := p.env(m.Name)
		if dir = strings.TrimRight(dir, "/"); !ok || !strings.HasPrefix(dir, "/") {
			continue
		}
		if m.Sub != "" {
			dir = join(dir, m.Sub)
		}
		if p.r.Home != "" && dir == join(p.r.Home, m.Usual[2:len(m.Usual)-1]) {
			continue
		}
		lo := 0
		for lo < len(ofHome) && !strings.HasPrefix(ofHome[lo].Path, m.Usual) {
			lo++
		}
		hi := lo
		for hi < len(ofHome) && strings.HasPrefix(ofHome[hi].Path, m.Usual) {
			hi++
		}
		rows := p.secretRows(ofHome[lo:hi], len(m.Usual))
		rows.lookUnder(dir, "")
	}
}

// movedSecrets hides the files to which single environment variables point.
func (p *secretSearch) movedSecrets() {
	for _, v := range defaults.SecretVars() {
		value, _ := p.env(v.Name)
		for more := value != ""; more; {
			path := value
			if more = v.Name == "KUBECONFIG"; more { // KUBECONFIG is a list of paths
				path, value, more = strings.Cut(value, ":")
			}
			path = strings.TrimPrefix(path, "FILE:") // a prefix that Kerberos allows
			if v.Sub != "" && path != "" {
				path = join(strings.TrimRight(path, "/"), v.Sub)
			}
			if f, ok := p.foundAt(path); ok && (f.Kind == wrap.Dir || f.Kind == wrap.File || f.Kind == wrap.Socket) && !p.tooWide(f.Path) {
				f.Why = v.Why + ", by " + v.Name
				p.hide(f)
			}
		}
	}
}

// socketVars hides the sockets that environment variables name, and removes these
// variables from the command's environment.
func (p *secretSearch) socketVars() {
	for _, row := range defaults.SocketVars() {
		value, _ := p.env(row.Path)
		if value == "" {
			continue
		}
		f, ok := p.foundAt(p.socketOfVar(row.Path, value))
		if !ok || f.Kind != wrap.Socket || p.isOpened(f.Path, f.Real) {
			continue
		}
		f.Why = row.Why
		p.hide(f)
		if !p.setToOther(row.Path, value) {
			p.h.DropEnv = append(p.h.DropEnv, row.Path)
		}
	}
}

// setToOther reports whether the command gets another value for a variable than the
// caller has: environment.set is taken literally.
func (p *prober) setToOther(name, value string) bool {
	for _, e := range p.r.Env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v != value
		}
	}
	return false
}

// socketOfVar extracts the socket's path from a variable's value; the format depends
// on the variable.
func (p *prober) socketOfVar(name, value string) string {
	switch name {
	case "DOCKER_HOST", "CONTAINER_HOST":
		path, ok := strings.CutPrefix(value, "unix://")
		if !ok {
			return ""
		}
		return path
	case "GPG_AGENT_INFO": // path:pid:version
		path, _, _ := strings.Cut(value, ":")
		return path
	case "WAYLAND_DISPLAY":
		dir, _ := p.env("XDG_RUNTIME_DIR")
		if dir == "" && value[0] != '/' {
			return ""
		}
		return absolute(dir, value)
	case "DBUS_SESSION_BUS_ADDRESS":
		return busPath(value)
	}
	return value
}

// busPath returns the first path in a list of D-Bus addresses:
// "unix:path=/run/user/1000/bus,guid=…;unix:abstract=…".
func busPath(list string) string {
	for address := range strings.SplitSeq(list, ";") {
		options, ok := strings.CutPrefix(address, "unix:")
		if !ok {
			continue
		}
		for option := range strings.SplitSeq(options, ",") {
			if path, ok := strings.CutPrefix(option, "path="); ok {
				return percentDecode(path)
			}
		}
	}
	return ""
}

func percentDecode(s string) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				c, i = byte(n), i+2
			}
		}
		b = append(b, c)
	}
	return string(b)
}

// foundAt describes the file at an absolute path; false if there is none.
func (p *prober) foundAt(path string) (wrap.Found, bool) {
	if !strings.HasPrefix(path, "/") {
		return wrap.Found{}, false
	}
	path = strings.TrimRight(path, "/")
	name := base(path)
	if name == "" || name == "." || name == ".." {
		return wrap.Found{}, false
	}
	dir := resolve(parent(path)).path
	f := wrap.Found{Path: join(dir, name), Real: join(dir, name), Kind: kindAt(join(dir, name))}
	if f.Kind == wrap.Symlink {
		f.Target = read.Link(unix.AT_FDCWD, f.Path)
		real, kind := follow(unix.AT_FDCWD, f.Path)
		f.Kind = kind
		if real != "" {
			f.Real = real
		}
	}
	return f, f.Kind != wrap.Absent
}
