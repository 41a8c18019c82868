package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"

	"sbx/internal/broker"
	"sbx/internal/broker/grant"
	"sbx/internal/broker/wire"
	"sbx/internal/doc"
	"sbx/internal/sys"
	"sbx/spec"
)

// check prints the expected verdict for each step.
func check(args []string) int {
	var of, plan string
	sbx := []string{"check", "--json"}
	for ; len(args) > 1; args = args[2:] {
		switch args[0] {
		case "--broker":
			of = args[1]
		case "--plan":
			plan = args[1]
		case "--spec", "--spec-json", "--profile":
			sbx = append(sbx, args[0], args[1])
		default:
			complain("unknown flag "+doc.Word(args[0]), "hint: sbx-broker help")
			return exitUsage
		}
	}
	if of == "" || len(args) > 0 {
		complain("want --broker FILE [--plan FILE] [--spec FILE ...]", "hint: sbx-broker help")
		return exitUsage
	}
	start := &wire.Start{Output: "/output"}
	report, err := granted(sbx)
	if err != nil {
		return refuse(err)
	}
	if start.Granted, start.Workspace, err = grant.FromReport(report); err != nil {
		return refuse(err)
	}
	if start.Broker, err = read(of); err != nil {
		return refuse(err)
	}
	if plan != "" {
		document, err := read(plan)
		if err != nil {
			return refuse(err)
		}
		start.Plan = &document
	}
	all, p := broker.Check(start, os.Environ())
	if p != nil {
		return refuse(p)
	}
	status := exitOK
	for _, c := range all {
		line := c.Name + ": " + c.Tool + ": " + c.Verdict
		if c.Rule != "" {
			line += " by " + c.Rule
		}
		if c.Reason != "" {
			line += ": " + c.Reason
		}
		if c.AllowWith != "" {
			line += " (" + c.AllowWith + " would allow it)"
		}
		print(spec.Shown(line) + "\n")
		if c.Verdict == "deny" {
			status = exitFailed
		}
	}
	return status
}

// granted returns the report of "sbx check": what the specs grant. It prefers the sbx next
// to this program.
func granted(args []string) ([]byte, error) {
	sbx := "sbx"
	if self, err := os.Executable(); err == nil {
		if beside := filepath.Join(filepath.Dir(self), "sbx"); sys.Exists(beside) {
			sbx = beside
		}
	}
	var said bytes.Buffer
	cmd := exec.Command(sbx, args...)
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil && len(out) == 0 {
		return nil, &spec.Problem{Do: "show what the spec allows", Why: "sbx check says: " + said.String(), Help: "sbx check with the same specs"}
	}
	return out, nil
}

// read reads a document.
func read(file string) (d wire.Document, err error) {
	d.Name = file
	if d.Text, err = spec.Read(file); err != nil {
		return d, err
	}
	whole, err := filepath.Abs(file)
	d.Dir = filepath.Dir(whole)
	return d, err
}
