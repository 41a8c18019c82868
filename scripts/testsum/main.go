// Command testsum counts the results of test runs.
//
//	testsum -label root -save root.json -- go test -json ./...
//
// runs the command, which must print the events of go test -json, shows a line for each package and
// the output of failed tests, and saves the counts.
//
//	testsum root.json user.json
//
// prints the skipped tests of several such runs by reason and, as its last line, "N passed, N
// failed, N skipped". The exit status is 1 if a test failed, if no test ran, and, with
// SBX_TEST_MUST_RUN=1, if a test was skipped in every run and -may-skip does not list it.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	label := flag.String("label", "", "name of the run")
	save := flag.String("save", "", "file for the counts of the run")
	of := flag.Int("of", 0, "how many tests there are, to show how far the run is")
	maySkip := flag.String("may-skip", "", "file of tests that may be skipped in every run: a name and a reason a line")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	var err error
	var ok bool
	if *save != "" {
		ok, err = record(*label, *save, *of, flag.Args())
	} else {
		ok, err = total(os.Stdout, flag.Args(), *maySkip, os.Getenv("SBX_TEST_MUST_RUN") == "1")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}
