package life

import (
	"slices"
	"strings"
	"time"

	"sbx/dispatch"
	"sbx/internal/doc"
	"sbx/spec"
)

// decode parses a stored spec. It accepts only JSON, not YAML as sbx exec does, because
// other programs read the ledger too.
func decode(text string) (*spec.SandboxSpec, error) {
	root, err := doc.ParseJSON("sandbox_spec", []byte(text))
	if err != nil {
		return nil, err
	}
	return spec.DecodeNode("sandbox_spec", root)
}

// Validate returns an error if a spec is invalid and must not be stored.
func Validate(text string) error {
	_, err := decode(text)
	return err
}

// document returns the spec for sbx exec: the job's own, with the plain mode added if that
// narrows it, or the mode alone.
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

// Mode returns the plain mode of a dispatch; "" if its spec takes precedence over it.
func Mode(d *dispatch.Dispatch) string {
	mode, known := spec.ParseAccessMode(d.Sandbox.Value)
	if s, err := decode(d.SandboxSpec.Value); known && d.SandboxSpec.Set && err == nil && !modeAdds(s, mode) {
		return ""
	}
	return d.Sandbox.Value
}

// modeAdds reports whether the plain mode narrows a spec. An access mode or a profile in
// the spec takes precedence over it. In a spec with other rules on files, workspace-write
// would only allow more: to write the working directory.
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

// withMember appends a member to the text of a JSON object.
func withMember(text, member string) string {
	i := strings.LastIndexByte(text, '}')
	if before := strings.TrimRight(text[:i], " \t\r\n"); !strings.HasSuffix(before, "{") {
		member = ", " + member
	}
	return text[:i] + member + text[i:]
}

// keptLedger says how the ledger must be kept from a command that could change it.
type keptLedger struct {
	files  []string       // the files to hide
	dir    string         // the directory that contains them
	at     []string       // the paths at which the command sees dir; to be read-only
	mounts []spec.MountAt // the spec's own mounts, which a narrowing document must repeat
}

// narrowing returns a second document that narrows the spec: it sets the dispatch's timeout
// unless the spec has a shorter one, and protects the ledger if the command could reach it.
// The whole directory of the ledger becomes read-only, since SQLite would take a new file
// with the name of the journal for part of the database. narrowing returns "" if there is
// nothing to narrow.
func narrowing(s *spec.SandboxSpec, timeout time.Duration, ledger keptLedger) string {
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
			mounts = append(mounts, spec.Mount{Label: "ledger", Source: ledger.dir, Target: at, Mode: spec.MountRO})
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

// standsAlone reports whether a document means the same in any directory.
func standsAlone(s *spec.SandboxSpec) bool {
	dir := s.WorkingDir
	return (!dir.Set || strings.HasPrefix(dir.Value, "/") || strings.HasPrefix(dir.Value, "~")) && !s.Sandbox.Set && !s.Syscalls.Set
}
