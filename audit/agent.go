package audit

import (
	"sbx/audit/agent"
	"sbx/internal/doc"
	"sbx/spec"
	"sbx/spec/redact"
)

// appendAgent writes the summary of the agent's own stream.
func (r *Record) appendAgent(w *writer) {
	a := r.Agent
	if a == nil {
		return
	}
	w.KeyOpen("agent", '{')
	w.KeyStr("name", a.Name)
	w.KeyText("version", a.Version)
	w.KeyText("session", a.Session)
	keyOpt(w, "turns", a.Turns)
	appendTools(w, "tools", a.Tools)
	appendTools(w, "called", a.Called)
	keyOpt(w, "shell_commands", a.Shell)
	if t := a.Tokens; t.Set {
		w.KeyOpen("tokens", '{')
		w.KeyInt("input", t.Value.Input)
		w.KeyInt("cached", t.Value.Cached)
		w.KeyInt("output", t.Value.Output)
		w.Close('}')
	}
	if a.End.Set {
		w.KeyOpen("end", '{')
		w.KeyBool("completed", a.End.Value.Completed)
		w.KeyText("reason", redact.Text(a.End.Value.Reason)) // the service's own words
		w.Close('}')
	}
	doc.Objects(&w.Writer, "unseen", a.Unseen, func(u *agent.Unseen) {
		w.KeyStr("what", u.What)
		w.KeyStr("why", u.Why)
	})
	w.Close('}')
}

func appendTools(w *writer, key string, tools spec.Opt[[]agent.Tool]) {
	if !tools.Set {
		return
	}
	w.KeyOpen(key, '{')
	for i := range tools.Value {
		t := &tools.Value[i]
		w.KeyOpen(t.Name, '{')
		w.KeyInt("asked", int64(t.Asked))
		w.KeyInt("ran", int64(t.Ran))
		w.KeyInt("refused", int64(t.Refused))
		w.Close('}')
	}
	w.Close('}')
}
