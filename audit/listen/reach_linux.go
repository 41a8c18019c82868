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

// reach tells the ledger of a connect, whatever comes of it. The listener answers
// in the order of the calls, so that what a model asks for in an answer to this
// connect is started after it. What cannot be read counts as one.
func (l *Listener) reach() {
	if l.Ledger == nil || !l.Ledger.Alone() || l.asksNames() || l.standsAside() {
		return
	}
	l.Ledger.Reach()
}

func (l *Listener) asksNames() bool {
	var a address
	length := int32(l.call.Args[2])
	if length < 0 || length > maxAddress || l.readAddress(&a, l.call.Args[1], int(length)) != 0 {
		return false
	}
	p := a.path()
	return p != nil && slices.Contains(nameService, string(p[:len(p)-1]))
}

func (l *Listener) standsAside() bool {
	if len(l.Aside) == 0 {
		return false
	}
	exe := l.proc("exe", -1)
	program := read.Link(unix.AT_FDCWD, string(exe[:len(exe)-1]))
	return program != "" && slices.Contains(l.Aside, path.Base(strings.TrimSuffix(program, " (deleted)")))
}
