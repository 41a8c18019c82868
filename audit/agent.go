package audit

import (
	"strconv"
	"strings"

	"sbx/audit/agent"
	"sbx/spec"
	"sbx/spec/redact"
)

// appendAgent writes what the agent's own stream said.
func (r *Record) appendAgent(w *writer) {
	a := r.Agent
	if a == nil {
		return
	}
	w.key("agent")
	w.open('{')
	w.keyStr("name", a.Name)
	w.keyText("version", a.Version)
	w.keyText("session", a.Session)
	w.keyOptInt("turns", a.Turns)
	appendTools(w, "tools", a.Tools)
	appendTools(w, "called", a.Called)
	w.keyOptInt("shell_commands", a.Shell)
	if t := a.Tokens; t.Set {
		w.key("tokens")
		w.open('{')
		w.keyNum("input", t.Value.Input)
		w.keyNum("cached", t.Value.Cached)
		w.keyNum("output", t.Value.Output)
		w.close('}')
	}
	if a.End.Set {
		w.key("end")
		w.open('{')
		w.key("completed")
		w.bool(a.End.Value.Completed)
		w.keyText("reason", redact.Text(a.End.Value.Reason)) // a service's own words
		w.close('}')
	}
	w.key("unseen")
	w.open('[')
	for _, u := range a.Unseen {
		w.item()
		w.open('{')
		w.keyStr("what", u.What)
		w.keyStr("why", u.Why)
		w.close('}')
	}
	w.close(']')
	w.close('}')
}

func appendTools(w *writer, key string, tools spec.Opt[[]agent.Tool]) {
	if !tools.Set {
		return
	}
	w.key(key)
	w.open('{')
	for i := range tools.Value {
		t := &tools.Value[i]
		w.name(t.Name)
		w.open('{')
		w.keyNum("asked", int64(t.Asked))
		w.keyNum("ran", int64(t.Ran))
		w.keyNum("refused", int64(t.Refused))
		w.close('}')
	}
	w.close('}')
}

// agentRows shows the agent's word to people.
func agentRows(n *spec.Node) []row {
	a := n.Get("agent")
	if a == nil {
		return nil
	}
	line := text(a.Get("name"))
	if v := text(a.Get("version")); v != "" {
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
			r.notes = append(r.notes, "asked for "+strings.Join(most, ", "))
		}
	}
	if end := a.Get("end"); end != nil {
		if why := text(end.Get("reason")); why != "" {
			r.notes = append(r.notes, "it ended by its own word: "+why)
		}
	}
	for _, u := range items(a.Get("unseen")) {
		r.notes = append(r.notes, "not seen: "+text(u.Get("what"))+": "+text(u.Get("why")))
	}
	return []row{r}
}

func toolShown(name string, t *spec.Node) string {
	s := name + " " + strconv.FormatInt(whole(t.Get("asked")).Value, 10)
	if refused := whole(t.Get("refused")).Value; refused > 0 {
		s += " (" + strconv.FormatInt(refused, 10) + " refused)"
	}
	return s
}
