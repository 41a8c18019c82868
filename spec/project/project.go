package project

import (
	"slices"
	"strings"

	"sbx/spec"
)

// Name is the path of a project's spec, relative to the project's top directory.
const Name = ".sbx/spec.yaml"

// File is a project's spec. It is read once, so that Digest is that of the text which is decoded.
type File struct {
	Top    string // the project's top directory, without links
	Text   []byte
	Digest string // SHA-256 in hex
	Own    bool   // it belongs to the caller or to root
}

// Path returns the file's path.
func (f *File) Path() string { return strings.TrimRight(f.Top, "/") + "/" + Name }

// Spec decodes the file.
func (f *File) Spec() (*spec.SandboxSpec, error) {
	s, err := spec.Decode(f.Path(), f.Text)
	if err != nil {
		return nil, err
	}
	s.Source.Dir = strings.TrimSuffix(f.Path(), "spec.yaml")
	return s, nil
}

// Place returns the file's document with its paths relative to the top of the project. A trusted
// document replaces the default spec, and takes that spec's access mode if it sets none, unless a
// profile or a workshop already decides.
func (f *File) Place(s *spec.SandboxSpec, home string, trusted, profiles bool) (*spec.SandboxSpec, error) {
	placed, err := s.From(f.Top, home)
	if err != nil || !trusted || s.AccessMode.Set || s.Profile.Set && profiles || s.Sandbox.Set {
		return placed, err
	}
	root := *placed.Source.Root
	root.Members = append(slices.Clone(root.Members), spec.Member{Key: "access_mode", Value: &spec.Node{Kind: spec.String, Text: spec.WorkspaceWrite.String(), In: f.Path()}})
	dir := placed.Source.Dir
	if placed, err = spec.DecodeNode(f.Path(), &root); err == nil {
		placed.Source.Dir = dir
	}
	return placed, err
}

// TrustHelp is the hint if an untrusted spec requests more than it may.
const TrustHelp = "read it, and run sbx trust if it may; --no-project-spec runs without it"

// Beyond reports the fields that an untrusted spec sets although only a trusted one may.
func Beyond(s *spec.SandboxSpec) error {
	var problems spec.Problems
	asked := s.Asked()
	for _, info := range spec.Fields() {
		if f := info.Field; !info.Untrusted && slices.Contains(asked, f) {
			problems = append(problems, &spec.Problem{Field: f, On: s.At(f), Do: "take " + string(f) + " from the project's own spec",
				Why: "nobody trusts that spec, and so it can only narrow what the command has without it", Help: TrustHelp})
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return problems
}

// Helped adds a hint to an error of a chain of documents: to trust the spec at path, if that one
// requests more than the document before it.
func Helped(err error, path string) error {
	all := spec.AsProblems(err)
	for _, p := range all {
		switch {
		case !strings.HasPrefix(p.On, path+":"):
		case p.Help == spec.NarrowHelp:
			p.Help = TrustHelp
		case p.Help == "":
			p.Help = "mend it, or run without it by --no-project-spec"
		}
	}
	return all
}
