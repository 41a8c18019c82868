package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// helpers are the subcommands with which jobs start this program as a process of their own. Each
// takes at least one argument.
var helpers = map[string]func(args []string) error{
	"refused":  func(args []string) error { refused(args[0]); return nil },
	"answered": func(args []string) error { answered(args); return nil },
	"talk":     func(args []string) error { talk(args); return nil },
	"loop":     func(args []string) error { loop(args); return nil },
	"contain":  func(args []string) error { return contain(args[0], args[1:]) },
	"host":     host,
	"on":       func(args []string) error { return startOn(args[0], args[1:]) },
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "nothing" {
		return
	}
	if len(os.Args) > 2 && helpers[os.Args[1]] != nil {
		exitOn(os.Args[1], helpers[os.Args[1]](os.Args[2:]))
		return
	}
	var o options
	flag.StringVar(&o.sbx, "sbx", "bin/sbx", "the `program` to measure")
	flag.StringVar(&o.bwrap, "bwrap", "bwrap", "the `program` to measure against")
	flag.BoolVar(&o.quick, "quick", false, "fewer rounds: a look, no proof")
	flag.IntVar(&o.rounds, "rounds", 0, "rounds of every job; 0 is the job's own number")
	flag.DurationVar(&o.settle, "settle", 8*time.Millisecond, "pause before each sample, at least 4ms")
	only := flag.String("only", ".", "jobs whose name matches this `pattern`")
	flag.StringVar(&o.json, "json", "", "write the results to `file`, - for stdout")
	flag.BoolVar(&o.gate, "gate", false, "end with 1 where a gate is missed")
	flag.IntVar(&o.uid, "uid", 64999, "the ordinary user, where the caller is root")
	where := flag.Bool("where", false, "print where the time of a start goes")
	flag.Parse()
	o.settle = max(o.settle, 4*time.Millisecond)
	var err error
	if o.only, err = regexp.Compile(*only); err == nil {
		err = bench(o, *where)
	}
	exitOn("bench", err)
}

// exitOn prints the error and ends the program, if there is one.
func exitOn(name string, err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

func bench(o options, where bool) error {
	b, err := newBench(o)
	if err != nil {
		return err
	}
	defer b.close()
	if where {
		return b.where(os.Stdout)
	}
	var results []result
	var failed []error // a job that fails must not hide the others
	jobs, err := b.jobs()
	if err != nil {
		return err
	}
	for _, j := range jobs {
		if !o.only.MatchString(j.name) {
			continue
		}
		r, err := b.run(j)
		if err == nil && j.share {
			var more []result
			more, err = b.shares(j)
			r = append(r, more...)
		}
		results = append(results, r...)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", j.name, err))
			continue
		}
		fmt.Fprintf(os.Stderr, "bench: %s done\n", j.name)
	}
	if b.root && o.only.MatchString("memory") {
		m, err := b.memory()
		if err != nil {
			failed = append(failed, fmt.Errorf("memory: %w", err))
		}
		results = append(results, m...)
	}
	if b.root && o.only.MatchString("broker-memory") && exists(filepath.Join(filepath.Dir(b.sbx), broker)) {
		m, err := brokerMemory(b)
		if err != nil {
			failed = append(failed, fmt.Errorf("broker-memory: %w", err))
		} else {
			results = append(results, m)
		}
	}
	return errors.Join(append(failed, report(o, results))...)
}
