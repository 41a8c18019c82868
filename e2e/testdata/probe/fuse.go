package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// crossing has six programs look up the same names on a file system that never says a
// word, each of which keeps it alive: who waits for one waits for all.
func crossing(dev *os.File) {
	for i := range 6 {
		what := []string{"execve", "mkdir"}[i%2]
		cmd := exec.Command("/proc/self/exe", "lookup", what, "/mnt/a/b")
		cmd.ExtraFiles = []*os.File{dev}
		if err := cmd.Start(); err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
	}
	fmt.Println("asks")
	time.Sleep(time.Minute)
	fmt.Println("nothing ended it")
	os.Exit(4)
}

func lookup(a []string) {
	if a[0] == "execve" {
		_ = unix.Exec(a[1], a[1:], nil)
	}
	_ = unix.Mkdir(a[1], 0o755)
}

// fuse executes a program on a file system of its own (fuse(4)), in a mount namespace of
// its own, whose files it is asked for: "no" says that there is none, "wait" says nothing,
// but for a minute.
func fuse(a []string) {
	runtime.LockOSThread()
	fail := func(what string, err error) {
		if err != nil {
			fmt.Println(what, errnoName(err))
			os.Exit(3)
		}
	}
	dev, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	fail("/dev/fuse", err)
	fail("unshare", unix.Unshare(unix.CLONE_NEWNS))
	fail("private", unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	opts := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", dev)
	fail("mount", unix.Mount("probe", "/mnt", "fuse", 0, opts))
	if a[0] == "cross" {
		crossing(os.NewFile(uintptr(dev), "fuse"))
	}
	go func() {
		buf := make([]byte, 1<<17)
		for {
			n, err := unix.Read(dev, buf)
			if err != nil || n < 40 {
				continue
			}
			unique := buf[8:16]
			reply := func(errno int32, body []byte) {
				out := binary.NativeEndian.AppendUint32(nil, uint32(16+len(body)))
				out = binary.NativeEndian.AppendUint32(out, uint32(-errno))
				_, _ = unix.Write(dev, append(append(out, unique...), body...))
			}
			switch binary.NativeEndian.Uint32(buf[4:]) {
			case 26: // FUSE_INIT: version 7.31, writes of a page
				body := make([]byte, 64)
				binary.NativeEndian.PutUint32(body, 7)
				binary.NativeEndian.PutUint32(body[4:], 31)
				binary.NativeEndian.PutUint32(body[20:], 4096)
				reply(0, body)
			default:
				if a[0] == "wait" {
					fmt.Println("asked")
					time.Sleep(time.Minute)
					fmt.Println("nothing ended it")
					os.Exit(4)
				}
				reply(int32(unix.ENOENT), nil)
			}
		}
	}()
	fmt.Println("asks")
	fmt.Println("execve", errnoName(unix.Exec("/mnt/program", []string{"program"}, nil)))
}
