package spec

import "strings"

// ProgramAt is an entry of commands.allow or commands.deny.
type ProgramAt struct {
	Asked string // as written
	// Name is looked up along the PATH of the command's environment; "" if the entry is a path.
	Name   string
	Inside string // the path in the sandbox; absolute, clean
	Path   Path   // the file on the host
	Mapped bool   // a mount shows it at Inside
	Field  Field  // "commands.allow[0]"
	At     string
}

// commands resolves commands.allow and commands.deny.
func (r *resolver) commands() {
	c := r.spec.Commands.Value
	r.out.Limited = c.Allow.Set
	for i, asked := range c.Allow.Value {
		if p, ok := r.program(item("commands.allow", i), "allow", asked); ok {
			r.out.Allow = append(r.out.Allow, p)
		}
	}
	for i, asked := range c.Deny.Value {
		if p, ok := r.program(item("commands.deny", i), "deny", asked); ok {
			r.out.Deny = append(r.out.Deny, p)
		}
	}
}

// program resolves one entry. A denied program may be missing. An allowed one must exist: otherwise
// the entry would silently deny the program.
func (r *resolver) program(f Field, verb, asked string) (ProgramAt, bool) {
	p := ProgramAt{Asked: asked, Field: f, At: r.at(f)}
	if isProgramName(asked) {
		p.Name = asked
		return p, true
	}
	do := verb + " " + odd(asked)
	abs, why := r.absolute(asked, r.out.WorkingDir.Abs)
	if why != "" {
		r.refuse(f, do, why, "")
		return p, false
	}
	var host string
	p.Inside = clean(abs)
	host, p.Mapped = r.out.Outside(p.Inside)
	if strings.HasSuffix(asked, "/") {
		host += "/"
	}
	if verb == "deny" { // a link cannot make a denial allow more
		p.Path, why = r.walk(f, host, "/")
	} else {
		p.Path, why = r.follow(f, do, host, "/")
	}
	switch own := !p.Mapped && r.inJob(p.Inside); {
	case own:
		p.Path.IsDir = true // /work is a directory whose files are created later
	case why == "" && !p.Path.Exists:
		why = missing(p.Path)
	}
	if verb == "deny" {
		switch {
		case p.Path.IsDir:
			r.refuse(f, do, odd(p.Inside)+" is a directory", "name the programs in it, or say with commands.allow what may be started")
			return p, false
		case why != "":
			r.note("commands.deny", odd(asked)+" is not there")
			return p, false
		}
		return p, true
	}
	if why != "" {
		r.refuse(f, do, why, "make it first, or take it out of commands.allow")
		return p, false
	}
	return p, true
}

// isProgramName reports whether an entry of commands is a name to look up, and not a path.
func isProgramName(asked string) bool {
	return !strings.Contains(asked, "/") && asked != "~" && asked != "." && asked != ".."
}
