package main

import (
	"path/filepath"
	"time"
)

// spawned is a dispatch: what is measured is how long the caller waits for its id.
var spawned = contestant{"sbx dispatch spawn", func(b *bencher, p place, argv []string) []string {
	return append([]string{filepath.Join(filepath.Dir(b.sbx), "sbx-dispatch"), "spawn", "--sandbox-spec", "@" + p.spec, "--"}, argv...)
}}

// dispatching is the job that tells what a spawn costs beyond the start of the
// command, which it does not wait for. An sbx that has no sbx-dispatch beside it
// goes without.
func (b *bencher) dispatching() []job {
	if !exists(filepath.Join(filepath.Dir(b.sbx), "sbx-dispatch")) {
		return nil
	}
	return []job{{name: "spawn", what: "sbx dispatch spawn, more than the start of /bin/true", place: b.own, argv: []string{"/bin/true"}, many: 1,
		rounds: 40, quick: 10, of: []contestant{none, sbx, spawned}, base: "none", on: spawned.name, minus: true, gate: 10, aim: 7,
		// The dispatch before goes on after its spawn has returned.
		pause: 60 * time.Millisecond}}
}
