package profile

import (
	_ "embed" // the profiles are a document
	"path"
	"slices"
	"strings"

	"sbx/spec"
)

//go:embed profiles.yaml
var builtinProfiles []byte

// BuiltinProfiles returns the document of the profiles, agents and launch points that sbx knows.
func BuiltinProfiles() *ProfilesFile {
	f, err := DecodeProfiles("profiles.yaml", builtinProfiles)
	if err != nil {
		panic("spec: the built-in profiles: " + err.Error()) // a test reads them
	}
	return f
}

// Document returns the spec that the profile stands for. project is absolute, or "" if it is the
// directory to which relative paths refer anyway. The agent's own needs and the files of
// WriteExisting are left out, since they depend on the host.
func (r *ProfileRow) Document(project string) *spec.SandboxSpec {
	s := &spec.SandboxSpec{}
	if r.Spec.Set {
		*s = *r.Spec.Value
	}
	s.Source = spec.Source{Name: "profile " + r.Name, Kind: spec.ProfileEntry}
	s.ToolsAllowed = spec.Some(r.Tools())
	fs := s.Filesystem.Value
	fs.Read, fs.Write, fs.Hide = inProject(fs.Read, project), inProject(fs.Write, project), inProject(fs.Hide, project)
	if fs.Mounts.Set {
		fs.Mounts.Value = slices.Clone(fs.Mounts.Value)
		for i := range fs.Mounts.Value {
			if m := &fs.Mounts.Value[i]; m.Source != "" {
				m.Source = pathInProject(m.Source, project)
			}
		}
	}
	if r.Scoped.Value {
		in := project
		if in == "" {
			in = "."
		} else {
			s.WorkingDir = spec.Some(project)
		}
		fs.Read = spec.Some(withoutTwins(append([]string{spec.System, in}, fs.Read.Value...)))
	}
	if fs.Read.Set || fs.Write.Set || fs.Hide.Set || fs.Mounts.Set {
		s.Filesystem = spec.Some(fs)
	}
	return s
}

// Tools returns the profile's tools with a bare Bash replaced by the rules of bash_policy. An empty
// policy grants Bash no command, so Bash is left out.
func (r *ProfileRow) Tools() []string { return r.Expand(r.AllowedTools.Value) }

// Expand replaces a bare Bash in tools by the rules of bash_policy.
func (r *ProfileRow) Expand(tools []string) []string {
	all := make([]string, 0, len(tools)+len(r.BashPolicy.Value))
	for _, t := range tools {
		if t != "Bash" || !r.BashPolicy.Set {
			all = append(all, t)
			continue
		}
		for _, p := range r.BashPolicy.Value {
			all = append(all, "Bash("+p+")")
		}
	}
	return withoutTwins(all)
}

// withoutTwins keeps the first of equal strings.
func withoutTwins(all []string) []string {
	kept := make([]string, 0, len(all))
	for _, s := range all {
		if !slices.Contains(kept, s) {
			kept = append(kept, s)
		}
	}
	return kept
}

func inProject(paths spec.Opt[[]string], project string) spec.Opt[[]string] {
	if !paths.Set {
		return paths
	}
	all := make([]string, len(paths.Value))
	for i, p := range paths.Value {
		all[i] = pathInProject(p, project)
	}
	return spec.Some(all)
}

// pathInProject returns p as a path of the project.
func pathInProject(p, project string) string {
	if project == "" || p[0] == '/' || p[0] == '~' || p == spec.System || strings.HasPrefix(p, "**/") {
		return p
	}
	return path.Clean(project + "/" + p)
}
