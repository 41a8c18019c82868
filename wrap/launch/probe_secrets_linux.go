package launch

import (
	"strings"

	"golang.org/x/sys/unix"

	"sbx/spec"
	"sbx/wrap"
)

// maxHomes bounds the homes that are looked at for a root caller.
const maxHomes = 64

// secrets finds the default secrets that stand here and that the spec does not
// open.
func (p *prober) secrets() {
	table := wrap.Secrets()
	tilde := 0
	for tilde < len(table) && table[tilde].Path[0] == '/' {
		tilde++
	}
	absolute := table[:tilde]
	if p.h.UID != 0 {
		absolute = nil
		for i := range table[:tilde] {
			if !table[i].Root {
				absolute = append(absolute, table[i])
			}
		}
	}
	in := p.secretRows(absolute, len("/"))
	in.from(p.root, p.root)
	in = p.secretRows(table[tilde:], len("~/"))
	for _, path := range p.homes() {
		if p.agent = 0; path == p.r.Home {
			p.agent = p.r.Agent
		}
		if real := in.from(path, ""); real != "" {
			p.seen = append(p.seen, home{path, real})
		}
	}
	p.agent = p.r.Agent
	p.movedFolders(table[tilde:])
	p.movedSecrets()
	p.socketVars()
	p.hideState()
	p.again()
	p.prune()
}

// secretRows looks for rows of the table beneath a folder; the first skip bytes
// of their paths stand for it.
func (p *prober) secretRows(rows []wrap.Secret, skip int) lookup {
	return lookup{p: p, n: len(rows), path: func(i int) string {
		return rows[i].Path[skip:]
	}, emit: func(i int, f wrap.Found) {
		if rows[i].Agent != 0 && rows[i].Agent == p.agent {
			return
		}
		if rows[i].Folder && (f.Target != "" || f.Kind != wrap.Dir) {
			return
		}
		f.Why, f.Agent = rows[i].Why, rows[i].Agent
		p.hide(f)
	}}
}

// hide adds a secret, unless the spec opens it. A link is added by its name and
// by what it leads to. Path is where the name really stands, so that it can be
// mounted on without following links.
func (p *prober) hide(f wrap.Found) {
	if f.Target == "" {
		f.Path = f.Real
	} else {
		f.Path = join(resolve(parent(f.Path)).path, base(f.Path))
	}
	if p.isOpened(f.Path, f.Real) || p.isHidden(f.Path) {
		return
	}
	if !p.inView(f.Path) {
		p.unseen = append(p.unseen, f) // here, if not by another mount
		return
	}
	if f.Target != "" && p.tooWide(f.Real) { // by its name alone
		f.Real, f.Kind = f.Path, wrap.Other
	}
	p.h.Secrets = append(p.h.Secrets, f)
	if f.Target != "" && f.Real != f.Path {
		p.hide(wrap.Found{Path: f.Real, Real: f.Real, Kind: f.Kind, Why: f.Why, Agent: f.Agent})
	}
}

// isOpened tells whether a document names a secret in filesystem.read or write,
// by its own path or by what it leads to. Naming a folder above opens nothing,
// nor does being the folder that sbx was started in. Naming something beneath
// a folder leaves the folder hidden: Build binds what was named into it.
func (p *prober) isOpened(path, real string) bool {
	for i := range p.r.Read {
		if n := &p.r.Read[i]; n.Field != "" && p.names(n, path, real) {
			return true
		}
	}
	for i := range p.r.Write {
		if n := &p.r.Write[i]; n.Field != "" && p.names(n, path, real) {
			return true
		}
	}
	return false
}

// names tells whether a path of the spec means a secret. What it leads to by a
// link in a writable tree does not count: an earlier command may have left that.
func (p *prober) names(n *spec.Path, path, real string) bool {
	if n.Abs == path || n.Abs == real {
		return true
	}
	return (n.Real == path || n.Real == real) && !p.r.Planted(n)
}

func (p *prober) isHidden(path string) bool {
	for i := range p.h.Secrets {
		if p.h.Secrets[i].Path == path {
			return true
		}
	}
	return false
}

// tooWide tells whether path cannot be meant as a secret, since far more than
// one lies in it: a link or a variable that leads to the root, to a folder at
// the top, or to one that holds the home or the place where the command starts.
func (p *prober) tooWide(path string) bool {
	return parent(path) == "/" || within(p.r.Home, path) || within(p.r.WorkingDir.Real, path)
}

// prune takes out what lies in a hidden folder.
func (p *prober) prune() {
	kept := p.h.Secrets[:0:0]
next:
	for _, f := range p.h.Secrets {
		for i := range p.h.Secrets {
			if d := &p.h.Secrets[i]; d.Kind == wrap.Dir && d.Target == "" && beneath(f.Path, d.Path) {
				continue next
			}
		}
		kept = append(kept, f)
	}
	p.h.Secrets = kept
}

// homes is the caller's home and, for root, every home of the password file and
// every folder of /home.
func (p *prober) homes() []string {
	var homes []string
	add := func(home string) {
		for _, h := range homes {
			if h == home {
				return
			}
		}
		if len(homes) == maxHomes {
			p.h.SecretsCut = "more than " + itoa(maxHomes) + " homes: the secrets of the others were not looked for"
			return
		}
		homes = append(homes, home)
	}
	if p.r.Home != "" {
		add(p.r.Home)
	}
	if p.h.UID != 0 {
		return homes
	}
	b, _ := readRegular(join(p.root, "etc/passwd"), maxFile)
	for line := range strings.Lines(string(b)) {
		if home := passwdHome(line); home != "" {
			add(join(p.root, home[1:]))
		}
	}
	dir := join(p.root, "home")
	fd, _, err := openDir(unix.AT_FDCWD, dir)
	if err != nil {
		return homes
	}
	defer unix.Close(fd)
	p.entries(fd, func(name []byte, dtype byte) bool {
		if dtype == unix.DT_DIR || dtype == unix.DT_LNK || dtype == unix.DT_UNKNOWN {
			add(join(dir, string(name)))
		}
		return p.h.SecretsCut == ""
	})
	return homes
}

// passwdHome is the sixth field of a line of passwd(5), where it is a folder
// that people or services keep something in; "" for the places that stand for
// "none", the system's own trees among them.
func passwdHome(line string) string {
	for range 5 {
		_, rest, ok := strings.Cut(line, ":")
		if !ok {
			return ""
		}
		line = rest
	}
	home, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
	home = strings.TrimRight(home, "/")
	if !strings.HasPrefix(home, "/") {
		return ""
	}
	for _, dir := range [...]string{"/bin", "/sbin", "/usr", "/dev", "/proc", "/sys", "/run", "/var/run", "/etc", "/tmp", "/nonexistent",
		"/var/backups", "/var/cache", "/var/empty", "/var/list", "/var/mail", "/var/spool"} {
		if within(home, dir) {
			return ""
		}
	}
	return home
}
