package oci

import (
	"errors"
	"net"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// emptyNetwork removes every interface but loopback from the network namespace of process
// pid: an engine may have added some since it created the container.
func emptyNetwork(pid int) (err error) {
	if pid <= 0 {
		return errors.New("the runtime does not tell the container's process")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends in that namespace
		err = emptyOf(pid)
	}()
	<-done
	return err
}

func emptyOf(pid int) error {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if fileOf(fd) == fileAt("/proc/thread-self/ns/net") {
		return errors.New("the container has the network namespace of sbx-oci itself")
	}
	if err := unix.Setns(fd, unix.CLONE_NEWNET); err != nil {
		return err
	}
	all, err := net.Interfaces()
	if err != nil {
		return err
	}
	for _, i := range all {
		if i.Flags&net.FlagLoopback != 0 {
			continue
		}
		if err := removeLink(i.Index); err != nil && err != unix.ENODEV { // ENODEV: the other end of a removed pair
			return errors.New("interface " + i.Name + ": " + err.Error())
		}
	}
	return nil
}
