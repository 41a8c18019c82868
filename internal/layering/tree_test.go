package layering

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// source is one Go file of the module that is neither test nor generated.
type source struct {
	rel   string // slash-separated, from the module's root
	dir   string // directory of rel, "." for the root
	lines int
	file  *ast.File
	fset  *token.FileSet
}

// root is the module's directory.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = up
	}
}

// sources parses every file that the rules apply to.
func sources(t *testing.T) []source {
	t.Helper()
	top := root(t)
	var all []source
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return enter(top, path, d.Name())
		}
		if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, rel, b, parser.ParseComments)
		if err != nil {
			return err
		}
		if !ast.IsGenerated(f) {
			rel = filepath.ToSlash(rel)
			all = append(all, source{rel, filepath.ToSlash(filepath.Dir(rel)), strings.Count(string(b), "\n"), f, fset})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no source was found: every rule would pass over nothing")
	}
	return all
}

// enter tells whether a directory belongs to the module's own code.
func enter(top, path, name string) error {
	if path == top {
		return nil
	}
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "bin" || name == "dist" {
		return filepath.SkipDir
	}
	if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
		return filepath.SkipDir
	}
	return nil
}

// imports lists what a file imports, unquoted.
func (s source) imports() []string {
	list := make([]string, len(s.file.Imports))
	for i, im := range s.file.Imports {
		list[i] = strings.Trim(im.Path.Value, `"`)
	}
	return list
}

// at is the place of a node, as file:line.
func (s source) at(n ast.Node) string {
	p := s.fset.Position(n.Pos())
	return s.rel + ":" + itoa(p.Line)
}

// packages groups the sources by directory.
func packages(all []source) map[string][]source {
	m := map[string][]source{}
	for _, s := range all {
		m[s.dir] = append(m[s.dir], s)
	}
	return m
}
