package main

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"sbx/audit"
	"sbx/dispatch"
	"sbx/dispatch/life"
	"sbx/spec"
)

// maxNested bounds how deep a nested document may be, for who reads it.
const maxNested = 200

// object is a row as one JSON object: the keys of Intercore's, and more. Absent
// is what is NULL.
func object(d *dispatch.Dispatch) []byte {
	b := []byte("{")
	put := func(key string, value []byte) {
		if len(b) > 1 {
			b = append(b, ", "...)
		}
		b = append(strconv.AppendQuote(b, key), ": "...)
		b = append(b, value...)
	}
	str := func(key string, v spec.Opt[string]) {
		if v.Set {
			put(key, quoted(v.Value))
		}
	}
	num := func(key string, v spec.Opt[int64]) {
		if v.Set {
			put(key, strconv.AppendInt(nil, v.Value, 10))
		}
	}
	nested := func(key string, v spec.Opt[string]) {
		switch {
		case !v.Set:
		case isObject(v.Value):
			put(key, []byte(strings.TrimSpace(v.Value)))
		default:
			put(key+"_invalid", quoted(v.Value))
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
	return append(b, '}')
}

// isObject tells whether a text can stand in JSON as the object that it is.
func isObject(s string) bool {
	if !utf8.ValidString(s) || !strings.HasPrefix(strings.TrimSpace(s), "{") || !json.Valid([]byte(s)) {
		return false
	}
	depth := 0
	dec := json.NewDecoder(strings.NewReader(s))
	for {
		t, err := dec.Token()
		if err != nil {
			return true // its end: it is valid
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth > maxNested {
				return false
			}
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
}

// quoted is text as a JSON string; what is no UTF-8 is replaced.
func quoted(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(strings.ToValidUTF8(s, "\uFFFD")) != nil {
		return []byte(`""`)
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

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
