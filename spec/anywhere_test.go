package spec

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestIsNamed(t *testing.T) {
	for _, c := range []struct {
		glob, name string
		want       bool
	}{
		{"**/.env", ".env", true}, {"**/.env", ".env2", false}, {"**/.env", "a.env", false},
		{"**/*.pem", "a.pem", true}, {"**/*.pem", ".pem", true}, {"**/*.pem", "a.pem2", false},
		{"**/a*a", "aa", true}, {"**/a*a", "a", false}, {"**/.env*", ".env", true}, {"**/.env*", ".env.local", true},
	} {
		if IsNamed(c.glob, c.name) != c.want {
			t.Errorf("%s, %s: %v", c.glob, c.name, !c.want)
		}
	}
}

// noLinks is a file system in which every path is a directory.
type noLinks struct{}

func (noLinks) Lstat(string) (Info, error)      { return Info{IsDir: true}, nil }
func (noLinks) Readlink(string) (string, error) { return "", NoEntry }

// A child hides the paths that its parent found, even if it works in a smaller tree.
func TestHideAnywhere(t *testing.T) {
	var looked []string
	in := Inputs{Home: "/h", Cwd: "/w", Paths: noLinks{}, Find: func(dir, glob string) ([]string, string) {
		looked = append(looked, dir)
		return []string{dir + "/x" + glob[len(Anywhere):]}, ""
	}}
	parse := func(text string) *SandboxSpec {
		s, err := Decode("in", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	hidden := func(r *Resolved) (all []string) {
		for _, h := range r.Hide {
			all = append(all, h.Real)
		}
		slices.Sort(all)
		return all
	}
	parent := parse(`{"access_mode": "workspace-write", "filesystem": {"hide": ["**/.env"], "write": ["/w/sub", "/o"]}}`)
	chain, err := Chain([]*SandboxSpec{parent, parse(`{"working_dir": "sub", "filesystem": {"write": []}}`)}, in)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"/o/x.env", "/w/x.env"}; !slices.Equal(hidden(&chain[0]), want) {
		t.Error(hidden(&chain[0]))
	}
	if want := []string{"/o/x.env", "/w/sub/x.env", "/w/x.env"}; !slices.Equal(hidden(&chain[1]), want) {
		t.Error(hidden(&chain[1]))
	}
	if want := []string{"/o", "/w", "/w/sub"}; !slices.Equal(looked, want) {
		t.Error(looked)
	}
	in.Find = func(dir, _ string) ([]string, string) { return nil, "too much" }
	if _, err := Resolve(parent, in); err == nil {
		t.Error("a search that was cut is taken for one that was not")
	}
	in.BestEffort = []Field{"filesystem.hide"}
	if r, err := Resolve(parent, in); err != nil || r.HideCut != "too much" {
		t.Error(r.HideCut, err)
	}
	in.BestEffort, in.Find = nil, func(dir, _ string) (all []string, why string) {
		for i := range maxNamed + 1 {
			all = append(all, dir+"/"+strconv.Itoa(i))
		}
		return all, ""
	}
	if _, err := Resolve(parent, in); err == nil {
		t.Error("any number of paths is hidden")
	}
	in.Find = func(string, string) ([]string, string) { return nil, "" }
	for more, held := range map[int]bool{0: true, 1: false} {
		many := parse(`{"filesystem": {"hide": ["**/y"` + strings.Repeat(`, "**/y"`, maxAnywhere-1+more) + `]}}`)
		if _, err := Resolve(many, in); (err == nil) != held || err != nil && len(AsProblems(err)) != 1 {
			t.Error(more, err)
		}
	}
	in.Find = nil
	if _, err := Resolve(parent, in); err == nil {
		t.Error("nobody looked")
	}
}
