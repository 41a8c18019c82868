package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// ociLimits requests a control group in addition to the limits of most specs.
const ociLimits = `{"access_mode": "workspace-write", "working_dir": "/work", "limits": {"pids": 64, "memory": "64MiB"}}`

// left returns everything that containers of a name have left on this machine: processes, control
// groups, and files of their runtime and their node.
func (n *ociNode) left(name string) (all []string) {
	n.t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	must(n.t, err)
	for _, d := range dirs {
		line, _ := os.ReadFile(d + "/cmdline") // the process may be gone
		if groups, _ := os.ReadFile(d + "/cgroup"); strings.Contains(string(line)+string(groups), name) {
			all = append(all, d+": "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	for _, pattern := range []string{"/sys/fs/cgroup/" + name + "*", "/sys/fs/cgroup/*/" + name + "*", n.stateOfRuntime() + "/" + name + "*", n.state + "/sbx/made/*", n.state + "/sbx/containers/*"} {
		found, err := filepath.Glob(pattern)
		must(n.t, err)
		all = append(all, found...)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	must(n.t, err)
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, n.state) {
			all = append(all, line)
		}
	}
	return all
}

func (n *ociNode) stateOfRuntime() string {
	if i := slices.Index(n.global, "--root"); i >= 0 {
		return n.global[i+1]
	}
	return "/nowhere"
}

// leaves fails if something is left after a while, in which ending processes may finish.
func (n *ociNode) leaves(name string) {
	n.t.Helper()
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		left := n.left(name)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			n.t.Errorf("left: %q", left)
			return
		}
	}
}

// ociCount returns how many containers to make one after another and at once: few, or the number
// that `make stress` sets.
func ociCount(t *testing.T) (after, at int) {
	if s := os.Getenv("SBX_TEST_CONTAINERS"); s != "" {
		var err error
		after, err = strconv.Atoi(s)
		must(t, err)
		return after, 30
	}
	return 10, 5
}

// TestOCILeavesNothing makes containers one after another and at once: each leaves only its record.
func TestOCILeavesNothing(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(ociLimits)
		if strings.Contains(strings.Join(n.global, " "), "disabled") {
			n.allow(ociSpec) // there are no control groups here
		}
		after, at := ociCount(t)
		bundle := ociBundle(t, []string{"sleep", "1000"}, nil)
		if left := n.left("sbx-e2e-left"); len(left) > 0 {
			t.Fatalf("before: %q", left)
		}
		life := func(id string) error {
			for _, args := range [][]string{{"create", "--bundle", bundle, id}, {"start", id}, {"exec", id, "true"}, {"kill", id, "KILL"}, {"delete", "--force", id}} {
				cmd := exec.Command(n.under(args...)[0], n.under(args...)[1:]...)
				out, err := os.CreateTemp(n.state, "out") // a file, since the container would keep a pipe open
				if err != nil {
					return err
				}
				cmd.Stdout, cmd.Stderr = out, out
				err = cmd.Run()
				text, _ := os.ReadFile(out.Name())
				out.Close()
				os.Remove(out.Name())
				if err != nil {
					return fmt.Errorf("%s %s: %w: %s", args[0], id, err, text)
				}
			}
			return nil
		}
		must(t, os.MkdirAll(n.state, 0o700))
		must(t, life("sbx-e2e-left-first"))
		// The search finds the last container while it lives, which shows that the search works.
		if got := ociRun(t, bundle, n.under("create", "--bundle", bundle, "sbx-e2e-left-seen")); got.status != 0 || len(n.left("sbx-e2e-left")) < 3 {
			t.Fatalf("the control: %+v, %q", got, n.left("sbx-e2e-left"))
		}
		must(t, exec.Command(n.under("delete", "--force", "sbx-e2e-left-seen")[0], n.under("delete", "--force", "sbx-e2e-left-seen")[1:]...).Run())
		for i := range after {
			if err := life("sbx-e2e-left-" + strconv.Itoa(i)); err != nil {
				t.Fatal(err)
			}
		}
		n.leaves("sbx-e2e-left")
		var all sync.WaitGroup
		errs := make([]error, at)
		for i := range at {
			all.Go(func() { errs[i] = life("sbx-e2e-left-at-" + strconv.Itoa(i)) })
		}
		all.Wait()
		for _, err := range errs {
			if err != nil {
				t.Error(err)
			}
		}
		n.leaves("sbx-e2e-left")
		for _, r := range n.records() {
			if r["state"] != "exited" {
				t.Errorf("a record: %v", r["state"])
			}
		}
	})
}

