package spec

import "strings"

// clean is the shortest path that names the same file where no link is in the
// way: no "//", no "/./", no trailing slash, and ".." taken with what it leaves.
func clean(p string) string {
	rooted := strings.HasPrefix(p, "/")
	parts := make([]string, 0, 16)
	for part := range strings.SplitSeq(p, "/") {
		switch {
		case part == "" || part == ".":
		case part != "..":
			parts = append(parts, part)
		case len(parts) > 0 && parts[len(parts)-1] != "..":
			parts = parts[:len(parts)-1]
		case !rooted:
			parts = append(parts, part)
		}
	}
	s := strings.Join(parts, "/")
	switch {
	case rooted:
		return "/" + s
	case s == "":
		return "."
	}
	return s
}
