package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// watching is the jobs that tell what answering notifications costs.
func (b *bencher) watching() []job {
	sh := func(script string) []string { return []string{"/bin/sh", "-c", script} }
	counting := []contestant{none, uncounted, sbx}
	if _, err := exec.LookPath("strace"); err == nil {
		counting = append(counting, strace)
	}
	counting = append(counting, traced)
	self := filepath.Join(b.own.workspace, helper)
	list := []job{
		{name: "counting", what: "1000 programs, counted", place: b.own, argv: sh(fmt.Sprintf(forks, 1000)), many: 1,
			rounds: 15, quick: 4, of: counting, base: "sbx uncounted", on: "sbx", gate: 1.10, aim: 1.05},
		{name: "make", what: "make -j2 of 8 files, counted and described", place: b.own, argv: sh("rm -f src/*.o; make -s -j2 -C src"), many: 1,
			rounds: 15, quick: 4, of: []contestant{none, uncounted, unwatched, sbx}, base: "sbx uncounted", on: "sbx", gate: 1.08, before: b.makefile},
		{name: "untar", what: "tar -x of 20,000 small files, described", place: b.own, argv: sh("rm -rf out && mkdir out && tar -xf small.tar -C out"), many: 1,
			rounds: 15, quick: 3, of: []contestant{none, uncounted, names, sbx}, base: "sbx uncounted", on: "sbx", gate: 1.60, aim: 1.30, before: b.archive},
		{name: "refused", what: "10,000 refused opens, each", place: b.own, argv: []string{self, "refused", "10000"}, told: true,
			rounds: 15, quick: 3, of: []contestant{uncounted, sbx}, base: "sbx uncounted", on: "sbx"},
	}
	same := list[2]
	same.name, same.on, same.gate, same.aim = "untar-names", "sbx --violations names", 1.05, 0
	return append(list, same)
}

// makefile makes what make builds of the sources.
func (b *bencher) makefile() error {
	if err := b.sources(); err != nil {
		return err
	}
	text := "all: f1.o f2.o f3.o f4.o f5.o f6.o f7.o f8.o\n\tgcc -o all $^\n%.o: %.c\n\tgcc -O1 -c -o $@ $<\n"
	return os.WriteFile(filepath.Join(b.own.workspace, "src/Makefile"), []byte(text), 0o644)
}

// archive makes the small files' archive, once.
func (b *bencher) archive() error {
	tar := filepath.Join(b.own.workspace, "small.tar")
	if _, err := os.Stat(tar); err == nil {
		return nil
	}
	dir := filepath.Join(b.dir, "small")
	for d := range 200 {
		sub := filepath.Join(dir, fmt.Sprint(d))
		if err := os.MkdirAll(sub, 0o755); err != nil {
			return err
		}
		for f := range 100 {
			if err := os.WriteFile(filepath.Join(sub, fmt.Sprint(f)), make([]byte, 500), 0o644); err != nil {
				return err
			}
		}
	}
	if out, err := exec.Command("tar", "-cf", tar, "-C", dir, ".").CombinedOutput(); err != nil {
		return fmt.Errorf("tar: %w: %s", err, out)
	}
	return os.RemoveAll(dir)
}
