package listen

import (
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/read"
)

// contact reports connects that may lead to a model to the ledger.
type contact struct {
	*caller
	ledger *audit.Ledger
	aside  []string
}

// nameService are the sockets of nscd, which libc queries for user and host names.
var nameService = []string{"/var/run/nscd/socket", "/run/nscd/socket"}

// report reports a connect to the ledger, whether or not it succeeds. Notifications are
// answered in order, so programs that a model requests over this connection start after
// it. An address that cannot be read counts as well.
func (c *contact) report() {
	if c.ledger == nil || !c.ledger.Alone() || c.isNameService() || c.isAside() {
		return
	}
	c.ledger.Reach()
}

func (c *contact) isNameService() bool {
	var a address
	if c.readAddress(&a) != 0 {
		return false
	}
	p := a.path()
	return p != nil && slices.Contains(nameService, string(p[:len(p)-1]))
}

func (c *contact) isAside() bool {
	if len(c.aside) == 0 {
		return false
	}
	exe := c.proc("exe", -1)
	program := read.Link(unix.AT_FDCWD, string(exe[:len(exe)-1]))
	return program != "" && slices.Contains(c.aside, path.Base(strings.TrimSuffix(program, removed)))
}
