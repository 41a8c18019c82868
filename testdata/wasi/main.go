// Program wasi is a WebAssembly module for tests of what a WASI runner may reach
// inside a sandbox: it does what its arguments say and tells how that went.
//
//	(none)            copy /data/in.txt to /out/x in capitals
//	read FILE         print the file
//	write FILE TEXT   write it
//	list DIR          print the names in it
//	env               print the environment
//	exit N            end with N
//
// What cannot be done is told on stderr, and the status is 1. Without fmt, which
// would double what a runner has to compile at each start.
package main

import (
	"bytes"
	"errors"
	"os"
	"strconv"
)

func main() {
	status, err := run(os.Args[1:])
	if err != nil {
		os.Stderr.WriteString("wasi: " + err.Error() + "\n")
		status = 1
	}
	os.Exit(status)
}

func run(args []string) (int, error) {
	verb := ""
	if len(args) > 0 {
		verb = args[0]
	}
	args = append(args, "", "", "")
	switch verb {
	case "":
		text, err := os.ReadFile("/data/in.txt")
		if err != nil {
			return 0, err
		}
		if err := os.WriteFile("/out/x", bytes.ToUpper(text), 0o644); err != nil {
			return 0, err
		}
		os.Stdout.WriteString("copied " + strconv.Itoa(len(text)) + " bytes\n")
	case "read":
		text, err := os.ReadFile(args[1])
		if err != nil {
			return 0, err
		}
		os.Stdout.Write(text)
	case "write":
		return 0, os.WriteFile(args[1], []byte(args[2]), 0o644)
	case "list":
		entries, err := os.ReadDir(args[1])
		if err != nil {
			return 0, err
		}
		for _, e := range entries {
			os.Stdout.WriteString(e.Name() + "\n")
		}
	case "env":
		for _, e := range os.Environ() {
			os.Stdout.WriteString(e + "\n")
		}
	case "exit":
		return strconv.Atoi(args[1])
	default:
		return 0, errors.New(strconv.Quote(verb) + ": no such verb")
	}
	return 0, nil
}
