package audit

import "sbx/spec"

// Broker sums up the tool calls that a broker ran for the command.
type Broker struct {
	Document, Plan string // SHA-256 of the canonical form, in hex; Plan is "" if there is none
	Required       bool   // the run ends when the broker ends
	Calls, Denied  spec.Opt[int64]
	ByTool         []ToolCalls
	Lines          int64 // in its audit log, broker.jsonl in the run's own directory
}

// ToolCalls counts the calls of one tool.
type ToolCalls struct {
	Tool          string
	Calls, Denied int64
}

// append writes the key "broker".
func (b *Broker) append(w *writer) {
	w.KeyOpen("broker", '{')
	w.KeyText("document_sha256", b.Document)
	w.KeyText("plan_sha256", b.Plan)
	w.KeyFlag("required", b.Required)
	if b.Calls.Set {
		w.KeyInt("calls", b.Calls.Value)
		w.KeyInt("denied", b.Denied.Value)
		w.KeyOpen("by_tool", '{')
		for i := range b.ByTool {
			c := &b.ByTool[i]
			w.KeyOpen(Clip(c.Tool), '{')
			w.KeyInt("calls", c.Calls)
			w.KeyInt("denied", c.Denied)
			w.Close('}')
		}
		w.Close('}')
		w.KeyCount("audit_lines", b.Lines)
	}
	w.Close('}')
}
