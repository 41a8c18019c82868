// Sbx-broker decides the calls of tools that a sandbox asks for, and carries them out
// outside of it. sbx starts it for a spec that names a broker; by hand it checks
// documents, answers questions and, inside, connects an agent to it.
package main

import (
	"os"
	"strings"

	"sbx/internal/broker"
	"sbx/internal/broker/document"
)

// version is set by the linker.
var version = "devel"

// control is the descriptor of the socket to sbx.
const control = 3

func main() {
	args := os.Args[1:]
	verb := ""
	if len(args) > 0 {
		verb, args = args[0], args[1:]
	}
	switch verb {
	case "serve":
		os.Exit(serve(args))
	case "check":
		os.Exit(check(args))
	case "answer":
		os.Exit(answer(args))
	case "connect":
		os.Exit(connect(args))
	case "schema":
		os.Exit(schema(args))
	case "--version", "-V", "version":
		print("sbx-broker " + version + "\n")
	case "--help", "-h", "help":
		print(usage())
	case "man":
		print(manual())
	case "completion":
		os.Exit(completion(args))
	default:
		complain("want a command: check, answer, connect, schema", "hint: sbx-broker help")
		os.Exit(exitUsage)
	}
}

func serve(args []string) int {
	socket := os.NewFile(control, "control")
	info, err := socket.Stat()
	if len(args) > 0 || err != nil || info.Mode()&os.ModeSocket == 0 {
		complain("it is started by sbx, for a sandbox", "hint: sbx exec --broker broker.yaml -- COMMAND")
		return exitUsage
	}
	if err := broker.Run(socket, os.Environ()); err != nil {
		complain("it lost the supervisor", "why: "+err.Error())
		return exitRefused
	}
	return exitOK
}

func connect(args []string) int {
	if len(args) > 0 {
		complain("connect takes no arguments")
		return exitUsage
	}
	if err := broker.Connect(os.Stdin, os.Stdout, os.Environ()); err != nil {
		complain("cannot reach the broker", "why: "+err.Error())
		return exitFailed
	}
	return exitOK
}

func schema(args []string) int {
	switch strings.Join(args, " ") {
	case "", "broker":
		print(document.BrokerSchema())
	case "plan":
		print(document.PlanSchema())
	default:
		complain("want schema broker or schema plan")
		return exitUsage
	}
	return exitOK
}
