package main

import (
	"strconv"
	"strings"

	"sbx/internal/enclosing"
	"sbx/internal/sys"
	"sbx/spec"
	"sbx/spec/profile"
	"sbx/wrap/defaults"
	"sbx/wrap/host"
)

// defaultSpec is the spec if exec is given none.
const (
	defaultSpec = `{"access_mode": "workspace-write"}`
	defaultName = "the default spec"
)

// documents reads the specs of a command line in the order in which they narrow each
// other. If there is an error, it also returns those that it could read.
func (c *documentSet) documents() ([]*spec.SandboxSpec, error) {
	cwd, err := currentDir()
	if err != nil {
		return nil, err
	}
	var docs []*spec.SandboxSpec
	for _, g := range c.given {
		if g.name != "spec" && g.name != "spec-json" {
			continue
		}
		s, err := c.document(g, cwd)
		if err != nil {
			return docs, err
		}
		if inline := "--spec-json"; s.Source.Name == inline && len(docs) > 0 {
			s.Source.Name += "#" + strconv.Itoa(len(docs)+1)
		}
		docs = append(docs, s)
	}
	more, err := c.files(cwd)
	if err != nil {
		return append(docs, more...), err
	}
	c.profilesOff(docs)
	profiled := (c.has("profile") || c.has("agent")) && !c.chosen.Off
	if (len(docs) == 0 || c.chosen.Off && profilesAlone(docs)) && !profiled && !c.has("workshop") && (len(more) == 0 || more[0].Source.Kind != spec.OldWorkerFile) {
		s, err := spec.Decode(defaultName, []byte(defaultSpec))
		if err != nil {
			return nil, err
		}
		if held := enclosing.Parent(); held != nil {
			s = held.Default(defaultName, c.has("write"), c.has("read"), sys.Exists)
		}
		s.Source.Dir = cwd
		docs = append(docs, s)
		if docs, err = c.withProject(docs, cwd); err != nil {
			return docs, err
		}
	}
	docs, err = c.amended(append(docs, more...))
	c.warn(c.warnings)
	return docs, err
}

// profilesAlone reports whether the documents ask for nothing but a profile: if profiles
// are off, nothing is left of them.
func profilesAlone(docs []*spec.SandboxSpec) bool {
	for _, d := range docs {
		for _, f := range d.Asked() {
			if f != "profile" {
				return false
			}
		}
	}
	return true
}

// document reads one spec. If it is read from stdin, the command gets an empty stdin.
func (c *documentSet) document(g givenFlag, cwd string) (s *spec.SandboxSpec, err error) {
	name, dir := g.value, cwd
	var text []byte
	switch {
	case g.name == "spec-json":
		name, text = "--spec-json", []byte(g.value)
	case name == "-" && c.readStdin:
		return nil, usageError("--spec -: stdin is read once")
	case name == "-":
		c.readStdin = true
		text, err = spec.ReadFD(c.std.in, "-")
	default:
		dir = dirOf(name, cwd)
		text, err = spec.Read(name)
	}
	if err == nil {
		s, err = spec.Decode(name, text)
	}
	if err != nil {
		return nil, err
	}
	s.Source.Dir = dir
	return s, nil
}

// inputs returns the inputs for resolving documents, for a start in cwd.
func (c *documentSet) inputs(cwd string) spec.Inputs {
	in := spec.Inputs{Home: c.home(), Cwd: cwd, Environ: c.environ, UID: getuid(), Paths: spec.HostPaths{}, Lists: defaults.Lists(), Find: c.names.Find}
	in.Learn = c.learning
	if c.startDir != "" { // a program names it
		if own, err := sys.Getwd(); err == nil {
			in.WrittenDirs = []string{own}
		}
	}
	return in
}

// job returns --input and --output; nil without both.
func (c *commandLine) job() *spec.JobAsk {
	if !c.has("input") && !c.has("output") {
		return nil
	}
	return &spec.JobAsk{Input: c.value("input"), Output: c.value("output")}
}

// resolve resolves the documents.
func (c *documentSet) resolve(docs []*spec.SandboxSpec) (*spec.Resolved, error) {
	cwd, err := c.startsIn()
	if err != nil {
		return nil, err
	}
	if docs, err = c.placeProject(docs); err != nil {
		return nil, err
	}
	if docs, err = c.withProfiles(docs, cwd); err != nil {
		return nil, err
	}
	in := c.inputs(cwd)
	in.Job = c.job()
	c.identify(docs, in)
	in.Agent = c.agentNeeds(cwd)
	if c.mounting {
		in.Lists.Private = nil
	}
	for _, f := range c.values["best-effort"] {
		if !spec.Known(spec.Field(f)) {
			return nil, usageError("--best-effort: no field " + spec.Word(f))
		}
		in.BestEffort = append(in.BestEffort, spec.Field(f))
	}
	if parent := enclosing.Either(); parent != nil {
		held, err := parent.Document(sys.Exists)
		if err != nil {
			return nil, err
		}
		docs, in.Inside = append([]*spec.SandboxSpec{held}, docs...), true
	} else if in.Agent != nil {
		in.Agent.Workshop = true
	}
	chain, err := c.chain(docs, in)
	if err == nil && c.makeCaches(&chain[len(chain)-1]) {
		chain, err = c.chain(docs, in)
	}
	if err != nil {
		return nil, c.helped(err)
	}
	for i := 1; i < len(chain); i++ {
		if err := host.Keeps(&chain[i-1], &chain[i]); err != nil {
			return nil, err
		}
	}
	return &chain[len(chain)-1], nil
}

// chain resolves each of the documents, narrowed by those before it, with the restrictions
// of the agent's own sandbox as the last.
func (c *agentCommand) chain(docs []*spec.SandboxSpec, in spec.Inputs) ([]spec.Resolved, error) {
	chain, err := spec.Chain(docs, in)
	if err == nil {
		if own := c.confine(&chain[len(chain)-1], in.Inside); own != nil {
			chain, err = spec.Chain(append(docs, own), in)
		}
	}
	return chain, err
}

// makeCaches creates the missing caches of presets, unless this is a dry run, and reports
// whether it created any.
func (c *documentSet) makeCaches(r *spec.Resolved) bool {
	if c.name != "exec" || c.has("dry-run") {
		return false
	}
	made := len(c.made)
	for i := range r.Absent {
		c.made = append(c.made, profile.MakeDirs(r.Absent[i].Real)...)
	}
	return len(c.made) > made
}

// startsIn returns the directory in which the command starts if no document names one.
func (c *commandLine) startsIn() (string, error) {
	if c.startDir != "" {
		return c.startDir, nil
	}
	return currentDir()
}

func currentDir() (string, error) {
	cwd, err := sys.Getwd()
	if err != nil {
		return "", &spec.Problem{On: "the current directory", Do: "find it", Why: err.Error()}
	}
	return cwd, nil
}

// home returns the caller's home directory.
func (c *commandLine) home() string {
	if !c.homeDir.Set {
		c.homeDir = spec.Some(spec.HomeDir(c.environ, func() string { return sys.PasswdHome(getuid()) }, spec.HostPaths{}))
	}
	return c.homeDir.Value
}

func dirOf(name, cwd string) string {
	if !strings.HasPrefix(name, "/") {
		name = cwd + "/" + name
	}
	return name[:strings.LastIndexByte(name, '/')+1]
}
