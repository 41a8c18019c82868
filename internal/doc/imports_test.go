package doc

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The package runs at the start of every sandbox, so its imports cost time there.
func TestImports(t *testing.T) {
	pure := []string{"bytes", "errors", "io", "slices", "strconv", "strings", "unicode/utf16", "unicode/utf8", "github.com/go-json-experiment/json/jsontext"}
	names, err := filepath.Glob("*.go")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			if path, _ := strconv.Unquote(i.Path.Value); !slices.Contains(pure, path) {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
}

// The kept seeds exist: otherwise a fuzz test would pass without testing anything.
func TestCorpora(t *testing.T) {
	for _, name := range []string{"FuzzJSON", "FuzzYAML"} {
		seeds, err := os.ReadDir(filepath.Join("testdata", "fuzz", name))
		if err != nil || len(seeds) == 0 {
			t.Errorf("%s has no kept seeds: %v", name, err)
		}
	}
}
