package show

import (
	"strings"

	"sbx/audit"
	"sbx/internal/doc"
	"sbx/spec"
)

func warnings(n *spec.Node) (rows []row) {
	for _, w := range texts(n) {
		r := cells(w)
		r.tone = weak
		rows = append(rows, r)
	}
	return rows
}

// texts returns the strings of a list, none if n is no list.
func texts(n *spec.Node) (all []string) {
	for _, item := range doc.Items(n) {
		all = append(all, audit.Text(item))
	}
	return all
}

// profileRow returns the profile of the run, with the reasons below it.
func profileRow(n *spec.Node) row {
	if n == nil {
		return cells("profile", "")
	}
	name := audit.Text(n.Get("name"))
	if n.Get("off") != nil {
		name = "off"
	}
	r := cells("profile", name)
	r.notes = texts(n.Get("why"))
	return r
}

// seen returns the kinds of denials that could be seen; for files, by operation.
func seen(n *spec.Node) string {
	kinds := texts(n.Get("observed_kinds"))
	if files := texts(n.Get("observed_filesystem")); len(files) > 0 {
		for i, k := range kinds {
			if k == "filesystem" {
				kinds[i] += " (" + strings.Join(files, ", ") + ")"
			}
		}
	}
	return strings.Join(kinds, ", ")
}
