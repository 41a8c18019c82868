package audit

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"sbx/internal/dirs"
	"sbx/internal/doc"
	"sbx/spec"
)

// Run is one run of a state directory.
type Run struct {
	ID   string
	Path string // of its record
	View View
	Err  error // why the record cannot be read
}

// Runs are the runs of a state directory whose record is there, newest first.
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

// ShowRuns is a list of runs for a person.
func ShowRuns(all []Run, colour bool) string {
	rows := []row{cells("id", "started (UTC)", "took", "status", "denials", "command")}
	for i := range all {
		rows = append(rows, all[i].row())
	}
	var b strings.Builder
	widths := columns(rows)
	for _, r := range rows {
		showRow(&b, r, widths, colour)
	}
	return b.String()
}

// maxLineCommand is how many characters of a command a line of the list has.
const maxLineCommand = 60

func (r *Run) row() row {
	if r.Err != nil {
		return row{tone: bad, cells: []string{r.ID, "", "", "unreadable", "", r.Err.Error()}}
	}
	n := r.View.Node
	at := text(n.Get("started_at"))
	at = strings.Replace(at[:min(len(at), len("2006-01-02T15:04:05"))], "T", " ", 1)
	took := ""
	if ms := whole(n.Get("usage").Get("wall_ms")); ms.Set {
		took = span(ms.Value)
	}
	denied := "-"
	if n, known := denials(n); known {
		denied = strconv.FormatInt(n, 10)
	}
	command := shortened(quoteArgs(n.Get("command").Get("argv")), maxLineCommand)
	return row{tone: stateTone(r.View), cells: []string{r.ID, at, took, status(r.View), denied, command}}
}

// shortened is the beginning of a text of more than so many characters.
func shortened(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// status is how a run ended in a word or two: its exit status, and who ended it where
// that was not the command; else its state.
func status(v View) string {
	e := v.Node.Get("exit")
	code := whole(e.Get("code"))
	if v.State != stateExited || !code.Set {
		return v.State
	}
	out := strconv.FormatInt(code.Value, 10)
	switch by := text(e.Get("ended_by")); by {
	case "", "command":
	case "signal":
		out += " " + signalName(whole(e.Get("signal")).Value)
	default:
		out += " " + by
	}
	return out
}

// denials is how many calls were denied, as far as anybody looked.
func denials(n *spec.Node) (count int64, known bool) {
	for _, v := range doc.Items(n.Get("violations")) {
		count += whole(v.Get("count")).Or(1)
	}
	count += whole(n.Get("violations_omitted")).Or(0)
	return count, count > 0 || len(doc.Items(n.Get("observed_kinds"))) > 0
}

// AppendJSON appends the run as an object on a line.
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
	keyOpt(&w, "wall_ms", whole(n.Get("usage").Get("wall_ms")))
	if count, known := denials(n); known {
		w.KeyInt("denials", count)
	}
	if m := n.Get("command"); m != nil {
		w.KeyRaw("command", string(m.AppendSpaced(nil)))
	}
	w.Close('}')
	return append(w.B, '\n')
}

// AppendJSON appends what became of a run as an object on a line.
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
