package listen

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// procWalk resolves a path that leads through a magic link of /proc, such as /proc/self/fd/7
// or /proc/4711/root/bin (proc_pid_fd(5), proc_pid_root(5)). openat2 follows none of those in
// a given root, and /proc/self is the supervisor's own process for the supervisor. So the walk
// goes from name to name, and takes each step as the kernel does it for the waiting thread.
type procWalk struct {
	*paths
	root, at int    // O_PATH: the thread's root, and the file that was reached
	rest     []byte // the names that are still to be resolved
	links    int
	steps    int
}

// Limits of a procWalk: names that it resolves, as many as the longest path has, and bytes of a
// path with the target of a link in front.
const (
	maxSteps = pathMax / 2
	maxRest  = 2 * pathMax
)

// throughProc resolves a path as the waiting thread does that leads through a magic link. It
// starts where resolve does.
func (p *paths) throughProc(dirfd int32, path []byte, nofollow bool) resolved {
	w := procWalk{paths: p, root: p.root, at: -1}
	if w.root < 0 {
		root, e := openPath(p.proc("root", -1))
		if e != 0 {
			return failed(e, false)
		}
		defer unix.Close(root)
		w.root = root
	}
	var e unix.Errno
	if path[0] == '/' {
		e = w.goTo(openat2(w.root, []byte(".\x00"), false, 0))
	} else {
		e = w.goTo(p.base(dirfd))
	}
	if e != 0 {
		return failed(e, false)
	}
	w.rest = path[:len(path)-1]
	for w.skipSlashes(); len(w.rest) > 0; w.skipSlashes() {
		if e, certain := w.step(nofollow); e != 0 {
			unix.Close(w.at)
			return failed(e, certain)
		}
	}
	return resolved{fd: w.at}
}

// goTo takes ownership of fd, the file that was reached.
func (w *procWalk) goTo(fd int, e unix.Errno) unix.Errno {
	if e == 0 {
		if w.at >= 0 {
			unix.Close(w.at)
		}
		w.at = fd
	}
	return e
}

func (w *procWalk) skipSlashes() { w.rest = bytes.TrimLeft(w.rest, "/") }

// step resolves the next name.
func (w *procWalk) step(nofollow bool) (e unix.Errno, certain bool) {
	if w.steps++; w.steps > maxSteps {
		return unix.ELOOP, false
	}
	name, rest, more := bytes.Cut(w.rest, []byte{'/'})
	if len(name) > nameMax {
		return unix.ENAMETOOLONG, true
	}
	w.rest = rest
	name = append(slices.Clip(name), 0)
	if string(name) == "..\x00" && w.atRoot() {
		return 0, true
	}
	next, e := openat2(w.at, name, true, 0)
	if e != 0 {
		return e, w.final(e) && !isProc(w.at)
	}
	var st unix.Stat_t
	if unix.Fstat(next, &st) != nil {
		unix.Close(next)
		return unix.EACCES, false
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFLNK:
		if more || !nofollow {
			defer unix.Close(next)
			return w.follow(next, name, more)
		}
	case unix.S_IFDIR:
	default:
		if more {
			unix.Close(next)
			return unix.ENOTDIR, true
		}
	}
	return w.goTo(next, 0), true
}

// atRoot reports whether the thread's root was reached, above which no ".." leads.
func (w *procWalk) atRoot() bool {
	at, e := placeOfFD(w.at)
	root, e2 := placeOfFD(w.root)
	return e == 0 && e2 == 0 && at == root
}

// follow follows a link in the directory that was reached. more says that a slash follows.
func (w *procWalk) follow(link int, name []byte, more bool) (e unix.Errno, certain bool) {
	if w.links++; w.links > maxFollowed {
		return unix.ELOOP, true
	}
	var buf [pathMax]byte
	target := buf[:0]
	if isProc(link) {
		self, isRoot := w.inProcRoot(string(name))
		switch {
		case !isRoot: // a magic link
			return w.goTo(openat2(w.at, name, false, 0)), false
		case self == "":
			return unix.ENOENT, false
		}
		target = append(target, self...)
	} else if n := readlinkat(link, []byte{0}, buf[:]); n > 0 && n < pathMax {
		target = buf[:n]
	} else {
		return unix.ENOENT, false
	}
	if len(target)+1+len(w.rest) > maxRest {
		return unix.ENAMETOOLONG, false
	}
	if target[0] == '/' {
		if e := w.goTo(openat2(w.root, []byte(".\x00"), false, 0)); e != 0 {
			return e, false
		}
	}
	if more {
		target = append(target, '/')
	}
	w.rest = slices.Concat(target, w.rest)
	return 0, true
}

// procRoot is the inode number of the root directory of each /proc (PROC_ROOT_INO of the
// kernel).
const procRoot = 1

// inProcRoot returns the target of a link in the root directory of a /proc, for the waiting
// thread; isRoot is false if the directory that was reached is another one.
func (w *procWalk) inProcRoot(name string) (target string, isRoot bool) {
	var st unix.Stat_t
	if unix.Fstat(w.at, &st) != nil || st.Ino != procRoot {
		return "", false
	}
	switch strings.TrimSuffix(name, "\x00") {
	case "self":
		process, _ := w.numbers()
		return process, true
	case "thread-self":
		process, thread := w.numbers()
		if process == "" {
			return "", true
		}
		return process + "/task/" + thread, true
	case "mounts":
		return "self/mounts", true
	case "net":
		return "self/net", true
	}
	return "", true
}

// numbers returns the waiting thread's process and thread numbers in the /proc that was
// reached, which may belong to another PID namespace than the supervisor's: the numbers under
// which it shows the same thread. Both are "" if there are none.
func (w *procWalk) numbers() (process, thread string) {
	own := read.Status(strconv.Itoa(int(w.n.TID)))
	processes, threads := strings.Fields(read.StatusLine(own, "NStgid:")), strings.Fields(read.StatusLine(own, "NSpid:"))
	var ns unix.Stat_t
	if len(threads) == 0 || len(processes) != len(threads) || unix.Stat(text(w.proc("ns/pid", -1)), &ns) != nil {
		return "", ""
	}
	dir := text(ownFD(w.at)) + "/"
	for i, number := range threads {
		status, _ := read.Proc(dir+number+"/status", 1<<12)
		there := strings.Fields(read.StatusLine(string(status), "NSpid:"))
		var theirs unix.Stat_t
		if len(there) > 0 && there[len(there)-1] == threads[len(threads)-1] &&
			unix.Stat(dir+number+"/ns/pid", &theirs) == nil && theirs.Dev == ns.Dev && theirs.Ino == ns.Ino {
			return processes[i], number
		}
	}
	return "", ""
}
