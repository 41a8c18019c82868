package main

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// slip makes the directory a[0] by a path that another thread changes all the while, from
// a name that may be made and back: "made". Then it waits for the directory to go: "gone".
// It gives up once the file a[1] is there.
func slip(a []string) {
	path := append([]byte(a[0]), 0, 0, 0, 0)
	at := (len(a[0]) - len(filepath.Base(a[0]))) &^ 3 // four bytes are changed at once
	word := (*uint32)(unsafe.Pointer(&path[at]))
	is := *word
	path[len(a[0])-len(filepath.Base(a[0]))] = 'x'
	other := *word
	go func() {
		for {
			atomic.StoreUint32(word, is)
			for range 300 {
				atomic.LoadUint32(word)
			}
			atomic.StoreUint32(word, other)
			for range 300 {
				atomic.LoadUint32(word)
			}
		}
	}()
	harmless := filepath.Dir(a[0]) + "/x" + filepath.Base(a[0])[1:]
	for !there(a[0]) {
		if there(a[1]) {
			return
		}
		_, _, _ = unix.Syscall(unix.SYS_MKDIRAT, uintptr(^uint(99)), uintptr(unsafe.Pointer(&path[0])), 0o755) // AT_FDCWD
		_ = unix.Rmdir(harmless)
	}
	fmt.Println("made")
	for ; there(a[0]); time.Sleep(time.Millisecond) {
		if there(a[1]) {
			fmt.Println("there")
			return
		}
	}
	fmt.Println("gone")
}
