package host

import (
	"slices"
	"sort"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/wrap"
	"sbx/wrap/defaults"
)

// lookup finds which paths of a sorted table exist. It descends through the table's
// directories and reads each existing one once, instead of asking for every path: a home
// with twenty names answers two hundred rows with a dozen calls.
type lookup struct {
	dirs *read.Dir
	n    int
	path func(i int) string // relative, clean, sorted
	emit func(i int, f wrap.Found)
	top  []rowGroup // the groups of all rows; every searched directory uses them
}

// openedDir is an open directory, with the path by which it was reached and its path
// without symlinks.
type openedDir struct {
	fd         int
	readable   bool
	path, real string
}

// rowGroup is the rows that have the same next name.
type rowGroup struct {
	lo, hi int
	name   string
}

// match is a name in the directory and the group whose next name it matches.
type match struct {
	group int
	name  string
	dtype byte
}

// maxStats is the number of names up to which each is asked for by a call of its own,
// instead of reading the directory. So many calls take as long as reading /etc.
const maxStats = 32

// lookUnder looks for all rows under the directory dir. real is its path without symlinks;
// "" if unknown. The result is that path; "" if there is no such directory.
func (l *lookup) lookUnder(dir, real string) string {
	fd, readable, plain, err := openAt(dir)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	if real == "" && !plain {
		real = pathOf(fd)
	}
	if real == "" {
		real = dir
	}
	l.lookIn(openedDir{fd, readable, dir, real}, 0, l.n, 0)
	return real
}

// lookIn looks in one directory for the rows from lo to hi. The first skip bytes of their
// paths are the directory's.
func (l *lookup) lookIn(at openedDir, lo, hi, skip int) {
	var groups []rowGroup
	if skip > 0 {
		groups = l.groups(lo, hi, skip)
	} else {
		if l.top == nil {
			l.top = l.groups(lo, hi, skip)
		}
		groups = l.top
	}
	for _, m := range l.matches(at, groups) {
		g := groups[m.group]
		l.descend(at, g, m, skip)
	}
}

// descend emits the rows that end with the matched name, and looks for the others in the
// directory of that name.
func (l *lookup) descend(at openedDir, g rowGroup, m match, skip int) {
	rest := g.lo
	for ; rest < g.hi && len(l.path(rest)) == skip+len(g.name); rest++ {
		l.emit(rest, found(at, m.name, m.dtype))
	}
	if rest == g.hi || !l.anyBelow(at, rest, g.hi, skip) {
		return
	}
	fd, readable, err := openDir(at.fd, m.name)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	below := openedDir{fd, readable, join(at.path, m.name), join(at.real, m.name)}
	if m.dtype == unix.DT_LNK || m.dtype == unix.DT_UNKNOWN {
		if real := pathOf(fd); real != "" {
			below.real = real
		}
	}
	l.lookIn(below, rest, g.hi, skip+len(g.name)+1)
}

// anyBelow reports whether opening the next directory is worthwhile: if only a few rows lie
// in it, it asks for them directly.
func (l *lookup) anyBelow(at openedDir, lo, hi, skip int) bool {
	if hi-lo > 4 {
		return true
	}
	for i := lo; i < hi; i++ {
		path := l.path(i)[skip:]
		if strings.IndexByte(path, '*') >= 0 {
			return true
		}
		var st unix.Stat_t
		if unix.Fstatat(at.fd, path, &st, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT) == nil {
			return true
		}
	}
	return false
}

// groups splits rows by their next name and sorts the groups by name. The order of rows may
// differ: "a.b" sorts before "a/b", but "a" before "a.b". Rows of one directory are
// adjacent. A search skips most of them, since looking at every row takes longer than
// reading a home.
func (l *lookup) groups(lo, hi, skip int) []rowGroup {
	gs := make([]rowGroup, 0, (hi-lo+1)/2)
	sorted := true
	last := ""
	for lo < hi {
		name, _, _ := strings.Cut(l.path(lo)[skip:], "/")
		end := lo + 1
		for end < hi && l.path(end)[skip:] == name {
			end++
		}
		for step := 1; step > 0; {
			if end+step <= hi && beginsWithDir(l.path(end + step - 1)[skip:], name) {
				end, step = end+step, 2*step
			} else {
				step /= 2
			}
		}
		sorted = sorted && last < name
		gs, last, lo = append(gs, rowGroup{lo: lo, hi: end, name: name}), name, end
	}
	if !sorted {
		slices.SortStableFunc(gs, func(a, b rowGroup) int { return strings.Compare(a.name, b.name) })
	}
	return gs
}

// beginsWithDir reports whether path begins with name and a slash.
func beginsWithDir(path, name string) bool {
	return len(path) > len(name) && path[len(name)] == '/' && path[:len(name)] == name
}

// matches returns the names in the directory that match a group, in the groups' order.
func (l *lookup) matches(at openedDir, groups []rowGroup) []match {
	var ms []match
	var globs []int
	for i := range groups {
		if strings.IndexByte(groups[i].name, '*') >= 0 {
			globs = append(globs, i)
		}
	}
	if at.readable && (len(globs) > 0 || len(groups) > maxStats) {
		var all bool
		if ms, all = l.readMatches(at, groups, globs); all {
			slices.SortStableFunc(ms, func(a, b match) int { return a.group - b.group })
			return ms
		}
	}
	ms = ms[:0]
	for i := range groups {
		var st unix.Stat_t
		if unix.Fstatat(at.fd, groups[i].name, &st, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT) == nil {
			ms = append(ms, match{i, groups[i].name, byte(st.Mode & unix.S_IFMT >> 12)})
		}
	}
	return ms
}

// readMatches reads the directory. It reads a long one to the end only if there are
// patterns (the groups in globs), and then up to a limit; all reports whether it reached the
// end.
func (l *lookup) readMatches(at openedDir, groups []rowGroup, globs []int) (ms []match, all bool) {
	names := 0
	note := func(name []byte, dtype byte) bool {
		names++
		for i := sort.Search(len(groups), func(i int) bool { return groups[i].name >= string(name) }); i < len(groups) && groups[i].name == string(name); i++ {
			ms = append(ms, match{i, string(name), dtype})
		}
		for _, i := range globs {
			if defaults.Matches(string(name), groups[i].name) {
				ms = append(ms, match{i, string(name), dtype})
			}
		}
		return true
	}
	for round := 0; ; round++ {
		b, _ := l.dirs.Part(at.fd)
		if len(b) == 0 {
			return ms, true
		}
		if round > 0 && len(globs) == 0 || names > maxListing {
			return nil, false
		}
		read.Names(b, note)
	}
}

// found describes a name in an open directory.
func found(at openedDir, name string, dtype byte) wrap.Found {
	f := wrap.Found{Path: join(at.path, name), Real: join(at.real, name), Kind: kindIn(at.fd, name, dtype)}
	if f.Kind != wrap.Symlink {
		return f
	}
	f.Target = read.Link(at.fd, name)
	real, kind := follow(at.fd, name)
	f.Kind = kind
	if real != "" {
		f.Real = real
	}
	return f
}
