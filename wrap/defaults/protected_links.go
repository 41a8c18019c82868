package defaults

import "strings"

// InGitDir returns the part of a path after the innermost directory called .git.
func InGitDir(rel string) (in string, ok bool) {
	for at := 0; ; {
		name, rest, more := strings.Cut(rel[at:], "/")
		if !more {
			return in, ok
		}
		at = len(rel) - len(rest)
		if same(name, ".git") {
			in, ok = rest, true
		}
	}
}

// MayLink reports whether a symbolic link may be created at a path relative to a git directory. It
// may in git-annex's own directory, where git-annex makes links before it moves them to the working
// tree, and to which git does not write.
func MayLink(in string) bool { return Under(in, "annex") }

// IsIndex reports whether name is the name of a git index.
func IsIndex(name string) bool { return name == "index" || strings.HasPrefix(name, "sharedindex.") }
