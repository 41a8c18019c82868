package host

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFinder(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{".env", "a/.env", "a/b/.env/inner/.env", "a/env", "a/.envx", "x.pem/y.pem"} {
		if err := os.MkdirAll(filepath.Dir(dir+"/"+path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir+"/"+path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("..", dir+"/a/loop"); err != nil {
		t.Fatal(err)
	}
	var f Finder
	for glob, want := range map[string]string{
		"**/.env":  "/.env /a/.env /a/b/.env",
		"**/.env*": "/.env /a/.env /a/.envx /a/b/.env",
		"**/*.pem": "/x.pem",
		"**/*v":    "/.env /a/.env /a/b/.env /a/env",
		"**/loop":  "/a/loop",
		"**/none":  "",
	} {
		for range 2 { // the second time from the kept result
			paths, why := f.Find(dir, glob)
			paths = slices.Clone(paths)
			slices.Sort(paths)
			if got := strings.ReplaceAll(strings.Join(paths, " "), dir, ""); got != want || why != "" {
				t.Errorf("%s: %q %q", glob, got, why)
			}
		}
	}
	for names, whole := range map[int]bool{maxFindAll - 100: true, maxFindAll: false} { // the names that other searches have read
		f := Finder{names: names}
		if _, why := f.Find(dir, "**/x"); (why == "") != whole {
			t.Errorf("after %d names: %q", names, why)
		}
	}
	if _, why := f.Find(dir+"/a/loop", "**/x"); why == "" {
		t.Error("a link in place of the directory was followed")
	}
}
