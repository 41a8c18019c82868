package main

import (
	"path"
	"strings"

	"sbx/audit"
	"sbx/audit/listen"
	"sbx/spec"
	"sbx/wrap"
)

// beneath tells whether path is dir or lies in it.
func beneath(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// protectedAbove is what is protected and is target, or has it beneath; nil for
// none.
func (x *execution) protectedAbove(target string) *wrap.Protected {
	for i := range x.plan.Watch.Protected {
		if p := &x.plan.Watch.Protected[i]; beneath(target, p.Path) {
			return p
		}
	}
	return nil
}

// readOnly adds to what was attempted the line of the spec by which it is refused, the
// one that would let it be done, and what that opens.
func (x *execution) readOnly(v *audit.Violation) {
	v.Rule, v.AllowWith = x.readOnlyRule(v.Action, v.Target)
	if top := writableFor(v.Action, v.Target); top != v.Target && v.AllowWith != "" && v.AllowWith == x.writeLine(top) {
		v.Opens = top
	}
}

// readOnlyRule is the line of the spec by which what was attempted on a target is
// refused, and the one that would let it be done; "" where none would.
func (x *execution) readOnlyRule(action, target string) (rule, allow string) {
	if p := x.protectedAbove(target); p != nil {
		return string(wrap.FieldProtected), x.writeLine(p.Path)
	}
	if rule, own := x.ownMount(target); own {
		return rule, ""
	}
	if f := x.hides(target); f != "" {
		return f, ""
	}
	r := x.resolved
	for i := range r.Mounts {
		if m := &r.Mounts[i]; m.Mode == spec.MountRO && beneath(target, m.Target) {
			return string(m.Field) + ": mode ro", string(m.Field) + ": mode rw"
		}
	}
	for _, line := range [...]struct {
		set  bool
		name string
	}{{r.Spec.Readonly.Or(false), "readonly"}, {r.Spec.Sandbox.Value.Readonly.Or(false), "sandbox.readonly"}} {
		if line.set {
			if r.AccessMode != spec.ReadOnly && (beneath(target, r.WorkingDir.Real) || r.Root.Abs != "" && beneath(target, r.Root.Real)) {
				allow = line.name + ": false"
			}
			return line.name + ": true", allow
		}
	}
	switch {
	case r.AccessMode != spec.AccessUnset:
		rule = "access_mode: " + r.AccessMode.String()
	case r.Spec.Filesystem.Value.Write.Set:
		rule = "filesystem.write"
	case r.Spec.Filesystem.Value.Read.Set:
		rule = "filesystem.read"
	case r.Root.Abs != "":
		rule = "sandbox.root"
	}
	if r.AccessMode == spec.ReadOnly && beneath(target, r.WorkingDir.Real) {
		return rule, "access_mode: workspace-write"
	}
	if top := writableFor(action, target); top != "" && !x.host.OwnKernel(top) {
		allow = x.writeLine(top)
	}
	return rule, allow
}

// hides is the line of the spec that hides a path; "" for none.
func (x *execution) hides(path string) string {
	for i := range x.resolved.Hide {
		if h := &x.resolved.Hide[i]; beneath(path, h.Abs) || beneath(path, h.Real) {
			return string(h.Field)
		}
	}
	return ""
}

// writableFor is what must be writable for an action on a target: what is there to be
// written itself, and for a name that is to come or go the nearest folder that is
// there. What is not there cannot be named in filesystem.write. It is "" for the
// root, which is no folder to open.
func writableFor(action, target string) string {
	if listen.TakesName(action) {
		target = path.Dir(target)
	}
	for ; target != "/" && target != "."; target = path.Dir(target) {
		if _, err := (spec.HostPaths{}).Lstat(target); err == nil {
			return target
		}
	}
	return ""
}
