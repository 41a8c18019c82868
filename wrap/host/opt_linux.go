package host

import (
	"bytes"
	gopath "path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/wrap"
)

// alternatives is where Debian and Fedora have the links of programs that are to be
// chosen from.
const alternatives = "/etc/alternatives"

// systemSearch finds what a program needs to start.
type systemSearch struct{ *prober }

// optional is what programs of /opt need of it, as rows of @system: the tree beneath
// /opt/NAME of each directory of the command's PATH there, and of each program there to
// which /usr/bin or /usr/local/bin has a link. Other projects may lie beside them.
func (p *systemSearch) optRows() (rows []wrap.Row) {
	if !p.mayHaveEntries("/opt") {
		return nil
	}
	var trees []string
	add := func(at string) {
		for range 8 {
			at = p.optTarget(at)
			if at == "" {
				return
			}
			if tree := p.programTree(at); tree != "" {
				trees = append(trees, tree)
			}
			top := "/opt/" + firstName(at[len("/opt/"):])
			text := read.Link(unix.AT_FDCWD, p.underRoot(top))
			if text == "" {
				return
			}
			at = gopath.Clean(absolute("/opt", text)) + at[len(top):] // /opt/jdk leads to /opt/jdk-21
		}
	}
	for _, c := range candidates("", p.r) {
		if strings.HasPrefix(c.folder, "/") {
			add(gopath.Clean(c.folder))
		}
	}
	for _, dir := range []string{"/usr/bin", "/usr/local/bin"} {
		for _, to := range p.optLinks(dir) {
			add(to)
		}
	}
	slices.Sort(trees)
	for _, t := range trees {
		if !slices.ContainsFunc(rows, func(r wrap.Row) bool { return within(t, r.Path) }) {
			rows = append(rows, wrap.Row{Path: t, Why: "a program of /opt that is on PATH, or has a link in /usr/bin"})
		}
	}
	return rows
}

// ownTree is the widest directory that is a program's own: /opt/NAME, or less of it where
// the command's own directories lie there too. "" for none.
func (p *systemSearch) programTree(at string) string {
	dir := at
	if kindAt(p.underRoot(at)) != wrap.Dir {
		dir = parent(at)
	}
	tries := []string{"/opt/" + firstName(at[len("/opt/"):]), dir}
	if name := base(dir); name == "bin" || name == "sbin" {
		tries = []string{tries[0], parent(dir), dir}
	}
	for _, t := range tries {
		if beneath(t, "/opt") && !slices.ContainsFunc(p.commandDirs(), func(own string) bool { return within(own, t) || within(t, own) }) {
			return t
		}
	}
	return ""
}

// owned are the directories that the command works in, and its caller's home: what lies
// beside them is no program's.
func (p *systemSearch) commandDirs() []string {
	own := []string{p.r.WorkingDir.Real, p.r.Start(), p.r.Home, p.r.Root.Real}
	for _, w := range p.r.Write {
		own = append(own, w.Real)
	}
	if j := p.r.Job; j != nil {
		own = append(own, j.Input.Real, j.Output.Real)
	}
	return slices.DeleteFunc(own, func(dir string) bool { return dir == "" || dir == "/" })
}

// optOf is where a path leads to in /opt by links of /usr and of the alternatives; ""
// for nowhere. Other links may be anybody's.
func (p *systemSearch) optTarget(at string) string {
	for range 8 {
		if beneath(at, "/opt") {
			return at
		}
		if !within(at, "/usr") && !within(at, alternatives) {
			return ""
		}
		to := ""
		for i := 1; i <= len(at) && to == ""; i++ {
			if i < len(at) && at[i] != '/' {
				continue
			}
			if text := read.Link(unix.AT_FDCWD, p.underRoot(at[:i])); text != "" {
				to = gopath.Clean(absolute(parent(at[:i]), text) + at[i:])
			}
		}
		if at = to; at == "" {
			return ""
		}
	}
	return ""
}

// linksOf is where the links of a directory lead to in /opt.
func (p *systemSearch) optLinks(dir string) (all []string) {
	fd, readable, err := openDir(unix.AT_FDCWD, p.underRoot(dir))
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	if !readable {
		return nil
	}
	text := make([]byte, 256) // for hundreds of links; a longer one is left
	_ = p.dirs.Each(fd, func(name []byte, dtype byte) bool {
		if dtype != unix.DT_LNK && dtype != unix.DT_UNKNOWN {
			return true
		}
		n, err := unix.Readlinkat(fd, string(name), text)
		if err != nil || n == len(text) || !bytes.Contains(text[:n], []byte("opt/")) && !bytes.Contains(text[:n], []byte("alternatives/")) {
			return true
		}
		to := gopath.Clean(absolute(dir, string(text[:n])))
		if parent(to) == alternatives {
			to = gopath.Clean(absolute(alternatives, read.Link(unix.AT_FDCWD, p.underRoot(to))))
		}
		if beneath(to, "/opt") {
			all = append(all, to)
		}
		return true
	})
	return all
}

// hasNames tells whether something stands in a directory, or may.
func (p *systemSearch) mayHaveEntries(dir string) bool {
	fd, readable, err := openDir(unix.AT_FDCWD, p.underRoot(dir))
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	some := !readable
	_ = p.dirs.Each(fd, func([]byte, byte) bool { some = true; return false })
	return some
}

// rooted is where an absolute path of a table stands.
func (p *systemSearch) underRoot(at string) string { return strings.TrimRight(p.root, "/") + at }

func firstName(rel string) string {
	name, _, _ := strings.Cut(rel, "/")
	return name
}

// system fills in what @system is here.
func (p *systemSearch) system() {
	rows := append(p.optRows(), wrap.System()...)
	slices.SortFunc(rows, func(a, b wrap.Row) int { return strings.Compare(a.Path, b.Path) })
	p.h.System = p.rows(rows, p.root, true)
}
