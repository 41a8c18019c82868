// Command gen writes the table of token shapes of package redact from the rules of gitleaks
// (https://github.com/gitleaks/gitleaks, MIT licence). It takes data about the format of
// credentials, none of the code. go generate runs it in the directory of the package; it gets
// gitleaks from the Go module proxy.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/pelletier/go-toml/v2"
)

const (
	module  = "github.com/zricethezav/gitleaks/v8"
	version = "v8.30.1"
	digest  = "e163e53b9e7e8a8511e77271e2b323ed057759542a6d988258afe3a1fa329caf" // the SHA-256 of config/gitleaks.toml
)

type rule struct {
	ID    string `toml:"id"`
	Regex string `toml:"regex"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run() error {
	rules, err := read()
	if err != nil {
		return err
	}
	var shapes []shape
	var kept, left []rule
	for _, r := range rules {
		of, err := shapesOf(r)
		if err != nil {
			return fmt.Errorf("%s: %w", r.ID, err)
		}
		if len(of) == 0 {
			left = append(left, r)
			continue
		}
		kept = append(kept, r)
		shapes = append(shapes, of...)
	}
	source, err := format.Source(source(shapes, left))
	if err != nil {
		return err
	}
	if err := os.WriteFile("shapes.go", source, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join("testdata", "gitleaks.txt"), expressions(kept), 0o644)
}

// read gets the rules of the version above, and no others.
func read() ([]rule, error) {
	out, err := exec.Command("go", "mod", "download", "-json", module+"@"+version).Output()
	if err != nil {
		return nil, fmt.Errorf("cannot get %s@%s from the module proxy: %w", module, version, err)
	}
	var got struct{ Dir string }
	if err := json.Unmarshal(out, &got); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(got.Dir, "config", "gitleaks.toml"))
	if err != nil {
		return nil, err
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256(text)); sum != digest {
		return nil, fmt.Errorf("gitleaks.toml has the digest %s, not %s", sum, digest)
	}
	var config struct {
		Rules []rule `toml:"rules"`
	}
	if err := toml.Unmarshal(text, &config); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(config.Rules, func(r rule) bool { return r.Regex == "" }), nil // the others only match a file's name
}

// expressions returns the rules for tokens with a known prefix, for the tests: a line each, name
// and expression.
func expressions(rules []rule) []byte {
	var b bytes.Buffer
	for _, r := range rules {
		fmt.Fprintf(&b, "%s\t%s\n", r.ID, r.Regex)
	}
	return b.Bytes()
}
