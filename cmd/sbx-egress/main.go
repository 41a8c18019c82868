// Sbx-egress carries the connections of one sandbox: to the hosts that network.allow names,
// and from the ports that network.listen names. sbx starts it, with a socket as descriptor
// 3; it cannot be used by hand.
package main

import (
	"os"
	"runtime"

	"sbx/internal/relay"
)

// version is set by the linker.
var version = "devel"

// The exit statuses, which are the same as sbx's.
const (
	exitUsage   = 2
	exitRefused = 125
)

// control is the descriptor of the socket to sbx.
const control = 3

func main() {
	if len(os.Args) == 2 && (os.Args[1] == "--version" || os.Args[1] == "-V" || os.Args[1] == "version") {
		_, _ = os.Stdout.WriteString("sbx-egress " + version + "\n")
		return
	}
	file := os.NewFile(control, "control")
	if info, err := file.Stat(); len(os.Args) > 1 || err != nil || info.Mode()&os.ModeSocket == 0 {
		fail(exitUsage, "it is started by sbx, for the network of a sandbox", "hint: sbx exec --allow example.com:443 -- COMMAND")
	}
	routes, err := relay.OpenRoutes()
	if err != nil {
		fail(exitRefused, "it cannot tell which addresses are the host's own", "why: "+err.Error())
	}
	runtime.GOMAXPROCS(1) // the kernel moves the bytes; more threads only pass connections to one another
	options := relay.Options{Connections: relay.Prepare(), Proxy: relay.ProxyFrom(os.Getenv), Own: routes.Own}
	if err := relay.Confine(); err != nil {
		fail(exitRefused, "it cannot confine itself", "why: "+err.Error())
	}
	if err := relay.Run(file, options); err != nil {
		fail(exitRefused, "it lost the supervisor", "why: "+err.Error())
	}
}

func fail(status int, lines ...string) {
	for _, l := range lines {
		_, _ = os.Stderr.WriteString("sbx-egress: " + l + "\n")
	}
	os.Exit(status)
}
