package audit

import "sbx/spec"

// Broker is what became of the calls of tools that a broker ran for the command.
type Broker struct {
	Document, Plan string // their sha256 in canonical form, in hex; Plan is "" without one
	Required       bool   // the run ends where the broker does
	Calls, Denied  spec.Opt[int64]
	ByTool         []ToolCalls
	Lines          int64 // of its audit, broker.jsonl in the run's own directory
}

// ToolCalls is what became of the calls of one tool.
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
