package wrap

import "sbx/internal/doc"

func (w *printer) limits(l *Limits) {
	if !l.Any() {
		return
	}
	w.KeyOpen("limits", '{')
	for _, n := range []struct {
		key string
		v   int64
	}{{"open_files", int64(l.Files)}, {"file_size", int64(l.FileSize)}, {"processes", int64(l.Procs)}, {"watched_memory", l.Memory}} {
		w.KeyCount(n.key, n.v)
	}
	if l.Timeout != 0 {
		w.KeyText("timeout", l.Timeout.String())
	}
	if len(l.Groups) > 0 {
		doc.Values(&w.Writer, "groups", l.Groups, func(g *Group) { w.group(g) })
	}
	w.Close('}')
}

func (w *printer) group(g *Group) {
	w.OpenFlat('{')
	w.KeyInt("version", int64(g.Version))
	w.KeyText("in", g.Dir)
	w.KeyTexts("controllers", texts(g.Controllers, (*Controller).String))
	w.KeyTexts("enable", texts(g.Enable, (*Controller).String))
	w.KeyFlag("leaf", g.Leaf)
	w.KeyFlag("threaded", g.Threaded)
	w.KeyFlag("soft", g.Soft)
	for _, s := range g.Write {
		w.KeyText(s.File, s.Value)
	}
	w.Close('}')
}
