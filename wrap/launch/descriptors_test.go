package launch

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"sbx/wrap"
)

func allDescriptors(t *testing.T) (n int) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && !strings.HasPrefix(to, "/proc/") {
			n++
		}
	}
	return n
}

// A launch leaves no descriptor behind, whether it succeeds or fails.
func TestNoDescriptorIsLeft(t *testing.T) {
	s := newSite(t)
	plan := s.plan(workspaceWrite, "/bin/true")
	onThread(func() { Try(plan) })
	before := allDescriptors(t)
	onThread(func() { Try(plan) })
	if n := allDescriptors(t) - before; n != 0 {
		t.Errorf("a launch that succeeds leaves %d descriptors", n)
	}
	before = allDescriptors(t)
	s.failAt(plan, "command", 0, descriptors(t))
	if n := allDescriptors(t) - before; n != 0 {
		t.Errorf("a launch that fails leaves %d descriptors", n)
	}
}

// An ordinary user may launch twice in one process.
func TestLaunchTwice(t *testing.T) {
	plan := newSite(t).plan(workspaceWrite, "/bin/true")
	for i := range 2 {
		done := make(chan error)
		go func() { done <- Try(plan) }()
		if err := <-done; err != nil {
			t.Errorf("launch %d: %v", i+1, err)
		}
	}
}

// A skipped soft clone leaves its slot empty; only steps that accept an empty slot use it.
func TestSoftCloneLeavesNoSlot(t *testing.T) {
	l := &mountList{}
	l.mounts([]wrap.Mount{{Op: wrap.OpClone, Source: "/a", Slot: 1, Mode: wrap.ModeRO, Soft: true}, {Op: wrap.OpAttach, Slot: 1, Source: "/a", Target: "/a", Soft: true}}, nil)
	clone := l.steps[1]
	for _, s := range l.steps[int(l.steps[0].Skip)+1:] {
		for _, a := range s.Args {
			if a.Kind == ArgSlot && Slot(a.Num) == clone.Save && s.Expected != Errno(unix.EBADF) {
				t.Errorf("%v uses a slot that may hold nothing", s)
			}
		}
	}
	if p := newProgram(l.steps, reportFailedSetup); p.slots[clone.Save] != emptySlot {
		t.Error("a slot holds a descriptor from the start")
	}
}
