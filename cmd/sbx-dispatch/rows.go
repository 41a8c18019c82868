package main

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"sbx/audit"
	"sbx/dispatch"
	"sbx/dispatch/life"
	"sbx/internal/doc"
	"sbx/spec"
)

// maxNested bounds how deep a nested document may be, for who reads it.
const maxNested = 200

// object is a row as one JSON object: the keys of Intercore's, and more. Absent
// is what is NULL.
func object(d *dispatch.Dispatch) []byte {
	w := &doc.Writer{}
	w.Open('{')
	str := func(key string, v spec.Opt[string]) {
		if v.Set {
			w.KeyStr(key, v.Value)
		}
	}
	num := func(key string, v spec.Opt[int64]) {
		if v.Set {
			w.KeyInt(key, v.Value)
		}
	}
	nested := func(key string, v spec.Opt[string]) {
		switch {
		case !v.Set:
		case isObject(v.Value):
			w.KeyRaw(key, strings.TrimSpace(v.Value))
		default:
			w.KeyStr(key+"_invalid", v.Value)
		}
	}
	str("id", spec.Some(d.ID))
	str("agent_type", spec.Some(d.AgentType))
	str("status", spec.Some(string(d.Status)))
	str("project_dir", spec.Some(d.ProjectDir))
	num("turns", d.Turns)
	num("commands", d.Commands)
	num("messages", d.Messages)
	num("in_tokens", d.InputTokens)
	num("out_tokens", d.OutputTokens)
	num("cache_hits", d.CacheHits)
	num("created_at", d.CreatedAt)
	num("started_at", d.StartedAt)
	num("completed_at", d.CompletedAt)
	str("prompt_file", d.PromptFile)
	str("prompt_hash", d.PromptHash)
	str("output_file", d.OutputFile)
	str("verdict_file", d.VerdictFile)
	num("pid", d.PID)
	num("exit_code", d.ExitCode)
	str("name", d.Name)
	str("model", d.Model)
	num("timeout_sec", d.TimeoutSec)
	str("verdict_status", d.VerdictStatus)
	str("verdict_summary", d.VerdictSummary)
	str("error_message", d.ErrorMessage)
	str("scope_id", d.ScopeID)
	str("parent_id", d.ParentID)
	str("base_repo_commit", d.BaseRepoCommit)
	num("retry_count", d.RetryCount)
	str("conflict_type", d.ConflictType)
	str("quarantine_reason", d.QuarantineReason)
	num("spawn_depth", d.SpawnDepth)
	if d.ParentDispatchID.Value != "" {
		str("parent_dispatch_id", d.ParentDispatchID)
	}
	str("sandbox", d.Sandbox)
	nested("sandbox_spec", d.SandboxSpec)
	nested("sandbox_effective", d.SandboxEffective)
	w.Close('}')
	return w.B
}

// isObject tells whether a text can stand in JSON as the object that it is.
func isObject(s string) bool {
	n, err := doc.ParseLaxJSON("", []byte(s), maxNested)
	return err == nil && n.Kind == doc.Object && utf8.ValidString(s)
}

// quoted is text as a JSON string.
func quoted(s string) []byte { return doc.AppendShown(nil, s) }

// page is a row for a person.
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
		b.WriteString("\nsandbox_spec, as it was asked\n" + block(d.SandboxSpec.Value, "  "))
	}
	if d.SandboxEffective.Set {
		b.WriteString("\nsandbox_effective, what held\n")
		if v, err := audit.Parse([]byte(d.SandboxEffective.Value)); err == nil {
			b.WriteString(block(audit.Show(v, false), "  "))
		} else {
			b.WriteString(block(d.SandboxEffective.Value, "  "))
		}
	}
	return b.String()
}
