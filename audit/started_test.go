package audit

import (
	"os/exec"
	"testing"
)

// A tracer reports programs before anything polls for their ends.
func TestEndBeforeTheFirstLook(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	l := NewTimeline(func() int { return 0 })
	l.Executed(cmd.Process.Pid, "/bin/cat")
	if p := l.list[0]; !p.EndedAt.IsZero() {
		t.Errorf("it runs, and has an end: %v", p)
	}
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if p := l.list[0]; p.EndedAt.IsZero() {
		t.Errorf("it has no end: %v", p)
	}
}
