package main

import (
	"fmt"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The requests of userfaultfd(2): linux/userfaultfd.h.
const (
	uffdNew      = 0xaa00
	uffdAPI      = 0xc018aa3f
	uffdRegister = 0xc020aa00
	uffdCopy     = 0xc028aa03
)

// userfault executes a program whose path lies in memory that this process serves
// itself: after so many milliseconds, or never ("-1"), but for a minute.
func userfault(a []string) {
	fd, _, e := unix.Syscall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC, 0, 0)
	if e != 0 {
		if dev, err := unix.Open("/dev/userfaultfd", unix.O_RDWR|unix.O_CLOEXEC, 0); err == nil {
			fd, _, e = unix.Syscall(unix.SYS_IOCTL, uintptr(dev), uffdNew, unix.O_CLOEXEC)
		}
	}
	if e != 0 {
		fmt.Println("userfaultfd", errnoName(e))
		os.Exit(3)
	}
	page, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		panic(err)
	}
	at := uintptr(unsafe.Pointer(&page[0]))
	api := [3]uint64{0xaa}
	reg := [4]uint64{uint64(at), 4096, 1} // UFFDIO_REGISTER_MODE_MISSING
	ask := func(request uintptr, arg unsafe.Pointer) {
		if _, _, e := unix.Syscall(unix.SYS_IOCTL, fd, request, uintptr(arg)); e != 0 {
			fmt.Println("userfaultfd ioctl", errnoName(e))
			os.Exit(3)
		}
	}
	ask(uffdAPI, unsafe.Pointer(&api))
	ask(uffdRegister, unsafe.Pointer(&reg))
	go func() {
		if ms := number(a[0]); ms >= 0 {
			time.Sleep(time.Duration(ms) * time.Millisecond)
			var data [4096]byte
			copy(data[:], a[1])
			cp := [5]uint64{uint64(at), uint64(uintptr(unsafe.Pointer(&data))), 4096}
			ask(uffdCopy, unsafe.Pointer(&cp))
			return
		}
		time.Sleep(time.Minute)
		fmt.Println("nothing ended it")
		os.Exit(4)
	}()
	fmt.Println("asks")
	argv := [2]uintptr{at, 0}
	_, _, e = unix.Syscall(unix.SYS_EXECVE, at, uintptr(unsafe.Pointer(&argv)), 0)
	fmt.Println("execve", errnoName(e))
}
