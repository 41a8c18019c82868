package run

import (
	"time"

	"sbx/spec"
	"sbx/wrap/launch"
)

// liveEvery is how much older than the run its record may be.
const liveEvery = time.Second

// live keeps the record in the state directory up to date while the command runs. sbx
// watch and sbx show read it, and it remains if the supervisor is killed. A record
// elsewhere is not updated: a mount hides its file inside the sandbox, and replacing the
// file would remove that mount.
type live struct {
	*progress
	told string        // the usage when the record was last written
	free chan struct{} // has a token while nothing is being written
}

func newLive(p *progress) *live {
	l := &live{progress: p, told: p.usedSoFar(), free: make(chan struct{}, 1)}
	l.free <- struct{}{}
	return l
}

// listen starts the updates.
func (x *live) listen(h *launch.Hooks) {
	if x.isNamed() {
		return
	}
	x.update()
	if w, ok := launch.Every(liveEvery, x.update); ok {
		h.Wait = append(h.Wait, w)
	}
}

// update writes the record if usage or denials have changed. If a slow disk is still busy with the
// last update, this one is skipped, and nobody waits.
func (x *live) update() {
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
		_ = x.sink.Put(text) // an error shows again at the last write, which reports it
		x.free <- struct{}{}
	}()
}

// end waits until no update is being written.
func (x *live) end() { <-x.free }
