package wrap

import "sbx/spec"

// Programs is which files may be executed, by their paths inside. The kernel
// holds it, by Landlock and by masks; the supervisor, who is asked before each
// program, foretells what the kernel is going to say, so that a refusal is
// described and not charged.
type Programs struct {
	Limited bool     // nothing but Files and what lies in Directories
	Files   []string // the loaders among them
	Folders []string
	Denied  []string // masked
	// Loaders are refused by the supervisor alone where they are started as
	// programs; what they load is no file that is executed.
	Loaders []string
}

// Any reports whether there is a rule about programs.
func (p *Programs) Any() bool { return p.Limited || len(p.Denied) > 0 }

// Program is the file that a command's name leads to on the host.
type Program struct {
	Path         string   // absolute, as it will be executed
	Real         string   // with links resolved
	Folder       string   // the directory of PATH that it was found in; "" when named by path
	Mapped       bool     // it lies in a mount of the spec: Real is where its source is
	Interpreters []string // of a script's "#!" chain, links resolved

	// What commands is about, and else is not looked at.
	Loader     string // of a dynamic program (PT_INTERP), links resolved
	Linked     bool   // the file has other names (hard links)
	Owned      bool   // it is the caller's
	Changeable bool   // the caller may write it as far as its own permissions go
}

// Files are the paths by which a program is started.
func (p *Program) Files() []string { return append([]string{p.Path, p.Real}, p.Interpreters...) }

// Executable is a file or directory that commands names, as it stands on the host.
type Executable struct {
	Program
	Asked string // as the document has it
	Field spec.Field
	At    string
	Kind  Kind // File, Dir; Other: it cannot be executed; Absent: nothing has that name
}
