package defaults

import "strings"

// InGitFolder is what of a path lies under the innermost directory called .git.
func InGitFolder(rel string) (in string, ok bool) {
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

// MayLink reports whether a symbolic link may stand at a path relative to a git
// directory: in git-annex's own, where it makes links before it moves them to the
// working tree, and which git does not write.
func MayLink(in string) bool { return Beneath(in, "annex") }

// IsIndex reports whether a file of that name is one of git's indexes.
func IsIndex(name string) bool { return name == "index" || strings.HasPrefix(name, "sharedindex.") }
