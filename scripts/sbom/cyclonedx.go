package main

import (
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// These are the parts of CycloneDX 1.6 that are used here.
type (
	document struct {
		Schema       string       `json:"$schema"`
		Format       string       `json:"bomFormat"`
		SpecVersion  string       `json:"specVersion"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	metadata struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	}
	component struct {
		Type     string    `json:"type"`
		Ref      string    `json:"bom-ref"`
		Name     string    `json:"name"`
		Version  string    `json:"version"`
		Hashes   []hash    `json:"hashes,omitempty"`
		Licenses []license `json:"licenses,omitempty"`
		PURL     string    `json:"purl,omitempty"`
	}
	hash struct {
		Algorithm string `json:"alg"`
		Content   string `json:"content"`
	}
	license struct {
		License struct {
			ID string `json:"id"`
		} `json:"license"`
	}
	dependency struct {
		Ref       string   `json:"ref"`
		DependsOn []string `json:"dependsOn"`
	}
)

// describe returns the document of a version's programs, in their order. Their modules follow,
// sorted, each once.
func describe(version string, at time.Time, programs []program) document {
	whole := component{Type: "application", Ref: "sbx", Name: "sbx", Version: version, Licenses: make([]license, 1)}
	whole.Licenses[0].License.ID = "Apache-2.0"
	doc := document{Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Metadata: metadata{at.UTC().Format(time.RFC3339), whole}, Dependencies: []dependency{{Ref: whole.Ref}}}
	modules := map[string]component{}
	for _, p := range programs {
		made := component{Type: "application", Ref: target(p.info) + "/" + p.name, Name: p.name, Version: version,
			Hashes: []hash{{"SHA-256", p.digest}}}
		doc.Components = append(doc.Components, made)
		doc.Dependencies[0].DependsOn = append(doc.Dependencies[0].DependsOn, made.Ref)
		var uses []string
		for _, m := range linked(p.info) {
			modules[m.Ref] = m
			uses = append(uses, m.Ref)
		}
		slices.Sort(uses)
		doc.Dependencies = append(doc.Dependencies, dependency{made.Ref, uses})
	}
	for _, ref := range slices.Sorted(maps.Keys(modules)) {
		doc.Components = append(doc.Components, modules[ref])
	}
	return doc
}

// linked returns the modules in a program, including Go's own library.
func linked(info *debug.BuildInfo) []component {
	list := []component{module("std", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		list = append(list, module(m.Path, m.Version))
	}
	return list
}

func module(path, version string) component {
	url := "pkg:golang/" + strings.ToLower(path) + "@" + strings.ReplaceAll(version, "+", "%2B")
	return component{Type: "library", Ref: url, Name: path, Version: version, PURL: url}
}

// target returns the system for which a program was built, as in linux-amd64.
func target(info *debug.BuildInfo) string {
	var system, arch string
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS":
			system = s.Value
		case "GOARCH":
			arch = s.Value
		}
	}
	return system + "-" + arch
}
