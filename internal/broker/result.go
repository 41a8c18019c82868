package broker

import (
	"time"

	"sbx/spec"
)

// Kind is what became of a call; a door turns it into its own numbers.
type Kind uint8

// The kinds.
const (
	Allowed   Kind = iota
	NoToken        // no, a wrong or an ended token
	NoTool         // there is no such tool
	BadArgs        // the arguments are against the tool's schema
	Forbidden      // an engine, the plan or a person denies it
	Busy           // too many calls run
	Broken         // it was allowed, and did not come about
	Closed         // no call is decided any more
)

// Result is what came of a call.
type Result struct {
	Kind      Kind
	Rule      string
	Reason    string
	AllowWith string

	Status         spec.Opt[int64] // the tool's exit status, where it came to its end
	Stdout, Stderr string
	Truncated      bool
	Artifacts      []Artifact
	Unexpected     []string
	Wall           time.Duration
}

// denial is why a call is denied, before any rule is asked.
type denial struct {
	kind               Kind
	rule, reason, with string
}

// object is a result as callers read it.
func (r *Result) object() map[string]any {
	o := map[string]any{"verdict": "deny"}
	add := func(key, s string) {
		if s != "" {
			o[key] = s
		}
	}
	add("rule", r.Rule)
	add("reason", r.Reason)
	add("allow_with", r.AllowWith)
	if r.Kind != Allowed && r.Kind != Broken {
		return o
	}
	if o["verdict"] = "allow"; r.Kind == Broken {
		o["verdict"] = "error"
	}
	result := map[string]any{"stdout": r.Stdout, "stderr": r.Stderr, "truncated": r.Truncated}
	if r.Status.Set {
		result["status"] = r.Status.Value
	}
	o["result"] = result
	made := []map[string]any{}
	for _, a := range r.Artifacts {
		made = append(made, map[string]any{"path": a.Path, "size": a.Size, "sha256": a.SHA256})
	}
	o["artifacts"], o["unexpected"] = made, append([]string{}, r.Unexpected...)
	return o
}
