package main

import (
	"strings"

	"sbx/spec"
)

// defaultSpec is what exec runs under when it is given no spec.
const defaultSpec = `{"access_mode": "workspace-write"}`

// documents reads the spec of a command line. fromStdin tells that stdin was
// read, so that the command does not get it.
func (c *call) documents() (s *spec.SandboxSpec, fromStdin bool, err error) {
	if err := c.notYet(); err != nil {
		return nil, false, err
	}
	files := c.values["spec"]
	if len(files)+len(c.values["spec-json"]) > 1 {
		return nil, false, &spec.Problem{Do: "narrow one spec by another", Why: "sbx does not do it yet", Help: "give one --spec or one --spec-json"}
	}
	cwd, err := getwd()
	if err != nil {
		return nil, false, &spec.Problem{On: "the current folder", Do: "find it", Why: err.Error()}
	}
	name, dir := "the default spec", cwd
	text := []byte(defaultSpec)
	switch {
	case c.has("spec-json"):
		name, text = "--spec-json", []byte(c.value("spec-json"))
	case c.has("spec") && files[0] == "-":
		name, fromStdin = "-", true
		text, err = spec.ReadFD(c.std.in, "-")
	case c.has("spec"):
		name = files[0]
		dir = folderOf(name, cwd)
		text, err = spec.Read(name)
	}
	if err == nil {
		s, err = spec.Decode(name, text)
	}
	if err != nil {
		return nil, fromStdin, err
	}
	s.Source.Dir = dir
	return s, fromStdin, nil
}

// notYet refuses what the command line knows and nothing stands behind yet.
func (c *call) notYet() error {
	refuse := func(name, help string) error {
		return &spec.Problem{On: "--" + name, Do: "use it", Why: "it is not there yet", Help: help}
	}
	for i := range c.flags {
		if f := &c.flags[i]; f.late && c.has(f.name) {
			return refuse(f.name, "leave it out")
		}
	}
	if v := c.value("backend"); v != "" && v != "native" {
		return refuse("backend "+v, "--backend native")
	}
	return nil
}

// resolve fills in what follows from the document.
func (c *call) resolve(s *spec.SandboxSpec) (*spec.Resolved, error) {
	cwd, err := getwd()
	if err != nil {
		return nil, &spec.Problem{On: "the current folder", Do: "find it", Why: err.Error()}
	}
	in := spec.Inputs{Home: c.home(), Cwd: cwd, Environ: c.environ, UID: getuid(), Paths: spec.HostPaths{}, Command: c.rest[0]}
	if c.has("input") || c.has("output") {
		in.Job = &spec.JobAsk{Input: c.value("input"), Output: c.value("output")}
	}
	r, err := spec.Resolve(s, in)
	if err != nil {
		return nil, err
	}
	for _, f := range c.values["best-effort"] {
		if !spec.Known(spec.Field(f)) {
			return nil, usageError("--best-effort: no field " + quote(f))
		}
		r.BestEffort = append(r.BestEffort, spec.Field(f))
	}
	return &r, nil
}

// home is the caller's home folder.
func (c *call) home() string {
	if !c.homeDir.Set {
		c.homeDir = spec.Some(spec.HomeDir(c.environ, func() string { return passwdHome(getuid()) }, spec.HostPaths{}))
	}
	return c.homeDir.Value
}

func folderOf(name, cwd string) string {
	if !strings.HasPrefix(name, "/") {
		name = cwd + "/" + name
	}
	return name[:strings.LastIndexByte(name, '/')+1]
}

// asProblem gives any error the one shape that is told.
func asProblem(err error) spec.Problems {
	switch e := err.(type) {
	case spec.Problems:
		return e
	case *spec.Problem:
		return spec.Problems{e}
	case *spec.DecodeError:
		return spec.Problems{e.Problem()}
	}
	return spec.Problems{{Do: "go on", Why: err.Error()}}
}
