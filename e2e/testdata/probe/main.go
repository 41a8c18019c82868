// probe is what the end-to-end tests run inside the sandbox and, as the
// control, outside of it. It prints a word of its own, end, when it is through.
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

func main() {
	if len(os.Args) < 2 {
		os.Exit(64)
	}
	verbs := map[string]func([]string){
		"try":       try,
		"with":      with,
		"fds":       fds,
		"signals":   signals,
		"hash":      hash,
		"exit":      exit,
		"orphans":   orphans,
		"listen":    listen,
		"int80":     int80,
		"sleep":     sleep,
		"tty":       tty,
		"hog":       hog,
		"stuff":     stuff,
		"forks":     forks,
		"bomb":      bomb,
		"spin":      spin,
		"fill":      fill,
		"open":      openMany,
		"become":    become,
		"swap":      swap,
		"say":       say,
		"ran":       func([]string) { say([]string{"ran"}) }, // as another program ends that is given that word
		"fence":     fence,
		"reach":     reach,
		"mcp":       mcp,
		"nest":      nest,
		"fuse":      fuse,
		"lookup":    lookup,
		"userfault": userfault,
		"get":       get,
		"claim":     claim,
		"trace":     trace,
		"slip":      slip,
	}
	f, ok := verbs[os.Args[1]]
	if !ok {
		fmt.Fprintln(os.Stderr, "probe: no such verb:", os.Args[1])
		os.Exit(64)
	}
	f(os.Args[2:])
}

// try makes one attempt after the other and prints what each came to: ok, the
// name of the errno, or a word of the attempt's own.
func try(attempts []string) {
	for _, a := range attempts {
		words := strings.Split(a, "|")
		f, ok := attempt[words[0]]
		if !ok {
			fmt.Fprintln(os.Stderr, "probe: no such attempt:", words[0])
			os.Exit(64)
		}
		word, err := f(words[1:])
		if err != nil {
			word = errnoName(err)
		} else if word == "" {
			word = "ok"
		}
		fmt.Printf("%s\t%s\n", a, word)
	}
	fmt.Println("end")
}

func errnoName(err error) string {
	switch e := err.(type) {
	case unix.Errno:
		if name := unix.ErrnoName(e); name != "" {
			return name
		}
		return fmt.Sprint("errno ", int(e))
	case *os.PathError:
		return errnoName(e.Err)
	case *os.LinkError:
		return errnoName(e.Err)
	case *os.SyscallError:
		return errnoName(e.Err)
	}
	return err.Error()
}
