package doc

import "strings"

// Nearest is the one of the known names that was probably meant: the same but for case
// and separators, or few changes away for its length (one in three letters, two at most).
// It is "" for none, and never the name itself.
func Nearest(name string, known []string) string {
	for _, k := range known {
		if k != name && Bare(k) == Bare(name) {
			return k
		}
	}
	best, found := 3, ""
	for _, k := range known {
		d := distance(name, k)
		if k != name && d < best && 3*d <= max(len(name), len(k)) && d < min(len(name), len(k)) {
			best, found = d, k
		}
	}
	return found
}

// NearestWord is Nearest for a word of the command line, which is cut short more often
// than other names are: of three letters or more it may be the beginning of one that is
// known, and of no other.
func NearestWord(word string, known []string) string {
	found := Nearest(word, known)
	if found != "" || len(word) < 3 {
		return found
	}
	for _, k := range known {
		switch {
		case k == word || k == found || !strings.HasPrefix(k, word):
		case found != "":
			return ""
		default:
			found = k
		}
	}
	return found
}

// Bare is s in lower case without separators.
func Bare(s string) string {
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		switch c := s[i]; {
		case c == '-' || c == '_' || c == ' ' || c == '.':
		case c >= 'A' && c <= 'Z':
			b = append(b, c+'a'-'A')
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

// distance counts the changes of one byte, or swaps of neighbours, that make b
// of a; more than two are far.
func distance(a, b string) int {
	const far = 3
	if len(a)-len(b) >= far || len(b)-len(a) >= far {
		return far
	}
	before := make([]int, len(b)+1)
	last := make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			change := 1
			if a[i] == b[j] {
				change = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+change)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], far)
}
