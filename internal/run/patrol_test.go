package run

import (
	"testing"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/audit/guard"
	"sbx/internal/dirs/dirstest"
	"sbx/wrap"
	"sbx/wrap/defaults"
	"sbx/wrap/launch"
)

// TestPatrolFindsWhatIsCreatedLate: a call that was let through may create its name after the search
// that it caused.
func TestPatrolFindsWhatIsCreatedLate(t *testing.T) {
	tree, moved := dirstest.Temp(t), dirstest.Temp(t)
	w := wrap.Watch{Trees: []string{tree}}
	held, err := guard.Hold(w)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	run, err := unix.Open(moved, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(run)
	sweep := &guard.Sweep{Watch: w, Held: held, Match: isProtected, Leads: defaults.LeadsToProtected,
		Run: func() (int, string, error) { return run, moved, nil }}
	defer sweep.Close()

	var hooks launch.Hooks
	var found audit.Swept
	p := &patrol{Patrol: guard.NewPatrol(sweep), timer: -1}
	p.begin(&hooks, &found, false)
	defer p.end()
	fires := func() {
		t.Helper()
		pf := []unix.PollFd{{Fd: int32(hooks.Wait[0].FD), Events: unix.POLLIN}}
		for {
			n, err := unix.Poll(pf, 60_000)
			if err == unix.EINTR {
				continue
			}
			if n != 1 {
				t.Fatalf("no further search: %d, %v", n, err)
			}
			hooks.Wait[0].Event()
			return
		}
	}
	for fires(); p.under; fires() {
	}
	if p.pause != 0 {
		t.Errorf("without a call, there is another search in %v", p.pause)
	}
	p.noteCreation()
	for range 3 { // searches that find nothing
		for fires(); p.under; fires() {
		}
	}
	dirstest.Plant(t, tree, "sub/.git/")
	for fires(); p.under; fires() {
	}
	if len(found.Moved) != 1 || dirstest.Exists(tree+"/sub/.git") {
		t.Errorf("%+v", found)
	}
	was := p.pause
	p.noteCreation()
	if p.pause >= was {
		t.Errorf("after another call, the next search is in %v as before in %v", p.pause, was)
	}
}
