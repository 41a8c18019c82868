package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts tests what a person sees of the command line: every script of testdata/script types
// commands and checks the output of each, on which stream, and the status. `go test ./e2e -run
// TestScripts/exec-usage` runs one.
func TestScripts(t *testing.T) {
	const dir = "testdata/script"
	if all, err := filepath.Glob(dir + "/*.txtar"); err != nil || len(all) == 0 {
		t.Fatalf("no scripts in %s: %v", dir, err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			for _, d := range []string{"home", "state"} {
				if err := os.MkdirAll(env.WorkDir+"/"+d, 0o755); err != nil {
					return err
				}
			}
			// The bare program is found by its name, as after an installation.
			env.Setenv("PATH", filepath.Dir(sbxPath)+":"+searchable(os.Getenv("PATH")))
			env.Setenv("HOME", env.WorkDir+"/home")
			env.Setenv("XDG_STATE_HOME", env.WorkDir+"/state")
			env.Setenv("LANG", "C.UTF-8")
			env.Setenv("TERM", "dumb")
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "sandbox":
				why := sandboxed()
				if why != "" && os.Getenv("SBX_TEST_MUST_RUN") == "1" {
					return false, errors.New("must run, and cannot: " + why)
				}
				return why == "", nil
			case "root":
				return isRoot(), nil
			}
			return false, errors.New("no condition " + cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"ends": ends},
	})
}

// ends runs a program and checks its exit status: `ends 125 sbx exec …`.
func ends(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: ends STATUS program args")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = statusOf(exit.ProcessState)
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("status %d, want %d", got, want)
	}
}
