// Package profile chooses the profile of an agent. A profile consists of a SandboxSpec, which the
// kernel enforces, and of flags for the agent's command line.
//
//	c, err := profile.Load(env)                   // built in, the user's, the project's
//	choice, err := c.Choose(profile.Asked{Name: "code-reviewer"})
//	found, err := choice.Row.Prepare(project, spec.HostPaths{}, profile.Host{}, profile.LeaveOut)
//	documents := choice.Row.SpecsAt(project, found)                // the kernel's part
//	flags := choice.Flags(spec.Claude, choice.Ask(project))        // the agent's part
//
// The profiles, their agents and the launch points are data (profiles.yaml). The user's own file
// adds to them and changes them. A project's file can only narrow them, since any command that
// works in the project may have written it. If an agent's .md file has front matter with tools, the
// agent gets those tools.
//
// Choosing is pure. The files *_linux.go read the host: they read the files above, list directories
// to find existing documents, and make the directories that a profile promises.
package profile
