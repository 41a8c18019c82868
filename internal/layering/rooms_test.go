package layering

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// room is a package, or a tree of them, with the rooms that it may import.
type room struct {
	path string   // "wrap/launch" also stands for what lies beneath it
	may  []string // rooms below; a package of the same room is always allowed
}

// rooms is the house, from the bottom up. The most particular row counts.
var rooms = []room{
	{"internal/doc", nil},
	{"internal/view", nil},
	{"internal/read", nil},
	{"internal/sys", []string{"internal/read"}},
	{"internal/dirs", []string{"internal/doc", "internal/read"}},
	{"internal/reach", []string{"internal/doc"}},
	{"internal/broker/caps", []string{"internal/reach", "internal/view"}},
	{"internal/relay/wire", []string{"internal/reach"}},
	{"internal/broker/wire", []string{"internal/doc"}},
	{"spec", []string{"internal/broker/caps", "internal/broker/wire", "internal/doc", "internal/read", "internal/reach", "internal/view"}},
	{"landlock", nil},
	{"seccomp", []string{"internal/doc"}},
	{"internal/relay", []string{"internal/doc", "internal/reach", "internal/relay/wire", "landlock", "seccomp"}},
	{"wrap/defaults", []string{"internal/view", "spec"}},
	{"wrap", []string{"wrap/defaults", "internal/broker/wire", "internal/doc", "internal/view", "internal/reach", "internal/relay/wire", "spec", "landlock", "seccomp"}},
	{"wrap/outer", []string{"internal/broker/wire", "internal/doc", "internal/view", "wrap", "wrap/defaults", "spec", "seccomp"}},
	{"wrap/world", []string{"internal/doc", "internal/view", "wrap", "wrap/defaults", "spec"}}, // of tests alone
	{"wrap/launch/cgroup", []string{"internal/read", "internal/view", "wrap", "spec"}},
	{"internal/enclosing", []string{"internal/doc", "internal/read", "wrap", "spec"}},
	{"wrap/host", []string{"internal/dirs", "internal/doc", "internal/enclosing", "internal/read", "internal/view", "wrap/launch/cgroup", "wrap", "wrap/defaults", "spec", "landlock", "seccomp"}},
	{"wrap/launch", []string{"internal/sys", "internal/broker/wire", "internal/doc", "internal/relay/wire", "internal/enclosing", "internal/read", "internal/view", "wrap/launch/cgroup", "wrap", "spec", "landlock", "seccomp"}},
	{"audit", []string{"internal/dirs", "internal/doc", "internal/read", "internal/sys", "internal/reach", "internal/relay/wire", "audit/agent", "wrap/launch", "wrap", "spec", "landlock", "seccomp"}},
	{"audit/agent", []string{"internal/doc", "spec"}},
	{"audit/show", []string{"internal/doc", "audit", "spec"}},
	{"audit/guard", []string{"internal/dirs", "internal/sys", "internal/view", "audit", "wrap", "wrap/defaults", "spec"}},
	{"audit/listen", []string{"internal/sys", "internal/read", "internal/reach", "internal/relay/wire", "internal/view", "audit", "audit/guard", "wrap", "spec", "seccomp"}},
	{"audit/trace", []string{"internal/sys", "internal/read", "audit", "spec", "seccomp"}},
	{"internal/run", []string{"internal/dirs", "internal/broker/wire", "internal/read", "internal/sys", "internal/doc", "internal/view", "internal/enclosing", "internal/reach", "internal/relay/wire", "audit", "audit/guard", "audit/agent", "audit/listen", "audit/trace", "wrap/launch", "wrap/host", "wrap", "wrap/defaults", "spec", "seccomp", "wrap/outer"}},
	{"cmd/sbx", []string{"internal/dirs", "internal/broker/caps", "internal/sys", "internal/run", "internal/doc", "internal/enclosing", "internal/reach", "audit", "audit/show", "wrap/launch", "wrap/host", "wrap", "wrap/defaults", "internal/view", "spec", "wrap/outer"}},

	// The Go API, which starts the program and imports none of its rooms.
	{".", []string{"spec"}},

	// Programs with heavy dependencies, and their rooms, which nobody imports.
	{"dispatch", []string{"internal/read", "internal/view", "internal/doc", "internal/sys", "audit", "audit/agent", "wrap/defaults", "spec", "internal/dirs"}},
	{"internal/broker", []string{"internal/broker/caps", "internal/broker/wire", "internal/doc", "internal/reach", "internal/read", "internal/sys", "internal/view", "audit", "spec", "wrap/defaults", "wrap/host"}},
	{"internal/oci/walls", []string{"landlock", "seccomp"}},
	{"internal/oci/front", nil},
	{"internal/oci", []string{"internal/oci/front", "internal/oci/walls", "internal/run", "internal/doc", "internal/read", "internal/sys", "internal/view", "audit", "audit/guard", "audit/listen", "wrap/host", "wrap", "wrap/defaults", "spec", "seccomp", "wrap/outer", "landlock"}},
	{"cmd/sbx-egress", []string{"internal/relay", "internal/relay/wire", "internal/reach", "landlock", "seccomp"}},
	{"cmd/sbx-dispatch", []string{"internal/sys", "internal/doc", "dispatch", "audit", "audit/show", "spec"}},
	{"cmd/sbx-broker", []string{"internal/sys", "internal/broker", "internal/broker/wire", "internal/doc", "audit", "spec"}},
	{"cmd/sbx-oci", []string{"internal/oci", "internal/oci/front", "internal/doc"}},
	{"cmd/sbx-init", []string{"internal/oci/walls"}},

	// Tools of the house: they may look at everything, no room looks at them.
	{"internal", []string{"audit", "audit/agent", "wrap/launch", "wrap", "spec", "landlock", "seccomp", "internal/relay"}},
	{"scripts", []string{"spec", "wrap", "landlock", "seccomp"}},
	{"bench", nil},
}

