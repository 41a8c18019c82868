package front

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The code of this file runs without a g: it must not allocate, grow the stack or panic, and
// keeps large buffers in package variables. In every unusual case it leaves the work to main.

const (
	mostWords = 64
	longest   = 1024 // bytes of a path
)

var (
	slack = ^uintptr(0) // the caller's timer slack
	mask  = signals     // to be blocked; then the caller's signal mask

	words [mostWords + 1]*byte // the runtime proper's command line
	path  [4 * longest]byte
	inner [longest + 1]byte
)

// called is the parsed command line.
type called struct {
	argc        int
	argv        unsafe.Pointer
	n           int // number of words for the runtime proper
	root, state string
	runtime     string // a name or a path; "" for any
	id          string // "" unless the verb is one of handedOn
	stays       bool   // the verb creates a container, whose supervisor may have to stay
}

var _ = front // which the entry point calls

//go:nosplit
func front(argc *int) {
	slack = ask(unix.SYS_PRCTL, unix.PR_GET_TIMERSLACK, 0, 0, 0)
	c := called{argc: *argc, argv: unsafe.Add(unsafe.Pointer(argc), 8)}
	c.read()
	if c.id != "" && c.isMade() {
		words[0] = &inner[0]
		ask(unix.SYS_EXECVE, uintptr(unsafe.Pointer(&inner)), uintptr(unsafe.Pointer(&words)), uintptr(unsafe.Add(c.argv, (c.argc+1)*8)), 0)
	}
	block := mask
	ask(unix.SYS_RT_SIGPROCMASK, unix.SIG_BLOCK, uintptr(unsafe.Pointer(&block)), uintptr(unsafe.Pointer(&mask)), 8)
	if c.stays {
		part()
	}
	ask(unix.SYS_PRCTL, unix.PR_SET_TIMERSLACK, 4_000_000, 0, 0) // of the Go runtime's threads, see Slack
}

// ask makes a system call and returns its result, or -errno.
//
//go:nosplit
func ask(call, a, b, c, d uintptr) uintptr {
	r, _, e := syscall.RawSyscall6(call, a, b, c, d, 0, 0)
	if e != 0 {
		return -uintptr(e)
	}
	return r
}

//go:nosplit
func failed(r uintptr) bool { return int(r) < 0 && int(r) > -4096 }

//go:nosplit
func text(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return unsafe.String(p, n)
}

// word returns the ith word of the command line; "" beyond its end.
//
//go:nosplit
func (c *called) word(i int) string {
	if i >= c.argc {
		return ""
	}
	return text(c.at(i))
}

// at returns the ith pointer of argv, which the environment follows; each ends with a nil.
//
//go:nosplit
func (c *called) at(i int) *byte { return *(**byte)(unsafe.Add(c.argv, i*8)) }

// put adds the ith word to the runtime proper's command line.
//
//go:nosplit
func (c *called) put(i int) {
	if c.n++; c.n < mostWords && i < c.argc {
		words[c.n] = c.at(i)
	}
}

// cut splits a flag into name and value; whole tells whether it contains its value.
//
//go:nosplit
func cut(flag string) (name, value string, whole bool) {
	for len(flag) > 0 && flag[0] == '-' {
		flag = flag[1:]
	}
	for i := range len(flag) {
		if flag[i] == '=' {
			return flag[:i], flag[i+1:], true
		}
	}
	return flag, "", false
}

