// Sbx-init is the first process of a container under a spec: it reads its walls, puts
// itself within them and becomes the command. sbx-oci binds it into the container.
package main

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/oci/walls"
)

// The exit statuses where the command was not started.
const (
	exitRefused  = 125
	exitNoExec   = 126
	exitNotFound = 127
)

func main() {
	runtime.LockOSThread() // the walls are of this thread
	// Nothing in the container traces or writes to what is not within them yet.
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	if len(os.Args) < 3 {
		refuse(exitRefused, "it is started by sbx-oci, in a container")
	}
	supervisor, err := strconv.Atoi(os.Args[1])
	if err != nil {
		refuse(exitRefused, "it is started by sbx-oci, in a container")
	}
	args := os.Args[2:]
	if supervisor > 0 { // not the command's
		unix.CloseOnExec(supervisor)
	}
	b, err := os.ReadFile(walls.File)
	if err != nil {
		refuse(exitRefused, "cannot read the container's walls: "+err.Error())
	}
	w, err := walls.Decode(b)
	if err != nil {
		refuse(exitRefused, err.Error())
	}
	path := find(args[0])
	if err := w.Raise(supervisor); err != nil {
		refuse(exitRefused, "cannot hold the container's spec: "+err.Error())
	}
	if w.Apart {
		if err := walls.Join(); err != nil {
			refuse(exitRefused, "cannot give up "+walls.Apart+": "+err.Error())
		}
	}
	err = unix.Exec(path, args, os.Environ())
	status := exitNoExec
	if err == unix.ENOENT {
		status = exitNotFound
	}
	refuse(status, args[0]+": "+err.Error())
}

// find is the file that a command's name leads to along PATH, as runtimes look for it.
func find(name string) string {
	if strings.ContainsRune(name, '/') {
		return name
	}
	for dir := range strings.SplitSeq(os.Getenv("PATH"), ":") {
		path := dir + "/" + name
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return path
		}
	}
	refuse(exitNotFound, name+": executable file not found in $PATH")
	return ""
}

func refuse(status int, why string) {
	_, _ = os.Stderr.WriteString("sbx-init: " + why + "\n")
	os.Exit(status)
}
