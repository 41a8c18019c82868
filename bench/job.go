package main

import "time"

// A job is what every contestant does, and the bound of the ratio of the last
// one named to base.
type job struct {
	name   string
	what   string
	place  place
	argv   []string
	many   int  // at once
	told   bool // the command prints its own figure
	rounds int
	quick  int
	of     []contestant
	base   string
	on     string // the contestant that is judged
	gate   float64
	aim    float64
	minus  bool    // what is judged is the difference to base, not the ratio
	also   []bound // of further contestants
	share  bool    // what answering takes of its processor time is told as well
	before func() error
	fresh  []string      // what is removed from the workspace before each sample, untimed
	pause  time.Duration // before each sample, beside the bencher's own
}

// bound is the bound of a further contestant's ratio to base.
type bound struct {
	on        string
	gate, aim float64
}

// sh is the command line that runs a shell script.
func sh(script string) []string { return []string{"/bin/sh", "-c", script} }
