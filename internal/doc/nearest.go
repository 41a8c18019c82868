package doc

import "strings"

// Nearest returns the known name that name was probably meant to be: one that differs only in
// case and separators, or by few typing errors (one in three letters, at most two). It returns
// "" if there is none, and never name itself.
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

// NearestWord is Nearest for a word of a command line, which people often abbreviate: a word of
// at least three letters may also be the beginning of exactly one known word.
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

// Bare returns s in lower case without separators.
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

// distance counts the changes of one byte and the swaps of two neighbours that turn a into b;
// it returns 3 for more than two.
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