// roomOf is the most particular row that dir belongs to.
func roomOf(dir string) (room, bool) {
	var best room
	found := false
	for _, r := range rooms {
		if (dir == r.path || strings.HasPrefix(dir, r.path+"/")) && len(r.path) > len(best.path) {
			best, found = r, true
		}
	}
	return best, found
}

func TestARoomImportsNoHigherOne(t *testing.T) {
	for _, s := range sources(t) {
		from, ok := roomOf(s.dir)
		if !ok {
			t.Errorf("%s: its directory is no room; give it a row in rooms", s.rel)
			continue
		}
		for _, im := range s.imports() {
			dir, own := strings.CutPrefix(im+"/", "sbx/")
			if dir = path.Clean(dir); !own {
				continue
			}
			to, ok := roomOf(dir)
			if !ok {
				t.Errorf("%s imports %s, which is no room", s.rel, dir)
				continue
			}
			if to.path != from.path && !slices.Contains(from.may, to.path) {
				t.Errorf("%s: %s may not import %s", s.rel, from.path, to.path)
			}
		}
	}
}

// TestTheHouseHasNoCycle holds the table itself to "from the bottom up": a
// row names only rooms that stand above it in the list.
func TestTheHouseHasNoCycle(t *testing.T) {
	height := map[string]int{}
	for i, r := range rooms {
		height[r.path] = i
	}
	below := map[string]int{"audit/agent": -1} // a leaf beside its parent
	for _, r := range rooms {
		for _, m := range r.may {
			h, ok := height[m]
			if l, leaf := below[m]; leaf {
				h = l
			}
			if !ok || h >= height[r.path] {
				t.Errorf("%s may import %s, which does not stand below it", r.path, m)
			}
		}
	}
}

func TestRulesSeeWhatTheyForbid(t *testing.T) {
	cases := []struct {
		from, to string
		want     bool
	}{
		{"spec", "wrap", false},
		{"seccomp", "landlock", false},
		{"landlock", "spec", false},
		{"internal/doc", "spec", false},
		{"spec", "internal/doc", true},
		{"wrap", "wrap/launch", false},
		{"wrap/launch", "audit", false},
		{"wrap/launch/cgroup", "wrap/launch", false},
		{"audit", "wrap/launch/cgroup", false},
		{"wrap/launch", "wrap", true},
		{"seccomp/gen", "seccomp", true},
		{"audit", "wrap/launch", true},
		{"audit", "cmd/sbx", false},
		{"cmd/sbx", "internal/layering", false},
		{"cmd/sbx", "internal/run", true},
		{"internal/run", "cmd/sbx", false},
		{".", "spec", true},
		{".", "wrap/launch", false},
		{"cmd/sbx", ".", false},
	}
	for _, c := range cases {
		from, _ := roomOf(c.from)
		to, _ := roomOf(c.to)
		if got := to.path == from.path || slices.Contains(from.may, to.path); got != c.want {
			t.Errorf("%s imports %s: allowed %v, want %v", c.from, c.to, got, c.want)
		}
	}
}

func itoa(n int) string { return strconv.Itoa(n) }
