package run

import (
	"time"

	"sbx/spec"
	"sbx/wrap/launch"
)

// liveEvery is how far the record of a run that goes on may be behind.
const liveEvery = time.Second

// live keeps the record in the state directory up to date while the command runs: sbx watch
// and sbx show read it, and it is what stays of a run whose supervisor is killed. One
// that is named elsewhere is left alone: the mount that hides it inside falls off when
// it is replaced.
type live struct {
	*progress
	told string        // what had been used when it was last written
	free chan struct{} // nothing is being written
}

func newLive(p *progress) *live {
	l := &live{progress: p, told: p.usedSoFar(), free: make(chan struct{}, 1)}
	l.free <- struct{}{}
	return l
}

// listen begins to write.
func (x *live) listen(h *launch.Hooks) {
	if x.isNamed() {
		return
	}
	x.tell()
	if w, ok := launch.Every(liveEvery, x.tell); ok {
		h.Wait = append(h.Wait, w)
	}
}

// tell writes the record where something was used or denied since. A disk that is slow
// keeps nobody waiting, and misses some.
func (x *live) tell() {
	used := x.usedSoFar()
	if used == x.told {
		return
	}
	select {
	case <-x.free:
	default:
		return
	}
	x.told = used
	r := x.record
	if x.countsHere() {
		r.Commands = spec.Some(x.ledger.Commands(x.Plan.Counter.String()))
	}
	if x.tap != nil && x.Seen.Turns {
		r.TurnsUsed = spec.Some(x.watched.turns)
	}
	text := r.AppendJSON(nil)
	go func() {
		_ = x.sink.Put(text) // the last one says what is wrong
		x.free <- struct{}{}
	}()
}

// end waits until nothing is being written.
func (x *live) end() { <-x.free }
