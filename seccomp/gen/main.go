// Command gen writes the generated files of package seccomp: "gen tables" the tables of system
// calls, from the numbers that golang.org/x/sys/unix takes from the kernel's headers, and "gen bpf"
// the default filter's programs. go generate runs it in the directory of the package.
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 1 {
		switch args[0] {
		case "tables":
			return tables("table.go")
		case "bpf":
			return programs("bpf")
		}
	}
	return fmt.Errorf("want tables or bpf, have %q", args)
}
