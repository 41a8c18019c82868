package main

import (
	"fmt"
	"os"
)

func int80getpid() uintptr

// int80 calls getpid by the 32-bit entry.
func int80([]string) {
	if n := int(int32(int80getpid())); n == os.Getpid() {
		fmt.Println("pid")
	} else {
		fmt.Println("errno", -n)
	}
	fmt.Println("end")
}
