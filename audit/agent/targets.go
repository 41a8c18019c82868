package agent

// Bounds on the targets of a wish.
const (
	maxTarget  = 64 << 10 // bytes of one
	maxTargets = 256
)

// targets names, for each tool of an agent, the member of a call's input that is its
// target.
type targets []struct{ tool, key string }

// of returns the target of a call.
func (t targets) of(tool string, input *field) (targets []string, cut bool) {
	for i := range t {
		if t[i].tool == tool {
			f := input.fields(t[i].key)
			return f[0].target()
		}
	}
	return nil, false
}

// target returns a string's value, cut at maxTarget.
func (f *field) target() (targets []string, cut bool) {
	if !f.str {
		return nil, f.set
	}
	return []string{f.text(maxTarget)}, len(f.b) > maxTarget
}
