package oci

import (
	"errors"
	"net"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// emptyNetwork removes every interface but the loopback one from the network of a process:
// an engine may have put some there since the container was made.
func emptyNetwork(pid int) (err error) {
	if pid <= 0 {
		return errors.New("the runtime does not tell the container's process")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked
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
		if err := removeLink(i.Index); err != nil && err != unix.ENODEV { // the other end of one that is gone
			return errors.New("interface " + i.Name + ": " + err.Error())
		}
	}
	return nil
}
