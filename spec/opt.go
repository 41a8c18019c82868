package spec

// Opt is a value that may be absent. Absent ("not constrained by this
// document"), empty ("nothing") and set are three different things in a
// SandboxSpec, and only a type of its own keeps them apart.
type Opt[T any] struct {
	Value T
	Set   bool
}

// Some returns an Opt that is set to v.
func Some[T any](v T) Opt[T] { return Opt[T]{Value: v, Set: true} }

// Or returns the value, or def if it is absent.
func (o Opt[T]) Or(def T) T {
	if o.Set {
		return o.Value
	}
	return def
}
