// Sbx-oci is an OCI runtime that holds a SandboxSpec on a container: it stands in the place
// of runc's, edits config.json and hands every verb to the host's own runc or crun.
package main

import (
	"os"

	"sbx/internal/oci"
	"sbx/internal/oci/front"
)

// version is set by the linker.
var version = "devel"

// The exit statuses where the runtime proper has none.
const (
	exitRefused = 1 // as runtimes have it for all that fails
	exitUsage   = 2
)

func main() {
	front.Slack()
	if len(os.Args) == 2 && os.Args[1] == "--sbx-manual" { // a verb of that name would be the runtime's
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
