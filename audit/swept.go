package audit

import (
	"slices"
	"time"

	"sbx/internal/doc"
)

// Artifact is a regular file in the output directory. Bytes of its path that are not UTF-8 are
// written as \xNN.
type Artifact struct {
	Path   string
	Size   int64
	SHA256 string // hex; "" if the file could not be read, or was too large
	Mode   uint32 // permission bits
}

// Swept is the result of a sweep for new protected names.
type Swept struct {
	Moved   []Moved
	Omitted int      // how many more were moved
	Cuts    []string // places that the sweep did not examine or names that it could not move, and why
	Early   string   // the entry of Cuts for a walk that ended early; "" if none did
	// Repositories are new git repositories, which the sweep did not move.
	Repositories []string
}

// SweptDir is the name of the directory, in a run's own, to which a sweep moves such names.
const SweptDir = "swept"

// Moved is a protected name that was created and then moved away.
type Moved struct {
	Path    string
	MovedTo string
	Kind    string // file, directory, link, other
	Why     string // "" if the name alone explains it
}

// These are the maximum numbers of entries that a sweep lists.
const (
	maxMoved = 200
	maxCuts  = 50
	maxRepos = 200
)

// Add adds the result of another sweep of the same run.
func (s *Swept) Add(t Swept) {
	for _, m := range t.Moved {
		if len(s.Moved) == maxMoved {
			s.Omitted++
			continue
		}
		s.Moved = append(s.Moved, m)
	}
	s.Omitted += t.Omitted
	for _, c := range t.Cuts {
		s.AddCut(c)
	}
	for _, r := range t.Repositories {
		s.AddRepository(r)
	}
	if s.Early == "" {
		s.Early = t.Early
	}
}

// AddCut lists a place that was not looked at or a name that could not be moved, and why.
func (s *Swept) AddCut(what string) {
	switch {
	case slices.Contains(s.Cuts, what):
	case len(s.Cuts) < maxCuts:
		s.Cuts = append(s.Cuts, what)
	case len(s.Cuts) == maxCuts:
		s.Cuts = append(s.Cuts, "more of the same is not listed")
	}
}

// AddRepository lists a new git repository that was left.
func (s *Swept) AddRepository(path string) {
	switch {
	case slices.Contains(s.Repositories, path):
	case len(s.Repositories) < maxRepos:
		s.Repositories = append(s.Repositories, path)
	default:
		s.AddCut("more new repositories than are listed")
	}
}

func (r *Record) appendArtifacts(w *writer) {
	if !r.Artifacts.Set {
		return
	}
	doc.Objects(&w.Writer, "artifacts", r.Artifacts.Value, func(a *Artifact) {
		w.KeyStr("path", a.Path)
		w.KeyInt("size", a.Size)
		w.KeyText("sha256", a.SHA256)
		w.KeyStr("mode", octal(a.Mode))
	})
	w.KeyInt("artifacts_omitted", int64(r.ArtifactsOmitted))
}

// octal formats a mode as chmod(1) takes it: "0644".
func octal(mode uint32) string {
	mode &= 0o7777
	return string([]byte{'0' + byte(mode>>9), '0' + byte(mode>>6&7), '0' + byte(mode>>3&7), '0' + byte(mode&7)})
}

func (r *Record) appendProtected(w *writer) {
	if len(r.Protected) == 0 {
		return
	}
	doc.Objects(&w.Writer, "protected", r.Protected, func(c *Change) {
		w.KeyStr("path", c.Path)
		w.KeyText("digest_before", c.DigestBefore)
		w.KeyText("digest_after", c.DigestAfter)
		if c.Unprotected > 0 || c.Bare {
			w.KeyInt("unprotected_ms", ceilMS(c.Unprotected))
		}
		w.KeyFlag("unprotected_at_end", c.Bare)
		w.KeyText("reason", c.Why)
		doc.Objects(&w.Writer, "events", c.Events, func(e *Notice) {
			w.keyTime("at", e.At)
			w.KeyStr("what", e.What.String())
			w.KeyText("digest", e.Found)
			if !e.Renewed.IsZero() {
				w.keyTime("renewed_at", e.Renewed)
				w.KeyInt("unprotected_ms", ceilMS(e.Lacked))
				w.KeyText("digest_renewed", e.Kept)
			}
		})
		w.KeyCount("events_omitted", int64(c.Omitted))
	})
}

// ceilMS rounds up to milliseconds, so that no duration but 0 becomes 0.
func ceilMS(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }

func (r *Record) appendSwept(w *writer) {
	if !r.Swept.Set {
		return
	}
	s := &r.Swept.Value
	w.KeyList("new_repositories", s.Repositories)
	if len(s.Moved) > 0 {
		doc.Objects(&w.Writer, "swept", s.Moved, func(m *Moved) {
			w.KeyStr("path", m.Path)
			w.KeyStr("moved_to", m.MovedTo)
			w.KeyStr("kind", m.Kind)
			w.KeyText("reason", m.Why)
		})
	}
	w.KeyCount("swept_omitted", int64(s.Omitted))
	w.KeyTexts("sweep_cuts", s.Cuts)
}
