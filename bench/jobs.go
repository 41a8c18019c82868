package main

import (
	"fmt"
	"path/filepath"
	"slices"
)

// jobs returns all jobs, in the order in which they run.
func (b *bencher) jobs() ([]job, error) {
	all := []contestant{none, bwrap, sbx}
	list := []job{
		{name: "start", what: "start of /bin/true", place: b.own, argv: []string{"/bin/true"}, many: 1,
			rounds: 200, quick: 40, of: all, base: "bwrap", on: "sbx", gate: 0.90, aim: 0.75},
		{name: "start-user", what: "start of /bin/true as an ordinary user", place: b.user, argv: []string{"/bin/true"}, many: 1,
			rounds: 200, quick: 40, of: all, base: "bwrap", on: "sbx", gate: 0.90, aim: 0.75},
		{name: "many-64", what: "64 sandboxes at once", place: b.own, argv: []string{"/bin/true"}, many: 64,
			rounds: 15, quick: 4, of: all, base: "bwrap", on: "sbx", gate: 0.90, aim: 0.70},
		{name: "exec-500", what: "500 programs started by a shell", place: b.own, argv: sh(fmt.Sprintf(forks, 500)), many: 1,
			rounds: 15, quick: 4, of: all, base: "bwrap", on: "sbx", gate: 1.10, aim: 1.05},
		{name: "files-50000", what: "tar and find over 50,000 files", place: b.big, argv: sh(walk), many: 1,
			rounds: 15, quick: 4, of: all, base: "bwrap", on: "sbx", gate: 1.08, aim: 1.05, before: b.tree},
		{name: "gcc", what: "gcc of 8 files", place: b.own, argv: sh(compile), many: 1,
			rounds: 15, quick: 5, of: all, base: "none", on: "sbx", gate: 1.08, aim: 1.04, before: b.sources},
		{name: "open-read-close", what: "one open, read, close six directories down", place: b.own,
			argv: []string{filepath.Join(b.own.workspace, helper), "loop", "200000", "a/b/c/d/e/f"}, told: true,
			rounds: 15, quick: 5, of: all, base: "none", on: "sbx", gate: 1.40, aim: 1.30},
	}
	network, err := b.networking()
	list = slices.Concat(list, b.dispatching(), b.watching(), b.building(), b.streaming(), b.hosts(), b.containers(), network, brokering(b))
	if !b.root {
		list = append(list[:1:1], list[2:]...)
	}
	return list, err
}
