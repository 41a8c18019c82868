package main

import (
	"path"
	"slices"

	"sbx/audit"
	"sbx/audit/listen"
	"sbx/wrap"
	"sbx/wrap/launch"
)

// standsOutside tells whether what failed inside, since nothing is there, would not fail
// on the host: the spec says what is in view, and the program, or the folder to write in,
// is not.
func (x *execution) standsOutside(action, target string) bool {
	if !x.resolved.Visible {
		return false
	}
	if action == listen.Execute {
		_, found := launch.LookUp(target, x.resolved)
		return found == launch.Found
	}
	covered := append(wrap.Lists().Private, audit.StateDir(x.environ, x.home()))
	return mayWrite(path.Dir(target)) && !slices.ContainsFunc(covered, func(dir string) bool { return beneath(target, dir) })
}

// outOfView adds to what was attempted the line of the spec by which it is out of view,
// the one that would open it, and what else that opens.
func (x *execution) outOfView(v *audit.Violation) {
	v.Kind, v.Rule = "filesystem", "filesystem.read"
	if v.Action == listen.Execute {
		v.Kind = "command"
	}
	if f := x.hides(v.Target); f != "" {
		v.Rule = f
		return
	}
	if v.Action == listen.Execute {
		v.AllowWith = wrap.Reading(x.resolved, v.Target)
		return
	}
	top := writableFor(v.Action, v.Target)
	if v.AllowWith = x.writeLine(top); top != v.Target && v.AllowWith != "" {
		v.Opens = top
	}
}
