package listen

import (
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// nameService are the sockets by which libc asks for names of users and hosts.
var nameService = []string{"/var/run/nscd/socket", "/run/nscd/socket"}

// connects tells the ledger of a connect, whatever comes of it. The listener answers
// in the order of the calls, so that what a model asks for in an answer to this
// connect is started after it. What cannot be read counts as one.
func (c *contact) connects() {
	if c.ledger == nil || !c.ledger.Alone() || c.asksNames() || c.standsAside() {
		return
	}
	c.ledger.Reach()
}

func (c *contact) asksNames() bool {
	var a address
	length := int32(c.call.Args[2])
	if length < 0 || length > maxAddress || c.readAddress(&a, c.call.Args[1], int(length)) != 0 {
		return false
	}
	p := a.path()
	return p != nil && slices.Contains(nameService, string(p[:len(p)-1]))
}

func (c *contact) standsAside() bool {
	if len(c.aside) == 0 {
		return false
	}
	exe := c.proc("exe", -1)
	program := read.Link(unix.AT_FDCWD, string(exe[:len(exe)-1]))
	return program != "" && slices.Contains(c.aside, path.Base(strings.TrimSuffix(program, " (deleted)")))
}
