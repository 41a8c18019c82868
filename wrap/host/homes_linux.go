package host

import (
	gopath "path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/defaults"
)

// maxHomes bounds the number of homes that are searched for secrets if the caller is root.
const maxHomes = 64

// homes returns the homes that are searched for secrets: the caller's and, for
// root, those of other users in which the command needs something. All other homes of the
// password file and of /home are hidden whole, and nothing in them is read.
func (p *secretSearch) homes() []string {
	if p.h.UID != 0 {
		if p.r.Home == "" {
			return nil
		}
		return []string{p.r.Home}
	}
	own, others := p.accounts()
	needed := p.needed(own)
	known := make(map[string]bool, len(others))
	crowded := make(map[string]int)
	for _, home := range others {
		real := realDir(home)
		switch {
		case real == "" || known[real]:
			continue
		case p.isShared(real) || isNeeded(real, needed):
			own = append(own, home)
		default:
			f := wrap.Found{Path: real, Real: real, Kind: wrap.Dir, Why: defaults.OtherHome, Home: true}
			if !p.inView(real) {
				p.outOfView = append(p.outOfView, f)
				break
			}
			p.h.Secrets = append(p.h.Secrets, f)
			if crowded[parent(real)]++; crowded[parent(real)] == wrap.FewHomes+1 {
				p.crowded = append(p.crowded, parent(real))
			}
		}
		known[real] = true
	}
	if len(own) > maxHomes {
		own = own[:maxHomes]
		p.h.SecretsCut = "more than " + itoa(maxHomes) + " homes: the secrets of the others were not looked for"
	}
	return own
}

// accounts returns the homes of the caller, who may have become root by
// sudo(8), and all other homes of the password file and of /home.
func (p *secretSearch) accounts() (own, others []string) {
	known := map[string]bool{"": true}
	add := func(home string, list *[]string) {
		if !known[home] {
			known[home] = true
			*list = append(*list, home)
		}
	}
	add(p.r.Home, &own)
	caller, _ := p.env("SUDO_USER")
	b, _ := read.Regular(join(p.root, "etc/passwd"), maxFile)
	root := false
	var rest []string
	for line := range strings.Lines(string(b)) {
		home, name, uid := passwdHome(line)
		if home == "" {
			continue
		}
		home = join(p.root, home[1:])
		if first := uid == "0" && !root; first || name == caller {
			root = root || first
			add(home, &own)
		} else {
			rest = append(rest, home)
		}
	}
	for _, home := range rest {
		add(home, &others)
	}
	dir := join(p.root, "home")
	fd, _, err := openDir(unix.AT_FDCWD, dir)
	if err != nil {
		return own, others
	}
	defer unix.Close(fd)
	_ = p.dirs.Each(fd, func(name []byte, dtype byte) bool {
		if dtype == unix.DT_DIR || dtype == unix.DT_LNK || dtype == unix.DT_UNKNOWN {
			add(join(dir, string(name)), &others)
		}
		return len(others) < maxListing
	})
	return own, others
}

// needed returns the paths that keep another user's home from being hidden
// whole: those in the documents, the directory in which the command starts, its program,
// and the directories of its PATH.
func (p *secretSearch) needed(own []string) (paths []string) {
	add := func(all ...string) {
		for _, path := range all {
			if strings.HasPrefix(path, "/") && path != "/" {
				paths = append(paths, path)
			}
		}
	}
	add(own...)
	add(p.needs...)
	add(p.h.State, p.r.Start(), p.r.WorkingDir.Real, p.r.Root.Real)
	for _, list := range [...][]spec.Path{p.r.Read, p.r.Write} {
		for i := range list {
			add(list[i].Abs, list[i].Real)
		}
	}
	for i := range p.r.Mounts {
		add(p.r.Mounts[i].Target, p.r.Mounts[i].Source.Real)
	}
	if j := p.r.Job; j != nil {
		add(j.Input.Real, j.Output.Real)
	}
	for i := range p.h.Allow {
		add(p.h.Allow[i].Files()...)
	}
	for _, c := range candidates("", p.r) {
		dir := gopath.Clean(c.path)
		if add(dir); !within(dir, "/usr") && !within(dir, "/bin") && !within(dir, "/sbin") {
			add(resolve(dir).path)
		}
	}
	for _, path := range paths {
		add(p.otherPathsOf(path)...)
	}
	return paths
}

// isNeeded reports whether a needed path lies in home, or home lies in a needed path.
func isNeeded(home string, needed []string) bool {
	return slices.ContainsFunc(needed, func(path string) bool { return within(path, home) || within(home, path) })
}

// isShared reports whether a home is also a directory that other users use: one
// at the top of the tree or directly in /var, or a program's directory in /opt.
func (p *secretSearch) isShared(home string) bool {
	home = join("/", relative(home, p.root))
	return parent(home) == "/" || parent(home) == "/var" || within(home, "/opt")
}

// realDir returns a directory's path without symlinks; "" if path is not a directory.
func realDir(path string) string {
	if at := resolve(path); at.kind == wrap.Dir {
		return at.path
	}
	return ""
}

// passwdHome parses a line of passwd(5). home is "" if the directory is one of those that
// stand for "no home", or belongs to the system, so that nobody keeps files of their own
// there.
func passwdHome(line string) (home, name, uid string) {
	field := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 7)
	if len(field) < 6 {
		return "", "", ""
	}
	name, uid = field[0], field[2]
	home = strings.TrimRight(field[5], "/")
	if !strings.HasPrefix(home, "/") {
		return "", name, uid
	}
	for _, dir := range [...]string{"/bin", "/sbin", "/usr", "/dev", "/proc", "/sys", "/run", "/var/run", "/etc", "/tmp", "/nonexistent",
		"/var/backups", "/var/cache", "/var/empty", "/var/list", "/var/mail", "/var/spool"} {
		if within(home, dir) {
			return "", name, uid
		}
	}
	return home, name, uid
}
