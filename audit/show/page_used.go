package show

import (
	"strconv"
	"strings"

	"sbx/audit"
	"sbx/internal/doc"
	"sbx/spec"
)

func used(n *spec.Node) []row {
	var rows []row
	add := func(what string, v spec.Opt[int64], shown func(int64) string) {
		if v.Set {
			rows = append(rows, cells(what, shown(v.Value)))
		}
	}
	rows = append(rows, commands(n)...)
	rows = append(rows, agentRows(n)...)
	add("turns", audit.Whole(n.Get("turns_used")), digits)
	if t := n.Get("tools_used"); t != nil {
		rows = append(rows, cells("tools", quoteArgs(t)))
	}
	rows = append(rows, brokerRow(n.Get("broker"))...)
	u := n.Get("usage")
	add("time", audit.Whole(u.Get("wall_ms")), span)
	add("user", audit.Whole(u.Get("user_ms")), span)
	add("system", audit.Whole(u.Get("system_ms")), span)
	add("memory", audit.Whole(u.Get("max_rss_bytes")), size)
	add("memory of all", audit.Whole(u.Get("memory_peak_bytes")), size)
	add("read", audit.Whole(u.Get("read_bytes")), size)
	add("written", audit.Whole(u.Get("written_bytes")), size)
	return rows
}

// brokerRow returns how often a broker ran tools, and how often it was asked to.
func brokerRow(n *spec.Node) []row {
	calls := audit.Whole(n.Get("calls"))
	if !calls.Set {
		return nil
	}
	r := cells("broker", digits(calls.Value)+" calls of tools")
	if c := audit.Whole(n.Get("denied")).Or(0); c > 0 {
		r.notes = append(r.notes, digits(c)+" of them were denied")
		r.tone = bad
	}
	var most []string
	if tools := n.Get("by_tool"); tools != nil {
		for _, m := range tools.Members[:min(len(tools.Members), shownInPage)] {
			most = append(most, spec.Name(m.Key)+" "+digits(audit.Whole(m.Value.Get("calls")).Or(0)))
		}
	}
	if len(most) > 0 {
		r.notes = append(r.notes, strings.Join(most, ", "))
	}
	return []row{r}
}

func digits(n int64) string { return strconv.FormatInt(n, 10) }

// commands returns how many programs were started, and which ones most often.
func commands(n *spec.Node) []row {
	count := func(v *spec.Node) string { return strconv.FormatInt(audit.Whole(v).Value, 10) }
	if !audit.Whole(n.Get("commands_used")).Set {
		return nil
	}
	c := n.Get("commands")
	line := count(n.Get("commands_used"))
	if by := audit.Text(c.Get("by")); by != "" {
		line += ", counted by " + by
	}
	r := cells("commands", line)
	if audit.Whole(c.Get("refused")).Or(0) > 0 {
		r.notes = append(r.notes, count(c.Get("refused"))+" more were denied")
		r.tone = bad
	}
	var most []string
	for i, p := range doc.Items(c.Get("programs")) {
		if i == shownInPage {
			break
		}
		most = append(most, name(p.Get("name"))+" "+count(p.Get("count")))
	}
	if len(most) > 0 {
		r.notes = append(r.notes, strings.Join(most, ", "))
	}
	if audit.Whole(c.Get("own")).Set {
		r.notes = append(r.notes, count(c.Get("own"))+" of them by the agent itself, before it had connected to anything")
	}
	return []row{r}
}

// shownInPage is how many programs or tools a row names.
const shownInPage = 8

func artifacts(n *spec.Node) []row {
	var rows []row
	for _, a := range doc.Items(n.Get("artifacts")) {
		rows = append(rows, cells(name(a.Get("path")), size(audit.Whole(a.Get("size")).Value), audit.Text(a.Get("sha256"))))
	}
	if c := audit.Whole(n.Get("artifacts_omitted")).Or(0); c > 0 {
		rows = append(rows, cells("and "+strconv.FormatInt(c, 10)+" more"))
	}
	return rows
}
