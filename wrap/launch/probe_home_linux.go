package launch

import (
	"golang.org/x/sys/unix"

	"sbx/spec"
	"sbx/wrap"
)

// homeLayer looks at the home of an agent, and at the files directly in it that
// the agent reads.
func (p *prober) homeLayer() {
	if !p.r.HomeLayer {
		return
	}
	at := resolve(p.r.Home)
	var st unix.Stat_t
	if at.kind != wrap.Dir || unix.Lstat(at.path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return
	}
	p.h.HomeReal, p.h.HomeMode = at.path, st.Mode&0o777
	for i := range p.r.Own {
		if o := &p.r.Own[i]; o.Mode == spec.OwnRead && o.Exists && !o.IsDir {
			p.look(o.Real)
		}
	}
}
