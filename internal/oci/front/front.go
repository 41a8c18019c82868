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

// Sum hashes the path of an engine's state directory (FNV-1a, 32 bits).
//
//go:nosplit
func Sum(root string) uint32 {
	sum := uint32(2166136261)
	for i := range len(root) {
		sum = (sum ^ uint32(root[i])) * 16777619
	}
	return sum
}

// AboveAll is a descriptor number above all that engines pass on.
const AboveAll = 200
