package spec

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

// The package runs at the start of every sandbox, so its imports cost time there. Only tests may
// import fmt, os, reflect and the YAML and schema libraries.
func TestImports(t *testing.T) {
	pure := []string{"sbx/internal/broker/caps", "sbx/internal/broker/wire", "sbx/internal/doc", "sbx/internal/doc/decode", "sbx/internal/reach", "sbx/internal/view", "cmp", "embed", "errors", "math", "path", "slices", "sort", "strconv", "strings", "time", "unicode/utf8", "sbx/spec/redact"}
	linux := append(slices.Clone(pure), "crypto/sha256", "sbx/internal/read", "syscall", "golang.org/x/sys/unix")
	names, err := filepath.Glob("*.go")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	// The packages under it run there, too. They may import this one and each other.
	beneath, err := filepath.Glob("*/*.go")
	if err != nil || len(beneath) == 0 {
		t.Fatal(beneath, err)
	}
	names = append(names, beneath...)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		allowed := pure
		if strings.HasSuffix(name, "_linux.go") {
			allowed = linux
		}
		for _, i := range f.Imports {
			path, _ := strconv.Unquote(i.Path.Value)
			own := strings.Contains(name, "/") && (path == "sbx/spec" || strings.HasPrefix(path, "sbx/spec/"))
			if !own && !slices.Contains(allowed, path) {
				t.Errorf("%s imports %s", name, path)
			}
		}
		if f.Scope.Lookup("init") != nil {
			t.Errorf("%s has an init", name)
		}
	}
}

// The kept seeds exist: otherwise a fuzz test would pass without testing anything.
func TestCorpora(t *testing.T) {
	for _, name := range []string{"FuzzDecode", "FuzzResolve"} {
		seeds, err := os.ReadDir(filepath.Join("testdata", "fuzz", name))
		if err != nil || len(seeds) == 0 {
			t.Errorf("%s has no kept seeds: %v", name, err)
		}
	}
}
