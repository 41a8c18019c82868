package host

import (
	"bytes"
	gopath "path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/wrap"
	"sbx/wrap/defaults"
)

// alternatives is the directory in which Debian and Fedora keep symlinks to selectable
// programs.
const alternatives = "/etc/alternatives"

// systemSearch finds the files that any program needs to start.
type systemSearch struct{ *prober }

// optRows returns the directories that programs in /opt need, as rows of @system. They are
// the directories /opt/NAME of entries of PATH, and of programs to which /usr/bin or
// /usr/local/bin has a symlink. Other projects may lie next to them.
func (p *systemSearch) optRows() (rows []defaults.Row) {
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
		if strings.HasPrefix(c.dir, "/") {
			add(gopath.Clean(c.dir))
		}
	}
	for _, dir := range []string{"/usr/bin", "/usr/local/bin"} {
		for _, to := range p.optLinks(dir) {
			add(to)
		}
	}
	slices.Sort(trees)
	for _, t := range trees {
		if !slices.ContainsFunc(rows, func(r defaults.Row) bool { return within(t, r.Path) }) {
			rows = append(rows, defaults.Row{Path: t, Why: "a program of /opt that is on PATH, or has a link in /usr/bin"})
		}
	}
	return rows
}

// programTree returns the widest directory that belongs to the program alone: /opt/NAME, or
// a smaller one if the command's own directories also lie there; "" for none.
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

// commandDirs returns the directories in which the command works, and the caller's home: a
// program's tree contains none of them.
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

// optTarget follows symlinks of /usr and of the alternatives until the path lies in /opt; "" if it
// never does. It follows no other symlinks, since any user may have made them.
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

// optLinks returns the paths in /opt to which the symlinks in a directory lead.
func (p *systemSearch) optLinks(dir string) (all []string) {
	fd, readable, err := openDir(unix.AT_FDCWD, p.underRoot(dir))
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	if !readable {
		return nil
	}
	text := make([]byte, 256) // reused for hundreds of symlinks; a longer target is skipped
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

// mayHaveEntries reports whether a directory has entries or cannot be read.
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

// underRoot returns the path at which an absolute path of a table is looked for.
func (p *systemSearch) underRoot(at string) string { return strings.TrimRight(p.root, "/") + at }

func firstName(rel string) string {
	name, _, _ := strings.Cut(rel, "/")
	return name
}

// system records the files that @system stands for on this host.
func (p *systemSearch) system() {
	rows := append(p.optRows(), defaults.System()...)
	slices.SortFunc(rows, func(a, b defaults.Row) int { return strings.Compare(a.Path, b.Path) })
	p.h.System = p.rows(rows, p.root, len("/"))
}
