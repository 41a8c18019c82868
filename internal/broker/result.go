package broker

import (
	"time"

	"sbx/spec"
)

// Kind is the outcome of a call; each door translates it into its own codes.
type Kind uint8

// The kinds.
const (
	Allowed   Kind = iota
	NoToken        // no token, a wrong one or an expired one
	NoTool         // there is no such tool
	BadArgs        // the arguments do not match the tool's schema
	Forbidden      // an engine, the plan or a person denied it
	Busy           // too many calls are running
	Broken         // the call was allowed and failed to run
	Closed         // the broker decides no further calls
)

// Result is the outcome of a call, as the caller gets it.
type Result struct {
	Kind      Kind
	Rule      string
	Reason    string
	AllowWith string

	Status         spec.Opt[int64] // the tool's exit status; not set if the tool was killed
	Stdout, Stderr string
	Truncated      bool
	Artifacts      []Artifact
	Unexpected     []string
	Wall           time.Duration
}

// denial is the reason why a call is denied.
type denial struct {
	kind               Kind
	rule, reason, with string
}

// object is the JSON form of a result.
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
