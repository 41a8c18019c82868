package show

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"sbx/audit"
)

// ShowRuns is a list of runs for a person.
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

// maxLineCommand is how many characters of a command a line of the list has.
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

// shortened is the beginning of a text of more than so many characters.
func shortened(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// status is how a run ended in a word or two: its exit status, and who ended it where
// that was not the command; else its state.
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
