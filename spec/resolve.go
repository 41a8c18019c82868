package spec

// Inputs is what Resolve needs to know of its caller.
type Inputs struct {
	Home    string   // absolute, see HomeDir; "" when the caller has none
	Cwd     string   // absolute
	Environ []string // NAME=value
	UID     int
	Paths   Paths
	Job     *JobAsk // nil without --input and --output
}

// JobAsk is --input and --output as given; "" where one is not.
type JobAsk struct{ Input, Output string }

// Resolve fills in what follows from the document alone.
func Resolve(s *SandboxSpec, in Inputs) (Resolved, error) { return Resolved{Spec: s}, nil }

// HomeDir is the folder that "~" stands for.
func HomeDir(environ []string, passwdHome func() string, p Paths) string { return "" }
