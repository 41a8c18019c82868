package host

import (
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/dirs"
	"sbx/internal/read"
	"sbx/spec"
	"sbx/wrap"
)

// Limits of one search, and of all searches of a Finder: a million names take about a second.
const (
	maxFindNames = 1_000_000
	maxFindAll   = 10 * maxFindNames
	maxFound     = 4096
)

// Finder searches for the names in filesystem.hide. It keeps each result, since one run
// resolves the documents several times.
type Finder struct {
	seen  map[[2]string]findResult
	names int // in all searches so far
}

type findResult struct {
	paths []string
	why   string
}

// Find returns all paths under dir whose name matches glob. It does not search in a matching
// directory. why is the reason if it could not search everywhere.
func (f *Finder) Find(dir, glob string) (paths []string, why string) {
	key := [2]string{dir, glob}
	if got, ok := f.seen[key]; ok {
		return got.paths, got.why
	}
	s := nameSearch{dir: dir, glob: glob, most: min(maxFindNames, maxFindAll-f.names)}
	s.run()
	f.names += s.names
	if f.seen == nil {
		f.seen = map[[2]string]findResult{}
	}
	f.seen[key] = s.findResult
	return s.paths, s.why
}

type nameSearch struct {
	findResult
	dir, glob string
	root      int
	names     int
	most      int // limit of names
	dirs      read.Dir
	next      []string // directories still to be read, relative to dir
}

func (s *nameSearch) run() {
	root, err := dirs.OpenReal(s.dir, listing)
	if err != nil {
		s.why = s.dir + " could not be read: " + err.Error()
		return
	}
	defer unix.Close(root)
	s.root = root
	for s.readDir(""); len(s.next) > 0 && s.names < s.most && len(s.paths) < maxFound; {
		rel := s.next[len(s.next)-1]
		s.next = s.next[:len(s.next)-1]
		s.readDir(rel)
	}
	if len(s.next) > 0 {
		s.why = "only " + itoa(s.names) + " names under " + s.dir + " were looked at"
	}
}

// readDir reads one directory without following symlinks.
func (s *nameSearch) readDir(rel string) {
	fd := s.root
	if rel != "" {
		var err error
		if fd, err = dirs.OpenAcross(s.root, rel, listing); err != nil {
			if err != unix.ENOENT && err != unix.ELOOP && err != unix.ENOTDIR {
				s.why = join(s.dir, rel) + " could not be read: " + err.Error()
			}
			return
		}
		defer unix.Close(fd)
	}
	err := s.dirs.Each(fd, func(name []byte, dtype byte) bool {
		s.names++
		path := strings.TrimPrefix(rel+"/"+string(name), "/")
		if spec.IsNamed(s.glob, string(name)) {
			s.paths = append(s.paths, join(s.dir, path))
		} else if kindIn(fd, string(name), dtype) == wrap.Dir {
			s.next = append(s.next, path)
		}
		return true
	})
	if err != nil {
		s.why = join(s.dir, rel) + " could not be read: " + err.Error()
	}
}
