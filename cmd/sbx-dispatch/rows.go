package main

import (
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"

	"sbx/audit"
	"sbx/audit/show"
	"sbx/dispatch"
	"sbx/dispatch/life"
	"sbx/internal/doc"
	"sbx/spec"
)

// maxNested is the deepest nesting of a document that is printed as JSON.
const maxNested = 200

// called maps columns to their JSON keys where the two differ.
var called = map[string]string{"input_tokens": "in_tokens", "output_tokens": "out_tokens"}

// object returns a row as a JSON object with Intercore's keys and more. Columns that are
// NULL have no key.
func object(d *dispatch.Dispatch) []byte {
	w := &doc.Writer{}
	w.Open('{')
	w.KeyStr("id", d.ID)
	w.KeyStr("agent_type", d.AgentType)
	w.KeyStr("status", string(d.Status))
	w.KeyStr("project_dir", d.ProjectDir)
	d.Each(func(column string, text *spec.Opt[string], number *spec.Opt[int64]) {
		switch {
		case text == nil && number.Set:
			w.KeyInt(cmp.Or(called[column], column), number.Value)
		case text == nil || !text.Set || column == "parent_dispatch_id" && text.Value == "":
		case !strings.HasPrefix(column, "sandbox_"):
			w.KeyStr(column, text.Value)
		case isObject(text.Value):
			w.KeyRaw(column, strings.TrimSpace(text.Value))
		default:
			w.KeyStr(column+"_invalid", text.Value)
		}
	})
	w.Close('}')
	return w.B
}

// isObject reports whether a text is a JSON object that can be part of the output.
func isObject(s string) bool {
	n, err := doc.ParseLaxJSON("", []byte(s), maxNested)
	return err == nil && n.Kind == doc.Object && utf8.ValidString(s)
}

// quoted returns a text as a JSON string.
func quoted(s string) []byte { return doc.AppendShown(nil, s) }

// page returns a row as text for the terminal.
func page(d *dispatch.Dispatch) string {
	var b strings.Builder
	line := func(label, value string) {
		if value != "" {
			b.WriteString(label + strings.Repeat(" ", max(12-len(label), 1)) + value + "\n")
		}
	}
	num := func(v spec.Opt[int64]) string {
		if !v.Set {
			return ""
		}
		return strconv.FormatInt(v.Value, 10)
	}
	line("id", spec.Name(d.ID))
	line("status", spec.Shown(string(d.Status)))
	line("type", spec.Name(d.AgentType))
	line("name", spec.Name(d.Name.Value))
	line("model", spec.Name(d.Model.Value))
	line("pid", num(d.PID))
	line("project", spec.Name(d.ProjectDir))
	line("prompt", spec.Name(d.PromptFile.Value))
	line("output", spec.Name(d.OutputFile.Value))
	if d.Turns.Value > 0 || d.Commands.Value > 0 || d.Messages.Value > 0 {
		line("used", num(d.Turns)+" turns, "+num(d.Commands)+" commands, "+num(d.Messages)+" messages")
	}
	if d.InputTokens.Value > 0 || d.OutputTokens.Value > 0 {
		line("tokens", num(d.InputTokens)+" in, "+num(d.OutputTokens)+" out")
	}
	line("verdict", spec.Shown(strings.TrimSpace(d.VerdictStatus.Value+" "+d.VerdictSummary.Value)))
	line("exit", num(d.ExitCode))
	line("error", spec.Shown(d.ErrorMessage.Value))
	line("sandbox", spec.Name(life.Mode(d)))
	if d.SandboxSpec.Set {
		b.WriteString("\nsandbox_spec, as requested\n" + block(d.SandboxSpec.Value, "  "))
	}
	if d.SandboxEffective.Set {
		b.WriteString("\nsandbox_effective, as enforced\n")
		if v, err := audit.Parse([]byte(d.SandboxEffective.Value)); err == nil {
			b.WriteString(block(show.Text(v, false), "  "))
		} else {
			b.WriteString(block(d.SandboxEffective.Value, "  "))
		}
	}
	return b.String()
}

// block returns a text of several lines, each indented and safe for a terminal.
func block(s, indent string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(s, "\n")) {
		b.WriteString(indent + spec.Shown(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    ")) + "\n")
	}
	return b.String()
}
