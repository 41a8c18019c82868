// Package profile says which profile an agent gets, and what that profile is:
// a SandboxSpec for the kernel and flags for the agent's command line.
//
//	c, err := profile.Load(env)                   // built in, the user's, the project's
//	choice, err := c.Choose(profile.Asked{Name: "code-reviewer"})
//	found, err := choice.Row.Prepare(project, spec.HostPaths{}, profile.Host{}, profile.LeaveOut)
//	documents := choice.Row.SpecsAt(project, found)                // the kernel's part
//	flags := choice.Flags(spec.Claude, choice.Ask(project))        // the agent's part
//
// The profiles, their agents and the launch points are data (profiles.yaml).
// The user's own file adds to them and changes them; a project's can only narrow
// what it finds, since whoever works in the project may write it. The tools of an
// agent are those of its .md file's front matter, where it has one.
//
// Choosing is pure. What looks at the host stands in *_linux.go: reading the
// files above, listing directories for the documents that exist, and making the
// directories that a profile promises.
package profile
