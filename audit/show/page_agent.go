package show

import (
	"strconv"
	"strings"

	"sbx/audit"
	"sbx/internal/doc"
	"sbx/spec"
)

// agentRows returns what the agent's own output said.
func agentRows(n *spec.Node) []row {
	a := n.Get("agent")
	if a == nil {
		return nil
	}
	line := audit.Text(a.Get("name"))
	if v := audit.Text(a.Get("version")); v != "" {
		line += " " + v
	}
	r := cells("agent", line)
	if tools := a.Get("tools"); tools != nil && tools.Kind == spec.Object {
		var most []string
		for i, m := range tools.Members {
			if i == shownInPage {
				most = append(most, "…")
				break
			}
			most = append(most, toolShown(m.Key, m.Value))
		}
		if len(most) > 0 {
			r.notes = append(r.notes, "requested "+strings.Join(most, ", "))
		}
	}
	if end := a.Get("end"); end != nil {
		if why := audit.Text(end.Get("reason")); why != "" {
			r.notes = append(r.notes, "it ended by its own word: "+why)
		}
	}
	for _, u := range doc.Items(a.Get("unseen")) {
		r.notes = append(r.notes, "not seen: "+audit.Text(u.Get("what"))+": "+audit.Text(u.Get("why")))
	}
	return []row{r}
}

func toolShown(name string, t *spec.Node) string {
	s := name + " " + strconv.FormatInt(audit.Whole(t.Get("asked")).Value, 10)
	if refused := audit.Whole(t.Get("refused")).Value; refused > 0 {
		s += " (" + strconv.FormatInt(refused, 10) + " denied)"
	}
	return s
}
