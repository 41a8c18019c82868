package wrap

func (w *printer) limits(l *Limits) {
	if !l.Any() {
		return
	}
	w.key("limits")
	w.open('{')
	for _, n := range []struct {
		key string
		v   int64
	}{{"open_files", int64(l.Files)}, {"file_size", int64(l.FileSize)}, {"processes", int64(l.Procs)}, {"watched_memory", l.Memory}} {
		if n.v != 0 {
			w.num(n.key, n.v)
		}
	}
	if l.Timeout != 0 {
		w.text("timeout", l.Timeout.String())
	}
	if len(l.Groups) > 0 {
		w.key("groups")
		w.open('[')
		for i := range l.Groups {
			w.item()
			w.group(&l.Groups[i])
		}
		w.close(']')
	}
	w.close('}')
}

func (w *printer) group(g *Group) {
	w.flat = true
	w.open('{')
	w.num("version", int64(g.Version))
	w.text("in", g.Dir)
	w.list("controllers", names(g.Controllers))
	w.list("enable", names(g.Enable))
	w.flag("leaf", g.Leaf)
	w.flag("soft", g.Soft)
	for _, s := range g.Write {
		w.text(s.File, s.Value)
	}
	w.close('}')
	w.flat = false
}

func names(l []Controller) []string {
	var list []string
	for _, c := range l {
		list = append(list, c.String())
	}
	return list
}
