package wrap

import "sbx/spec"

// Programs lists which files may be executed, by their paths inside. The kernel enforces that, by
// Landlock and masks. The supervisor, which decides before each program, predicts the kernel's
// answer: so a denied program is described, and is not counted as started.
type Programs struct {
	Limited bool     // only Files, and what lies in Dirs, may be executed
	Files   []string // includes the loaders
	Dirs    []string
	Denied  []string // masked
	// Loaders are denied, by the supervisor alone, when started as programs: the file that a loader
	// would run is only read, not executed.
	Loaders []string
}

// Any reports whether there is a rule about programs.
func (p *Programs) Any() bool { return p.Limited || len(p.Denied) > 0 }

// Program is the file that a command's name leads to on the host.
type Program struct {
	Path         string   // absolute, as it will be executed
	Real         string   // without links
	Dir          string   // the directory of PATH that it was found in; "" if the command names its path
	Mapped       bool     // it lies in a mount of the spec, and Real in that mount's source
	Interpreters []string // of a script's "#!" chain, without links

	// Probe looks at these only for the field commands.
	Loader     string // the loader of a dynamic program (PT_INTERP), without links
	Linked     bool   // the file has other names (hard links)
	Owned      bool   // it belongs to the caller
	Changeable bool   // the file's own permissions let the caller write it
}

// Files returns the paths by which a program is started.
func (p *Program) Files() []string { return append([]string{p.Path, p.Real}, p.Interpreters...) }

// Executable is a file or directory that commands names, as the host has it.
type Executable struct {
	Program
	Asked string // as the document names it
	Field spec.Field
	At    string
	Kind  Kind // File or Dir; Other if it cannot be executed; Absent if nothing has that name
}
