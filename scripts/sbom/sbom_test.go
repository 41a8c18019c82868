package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"
)

func TestAProgramIsReadFromItsFile(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := open(self)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := os.ReadFile(self)
	if sum := sha256.Sum256(b); p.digest != hex.EncodeToString(sum[:]) {
		t.Errorf("digest %s", p.digest)
	}
	if got := target(p.info); got != runtime.GOOS+"-"+runtime.GOARCH {
		t.Errorf("target %s", got)
	}
	if _, err := open("main.go"); err == nil {
		t.Error("a text is no program")
	}
}

func TestTheDocumentNamesEachModuleOnce(t *testing.T) {
	info := func(arch string, deps ...*debug.Module) *debug.BuildInfo {
		return &debug.BuildInfo{GoVersion: "go1.26.8", Deps: deps,
			Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "GOARCH", Value: arch}}}
	}
	sys := &debug.Module{Path: "golang.org/x/sys", Version: "v0.49.0"}
	upper := &debug.Module{Path: "example.org/A", Version: "v1.0.0+incompatible"}
	old := &debug.Module{Path: "example.org/old", Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/new", Version: "v1.0.1"}}
	doc := describe("0.1.0", time.Unix(1700000000, 0), []program{
		{"sbx", "aa", info("amd64", sys, old)}, {"sbx", "bb", info("arm64", sys, upper)}})
	var refs []string
	for _, c := range doc.Components {
		refs = append(refs, c.Ref)
	}
	want := []string{"linux-amd64/sbx", "linux-arm64/sbx", "pkg:golang/example.org/a@v1.0.0%2Bincompatible",
		"pkg:golang/example.org/new@v1.0.1", "pkg:golang/golang.org/x/sys@v0.49.0", "pkg:golang/std@1.26.8"}
	if !slices.Equal(refs, want) {
		t.Errorf("components %q, want %q", refs, want)
	}
	uses := []dependency{{"sbx", want[:2]}, {want[0], want[3:]}, {want[1], []string{want[2], want[4], want[5]}}}
	if !reflect.DeepEqual(doc.Dependencies, uses) {
		t.Errorf("dependencies %q, want %q", doc.Dependencies, uses)
	}
	if at := doc.Metadata.Timestamp; at != "2023-11-14T22:13:20Z" {
		t.Errorf("timestamp %s", at)
	}
}
