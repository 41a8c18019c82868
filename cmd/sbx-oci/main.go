// Sbx-oci is an OCI runtime that enforces a SandboxSpec on a container: an engine calls it
// instead of runc; it edits config.json and passes every verb to the host's runc or crun.
package main

import (
	"os"

	"sbx/internal/oci"
	"sbx/internal/oci/front"
)

// version is set by the linker.
var version = "devel"

// The exit statuses if the runtime proper was not run.
const (
	exitRefused = 1 // runtimes use it for every failure
	exitUsage   = 2
)

func main() {
	front.Slack()
	if len(os.Args) == 2 && os.Args[1] == "--sbx-manual" { // a flag, since verbs belong to the runtime
		_, _ = os.Stdout.WriteString(manual())
		return
	}
	line, problem := oci.Parse(os.Args, os.Environ())
	if problem != "" {
		_, _ = os.Stderr.WriteString("sbx-oci: " + problem + "\n")
		os.Exit(exitUsage)
	}
	c := &oci.Call{Line: line, Environ: os.Environ(), Version: version}
	status, err := 0, error(nil)
	if c.Inner, err = oci.Inner(line.Own.Runtime, c.Environ); err == nil {
		status, err = c.Run()
	}
	if err != nil {
		c.Tell(err)
		status = exitRefused
	}
	os.Exit(status)
}
