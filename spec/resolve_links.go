package spec

import "slices"

// led is a path with links on the way, and the purpose for which it is opened.
type led struct {
	Path
	do string
}

// follow resolves a path that is going to be opened. astray checks the links on the way once all
// paths that a command could have written are known.
func (r *resolver) follow(f Field, do, asked, base string) (Path, string) {
	p, why := r.walk(f, asked, base)
	if len(p.Links) > 0 {
		r.led = append(r.led, led{p, do})
	}
	return p, why
}

// astray rejects paths that a link of an earlier command may have redirected.
func (r *resolver) astray() {
	if len(r.led) == 0 {
		return
	}
	trees := TreesOf(r.in, r.spec)
	for i := range r.led {
		l := &r.led[i]
		known := slices.ContainsFunc(r.problems, func(p *Problem) bool { return p.Field == l.Field })
		if why, help := trees.astray(&l.Path); why != "" && !known {
			r.refuse(l.Field, l.do, why, help)
		}
	}
}
