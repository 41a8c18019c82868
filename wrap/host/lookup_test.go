package host

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sbx/wrap/defaults"
)

// Every row is in a group of its next name, once, and the groups are in the names' order.
func TestGroups(t *testing.T) {
	check := func(rows []string, skip int) {
		t.Helper()
		l := lookup{path: func(i int) string { return rows[i] }}
		seen := make([]int, len(rows))
		last := ""
		for _, g := range l.groups(0, len(rows), skip) {
			if g.name < last || g.lo >= g.hi {
				t.Fatalf("%q: %+v after %q", rows, g, last)
			}
			last = g.name
			for i := g.lo; i < g.hi; i++ {
				seen[i]++
				if name, _, _ := strings.Cut(rows[i][skip:], "/"); name != g.name {
					t.Fatalf("%q: %q is in the group of %q", rows, rows[i], g.name)
				}
			}
		}
		if slices.Contains(seen, 0) || len(seen) > 0 && slices.Max(seen) > 1 {
			t.Fatalf("%q: %d", rows, seen)
		}
	}
	var table []string
	for _, s := range defaults.Secrets() {
		if s.Path[0] == '~' {
			table = append(table, s.Path)
		}
	}
	check(table, len("~/"))
	names := []string{"a", "b", "a-b", "a.b", "a0", "ab"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		var rows []string
		for range r.IntN(30) {
			parts := make([]string, 1+r.IntN(3))
			for i := range parts {
				parts[i] = names[r.IntN(len(names))]
			}
			rows = append(rows, strings.Join(parts, "/"))
		}
		slices.Sort(rows)
		check(rows, 0)
	}
}
