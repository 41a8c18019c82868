package wrap

import (
	"slices"
	"strings"

	"sbx/spec"
)

// draft is a Plan while it is made: what it is made from, and what is known of it so
// far.
//
// What makes a part of the Plan embeds as much as it needs of draft, places, layers and
// homeLayer, of which each has the one before it, and no more: what a document asks, what
// is where, what is laid over it, an agent's home.
type draft struct {
	r        *spec.Resolved
	h        *Host
	req      Request
	plan     Plan
	problems spec.Problems
	faults   []fault // what makes a line other than enforced
	mute     string  // why the supervisor can answer no calls
	heldBy   heldBy  // by which mechanism a limit is held
	bounded  string  // what bounds the number of processes without limits.pids
}

// heldBy is the mechanism by which a limit is held.
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

// lack says that field cannot be held as asked: a refusal, or a fault where
// the documents let it be.
func (b *draft) lack(p *spec.Problem, s Status) {
	if b.r.AllowsLess(p.Field) {
		b.fault(p.Field, s, p.Why)
		return
	}
	b.problems = append(b.problems, p)
}

// line appends a field's line; faults make it other than enforced.
func (b *draft) line(f spec.Field, by string) {
	for i := range b.plan.Enforcement {
		if b.plan.Enforcement[i].Field == f {
			return
		}
	}
	e := Enforcement{Field: f, Asked: b.askedText(f), Status: Enforced, By: by}
	for _, x := range b.faults {
		if x.field != f {
			continue
		}
		e.Weaken(x.status, x.reason)
	}
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

// askedText is what a line says was asked: the document's own words, or the
// default that another field implies.
func (b *draft) askedText(f spec.Field) string {
	if f == "network" {
		return b.r.Network.String()
	}
	if folder := b.jobFolder(f); folder != "" {
		return folder
	}
	if f == "environment.set" {
		return strings.Join(b.r.Spec.Names(f), ", ")
	}
	if s := b.r.Spec.Text(f); s != "" {
		return s
	}
	return "default"
}

// asked tells whether a document of the spec sets field.
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

// fromOutside tells whether a field is only what an outer sandbox has.
func (b *draft) fromOutside(f spec.Field) bool {
	at := b.r.At(f)
	return strings.HasPrefix(at, ParentPath) || strings.HasPrefix(at, FreeParent)
}

// jobFolder is what --input or --output names; "" for nothing.
func (b *draft) jobFolder(f spec.Field) string {
	switch j := b.r.Job; {
	case j != nil && f == FieldInput:
		return j.Input.Abs
	case j != nil && f == FieldOutput:
		return j.Output.Abs
	}
	return ""
}

// restricted tells whether the base is read-only.
func (b *draft) restricted() bool {
	return b.r.Confined
}

// modeField is the field that makes the base read-only.
func (b *draft) modeField() spec.Field { return modeField(b.r) }

func modeField(r *spec.Resolved) spec.Field {
	if r.AccessMode != spec.AccessUnset {
		return "access_mode"
	}
	return fieldWrite
}
