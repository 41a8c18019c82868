// Package e2e runs the built sbx as a person would and looks at the results: the exit status, the
// output of the inside, the host's files, the record. It uses no other package of the module.
//
// A denial only counts together with a control: the same attempt without the sandbox succeeds or,
// if that would do harm or the host denies it anyway, fails with another errno. The inside prints a
// last line that only a finished inside can print, so that a program that died early does not look
// like one that was denied something.
package e2e

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	sbxPath   string // the program under test
	probePath string // testdata/probe, built for this run
	moduleDir string
	elsewhere string // a directory of this run that no private directory covers; "" for none
)

func TestMain(m *testing.M) {
	os.Exit(testMain(m))
}

// short are the tests that run with -short if none is named: one for each mechanism.
var short = []string{"Capabilities", "DevicesAreTheSandboxsOwn", "ExitStatus", "HideBeatsMountsBeneath", "LadderAsRoot", "LadderWithoutLandlock",
	"NetworkListenRefused", "NoNewPrivileges", "ProcAndSysAreNotWritten", "ProtectedNamesAreRefused", "RefusalLeavesARecord", "RefusedCalls",
	"SecretsAreHidden", "Started", "TimeoutInTime", "ViewIsWhatAProbeFinds", "WritesOutOfViewAreViolations"}

func testMain(m *testing.M) int {
	// Settings of the caller's sandbox or shell must not reach the tests.
	os.Unsetenv("SBX_EFFECTIVE")
	os.Unsetenv("XDG_STATE_HOME")
	work, err := os.MkdirTemp("", "sbx-e2e-bin.")
	if err != nil {
		return complain(err)
	}
	defer os.RemoveAll(work)
	if err := os.Chmod(work, 0o755); err != nil {
		return complain(err)
	}
	if err := build(work); err != nil {
		return complain(err)
	}
	groupsBefore()
	if elsewhere = findElsewhere(); elsewhere != "" {
		defer os.RemoveAll(elsewhere)
	}
	defer endOuter()
	flag.Parse() // which m.Run would do
	if run := flag.Lookup("test.run"); testing.Short() && run.Value.String() == "" {
		if err := run.Value.Set("^Test(" + strings.Join(short, "|") + ")$"); err != nil {
			return complain(err)
		}
	}
	return m.Run()
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "e2e:", err)
	return 1
}

// build finds the program under test ($SBX, or bin/sbx if no source is newer, or one built for this
// run) and builds the probe.
func build(work string) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	moduleDir = filepath.Dir(here)
	if sbxPath = os.Getenv("SBX"); sbxPath != "" {
		if sbxPath, err = filepath.Abs(sbxPath); err != nil {
			return err
		}
	} else if sbxPath = filepath.Join(moduleDir, "bin", "sbx"); !isFresh(sbxPath) {
		sbxPath = filepath.Join(work, "sbx")
		if out, err := exec.Command("sh", filepath.Join(moduleDir, "scripts", "build.sh"), work).CombinedOutput(); err != nil {
			return fmt.Errorf("cannot build sbx: %v\n%s", err, out)
		}
	}
	builtDir = filepath.Join(work, "built")
	if err := os.Mkdir(builtDir, 0o755); err != nil {
		return err
	}
	probePath, err = probeBuilt()
	return err
}

// These are the programs that the tests run, each built on first use.
var (
	builtDir    string
	probeBuilt  = program("e2e/testdata/probe")
	worldBuilt  = program("e2e/testdata/world")
	refuseBuilt = program("wrap/launch/testdata/refuse")
	plainBuilt  = program("cmd/sbx") // without its entry point
)

// program returns a function that returns the path of a package's program: built once, or in
// SBX_TEST_BUILT, where scripts/test.sh has built it for both users.
func program(pkg string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		path := filepath.Join(builtDir, filepath.Base(pkg))
		if dir := os.Getenv("SBX_TEST_BUILT"); dir != "" { // a copy, since others' files may not be linked
			text, err := os.ReadFile(filepath.Join(dir, filepath.Base(pkg)))
			if err != nil {
				return "", err
			}
			return path, os.WriteFile(path, text, 0o755)
		}
		cmd := exec.Command("go", "build", "-trimpath", "-o", path, "./"+pkg)
		cmd.Dir, cmd.Env = moduleDir, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("cannot build %s: %v\n%s", pkg, err, out)
		}
		return path, nil
	})
}

// isFresh reports whether no source of the module is newer than bin.
func isFresh(bin string) bool {
	b, err := os.Stat(bin)
	if err != nil {
		return false
	}
	fresh := true
	err = filepath.WalkDir(moduleDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != moduleDir && (strings.HasPrefix(name, ".") || name == "e2e" || name == "testdata" || name == "bin") {
				return filepath.SkipDir
			}
			return nil
		}
		switch filepath.Ext(name) {
		case ".go", ".s", ".mod", ".bpf", ".json":
			if info, err := d.Info(); err == nil && info.ModTime().After(b.ModTime()) && !strings.HasSuffix(name, "_test.go") {
				fresh = false
				return filepath.SkipAll
			}
		}
		return nil
	})
	return err == nil && fresh
}

// findElsewhere makes a directory that is not under a directory which is private inside: in
// SBX_TEST_ELSEWHERE, if that is set. An ordinary user without such a place tests only under /tmp.
func findElsewhere() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	for _, root := range []string{os.Getenv("SBX_TEST_ELSEWHERE"), home, "/srv", "/opt", "/var/lib"} {
		real, err := filepath.EvalSymlinks(root)
		if root == "" || err != nil || isPrivate(real) {
			continue
		}
		if dir, err := os.MkdirTemp(real, "sbx-e2e."); err == nil {
			if os.Chmod(dir, 0o755) == nil {
				return dir
			}
			os.Remove(dir)
		}
	}
	return ""
}

func isPrivate(path string) bool {
	for _, p := range []string{"/tmp", "/var/tmp", "/dev/shm", "/run"} {
		if path == p || strings.HasPrefix(path, p+"/") {
			return true
		}
	}
	return false
}

// limit is the time after which a test gives up a command. It is enough for a slow disk: the first
// run of an agent reads some 400 MB of programs.
const limit = 4 * time.Minute
