package e2e

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// killedRun returns the record, in the state directory, of a run whose supervisor was killed.
func (b *box) killedRun() (path string) {
	b.t.Helper()
	had, _ := filepath.Glob(b.base + "/state/sbx/runs/*/effective.json")
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	cmd := b.command(ctx, specWW, "true")
	cmd.Args = []string{sbxPath, "exec", "--spec-json", specWW, "--", "/bin/sh", "-c", "echo ready; read x"}
	s := b.launch(cmd, cancel)
	s.expect("ready")
	must(b.t, cmd.Process.Signal(unix.SIGKILL))
	s.wait()
	now, _ := filepath.Glob(b.base + "/state/sbx/runs/*/effective.json")
	if len(now) != len(had)+1 {
		b.t.Fatalf("%d records, and %d before", len(now), len(had))
	}
	return now[len(now)-1]
}

// People and programs get the same information: that a killed run is lost, and that another is
// running.
func TestLostIsTheSameInEachForm(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	path := b.killedRun()
	id := filepath.Base(filepath.Dir(path))
	for _, name := range []string{"last", id, path} {
		for _, form := range [][]string{{"show", "--json", name}, {"show", name}, {"show", "--html", name}} {
			r := b.plain(append([]string{sbxPath}, form...)...)
			if r.code != 0 || !strings.Contains(r.out, "lost") || strings.Contains(r.out, `"running"`) || strings.Contains(r.out, ": running") {
				t.Errorf("%v: %v", form, r)
			}
			var v map[string]any
			if form[1] == "--json" && (json.Unmarshal([]byte(r.out), &v) != nil || v["state"] != "lost" || v["id"] != id || v["command"] == nil) {
				t.Errorf("%v: %v", form, r)
			}
		}
	}
	if r, err := readRecord(path); err != nil || r.text("state") != "running" {
		t.Errorf("the record itself: %v %v", r.text("state"), err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	cmd := b.command(ctx, specWW, "true")
	cmd.Args = []string{sbxPath, "exec", "--spec-json", specWW, "--", "/bin/sh", "-c", "echo ready; read x"}
	s := b.launch(cmd, cancel)
	s.expect("ready")
	if r := b.plain(sbxPath, "show", "--json", "last"); !strings.Contains(r.out, `"running"`) {
		t.Errorf("control: %v", r)
	}
	s.stdin.Close()
	s.wait()
}

// Runs that end at the same time leave each other's records unchanged, while each looks for lost
// ones.
func TestFinishedRecordsStay(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	lost := b.killedRun()
	const runs, once = 200, 16
	work := make(chan string)
	var all sync.WaitGroup
	for range once {
		all.Go(func() {
			for seconds := range work {
				ctx, cancel := context.WithTimeout(context.Background(), limit)
				cmd := b.command(ctx, specRO, "true")
				cmd.Args = []string{sbxPath, "exec", "--counter", "none", "--spec-json", specRO, "--", "sleep", seconds}
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v: %s", err, out)
				}
				cancel()
			}
		})
	}
	for i := range runs { // after 200 ms a run examines others
		work <- []string{"0.2", "0.22", "0.25", "0.3"}[i%4]
	}
	close(work)
	all.Wait()
	found, _ := filepath.Glob(b.base + "/state/sbx/runs/*/effective.json")
	states := map[string]int{}
	for _, f := range found {
		r, err := readRecord(f)
		must(t, err)
		states[r.text("state")]++
		if f == lost && r.text("state") != "lost" {
			t.Errorf("control: the record of the killed run says %s", r.text("state"))
		}
	}
	if states["exited"] != runs || states["lost"] != 1 || len(states) != 2 {
		t.Errorf("%v, want %d exited and the one that is lost", states, runs)
	}
	if entries, _ := os.ReadDir(b.base + "/state/sbx/runs"); len(entries) != runs+1 {
		t.Errorf("%d directories of runs", len(entries))
	}
}
