package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// building returns the jobs that people do all day. There are two bounds for each: one for counting
// alone, one for everything that sbx watches.
func (b *bencher) building() []job {
	of := []contestant{none, uncounted, unwatched, sbx}
	all := []struct {
		name, what, script string
		needs, fresh       []string
		before             func() error
	}{
		{"make", "make -j2 of 8 files", "rm -f src/*.o src/all; make -s -j2 -C src", []string{"make", "gcc"}, nil, b.makefile},
		{"go-build", "go build of 30 packages", goBuild, []string{"go"}, []string{"built"}, b.module},
		{"npm-install", "npm install of 12 packages", npmInstall, []string{"npm"}, []string{"npm/node_modules", "npm/package-lock.json", "npm/.cache"}, b.packages},
	}
	var list []job
	for _, a := range all {
		if missing(a.needs) {
			continue
		}
		list = append(list, job{name: a.name, what: a.what, place: b.own, argv: sh(a.script), many: 1, rounds: 15, quick: 3, of: of,
			base: "sbx uncounted", on: "sbx", gate: 1.08, also: []bound{{on: "sbx --violations off", gate: 1.05}}, share: true, before: a.before, fresh: a.fresh})
	}
	return list
}

func missing(programs []string) bool {
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s is not installed: a job is left out\n", p)
			return true
		}
	}
	return false
}

// goBuild compiles every package of the module from scratch, each with a file that was never
// compiled before. The standard library comes from the cache: to compile it takes ten times as long
// and is the same kind of work.
const goBuild = `export GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local GOTELEMETRY=off CGO_ENABLED=0 GOCACHE=$PWD/.gocache GOPATH=$PWD/.gopath
cd gomod && n=$(date +%s%N) && for p in p*; do echo "package $p; const round = $n" >$p/round.go; done && go build -o ../built .`

// module makes a module of 30 packages and fills the cache.
func (b *bencher) module() error {
	top := filepath.Join(b.own.workspace, "gomod")
	write := func(name, text string) error { return put(filepath.Join(top, name), text) }
	if err := write("go.mod", "module example.com/bench\n\ngo 1.21\n"); err != nil {
		return err
	}
	text := "package main\n\nimport (\n\t\"fmt\"\n"
	calls := ""
	for i := range 30 {
		text += fmt.Sprintf("\t\"example.com/bench/p%d\"\n", i)
		calls += fmt.Sprintf("\tfmt.Println(p%d.F0(1))\n", i)
		for f := range 4 {
			body := fmt.Sprintf("package p%d\n\nimport (\"fmt\"; \"strings\")\n\n", i)
			for k := range 20 {
				body += fmt.Sprintf("func F%d(n int) string { return strings.Repeat(fmt.Sprint(n, round), %d) }\n", f*20+k, k+1)
			}
			if err := write(fmt.Sprintf("p%d/f%d.go", i, f), body); err != nil {
				return err
			}
		}
	}
	if err := write("main.go", text+")\n\nfunc main() {\n"+calls+"}\n"); err != nil {
		return err
	}
	if out, err := b.shell(b.own.workspace, goBuild); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// npmInstall unpacks a tree of local archives, with a cache of its own, offline.
const npmInstall = `cd npm && npm install --offline --no-audit --no-fund --no-update-notifier --ignore-scripts --silent --cache .cache`

// packages makes the archives of 12 packages of 60 files.
func (b *bencher) packages() error {
	top := filepath.Join(b.own.workspace, "npm")
	deps := ""
	for i := range 12 {
		dir := filepath.Join(top, "package")
		text := fmt.Sprintf(`{"name": "p%d", "version": "1.0.0", "main": "f0.js"}`, i)
		if err := put(filepath.Join(dir, "package.json"), text); err != nil {
			return err
		}
		for f := range 60 {
			if err := put(filepath.Join(dir, fmt.Sprintf("lib/f%d.js", f)), script(i*60+f)); err != nil {
				return err
			}
		}
		if out, err := exec.Command("tar", "-czf", fmt.Sprintf("%s/p%d.tgz", top, i), "-C", top, "package").CombinedOutput(); err != nil {
			return fmt.Errorf("tar: %w: %s", err, out)
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		if deps != "" {
			deps += ", "
		}
		deps += fmt.Sprintf(`"p%d": "file:p%d.tgz"`, i, i)
	}
	return put(filepath.Join(top, "package.json"), `{"name": "bench", "version": "1.0.0", "dependencies": {`+deps+`}}`)
}

// script returns a file of about six kilobytes, like those in packages.
func script(n int) string {
	var text strings.Builder
	for k := range 100 {
		fmt.Fprintf(&text, "exports.f%d = function (a, b) { return a * %d + b %% %d }\n", k, (n*7919+k*104729)%99991, k+3)
	}
	return text.String()
}

func put(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
