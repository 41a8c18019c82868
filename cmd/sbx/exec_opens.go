package main

import (
	"path"
	"slices"
	"strings"

	"sbx/audit/listen"
	"sbx/wrap"
)

// writeLine is the line of a spec that lets a path be written; "" for none, and for
// a path that no document can name.
func (x *execution) writeLine(path string) string { return wrap.Writing(x.resolved, path) }

// protectedRule is the line by which a protected name may not come or go, and the one
// that would let it; "" where none would.
func (x *execution) protectedRule(action, target string) (rule, allow string) {
	if rule, own := x.ownMount(target); own {
		return rule, ""
	}
	if action == listen.OpenInRoot || !strings.HasPrefix(target, "/") { // it is the way there that is refused
		return string(wrap.FieldProtected), ""
	}
	return string(wrap.FieldProtected), x.writeLine(x.opener(target))
}

// ownMount is the rule of what is read-only by a mount that filesystem.write takes
// nothing from: a program that commands.allow names, a document of the spec, a folder above one.
func (x *execution) ownMount(target string) (rule string, ok bool) {
	for i := range x.plan.Mounts {
		m := &x.plan.Mounts[i]
		if m.Op == wrap.OpPin && m.For == "" && m.Target == x.plan.Staged(target) { // on the way to what is sbx's own, or hidden
			return string(wrap.FieldProtected), true
		}
		if m.Op != wrap.OpBind || m.Mode != wrap.ModeRO || m.Target != target {
			continue
		}
		switch m.For {
		case "commands.allow":
			return string(m.For), true
		case "":
			return string(wrap.FieldProtected), true
		}
	}
	return "", false
}

// opener is what filesystem.write is to name for a target that is protected, or has
// something protected in it: what is no protected name itself opens none.
func (x *execution) opener(target string) string {
	w := &x.plan.Watch
	in, inGit := wrap.InGitFolder(target)
	leads := inGit && wrap.LeadsInGit(in, true) // what is only on the way opens nothing
	if slices.Contains(w.Unmade, target) && !leads || slices.ContainsFunc(w.Protected, func(p wrap.Protected) bool { return !p.Shared && beneath(target, p.Path) }) {
		return target
	}
	for _, tree := range w.Trees {
		switch {
		case beneath(tree, target): // mounted, and nothing takes it off
			return ""
		case !beneath(target, tree):
			continue
		}
		for rel := target[len(tree)+1:]; rel != "."; rel = path.Dir(rel) {
			if isProtected(rel) {
				return tree + "/" + rel
			}
		}
		return x.onlyGit(target)
	}
	return target
}

// onlyGit is the one git folder in which all lies that is protected beneath a folder;
// "" where that is not so.
func (x *execution) onlyGit(folder string) (git string) {
	for i := range x.plan.Watch.Protected {
		p := &x.plan.Watch.Protected[i]
		if p.Shared || !beneath(p.Path, folder) {
			continue
		}
		in, ok := wrap.InGitFolder(p.Path)
		at := strings.TrimSuffix(p.Path, "/"+in)
		if !ok || git != "" && git != at {
			return ""
		}
		git = at
	}
	return git
}
