package wrap

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap/defaults"
)

// Refusal says why an act is denied.
type Refusal struct {
	Rule string // the line of a document, or the rule that an access mode implies
	// Protected is the protected path at or above the act's path; nil for none.
	Protected *Protected
}

// Explain returns the rule that denies an act. The Rule is "" if the Plan allows the act.
func (p *Plan) Explain(r *spec.Resolved, a Act) Refusal {
	g, denied := p.denial(a)
	if len(p.View.Places()) == 0 { // nothing is mounted: an outer sandbox decides on the files
		g, denied = view.Grant{Access: view.Read, Because: view.Cause{Field: string(modeField(r))}}, true
	}
	if !denied {
		return Refusal{}
	}
	e := Refusal{Rule: ruleOf(r, g, a.Path)}
	if e.Rule != string(FieldProtected) {
		return e
	}
	host := p.outside(a.Path)
	for i := range p.Watch.Protected {
		if w := &p.Watch.Protected[i]; under(host, w.Path) {
			e.Protected = w
			break
		}
	}
	return e
}

// outside returns the path of the host that shows, or is hidden, at a path inside.
func (p *Plan) outside(inside string) string {
	if g := p.View.At(inside); g.Source != "" {
		return g.Source
	}
	for i := range p.Watch.MaskedDirs {
		if f := &p.Watch.MaskedDirs[i]; f.Path != "" && f.Inside == inside {
			return f.Path
		}
	}
	return inside
}

// ruleOf returns the line of the document from which a grant follows.
func ruleOf(r *spec.Resolved, g view.Grant, path string) string {
	f := g.Because.Field
	list, _, _ := strings.Cut(f, "[")
	switch list {
	case "filesystem.hide":
		for i := range r.Hide {
			if h := &r.Hide[i]; under(path, h.Abs) || under(path, h.Real) {
				return string(h.Field)
			}
		}
		return list
	case "filesystem.mounts":
		i := itemOf(f)
		if isOption(r, "filesystem.mounts") {
			return r.Spec.Source.Name
		}
		if m := r.Spec.Filesystem.Value.Mounts.Value; i < len(m) && m[i].Mode == spec.MountRO {
			return f + ": mode ro"
		} else if i < len(r.Mounts) && r.Mounts[i].Mode != spec.MountRO {
			return f
		}
		return readonlyRule(r)
	case string(FieldPrivate):
		if r.Visible && !isPrivate(path) { // the home, which the list leaves out
			return string(fieldRead)
		}
	case "", "access_mode", string(fieldRead), string(fieldWrite), "working_dir", "sandbox.root", "restrict":
		if rule := readonlyRule(r); rule != "" && g.Access == view.Read {
			return rule
		}
	}
	if list == "" || list == "working_dir" {
		list = string(modeField(r))
	}
	if list == "access_mode" {
		return list + ": " + r.AccessMode.String()
	}
	return list
}

// isPrivate reports whether a path lies in a directory that each sandbox has privately.
func isPrivate(path string) bool {
	return slices.ContainsFunc(defaults.Lists().Private, func(dir string) bool { return under(path, dir) })
}

// Shares reports whether a path that is absent inside might show if the sandbox showed more of the
// host.
func (h *Host) Shares(path string) bool {
	return !isPrivate(path) && (h.State == "" || !under(path, h.State))
}

// itemOf returns the index in a field that names an item of a list, as in "filesystem.mounts[2]".
func itemOf(f string) int {
	_, n, _ := strings.Cut(f, "[")
	i, err := strconv.Atoi(strings.TrimSuffix(n, "]"))
	if err != nil {
		return math.MaxInt
	}
	return i
}

// readonlyLine returns the field that makes paths read-only which the rest of the document makes
// writable; "" for none.
func readonlyLine(r *spec.Resolved) string {
	switch {
	case r.Spec.Readonly.Or(false):
		return "readonly"
	case r.Spec.Sandbox.Value.Readonly.Or(false):
		return "sandbox.readonly"
	}
	return ""
}

// readonlyRule returns the line, or the option, that requests this.
func readonlyRule(r *spec.Resolved) string {
	switch line := readonlyLine(r); {
	case line == "":
		return ""
	case isOption(r, spec.Field(line)):
		return r.Spec.Source.Name
	default:
		return line + ": true"
	}
}

// isOption reports whether an agent's option sets a field, and no document does.
func isOption(r *spec.Resolved, f spec.Field) bool {
	return r.Spec.Source.Kind == spec.AgentOptions && r.Spec.At(f) == r.Spec.Source.Name
}
