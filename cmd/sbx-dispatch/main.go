// Sbx-dispatch is `sbx dispatch`: it starts commands detached under a sandbox, keeps a
// ledger of them with the requested and the enforced sandbox, and is the driver that
// Intercore starts.
package main

import (
	"os"
	"os/exec"
	"path/filepath"

	"sbx/audit"
	"sbx/dispatch/life"
	"sbx/internal/sys"
	"sbx/spec"
)

func main() {
	os.Exit(run(os.Args, os.Environ()))
}

// run runs the program and returns its exit status.
func run(args, environ []string) int {
	closeOnExec()
	w := world(environ)
	if len(args) == 3 && args[1] == keepVerb {
		return w.Keep(args[2], os.Stdin)
	}
	p := &program{world: w}
	if err := p.app().Run(p.arrange(args)); err != nil {
		return p.fail(err)
	}
	return p.status
}

// keepVerb is the argument that makes this program a keeper.
const keepVerb = "keep"

// world describes this machine to package life.
func world(environ []string) *life.World {
	home := spec.HomeDir(environ, func() string { return sys.PasswdHome(os.Getuid()) }, spec.HostPaths{})
	w := &life.World{Sbx: "sbx", Self: []string{os.Args[0], keepVerb}, StateDir: audit.StateDir(environ, home), Home: home, Live: "/tmp",
		Environ: environ, Version: version, Errors: os.Stderr, Brief: true}
	if self, err := os.Executable(); err == nil {
		w.Self[0] = self
		w.Sbx = filepath.Join(filepath.Dir(self), "sbx")
	}
	if _, err := os.Stat(w.Sbx); err != nil {
		if found, err := exec.LookPath("sbx"); err == nil {
			w.Sbx = found
		}
	}
	return w
}
