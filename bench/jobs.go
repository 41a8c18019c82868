package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A job is what every contestant does, and the bound of the ratio of the last
// one named to base.
type job struct {
	name   string
	what   string
	place  place
	argv   []string
	many   int  // at once
	told   bool // the command prints its own figure
	rounds int
	quick  int
	of     []contestant
	base   string
	on     string // the contestant that is judged
	gate   float64
	aim    float64
	minus  bool    // what is judged is the difference to base, not the ratio
	also   []bound // of further contestants
	share  bool    // what answering takes of its processor time is told as well
	before func() error
	fresh  []string      // what is removed from the workspace before each sample, untimed
	pause  time.Duration // before each sample, beside the bencher's own
}

// bound is the bound of a further contestant's ratio to base.
type bound struct {
	on        string
	gate, aim float64
}

const (
	forks   = `i=0; while [ $i -lt %d ]; do /bin/true; i=$((i+1)); done`
	walk    = `tar -cf - tree | cat >/dev/null; find tree -type f -size +1k | cat >/dev/null`
	compile = `for i in 1 2 3 4 5 6 7 8; do gcc -O1 -c src/f$i.c -o src/f$i.o || exit 1; done; gcc -o src/all src/*.o`
)

// jobs is the list, in the order they are run.
func (b *bencher) jobs() ([]job, error) {
	all := []contestant{none, bwrap, sbx}
	sh := func(script string) []string { return []string{"/bin/sh", "-c", script} }
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

// tree makes the 50,000 files, once.
func (b *bencher) tree() error {
	top := filepath.Join(b.big.workspace, "tree")
	for d := range 500 {
		dir := filepath.Join(top, fmt.Sprint(d%10), fmt.Sprint(d))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for f := range 100 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(f)), make([]byte, 64+f*32), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// sources makes the 8 files that gcc compiles.
func (b *bencher) sources() error {
	dir := filepath.Join(b.own.workspace, "src")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i := 1; i <= 8; i++ {
		text := "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <sys/socket.h>\n"
		for f := range 60 {
			text += fmt.Sprintf("int f%d_%d(int n) { char b[64]; snprintf(b, sizeof b, \"%%d\", n); return atoi(b) * %d + (int)strlen(b); }\n", i, f, f)
		}
		if i == 1 {
			text += "int main(void) { return f1_0(0) == 1 ? 0 : 0; }\n"
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.c", i)), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
