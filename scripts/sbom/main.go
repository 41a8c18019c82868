// Command sbom prints a CycloneDX document about the contents of built programs: each program with
// its digest, and the modules that Go noted in it.
//
//	sbom -version 0.1.0 -time 1700000000 dist/sbx-0.1.0-linux-amd64/sbx …
//
// The same programs give the same bytes.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"
)

func main() {
	version := flag.String("version", "", "version of sbx")
	at := flag.Int64("time", 0, "seconds since 1970: the time of the sources")
	flag.Parse()
	if *version == "" || flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	var programs []program
	for _, path := range flag.Args() {
		p, err := open(path)
		if err != nil {
			fmt.Fprintln(os.Stderr, "sbom:", err)
			os.Exit(1)
		}
		programs = append(programs, p)
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	if err := out.Encode(describe(*version, time.Unix(*at, 0), programs)); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// program is a built program, with the information that Go noted in it.
type program struct {
	name, digest string
	info         *debug.BuildInfo
}

func open(path string) (program, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return program{}, err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return program{}, err
	}
	sum := sha256.Sum256(b)
	return program{filepath.Base(path), hex.EncodeToString(sum[:]), info}, nil
}
