package wrap

import (
	"slices"
	"strings"

	"sbx/spec"
)

// draft is an unfinished Plan with its inputs.
//
// Each part of the Plan embeds no more than it needs of draft (what the documents request),
// places (what is where), layers (what is laid over it) and homeLayer (an agent's home), each of
// which embeds the one before it.
type draft struct {
	r        *spec.Resolved
	h        *Host
	req      Request
	plan     Plan
	problems spec.Problems
	faults   []fault // the reasons for lines other than enforced
	mute     string  // why the supervisor cannot answer calls; "" where it can
	heldBy   heldBy
	bounded  string // the mechanism that bounds the number of processes without limits.pids
}

// heldBy has the mechanism that enforces each limit.
type heldBy map[spec.Field]string

// fault is a reason why a field's line is not Enforced.
type fault struct {
	field  spec.Field
	status Status
	reason string
}

func (b *draft) fault(f spec.Field, s Status, reason string) {
	b.faults = append(b.faults, fault{f, s, reason})
}

// lack notes that a field cannot be enforced as requested: as a fault where the documents list
// it in best_effort, else as a problem.
func (b *draft) lack(p *spec.Problem, s Status) {
	if b.r.AllowsLess(p.Field) {
		b.fault(p.Field, s, p.Why)
		return
	}
	b.problems = append(b.problems, p)
}

// line appends a field's line of Enforcement, weakened by its faults.
func (b *draft) line(f spec.Field, by string) {
	for i := range b.plan.Enforcement {
		if b.plan.Enforcement[i].Field == f {
			return
		}
	}
	e := Enforcement{Field: f, Asked: b.askedText(f), Status: Enforced, By: by}
	var reasons []string
	for _, x := range b.faults {
		if x.field == f {
			e.Status = max(e.Status, x.status)
			reasons = append(reasons, x.reason)
		}
	}
	e.Reason = strings.Join(reasons, "; ")
	if e.Status == Unavailable {
		e.By = ""
	}
	b.plan.Enforcement = append(b.plan.Enforcement, e)
}

// note adds a sentence to a field's line.
func (b *draft) note(f spec.Field, text string) {
	for i := range b.plan.Enforcement {
		e := &b.plan.Enforcement[i]
		if e.Field != f {
			continue
		}
		if e.Reason != "" {
			e.Reason += "; "
		}
		e.Reason += text
	}
}

func (b *draft) isNotYet(f spec.Field) bool {
	return slices.Contains(b.r.NotYet, f)
}

// askedText returns the request that a line shows: the document's own words, or the default that
// another field implies.
func (b *draft) askedText(f spec.Field) string {
	if f == "network" {
		return b.r.Network.String()
	}
	if dir := b.jobDir(f); dir != "" {
		return dir
	}
	if f == "environment.set" {
		return strings.Join(b.r.Spec.Names(f), ", ")
	}
	if s := b.r.Spec.Text(f); s != "" {
		return s
	}
	return "default"
}

// asked reports whether a document of the spec sets field.
func (b *draft) asked(f spec.Field) bool {
	s := b.r.Spec
	fs := s.Filesystem.Value
	switch f {
	case fieldRead:
		return fs.Read.Set
	case fieldWrite:
		return fs.Write.Set
	case "filesystem.hide":
		return fs.Hide.Set && len(fs.Hide.Value) > 0
	case "filesystem.mounts":
		return fs.Mounts.Set && len(b.r.Mounts) > 0
	case "sandbox.root":
		return s.Sandbox.Set && s.Sandbox.Value.Root.Set
	case "sandbox.readonly":
		return s.Sandbox.Value.Readonly.Or(false)
	case "restrict":
		return s.Restrict.Set
	case "readonly":
		return s.Readonly.Or(false)
	}
	return false
}

func (b *draft) set(f spec.Field) bool {
	switch f {
	case "tools_allowed":
		return b.r.Spec.ToolsAllowed.Set
	case "tools_denied":
		return len(b.r.Spec.ToolsDenied.Value) > 0
	}
	return b.r.Spec.MaxTurns.Set
}

// fromOutside reports whether only the outer sandbox sets a field.
func (b *draft) fromOutside(f spec.Field) bool {
	at := b.r.At(f)
	return strings.HasPrefix(at, ParentPath) || strings.HasPrefix(at, FreeParent)
}

// jobDir returns the directory that --input or --output names; "" for none.
func (b *draft) jobDir(f spec.Field) string {
	switch j := b.r.Job; {
	case j != nil && f == FieldInput:
		return j.Input.Abs
	case j != nil && f == FieldOutput:
		return j.Output.Abs
	}
	return ""
}

// restricted reports whether the base is read-only.
func (b *draft) restricted() bool {
	return b.r.Confined
}

// modeField returns the field that makes the base read-only.
func (b *draft) modeField() spec.Field { return modeField(b.r) }

func modeField(r *spec.Resolved) spec.Field {
	if r.AccessMode != spec.AccessUnset {
		return "access_mode"
	}
	return fieldWrite
}
