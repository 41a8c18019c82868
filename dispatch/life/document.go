package life

import (
	"slices"
	"strings"
	"time"

	"sbx/dispatch"
	"sbx/internal/doc"
	"sbx/spec"
)

// decode reads a stored spec strictly. It is JSON: what else sbx exec would read
// is nothing to the other readers of the ledger.
func decode(text string) (*spec.SandboxSpec, error) {
	root, err := doc.ParseJSON("sandbox_spec", []byte(text))
	if err != nil {
		return nil, err
	}
	return spec.DecodeNode("sandbox_spec", root)
}

// Validate tells what is wrong with a spec that is to be stored.
func Validate(text string) error {
	_, err := decode(text)
	return err
}

// document is what sbx exec is to read of a job: its spec, with the plain mode
// where that has something to say, or the mode alone.
func (j *Job) document() (text string, s *spec.SandboxSpec, err error) {
	mode := j.Sandbox
	if !j.HasSandbox {
		mode = "workspace-write"
	}
	known, ok := spec.ParseAccessMode(mode)
	if !ok {
		return "", nil, &spec.Problem{Field: "access_mode", On: "sandbox", Do: "take " + doc.Quote(doc.Cut(mode)) + " for a mode", Why: "it is not one of read-only, workspace-write and danger-full-access",
			Help: "ask for one of these"}
	}
	text = j.Spec
	if !j.HasSpec {
		text = "{}"
	}
	if s, err = decode(text); err != nil {
		return "", nil, err
	}
	if j.HasSpec && !modeAdds(s, known) {
		return text, s, nil
	}
	text = withMember(text, `"access_mode": "`+known.String()+`"`)
	s, err = decode(text)
	return text, s, err
}

// Mode is the plain mode of a dispatch; "" where its spec supersedes that.
func Mode(d *dispatch.Dispatch) string {
	mode, known := spec.ParseAccessMode(d.Sandbox.Value)
	if s, err := decode(d.SandboxSpec.Value); known && d.SandboxSpec.Set && err == nil && !modeAdds(s, mode) {
		return ""
	}
	return d.Sandbox.Value
}

// modeAdds tells whether the plain mode narrows a spec. The spec's own access
// mode, or a profile's, supersedes it; beside other rules on files
// workspace-write would open the working directory.
func modeAdds(s *spec.SandboxSpec, mode spec.AccessMode) bool {
	switch {
	case s.AccessMode.Set || s.Profile.Set:
		return false
	case mode == spec.ReadOnly:
		return true
	case mode == spec.WorkspaceWrite:
		return !s.Filesystem.Set && !s.Sandbox.Set && !s.Restrict.Set && !s.Readonly.Set
	}
	return false
}

// withMember appends a member to the text of an object, whose own members stay
// where they are.
func withMember(text, member string) string {
	i := strings.LastIndexByte(text, '}')
	if before := strings.TrimRight(text[:i], " \t\r\n"); !strings.HasSuffix(before, "{") {
		member = ", " + member
	}
	return text[:i] + member + text[i:]
}

// kept is a ledger that a command could else change.
type kept struct {
	files  []string       // its own; hidden
	folder string         // where they are
	at     []string       // where a command sees that directory, and it is to be read-only
	mounts []spec.MountAt // the spec's own, which a list that narrows has to repeat
}

// beside is the second document, which narrows the first: the dispatch's own
// timeout where the spec has none that is shorter, and the ledger, where that is
// in the command's reach. Its directory is read-only as a whole: a file that is put
// beside a database of SQLite's by the name of its journal becomes part of it.
// "" for none.
func beside(s *spec.SandboxSpec, timeout time.Duration, ledger kept) string {
	narrow := &spec.SandboxSpec{}
	if own := s.Limits.Value.Timeout; timeout > 0 && (!own.Set || own.Value > timeout) {
		narrow.Limits = spec.Some(spec.Limits{Timeout: spec.Some(timeout)})
	}
	files := spec.Filesystem{}
	if len(ledger.files) > 0 {
		files.Hide = spec.Some(ledger.files)
	}
	var mounts []spec.Mount
	for _, at := range ledger.at {
		if !slices.ContainsFunc(s.Filesystem.Value.Mounts.Value, func(m spec.Mount) bool { return m.Target == at }) {
			mounts = append(mounts, spec.Mount{Label: "ledger", Source: ledger.folder, Target: at, Mode: spec.MountRO})
		}
	}
	if mounts != nil {
		for i := range ledger.mounts {
			m := &ledger.mounts[i]
			mounts = append(mounts, spec.Mount{Label: m.Label, Source: m.Source.Real, Target: m.Target, Mode: m.Mode})
		}
		files.Mounts = spec.Some(mounts)
	}
	narrow.Filesystem = spec.Opt[spec.Filesystem]{Value: files, Set: files.Hide.Set || files.Mounts.Set}
	n := narrow.Node()
	if len(n.Members) == 0 {
		return ""
	}
	return string(n.AppendJSON(nil, nil))
}

// standsAlone tells that a document means the same wherever its file lies.
func standsAlone(s *spec.SandboxSpec) bool {
	dir := s.WorkingDir
	return (!dir.Set || strings.HasPrefix(dir.Value, "/") || strings.HasPrefix(dir.Value, "~")) && !s.Sandbox.Set && !s.Syscalls.Set
}
