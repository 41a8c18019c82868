package host

import (
	"slices"
	"testing"

	"sbx/spec"
)

// @system contains the directories in /opt that programs on PATH need, and nothing next to them.
func TestOptional(t *testing.T) {
	scene := func(t *testing.T, home, work, path string) []string {
		s := newScene(t)
		for _, dir := range []string{"tool/bin", "neighbour", "jdk-21/bin", "google/chrome", "go/bin", "work/bin", "work/a/bin", "work/b", "ci/home/.local/bin", "ci/tool/bin", "planted", "editor/bin"} {
			s.dir("opt/" + dir)
		}
		s.file("opt/google/chrome/chrome", "")
		s.file("opt/alone", "")
		s.link("jdk-21", "opt/jdk")
		s.link("/opt/google/chrome/chrome", "usr/bin/chrome-stable")
		s.link("/etc/alternatives/chrome", "usr/bin/chrome")
		s.link("/usr/bin/chrome-stable", "etc/alternatives/chrome")
		s.link("../../../opt/alone", "usr/local/bin/alone")
		s.link("/etc/alternatives/editor", "usr/bin/editor")
		s.link("../../opt/editor/bin/run", "etc/alternatives/editor")
		s.link("/opt/go", "usr/local/go")
		s.link("/opt/planted", "home/me/theirs")
		s.link("/home/me/theirs/x", "usr/local/bin/x")
		s.r.Home, s.r.Write, s.r.WorkingDir = home, nil, spec.Path{Real: work}
		s.r.Env = []string{"PATH=" + path}
		var got []string
		for _, row := range (&systemSearch{s.prober().prober}).optRows() {
			got = append(got, row.Path)
		}
		return got
	}
	byLink := []string{"/opt/alone", "/opt/editor", "/opt/google"}
	for _, c := range []struct {
		name, home, work, path string
		want                   []string
	}{
		{"links alone", "/home/me", "/home/me/w", "/usr/bin:/bin", nil},
		{"a directory of PATH", "/home/me", "/srv/w", "/opt/tool/bin:/usr/bin", []string{"/opt/tool"}},
		{"one that is a link", "/home/me", "/srv/w", "/opt/jdk/bin", []string{"/opt/jdk", "/opt/jdk-21"}},
		{"one of /usr that is", "/home/me", "/srv/w", "/usr/local/go/bin:/home/me/theirs", []string{"/opt/go"}},
		{"one that leaves /opt", "/home/me", "/srv/w", "/opt/tool/../../etc:/opt:/opt/../opt/", nil},
		{"a neighbour's", "/home/me", "/opt/work/b", "/opt/work/a/bin", []string{"/opt/work/a"}},
		{"beside the workspace", "/home/me", "/opt/work/b", "/opt/work/bin", []string{"/opt/work/bin"}},
		{"above the workspace", "/home/me", "/opt/work/b", "/opt/work", nil},
		{"in the workspace", "/home/me", "/opt/work/a", "/opt/work/a/bin", nil},
		{"beside the home", "/opt/ci/home", "/srv/w", "/opt/ci/tool/bin", []string{"/opt/ci/tool"}},
		{"in the home", "/opt/ci/home", "/srv/w", "/opt/ci/home/.local/bin", nil},
		{"a home that is /", "/", "/", "/opt/tool/bin", []string{"/opt/tool"}},
	} {
		want := append(slices.Clone(byLink), c.want...)
		slices.Sort(want)
		if got := scene(t, c.home, c.work, c.path); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", c.name, got, want)
		}
	}
}
