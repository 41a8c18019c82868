package sbx_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sbx/spec"

	"sbx"
)

// noSandbox is why this host cannot hold a sandbox with mounts; "" where it can.
var noSandbox string

func TestMain(m *testing.M) {
	os.Exit(testMain(m))
}

// testMain puts the program under test ($SBX, or bin/sbx where no source is younger,
// or one built for this run) on the PATH, where the package finds it.
func testMain(m *testing.M) int {
	flag.Parse()
	work, err := os.MkdirTemp("", "sbx-api.")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(work)
	if os.Getenv(asHelper) == "" {
		if err := program(work); err != nil {
			fmt.Fprintln(os.Stderr, "sbx:", err)
			return 1
		}
		os.Unsetenv("SBX_EFFECTIVE")
		os.Setenv("XDG_STATE_HOME", work+"/state")
		os.Setenv("PATH", work+":"+os.Getenv("PATH"))
	}
	if _, err := sbx.Command(tContext, readOnly, "true").Output(); err != nil {
		noSandbox = err.Error()
		if os.Getenv("SBX_TEST_MUST_RUN") != "1" { // an example cannot skip itself
			fmt.Fprintln(os.Stderr, "sbx: examples are left out, no sandbox on this host:", err)
			_ = flag.Set("test.skip", "^Example")
		}
	}
	return m.Run()
}

func needSandbox(t *testing.T) {
	t.Helper()
	switch {
	case noSandbox == "":
	case os.Getenv("SBX_TEST_MUST_RUN") == "1":
		t.Fatal("must run, and cannot: " + noSandbox)
	default:
		t.Skip("no sandbox on this host: " + noSandbox)
	}
}

// program puts sbx into a directory.
func program(dir string) error {
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	from := os.Getenv("SBX")
	if from == "" {
		from = "bin/sbx"
		if !isFresh(from) {
			cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-E sbx_entry", "-o", dir+"/sbx", "./cmd/sbx")
			cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("cannot build sbx: %v\n%s", err, out)
			}
			return nil
		}
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(dir+"/sbx", text, 0o755)
}

// isFresh tells whether no source behind cmd/sbx is younger than the program.
func isFresh(bin string) bool {
	b, err := os.Stat(bin)
	if err != nil {
		return false
	}
	for _, room := range []string{"audit", "cmd/sbx", "internal", "landlock", "seccomp", "spec", "wrap"} {
		err := filepath.WalkDir(room, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") {
				return err
			}
			info, err := d.Info()
			if err == nil && info.ModTime().After(b.ModTime()) {
				return fs.ErrExist
			}
			return err
		})
		if err != nil {
			return false
		}
	}
	return true
}

// decoded is a document's spec.
func decoded(text string) *spec.SandboxSpec {
	s, err := spec.Decode("spec.json", []byte(text))
	if err != nil {
		panic(err)
	}
	return s
}
