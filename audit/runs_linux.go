package audit

import (
	"golang.org/x/sys/unix"

	"sbx/internal/dirs"
)

// Run is a run in a state directory.
type Run struct {
	ID   string
	Path string // of its record
	View View
	Err  error // why the record cannot be read
}

// Runs returns the runs of a state directory whose record exists, newest first.
func Runs(stateDir string) (all []Run, err error) {
	runs, err := dirs.Open(unix.AT_FDCWD, stateDir+"/runs", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err == unix.ENOENT {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dirs.Close(runs)
	for _, id := range newest(runs, 1<<30, "") {
		if _, v, err := loadRun(runs, id); err != unix.ENOENT {
			all = append(all, Run{ID: id, Path: stateDir + "/runs/" + id + "/" + effectiveName, View: v, Err: err})
		}
	}
	return all, nil
}

// AppendJSON appends the run as an object on one line.
func (r *Run) AppendJSON(dst []byte) []byte {
	w := recordWriter(dst)
	w.Lines = 0
	w.Open('{')
	w.KeyStr("id", r.ID)
	w.KeyStr("record", r.Path)
	if r.Err != nil {
		w.KeyStr("error", r.Err.Error())
		w.Close('}')
		return append(w.B, '\n')
	}
	n := r.View.Node
	w.KeyStr("state", r.View.State)
	for _, key := range []string{"started_at", "ended_at", "exit"} {
		if m := n.Get(key); m != nil {
			w.KeyRaw(key, string(m.AppendSpaced(nil)))
		}
	}
	keyOpt(&w, "wall_ms", Whole(n.Get("usage").Get("wall_ms")))
	if count, known := r.View.Denials(); known {
		w.KeyInt("denials", count)
	}
	if m := n.Get("command"); m != nil {
		w.KeyRaw("command", string(m.AppendSpaced(nil)))
	}
	w.Close('}')
	return append(w.B, '\n')
}

// AppendJSON appends the result for a run as an object on one line.
func (p *Pruned) AppendJSON(dst []byte) []byte {
	w := recordWriter(dst)
	w.Lines = 0
	w.Open('{')
	w.KeyStr("id", p.ID)
	w.KeyBool("removed", p.Left == nil)
	if p.Left != nil {
		w.KeyStr("reason", p.Left.Error())
	}
	w.Close('}')
	return append(w.B, '\n')
}
