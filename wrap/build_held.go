package wrap

import (
	"strconv"

	"sbx/spec"
)

// maxHeld is how many clones a Plan may hold at once. The child shares the supervisor's descriptor
// table, which must not grow beyond 64 entries: to grow a shared table, the kernel waits
// milliseconds for its RCU.
const maxHeld = 40

// These are subtracted from maxHeld for the descriptors of the relay's sockets, the doors and the
// broker.
const (
	heldByRelay  = 8
	heldByDoors  = 4
	heldByBroker = 1
)

// mayHold returns how many clones this Plan may hold.
func (b *layers) mayHold() int {
	switch {
	case b.plan.Broker:
		return maxHeld - heldByRelay - heldByDoors - heldByBroker
	case b.plan.Doors:
		return maxHeld - heldByRelay - heldByDoors
	case b.plan.Egress:
		return maxHeld - heldByRelay
	}
	return maxHeld
}

// hold takes a slot for what a field shows.
func (b *layers) hold(f spec.Field) int {
	b.held++
	if most := b.mayHold(); b.held == most+1 {
		if !f.In("filesystem") {
			f = fieldWrite
		}
		b.problems = append(b.problems, &spec.Problem{Field: f, On: b.r.At(f), Do: "bind in so many paths",
			Why: "more than " + strconv.Itoa(most) + " of them", Help: "name a directory above them"})
	}
	return b.held
}
