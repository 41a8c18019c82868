package profile

import (
	"slices"
	"strings"
	"testing"

	"sbx/spec"
	"sbx/spec/agent"
	machine "sbx/wrap/world"
)

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	machine.Golden(t, "testdata/"+name, got)
}

// world is a file system in a map: a text for a file, "/" for a directory, "-> x"
// for a link.
type world map[string]string

const folder = "/"

func (w world) Lstat(path string) (spec.Info, error) {
	text, ok := w[path]
	if path == "/" || text == folder {
		return spec.Info{IsDir: true}, nil
	}
	if !ok {
		for p := range w {
			if strings.HasPrefix(p, path+"/") {
				return spec.Info{IsDir: true}, nil
			}
		}
		return spec.Info{}, spec.NoEntry
	}
	return spec.Info{IsLink: strings.HasPrefix(text, "-> ")}, nil
}

func (w world) Readlink(path string) (string, error) {
	return strings.TrimPrefix(w[path], "-> "), nil
}

func (w world) List(dir string) ([]Entry, error) {
	var all []Entry
	for p, text := range w {
		rest, ok := strings.CutPrefix(p, dir+"/")
		if !ok {
			continue
		}
		name, _, deeper := strings.Cut(rest, "/")
		e := Entry{Name: name, Kind: File}
		switch {
		case deeper || text == folder:
			e.Kind = Dir
		case strings.HasPrefix(text, "-> "):
			e.Kind = Other
		}
		if !slices.Contains(all, e) {
			all = append(all, e)
		}
	}
	return all, nil
}

func (w world) Mkdir(dir string) error { w[dir] = folder; return nil }

func (w world) read(path string) ([]byte, bool, error) {
	text, ok := w[path]
	return []byte(text), ok, nil
}

// env returns an Env with a project at /p and a home at /home/u.
func (w world) env() Env {
	w["/p"], w["/home/u"] = folder, folder
	return Env{Home: "/home/u", Project: "/p", Reader: w.read,
		In: spec.Inputs{Home: "/home/u", Cwd: "/p", Paths: w}}
}

func (w world) needs(a spec.Agent) *spec.AgentNeeds {
	return agent.Needs(a, "/home/u", func(string) string { return "" }, w)
}

func load(t *testing.T, w world) *Catalog {
	t.Helper()
	c, err := Load(w.env())
	if err != nil {
		t.Fatal(err)
	}
	return c
}
