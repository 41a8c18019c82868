package oci

import (
	"os"
	"runtime"
	"strconv"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// inside runs functions on a thread in the container's mount namespace, where its files have
// their own paths.
type inside struct {
	calls chan func()
	there atomic.Bool
}

func newInside() *inside { return &inside{calls: make(chan func())} }

// enter starts the thread and moves it into the mount namespace of process pid.
func (in *inside) enter(pid int) error {
	failed := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		err := enterMounts(pid)
		in.there.Store(err == nil)
		failed <- err
		if err != nil {
			return
		}
		for f := range in.calls {
			f()
		}
	}()
	return <-failed
}

// do runs f on that thread and waits for it; it does nothing before enter has succeeded.
func (in *inside) do(f func()) {
	if !in.there.Load() {
		return
	}
	done := make(chan struct{})
	in.calls <- func() { f(); close(done) }
	<-done
}

func enterMounts(pid int) error {
	path := "/proc/" + strconv.Itoa(pid)
	ns, err := unix.Open(path+"/ns/mnt", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(ns)
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return os.NewSyscallError("unshare", err)
	}
	if err := unix.Setns(ns, unix.CLONE_NEWNS); err != nil { // makes the container's root this thread's
		return os.NewSyscallError("setns", err)
	}
	return nil
}