// read parses the command line as package oci does.
//
//go:nosplit
func (c *called) read() {
	i := 1
	for ; len(c.word(i)) > 1 && c.word(i)[0] == '-'; i++ {
		name, value, whole := cut(c.word(i))
		own := len(name) > 4 && name[:4] == "sbx-"
		if !own {
			c.put(i)
		}
		valued := own
		for k := range Valued {
			valued = valued || name == Valued[k]
		}
		if valued && !whole {
			i++
			value = c.word(i)
			if !own {
				c.put(i)
			}
		}
		switch name {
		case "root":
			c.root = value
		case "sbx-state":
			c.state = value
		case "sbx-runtime":
			c.runtime = value
		case "sbx-policy", "sbx-spec":
		default:
			own = false
		}
		if own && value == "" || !own && len(name) > 4 && name[:4] == "sbx-" {
			return // main reports the error
		}
	}
	for k := c.argc + 1; c.runtime == "" && c.at(k) != nil; k++ {
		if name, value, _ := cut(text(c.at(k))); name == "SBX_OCI_RUNTIME" {
			c.runtime = value
		}
	}
	verb, id := c.word(i), c.word(i+1)
	// An unknown flag may have a separate value.
	c.stays = c.makes(i) || i > 1 && c.makes(i+1)
	for ; i < c.argc; i++ {
		c.put(i)
	}
	for k := range handedOn {
		if verb == handedOn[k] && c.n < mostWords && isName(id) {
			c.id = id
		}
	}
}

// handedOn are the verbs whose only argument that matters is the container, and for which
// sbx-oci has nothing to do if the container has a Free link.
var handedOn = [...]string{"start", "state", "kill", "ps", "pause", "resume"}

// makes reports whether the ith word is a verb that creates a container in the background.
//
//go:nosplit
func (c *called) makes(i int) bool {
	if c.word(i) == "run" {
		for i++; i < c.argc; i++ {
			w := c.word(i)
			if name, value, _ := cut(w); len(w) > 1 && w[0] == '-' && (name == "d" || name == "detach") && value != "false" {
				return true
			}
		}
	}
	return c.word(i) == "create"
}

//go:nosplit
func isName(id string) bool {
	if id == "" || id[0] == '-' || id[0] == '.' || len(id) > 199 {
		return false
	}
	for i := range len(id) {
		if id[i] == '/' {
			return false
		}
	}
	return true
}

// add writes s into path at offset n and returns the new offset.
//
//go:nosplit
func add(n int, s string) int {
	for i := range len(s) {
		if n < len(path)-1 {
			path[n] = s[i]
			n++
		}
	}
	path[n] = 0
	return n
}

// isMade reports whether the container has a Free link, made by the requested runtime. inner
// then holds that runtime's path.
//
//go:nosplit
func (c *called) isMade() bool {
	n := add(0, c.state)
	switch {
	case len(c.state) > longest || len(c.root) > longest:
		return false
	case c.state != "":
		n = add(n, OfState)
	case ofNode():
		n = add(n, OfNode)
	default:
		return false
	}
	n = add(add(n, "/"), c.id)
	if c.root != "" {
		n = add(n, OfRoot)
		sum := Sum(c.root)
		for i := 60; i >= 0; i -= 4 {
			d := sum >> i & 15
			n = add(n, "0123456789abcdef"[d:d+1])
		}
	}
	add(add(n, "/"), Free)
	r := ask(unix.SYS_READLINKAT, ^uintptr(99), uintptr(unsafe.Pointer(&path)), uintptr(unsafe.Pointer(&inner)), longest)
	if failed(r) || inner[0] != '/' {
		return false
	}
	made, name := text(&inner[0]), c.runtime
	rest := len(made) - len(name)
	return name == "" || rest >= 0 && made[rest:] == name && (rest == 0 || name[0] != '/' && made[rest-1] == '/')
}

// ofNode reports whether the caller is root in the initial user namespace.
//
//go:nosplit
func ofNode() bool {
	if ask(unix.SYS_GETEUID, 0, 0, 0, 0) != 0 {
		return false
	}
	add(0, "/proc/self/uid_map")
	fd := ask(unix.SYS_OPENAT, 0, uintptr(unsafe.Pointer(&path)), unix.O_CLOEXEC, 0)
	r := ask(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&path)), longest, 0)
	ask(unix.SYS_CLOSE, fd, 0, 0, 0)
	zeros, lines := 0, 0
	for i := 0; !failed(r) && i < int(r) && i < longest; i++ {
		switch {
		case path[i] == '\n':
			lines++
		case zeros == 2 || path[i] == ' ':
		case path[i] != '0' || path[i+1] != ' ':
			return false
		default:
			zeros++
		}
	}
	return zeros == 2 && lines == 1
}