// TestOCIKilled kills the process that creates, starts or removes a container, before and after the
// runtime proper has done its part, and kills the container itself. `delete --force` removes
// everything that is left, and no record says that something still runs.
func TestOCIKilled(t *testing.T) {
	ociOn(t, func(t *testing.T, n *ociNode) {
		n.allow(ociSpec)
		bundle := ociBundle(t, []string{"sleep", "1000"}, nil)
		const id = "sbx-e2e-killed"
		steps := [][]string{{"create", "--bundle", bundle, id}, {"start", id}, {"delete", "--force", id}}
		states := func() (all []string) {
			cmd := exec.Command(sbxPath, "runs", "--json")
			cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+n.state)
			out, err := cmd.Output()
			must(t, err)
			for line := range strings.Lines(string(out)) {
				var r struct{ State string }
				must(t, json.Unmarshal([]byte(line), &r))
				all = append(all, r.State)
			}
			return all
		}
		for killed := range steps {
			for _, when := range []string{"before", "after"} {
				t.Run(steps[killed][0]+" "+when, func(t *testing.T) {
					mark, slow := filepath.Join(t.TempDir(), "mark"), filepath.Join(t.TempDir(), "runtime")
					wait := "echo $$ >" + mark + ".new; mv " + mark + ".new " + mark + "; exec sleep 100"
					text := "#!/bin/sh\ncase \" $* \" in *' " + steps[killed][0] + " '*) ;; *) exec " + n.runtime + " \"$@\";; esac\n"
					if when == "before" {
						text += wait
					} else {
						text += n.runtime + " \"$@\" </dev/null >/dev/null 2>&1\n" + wait
					}
					must(t, os.WriteFile(slow, []byte(text+"\n"), 0o755))
					for _, args := range steps[:killed] {
						if got := ociRun(t, bundle, n.under(args...)); got.status != 0 {
							t.Fatalf("%q: %+v", args, got)
						}
					}
					line := n.under(steps[killed]...)
					for i := range line {
						if i > 0 && line[i-1] == "--sbx-runtime" {
							line[i] = slow
						}
					}
					cmd := exec.Command(line[0], line[1:]...)
					cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
					must(t, cmd.Start())
					waiting := 0
					for deadline := time.Now().Add(limit); waiting == 0; time.Sleep(10 * time.Millisecond) {
						b, _ := os.ReadFile(mark)
						waiting, _ = strconv.Atoi(strings.TrimSpace(string(b)))
						if waiting == 0 && time.Now().After(deadline) {
							t.Fatal("the runtime is not called")
						}
					}
					must(t, unix.Kill(cmd.Process.Pid, unix.SIGKILL))
					_ = cmd.Wait()
					_ = unix.Kill(waiting, unix.SIGKILL) // the same process if the program has become the runtime
					ociRun(t, bundle, n.under("delete", "--force", id))
					n.leaves(id)
					if got := states(); slices.Contains(got, "running") {
						t.Errorf("the records: %q", got)
					}
				})
			}
		}
		for _, started := range []int{1, 2} {
			t.Run(fmt.Sprint("the container after ", steps[started-1][0]), func(t *testing.T) {
				for _, args := range steps[:started] {
					if got := ociRun(t, bundle, n.under(args...)); got.status != 0 {
						t.Fatalf("%q: %+v", args, got)
					}
				}
				var state struct{ PID int }
				must(t, json.Unmarshal([]byte(ociRun(t, bundle, n.under("state", id)).out), &state))
				must(t, unix.Kill(state.PID, unix.SIGKILL))
				for deadline := time.Now().Add(limit); !strings.Contains(ociRun(t, bundle, n.under("state", id)).out, `"stopped"`); time.Sleep(20 * time.Millisecond) {
					if time.Now().After(deadline) {
						t.Fatal("it does not stop")
					}
				}
				// The supervisor notices the end as the runtime does, and writes it into the record
				// before the container is deleted.
				for deadline := time.Now().Add(limit); slices.Contains(states(), "running"); time.Sleep(20 * time.Millisecond) {
					if time.Now().After(deadline) {
						t.Fatalf("the records while it is not deleted: %q", states())
					}
				}
				ociRun(t, bundle, n.under("delete", id))
				n.leaves(id)
				if r := n.lastRecord(); r["state"] != "exited" || r["container"].(map[string]any)["exit_unknown"] == nil && r["exit"] == nil {
					t.Errorf("the record: %v", r)
				}
			})
		}
	})
}
