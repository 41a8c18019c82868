// Sbx runs a command under a SandboxSpec and leaves an effective record. See
// docs/reference/cli.md for the command line, docs/reference/spec.md for the spec.
//
// Each command has a file of its own here, which parses and prints; other packages do the
// work. args.go parses the command line without a library: importing one costs sbx exec
// 0.4 ms of its 3.5.
package main
