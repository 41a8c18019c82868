package spec

// Again resolves r's document once more after an edit, in the surroundings in which r
// was resolved and narrowed. Where there is not "", a file is taken to be at that path.
func (r *Resolved) Again(edited *SandboxSpec, there string) (Resolved, error) {
	in := r.in
	if there != "" {
		in.Paths = supposed{in.Paths, there}
	}
	out, err := Resolve(edited, in)
	out.start, out.listed, out.Tops, out.MoreSyscalls = r.start, r.listed, r.Tops, r.MoreSyscalls
	out.Earlier = append(out.Earlier, r.Earlier...)
	out.keepHidden(r)
	return out, err
}

// supposed are paths among which a file is taken to be.
type supposed struct {
	Paths
	file string
}

func (s supposed) Lstat(path string) (Info, error) {
	if path == s.file {
		return Info{}, nil
	}
	return s.Paths.Lstat(path)
}
