package profile

import (
	"slices"
	"strconv"
	"strings"

	"sbx/internal/view"
	"sbx/spec"
)

// These bound the search for existing files: each one found becomes a mount.
const (
	maxFiles   = 256
	maxDirs    = 4096
	maxEntries = 65536
	maxDepth   = 8
)

// Lister lists and makes directories.
type Lister interface {
	List(dir string) ([]Entry, error) // at most maxEntries
	Mkdir(dir string) error
}

// Entry is a name in a directory. Its kind is Other for everything but plain files and directories,
// also for links.
type Entry struct {
	Name string
	Kind Kind
}

// Kind is the kind of an Entry.
type Kind uint8

// These are the kinds of entries.
const (
	Other Kind = iota
	File
	Dir
)

// Found lists the paths of a profile that exist in a project.
type Found struct {
	Files []string // absolute; each may be written in place
	Made  []string // directories that were missing and were made
	Lacks []string // directories that are still missing, as the profile names them
	Cut   string   // why the search ended early; "" if it did not
	Odd   int      // how many files have names that a spec cannot express
}

// Missing says how Prepare treats a directory that a profile promises and the project lacks.
type Missing uint8

// These are the ways to treat a missing directory.
const (
	LeaveOut Missing = iota
	MakeIt
)

// Prepare looks for the paths that the profile writes in a project: its directories, which must not
// lead out of the project, and existing files. project is absolute, without links.
func (r *Row) Prepare(project string, paths spec.Paths, host Lister, missing Missing) (Found, error) {
	var f Found
	var inside []string
	for _, asked := range r.written() {
		at := view.Join(project, asked)
		real, err := spec.Real(at, paths)
		switch {
		case err == spec.NoEntry && missing == MakeIt && slices.Contains(r.Make.Value, asked):
			if err := host.Mkdir(at); err != nil {
				return f, &spec.Problem{Field: "filesystem.write", On: at, Do: "make the directory that profile " + r.Name + " writes", Why: err.Error()}
			}
			f.Made, inside = append(f.Made, at), append(inside, at)
		case err == spec.NoEntry:
			f.Lacks = append(f.Lacks, asked)
		case err != nil:
			return f, &spec.Problem{Field: "filesystem.write", On: at, Do: "find what profile " + r.Name + " writes", Why: err.Error()}
		case !view.Within(real, project):
			return f, &spec.Problem{Field: "filesystem.write", On: at, Do: "let profile " + r.Name + " write it",
				Why: "it leads out of the project, to " + real, Help: "put a directory in its place"}
		default:
			inside = append(inside, real)
		}
	}
	if len(r.WriteExisting.Value) > 0 {
		search{host: host, ends: r.WriteExisting.Value, covered: inside}.run(project, &f)
	}
	return f, nil
}

// written returns the paths of the profile's spec that are relative to the project.
func (r *Row) written() []string {
	var all []string
	for _, p := range r.Spec.Value.Filesystem.Value.Write.Value {
		if p[0] != '/' && p[0] != '~' && !strings.HasPrefix(p, "**/") {
			all = append(all, p)
		}
	}
	return all
}

// search looks for files by the ends of their names.
type search struct {
	host    Lister
	ends    []string // as in "*.md"
	covered []string // directories that may be written as a whole
}

// run searches the project level by level, so that a bound cuts off the deepest files. It skips
// directories that tools make (a name with a leading dot) and node_modules, and follows no links.
func (s search) run(project string, f *Found) {
	level, dirs, entries := []string{project}, 0, 0
	for depth := 0; len(level) > 0; depth++ {
		if depth > maxDepth {
			f.Cut = "more than " + strconv.Itoa(maxDepth) + " directories deep"
			return
		}
		var next []string
		for _, dir := range level {
			if dirs++; dirs > maxDirs {
				f.Cut = "more than " + strconv.Itoa(maxDirs) + " directories"
				return
			}
			list, err := s.host.List(dir)
			if err != nil {
				continue // who cannot read a directory cannot write in it either
			}
			if entries += len(list); entries > maxEntries {
				f.Cut = "more than " + strconv.Itoa(maxEntries) + " names"
				return
			}
			slices.SortFunc(list, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
			for _, e := range list {
				at := dir + "/" + e.Name
				switch {
				case e.Kind == Dir && e.Name[0] != '.' && e.Name != "node_modules" && !slices.Contains(s.covered, at):
					next = append(next, at)
				case e.Kind != File || !s.matches(e.Name):
				case strings.ContainsAny(at, "*?"): // a spec has no such paths
					f.Odd++
				case len(f.Files) == maxFiles:
					f.Cut = "more than " + strconv.Itoa(maxFiles) + " files"
					return
				default:
					f.Files = append(f.Files, at)
				}
			}
		}
		level = next
	}
}

func (s search) matches(name string) bool {
	return slices.ContainsFunc(s.ends, func(end string) bool { return len(name) >= len(end) && strings.HasSuffix(name, end[1:]) })
}
