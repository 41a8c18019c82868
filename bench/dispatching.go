package main

import (
	"path/filepath"
	"time"
)

// spawned is a dispatch. Measured is how long the caller waits for its id.
var spawned = contestant{"sbx dispatch spawn", func(b *bencher, p place, argv []string) []string {
	return append([]string{filepath.Join(filepath.Dir(b.sbx), "sbx-dispatch"), "spawn", "--sandbox-spec", "@" + p.spec, "--"}, argv...)
}}

// dispatching returns the job that measures what a spawn costs more than the start of the command,
// for which it does not wait; none if sbx has no sbx-dispatch next to it.
func (b *bencher) dispatching() []job {
	if !exists(filepath.Join(filepath.Dir(b.sbx), "sbx-dispatch")) {
		return nil
	}
	return []job{{name: "spawn", what: "sbx dispatch spawn, more than the start of /bin/true", place: b.own, argv: []string{"/bin/true"}, many: 1,
		rounds: 40, quick: 10, of: []contestant{none, sbx, spawned}, base: "none", on: spawned.name, minus: true, gate: 10, aim: 7,
		// the dispatch before still runs after its spawn has returned
		pause: 60 * time.Millisecond}}
}
