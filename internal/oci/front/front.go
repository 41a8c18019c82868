package front

// Valued lists the runtimes' flags before the verb whose value may be a separate word.
var Valued = [...]string{"root", "log", "log-format", "criu", "rootless", "cgroup-manager"}

// The directories of per-container state: beneath --sbx-state, and the node's default.
const (
	OfState = "/sbx/made"
	OfNode  = "/run/sbx-oci"
)

// Free is the name of a symlink in a container's state directory to the runtime that created
// it. If it is there, front hands the container's verbs on at once (see handedOn).
const Free = "free"

// OfRoot stands in the name of a container's state directory between its id, in which it is not allowed,
// and the Sum of its engine's state directory.
const OfRoot = "@"

// Sum hashes the path of an engine's state directory (FNV-1a, 64 bits).
//
//go:nosplit
func Sum(root string) uint64 {
	sum := uint64(14695981039346656037)
	for i := range len(root) {
		sum = (sum ^ uint64(root[i])) * 1099511628211
	}
	return sum
}

// AboveAll is a descriptor number above all that engines pass on.
const AboveAll = 200
