package front

// Valued are the runtimes' flags before the verb whose value may be a word of its own.
var Valued = [...]string{"root", "log", "log-format", "criu", "rootless", "cgroup-manager"}

// Where what is kept of containers lies: in the state that a flag names, and the node's.
const (
	OfState = "/sbx/made"
	OfNode  = "/run/sbx-oci"
)

// Free is a file of a container that any of its verbs may be handed on for: a link to the
// runtime that has made it.
const Free = "free"

// Sum is of an engine's folder of state (FNV-1a, 32 bits).
//
//go:nosplit
func Sum(root string) uint32 {
	sum := uint32(2166136261)
	for i := range len(root) {
		sum = (sum ^ uint32(root[i])) * 16777619
	}
	return sum
}

// AboveAll is a number beyond the descriptors that engines hand on.
const AboveAll = 200
