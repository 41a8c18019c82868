package wrap

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

// Any tells whether there is a rule about programs.
func (p *Programs) Any() bool { return p.Limited || len(p.Denied) > 0 }
