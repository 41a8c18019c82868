package spec

import "strings"

// Again resolves r's document once more after an edit, with the Inputs and parents that r was
// resolved with. Unless there is "", it assumes that a file exists at that path.
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

// bound is a document that a spec cannot widen, with what it allows.
type bound struct {
	by   *Source
	left *Resolved
}

// bounds reports whether a document of this kind is a bound.
func (k SourceKind) bounds() bool {
	return k == ProfileEntry || k == WorkshopFile || k == WorkerFile || k == OldWorkerFile
}

// Bound returns the name of the document that keeps a spec from allowing edited, which is r after
// an edit; "" for none.
func (r *Resolved) Bound(edited *Resolved) string {
	for _, b := range r.bounds {
		for _, p := range Wider(b.left, edited, r.in) {
			if b.by.Kind == ProfileEntry || !strings.HasPrefix(string(p.Field), "network") { // a spec may decide about the network of a workshop
				return b.by.Name
			}
		}
	}
	return ""
}

// Lister returns the name of the document whose list of visible paths a spec cannot extend; "" for
// none.
func (r *Resolved) Lister() string {
	for _, b := range r.bounds {
		if b.left.Visible {
			return b.by.Name
		}
	}
	return ""
}

// supposed is a Paths in which one further file is assumed to exist.
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
