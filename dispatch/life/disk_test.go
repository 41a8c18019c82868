package life

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sbx/dispatch"
	"sbx/spec"
)

// The disk is a file system of the test's own in a mount namespace of its own. It becomes full, and
// read-only.
func TestDisk(t *testing.T) {
	needSandbox(t)
	s := newScene(t)
	words := part{Do: "disk", World: s.world.facts(), Marker: s.dir}.words()
	cmd := exec.Command("unshare", append([]string{"--user", "--map-root-user", "--mount", "--"}, words...)...)
	if os.Getuid() == 0 {
		cmd = exec.Command("unshare", append([]string{"--mount", "--"}, words...)...)
	}
	if err := exec.Command(cmd.Args[0], append(cmd.Args[1:len(cmd.Args)-len(words):len(cmd.Args)-len(words)], "true")...).Run(); err != nil {
		if os.Getenv("SBX_TEST_MUST_RUN") == "1" {
			t.Fatalf("must run, and cannot: unshare: %v", err)
		}
		t.Skipf("no mount namespace for a disk of its own: %v", err)
	}
	cmd.Env, cmd.Dir = s.world.Environ, filepath.Join(s.dir, "project")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), "the end\n") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// disk is the process in that namespace. It prints what is wrong, and "the end".
func disk(w *World, dir string) int {
	mount := filepath.Join(dir, "ledger")
	if err := syscall.Mount("none", mount, "tmpfs", 0, "size=2m"); err != nil {
		fmt.Println("mount:", err)
		return 1
	}
	bad := 0
	check := func(what string, ok bool, args ...any) {
		if !ok {
			fmt.Println(append([]any{what}, args...)...)
			bad = 1
		}
	}
	at := dispatch.Place{Path: filepath.Join(mount, "dispatches.db")}
	job := func(command string) (*Job, dispatch.Dispatch) {
		j := &Job{Ledger: at, Project: filepath.Join(dir, "project"), Argv: []string{"sh", "-c", command}, Agent: "sh", Sandbox: "read-only", HasSandbox: true,
			HasSpec: true, Spec: "{}" + strings.Repeat(" ", 200<<10)}
		return j, dispatch.Dispatch{AgentType: "sh", ProjectDir: j.Project, SandboxSpec: spec.Some(j.Spec)}
	}
	l, err := dispatch.Open(at, dispatch.Write)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	filler := filepath.Join(mount, "filler")
	fill := func() {
		f, err := os.Create(filler)
		check("filler", err == nil, err)
		for chunk := 64 << 10; chunk > 0; {
			if _, err := f.Write(make([]byte, chunk)); err != nil {
				chunk /= 4
			}
		}
		f.Close()
	}
	// If the disk is full before the row is added, nothing starts, and there is no row.
	fill()
	j, row := job(":")
	_, err = w.Spawn(j, row)
	check("a spawn on a full disk", err != nil && strings.Contains(err.Error(), "disk is full"), err)
	left, _ := os.ReadDir(w.dirs(at.Path))
	check("directories after a spawn that failed", len(left) == 0, left)
	os.Remove(filler)
	rows, err := l.List(dispatch.Filter{})
	check("rows after a full disk", err == nil && len(rows) == 0, rows, err)
	// If it becomes full while the command runs, the row ends when there is space again.
	j, row = job("sleep 1")
	d, err := w.Spawn(j, row)
	check("a spawn with room", err == nil, err)
	fill()
	time.Sleep(2500 * time.Millisecond)
	os.Remove(filler)
	for range 400 {
		if d, err = w.Poll(l, d.ID); err == nil && d.Status.Ended() {
			break
		}
		time.Sleep(25 * time.Millisecond)
	}
	check("a row that ends on a full disk", d.Status == dispatch.Completed && strings.Contains(d.SandboxEffective.Value, `"exited"`), d.Status, err)
	// A read-only ledger can only be read.
	l.Close()
	if err := syscall.Mount("none", mount, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, "size=2m"); err != nil {
		fmt.Println("remount:", err)
		return 1
	}
	j, row = job(":")
	_, err = w.Spawn(j, row)
	check("a spawn on a read-only disk", err != nil && strings.Contains(err.Error(), "read"), err)
	r, err := dispatch.Open(at, dispatch.Read)
	check("reading on a read-only disk", err == nil, err)
	if err == nil {
		again, err := r.Get(d.ID)
		check("the row on a read-only disk", err == nil && again == d, again.Status, err)
	}
	fmt.Println("the end")
	return bad
}
