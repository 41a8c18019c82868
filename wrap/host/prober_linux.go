package host

import (
	"sbx/internal/read"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/defaults"
)

// prober collects a Host.
type prober struct {
	r     *spec.Resolved
	h     wrap.Host
	env   func(string) (string, bool)
	dirs  read.Dir
	needs []string // paths that the command needs in addition to those in the documents
	root  string   // prefix of the absolute paths of the tables: "/" except in tests
}

// pathsOf returns a table's paths. For tables of /proc the launch checks which paths
// exist, when it mounts on the new /proc: a file that a kernel module adds in between is
// then covered too.
func pathsOf(table []defaults.Row) []string {
	list := make([]string, len(table))
	for i := range table {
		list[i] = table[i].Path
	}
	return list
}

func (p *prober) kindOf(path string) {
	if kind := kindAt(path); kind != wrap.Absent {
		p.h.Paths[path] = kind
	}
}

// rows returns the rows of table that exist in the directory dir, whose path contains no
// symlink. dir replaces the first skip bytes of the rows' paths.
func (p *prober) rows(table []defaults.Row, dir string, skip int) (found []wrap.Found) {
	look := lookup{dirs: &p.dirs, n: len(table), path: func(i int) string {
		return table[i].Path[skip:]
	}, emit: func(i int, f wrap.Found) {
		f.Why = table[i].Why
		found = append(found, f)
	}}
	look.lookUnder(dir, dir)
	return found
}
