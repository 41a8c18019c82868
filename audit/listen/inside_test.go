package listen

import (
	"os/exec"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// TestClimb: if a parent ends during the walk up and another process reuses its PID, that process
// does not count as an ancestor.
func TestClimb(t *testing.T) {
	const own, sbx, parent, caller, other = 1, 20, 30, 40, 50
	tree := func(ends int) func(int) int {
		up := map[int]int{caller: parent, parent: sbx, sbx: own, other: own}
		asked := 0
		return func(pid int) int {
			if asked++; asked == ends { // the kernel then makes the sbx the parent of its children
				up[parent], up[caller] = own, sbx
			}
			return up[pid]
		}
	}
	for ends := range 12 {
		pids, ok := climb(caller, own, tree(ends))
		if ok && !slices.Contains(pids, sbx) {
			t.Errorf("one that ends before the look %d leads past the sbx: %v", ends, pids)
		}
		if !ok {
			t.Errorf("one that ends before the look %d leads nowhere", ends)
		}
	}
	if pids, ok := climb(caller, own, tree(0)); !ok || !slices.Equal(pids, []int{parent, sbx}) {
		t.Errorf("the way up is %v, %v", pids, ok)
	}
	if pids, ok := climb(caller, 2, tree(0)); ok {
		t.Errorf("a way that leads past the supervisor is %v", pids)
	}
}

// TestGoneWhileEnding: for the processes inside, a process has ended once its first thread has,
// even if its pidfd is not readable yet: none of its other threads becomes the parent of its
// children.
func TestGoneWhileEnding(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	cmd := exec.Command(python, "-c", `
import ctypes, os, sys, threading
def after():
    sys.stdin.readline()
    while open("/proc/self/stat").read().rsplit(")", 1)[1].split()[0] != "Z": pass
    print("ended", flush=True); sys.stdin.read(); os._exit(0)
threading.Thread(target=after).start()
ctypes.CDLL(None).syscall(60 if os.uname().machine == "x86_64" else 93, 0)`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	whole, e := openInside(unix.Getpid())
	if e != 0 || whole.gone() {
		t.Errorf("this process has ended: %v", e)
	}
	s, e := openInside(cmd.Process.Pid)
	if e != 0 {
		t.Fatal(e)
	}
	in.Write([]byte("\n"))
	if _, err := out.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if n, _ := unix.Poll([]unix.PollFd{{Fd: int32(s.own), Events: unix.POLLIN}}, 0); n != 0 {
		t.Error("its pidfd says so as well")
	}
	if !s.gone() {
		t.Error("it is there")
	}
}
