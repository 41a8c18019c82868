// Sbx runs a command under a SandboxSpec and leaves an effective record. See
// docs/reference/cli.md for the command line, docs/reference/spec.md for the spec.
//
// The verbs stand one in a file each; what they do lies in the rooms beside.
// The command line is parsed by the few functions of args.go: the import of a
// command-line library alone costs sbx exec 0.4 ms of its 3.5.
package main
