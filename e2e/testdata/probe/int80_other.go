//go:build !amd64

package main

import "fmt"

// int80 is of amd64 alone.
func int80([]string) { fmt.Println("none\nend") }
