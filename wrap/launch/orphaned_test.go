package launch

import (
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// A child whose supervisor died before it asked to die with it ends.
func TestOrphanedChildEnds(t *testing.T) {
	cmd := exec.Command("/bin/true")
	dead := -1
	cmd.SysProcAttr = &syscall.SysProcAttr{PidFD: &dead}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(dead)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	own, err := unix.PidfdOpen(unix.Getpid(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(own)
	for fd, want := range map[int]syscall.Errno{-1: 0, own: 0, dead: unix.ESRCH} {
		p := newProgram(nil, 0)
		p.parent = int32(fd)
		if e := p.orphaned(); e != want {
			t.Errorf("descriptor %d: %v, want %v", fd, e, want)
		}
	}
}

// It checks after the prctl, since it would miss a death between the two otherwise.
func TestOrphanedIsAskedAfterTheSignal(t *testing.T) {
	free := &wrap.Plan{Opening: wrap.Opening{Rung: wrap.RungFree}}
	for name, steps := range map[string][]Step{"with a pid namespace": Open(&wrap.Opening{}), "without": Steps(free, Input{Sock: 9}).Command} {
		asked, looked := -1, -1
		for i, s := range steps {
			switch {
			case s.Name == "prctl" && s.Args[0].Num == unix.PR_SET_PDEATHSIG:
				asked = i
			case s.Do == DoParent:
				looked = i
			}
		}
		if asked < 0 || looked != asked+1 {
			t.Errorf("%s: the signal is step %d, the look step %d", name, asked, looked)
		}
	}
}
