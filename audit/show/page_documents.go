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

// texts are the strings of a list; none where there is no list.
func texts(n *spec.Node) (all []string) {
	for _, item := range doc.Items(n) {
		all = append(all, audit.Text(item))
	}
	return all
}

// profileRow is the profile that held, with why below it.
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

// seen is which denials could be seen, those about files by what was done to them.
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
