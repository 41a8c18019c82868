package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestOCIShelfIsClosed checks that no other user can read what a container gets: the variables in
// its configuration.
func TestOCIShelfIsClosed(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(`{"max_commands": 100}`)
		must(t, os.Chmod(filepath.Dir(filepath.Dir(n.state)), 0o711))
		bundle := ociBundle(t, []string{"sleep", "1000"}, nil)
		must(t, os.Chmod(filepath.Dir(bundle), 0o711))
		if got := ociRun(t, bundle, n.under("create", "--bundle", bundle, "sbx-e2e-closed")); got.status != 0 {
			t.Fatalf("%+v", got)
		}
		defer ociRun(t, bundle, n.under("delete", "--force", "sbx-e2e-closed"))
		reads := func(path string) bool {
			cmd := exec.Command("cat", path)
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			out, _ := cmd.Output()
			return strings.Contains(string(out), "GITHUB_TOKEN")
		}
		found, err := filepath.Glob(filepath.Join(n.state, "sbx/made/*/config.json"))
		must(t, err)
		if len(found) != 1 || reads(found[0]) {
			t.Errorf("another user reads %q", found)
		}
		if !reads(filepath.Join(bundle, "config.json")) {
			t.Error("the control reads nothing")
		}
	})
}

// TestOCIEndedWhileMade ends the process that makes a container, and the container, meanwhile:
// nothing is created after that, and nothing waits for it.
func TestOCIEndedWhileMade(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(`{"max_commands": 100}`)
		const id = "sbx-e2e-ended"
		bundle := ociBundle(t, []string{"sleep", "1000"}, nil)
		dir := t.TempDir()
		slowly := func(text string) []string { // the text says how create ends
			slow := filepath.Join(dir, "runtime")
			must(t, os.WriteFile(slow, []byte("#!/bin/sh\ncase \" $* \" in *' create '*) ;; *) exec "+n.runtime+" \"$@\";; esac\n"+text+"\n"), 0o755))
			line := n.under("create", "--bundle", bundle, "--pid-file", filepath.Join(dir, "first"), id)
			for i := range line {
				if i > 0 && line[i-1] == "--sbx-runtime" {
					line[i] = slow
				}
			}
			return line
		}
		number := func(name string) (v int) {
			for deadline := time.Now().Add(limit); v == 0 && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
				b, _ := os.ReadFile(filepath.Join(dir, name))
				v, _ = strconv.Atoi(strings.TrimSpace(string(b)))
			}
			return v
		}
		over := func(pid int) {
			t.Helper()
			for deadline := time.Now().Add(10 * time.Second); unix.Kill(pid, 0) == nil; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("process %d goes on", pid)
				}
			}
		}
		line := slowly("echo $$ >" + dir + "/mark.new; mv " + dir + "/mark.new " + dir + "/mark; while [ ! -e " + dir + "/go ]; do sleep 0.01; done; exec " + n.runtime + " \"$@\"")
		cmd := exec.Command(line[0], line[1:]...)
		must(t, cmd.Start())
		runtime := number("mark")
		must(t, cmd.Process.Kill())
		_ = cmd.Wait()
		ociRun(t, bundle, n.under("delete", "--force", id))
		must(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
		over(runtime)
		if got := ociRun(t, bundle, n.bare("state", id)); got.status == 0 {
			t.Errorf("made after its end: %+v", got)
		}
		n.leaves(id)

		got := ociRun(t, bundle, slowly(n.runtime+` "$@" || exit 1; pid=$(cat `+dir+`/first); kill -9 $pid; while [ -e /proc/$pid ]; do sleep 0.01; done`))
		if got.status != 0 {
			t.Fatalf("%+v", got)
		}
		r := n.recordIn("exited")
		if why := r["container"].(map[string]any)["exit_unknown"]; why != "its command was never started" {
			t.Errorf("%v", why)
		}
		ociRun(t, bundle, n.under("delete", "--force", id))
		n.leaves(id)
		for _, args := range [][]string{{"create", "--bundle", bundle, id}, {"start", id}} { // the control: it is made, and lives
			if got := ociRun(t, bundle, n.under(args...)); got.status != 0 {
				t.Errorf("%q: %+v", args, got)
			}
		}
		if r := n.lastRecord(); r["state"] != "running" {
			t.Errorf("the control is %v", r["state"])
		}
		ociRun(t, bundle, n.under("delete", "--force", id))
		n.leaves(id)
	})
}
