package spec

import (
	"slices"
	"strings"
)

// workshop resolves sandbox.root and the subtree that restrict leaves of it.
func (r *resolver) workshop() {
	s := r.spec
	if !s.Sandbox.Value.Root.Set {
		if s.Restrict.Set {
			r.orphan()
		}
		return
	}
	if s.Sandbox.Value.Readonly.Or(false) && s.Readonly.Set && !s.Readonly.Value {
		r.refuse("readonly", "make the workshop writable by readonly: false", "sandbox.readonly is true", "leave readonly out")
	}
	asked := s.Sandbox.Value.Root.Value
	root, ok := r.mustBeDir("sandbox.root", "use the root "+odd(asked), asked, r.spec.Source.baseDir(&r.in))
	r.out.Root, r.out.Restricted = root, root
	if ok && r.inWorkshop(root) && s.Restrict.Set {
		r.restrict(root, s.Restrict.Value)
	}
}

// inWorkshop rejects a path in a workshop's document that lies outside the directory of that
// document. Other specs may name any path.
func (r *resolver) inWorkshop(p Path) bool {
	if k := r.spec.Source.Kind; k != WorkshopFile && k != OldWorkerFile {
		return true
	}
	dir, why := r.walk("", r.spec.Source.baseDir(&r.in), "/")
	if why == "" && !under(p.Real, dir.Real) {
		why = odd(p.Abs) + " lies outside of the workshop's directory " + odd(dir.Abs)
		if p.Real != p.Abs {
			why += ": it is " + odd(p.Real)
		}
	}
	if why == "" {
		return true
	}
	r.refuse(p.Field, "use "+odd(p.Asked)+" of the workshop", why, "only a spec may open what lies elsewhere")
	return false
}

// OrphanWhy is the error of a restrict without a workshop.
const OrphanWhy = "it declares restrictions and has no parent sandbox"

// orphan handles a restrict without a workshop.
func (r *resolver) orphan() {
	if r.spec.Source.Kind == WorkshopFile {
		r.note("restrict", "the workshop has no sandbox: there are no files but @system")
		return
	}
	if r.out.AllowsLess("restrict") {
		r.out.Orphan = true
		return
	}
	r.refuse("restrict", "restrict the files to "+odd(r.spec.Restrict.Value), OrphanWhy, `give the workshop that has sandbox.root, or list "restrict" in best_effort`)
}

func (r *resolver) restrict(root Path, asked string) {
	do := "restrict the files to " + odd(asked)
	if LeavesRoot(asked) {
		r.refuse("restrict", do, "it leaves the root "+rooted(&root), subtreeHelp)
		return
	}
	p, why := r.follow("restrict", do, joinPath(root.Real, "./"+asked), "/")
	p.Asked = asked
	help := ""
	switch {
	case why != "":
	case !under(p.Real, root.Real):
		why, help = "it leaves the root "+rooted(&root)+": it is "+odd(p.Real), subtreeHelp
	case !p.Exists:
		why = missing(p)
	case !p.IsDir:
		why = odd(p.Abs) + " is not a directory"
	}
	if why != "" {
		r.refuse("restrict", do, why, help)
		return
	}
	r.out.Restricted = p
}

const subtreeHelp = "name a directory that lies in it"

// LeavesRoot reports whether p goes above its start, even if it returns.
func LeavesRoot(p string) bool {
	depth := 0
	for part := range strings.SplitSeq(p, "/") {
		switch part {
		case "", ".":
		case "..":
			if depth--; depth < 0 {
				return true
			}
		default:
			depth++
		}
	}
	return false
}

// restricted rejects entries that would make more of the workshop's tree visible than restrict
// leaves, and a working directory outside of that subtree.
func (r *resolver) restricted() {
	if r.spec.Source.Kind == OldWorkerFile {
		for _, p := range slices.Concat(r.out.Read, r.out.Write) {
			r.inWorkshop(p)
		}
	}
	root, sub := r.out.Root, r.out.Restricted
	if root.Real == "" || sub.Real == "" {
		return
	}
	if dir := r.out.WorkingDir; dir.Field != "" && dir.Real != "" && !under(dir.Real, sub.Real) {
		r.refuse(dir.Field, "start in "+odd(dir.Asked), "it lies outside of "+rooted(&sub), "leave working_dir out to start there")
	}
	if sub.Real == root.Real {
		return
	}
	opens := func(p Path) {
		if p.Field != sub.Field && (under(p.Real, root.Real) && !under(p.Real, sub.Real) || under(root.Real, p.Real)) {
			r.refuse(p.Field, "open "+odd(p.Asked), "restrict leaves only "+odd(sub.Abs)+" of the root", "")
		}
	}
	for _, p := range slices.Concat(r.out.Read, r.out.Write) {
		opens(p)
	}
	for _, m := range r.out.Mounts {
		if m.Mode != MountTmpfs {
			opens(m.Source)
		}
	}
}

// job resolves --input and --output.
func (r *resolver) job() {
	ask := r.in.Job
	if ask == nil {
		return
	}
	const flags = "use --input and --output"
	switch {
	case r.spec.Sandbox.Set:
		r.refuse("sandbox", flags, "a workshop has a layout of its own", "")
	case r.out.AccessMode == DangerFullAccess:
		r.refuse("access_mode", flags, "the job layout is workspace-write", "leave access_mode out")
	case ask.Output != "" && (r.out.AccessMode == ReadOnly || r.spec.downgraded()):
		r.refuse("access_mode", "write to --output", "the spec is read-only", "")
	}
	r.out.Job = &Job{}
	if ask.Input != "" {
		r.out.Job.Input, _ = r.mustBeDir("", "take --input "+odd(ask.Input), ask.Input, r.in.Cwd)
	}
	if ask.Output != "" {
		r.out.Job.Output, _ = r.mustBeDir("", "write to --output "+odd(ask.Output), ask.Output, r.in.Cwd)
	}
	if r.out.AccessMode == AccessUnset {
		r.out.AccessMode = WorkspaceWrite
	}
}
