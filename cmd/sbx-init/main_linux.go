// Sbx-init is the first process of a container under a spec: it reads the Landlock ruleset
// and syscall filter from a file, applies them to itself and executes the command. sbx-oci
// bind-mounts it into the container.
package main

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/oci/walls"
)

// The exit statuses if the command was not started.
const (
	exitRefused  = 125
	exitNoExec   = 126
	exitNotFound = 127
)

func main() {
	runtime.LockOSThread() // Landlock and seccomp apply to this thread
	// No process in the container may trace this one or write to its memory until then.
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	if len(os.Args) < 3 {
		refuse(exitRefused, "it is started by sbx-oci, in a container")
	}
	supervisor, err := strconv.Atoi(os.Args[1])
	if err != nil {
		refuse(exitRefused, "it is started by sbx-oci, in a container")
	}
	args := os.Args[2:]
	if supervisor > 0 { // the command must not inherit it
		unix.CloseOnExec(supervisor)
	}
	var b []byte
	if supervisor > 0 { // something else may lie at the file's path by now
		b, err = walls.Fetch(supervisor)
	} else {
		b, err = os.ReadFile(walls.File)
	}
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
	err = unix.Exec(path, args, walls.Environ(os.Environ()))
	status := exitNoExec
	if err == unix.ENOENT {
		status = exitNotFound
	}
	refuse(status, args[0]+": "+err.Error())
}

// find looks a command's name up in PATH, as OCI runtimes do.
func find(name string) string {
	if strings.ContainsRune(name, '/') {
		return name
	}
	for dir := range strings.SplitSeq(os.Getenv("PATH"), ":") {
		path := dir + "/" + name
		if !strings.HasPrefix(dir, "/") {
			continue
		}
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
