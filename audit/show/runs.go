package show

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"sbx/audit"
)

// Runs returns a list of runs as text for a terminal.
func Runs(all []audit.Run, colour bool) string {
	rows := []row{cells("id", "started (UTC)", "took", "status", "denials", "command")}
	for i := range all {
		rows = append(rows, rowOf(&all[i]))
	}
	var b strings.Builder
	widths := columns(rows)
	for _, r := range rows {
		showRow(&b, r, widths, colour)
	}
	return b.String()
}

// maxLineCommand is how many characters of its command the line of a run shows.
const maxLineCommand = 60

func rowOf(r *audit.Run) row {
	if r.Err != nil {
		return row{tone: bad, cells: []string{r.ID, "", "", "unreadable", "", r.Err.Error()}}
	}
	n := r.View.Node
	at := audit.Text(n.Get("started_at"))
	at = strings.Replace(at[:min(len(at), len("2006-01-02T15:04:05"))], "T", " ", 1)
	took := ""
	if ms := audit.Whole(n.Get("usage").Get("wall_ms")); ms.Set {
		took = span(ms.Value)
	}
	denied := "-"
	if n, known := r.View.Denials(); known {
		denied = strconv.FormatInt(n, 10)
	}
	command := shortened(quoteArgs(n.Get("command").Get("argv")), maxLineCommand)
	return row{tone: stateTone(r.View), cells: []string{r.ID, at, took, status(r.View), denied, command}}
}

// shortened cuts a text to at most most characters.
func shortened(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// status returns the exit status of a run, and what ended it if not the command itself; or the
// state of the record if the run has no exit status.
func status(v audit.View) string {
	e := v.Node.Get("exit")
	code := audit.Whole(e.Get("code"))
	if v.State != audit.StateExited || !code.Set {
		return v.State
	}
	out := strconv.FormatInt(code.Value, 10)
	switch by := audit.Text(e.Get("ended_by")); by {
	case "", "command":
	case "signal":
		out += " " + signalName(audit.Whole(e.Get("signal")).Value)
	default:
		out += " " + by
	}
	return out
}
