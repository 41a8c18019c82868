package host

import (
	"sbx/internal/read"
	"sbx/spec"
	"sbx/wrap"
)

// prober collects a Host.
type prober struct {
	r     *spec.Resolved
	h     wrap.Host
	env   func(string) (string, bool)
	dirs  read.Dir
	needs []string // what the command needs beside what the documents name
	root  string   // "/" but in tests: where the absolute paths of tables begin
}

// names is a table's paths. Of those beneath /proc nobody asks whether they are
// there: the new /proc is looked at when it is mounted on, where what is absent
// is passed over, and a name that a module brings meanwhile is not missed.
func pathsOf(table []wrap.Row) []string {
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

// rows is what of a table stands in the directory dir, which has no link on the
// way. The table's paths are relative to it, or absolute.
func (p *prober) rows(table []wrap.Row, dir string, absolute bool) (found []wrap.Found) {
	skip := 0
	if absolute {
		skip = len(dir)
		if dir != "/" {
			skip++
		}
		if p.root != "/" {
			skip = 1
		}
	}
	look := lookup{dirs: &p.dirs, n: len(table), path: func(i int) string {
		return table[i].Path[skip:]
	}, emit: func(i int, f wrap.Found) {
		f.Why = table[i].Why
		found = append(found, f)
	}}
	look.lookUnder(dir, dir)
	return found
}
