package spec

import "sbx/internal/view"

// Outside returns the host path that is visible at inside, a clean absolute path in the sandbox.
// mapped says that a mount or the job layout shows a different path there.
func (r *Resolved) Outside(inside string) (host string, mapped bool) {
	best, source := "", ""
	take := func(target, from string) {
		if from != "" && len(target) > len(best) && under(inside, target) {
			best, source = target, from
		}
	}
	for i := range r.Mounts {
		take(r.Mounts[i].Target, r.Mounts[i].Source.Real)
	}
	if r.Job != nil {
		take("/input", r.Job.Input.Real)
		take("/output", r.Job.Output.Real)
	}
	if best == "" {
		return inside, false
	}
	rel, _ := view.Relative(inside, best)
	return view.Join(source, rel), true
}
