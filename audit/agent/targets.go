package agent

// The most that a wish has: bytes of a target, and paths of one change.
const (
	maxTarget  = 64 << 10
	maxTargets = 256
)

// targets says, for each tool of an agent, which member of a call's input is
// its target.
type targets []struct{ tool, key string }

// of is the target of a call.
func (t targets) of(tool string, input *field) (targets []string, cut bool) {
	for i := range t {
		if t[i].tool == tool {
			c := input.sub()
			f := c.fields(t[i].key)
			return f[0].target()
		}
	}
	return nil, false
}

// target is a string's value where it is short enough.
func (f *field) target() (targets []string, cut bool) {
	if !f.str {
		return nil, f.set
	}
	return []string{f.text(maxTarget)}, len(f.b) > maxTarget
}
