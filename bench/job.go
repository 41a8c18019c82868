package main

import "time"

// A job is the work that every contestant does, and the bound for the ratio of the last contestant
// to base.
type job struct {
	name   string
	what   string
	place  place
	argv   []string
	many   int  // how many run at once
	told   bool // the command measures itself and prints the figure
	rounds int
	quick  int
	of     []contestant
	base   string
	on     string // the contestant that is judged
	gate   float64
	aim    float64
	minus  bool    // the difference to base is judged, not the ratio
	also   []bound // for additional contestants
	share  bool    // also measure the share of processor time that answering takes
	before func() error
	fresh  []string      // removed from the workspace before each sample, not timed
	pause  time.Duration // before each sample, in addition to the usual pause
}

// bound is the bound for another contestant's ratio to base.
type bound struct {
	on        string
	gate, aim float64
}

// sh returns the command line that runs a shell script.
func sh(script string) []string { return []string{"/bin/sh", "-c", script} }
