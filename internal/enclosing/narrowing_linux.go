package enclosing

import (
	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// Narrowing is a wrap.Narrow that an outer sbx's supervisor enforces for this process's
// descendants. FD is readable when Next has a denial to return; -1 for no Narrowing.
type Narrowing struct{ FD int }

// OpenNarrowing asks an outer sbx to enforce n on the commands that this process starts;
// ok is false if there is no outer sbx or it cannot.
func OpenNarrowing(n *wrap.Narrow) (narrowing Narrowing, ok bool) {
	none := Narrowing{-1}
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return none, false
	}
	defer unix.Close(ends[1])
	text := n.Text()
	if len(text) <= wrap.MaxNarrow && unix.Send(ends[0], []byte(text), unix.MSG_NOSIGNAL) == nil {
		if _, ok := ask(wrap.BudgetNarrow, uint64(ends[1]), 0); ok {
			return Narrowing{ends[0]}, true
		}
	}
	unix.Close(ends[0])
	return none, false
}

// Next returns the next denied connect without blocking; ok is false if there is none yet.
func (n Narrowing) Next() (r wrap.Beyond, ok bool) {
	b := make([]byte, 8<<10)
	for n.FD >= 0 {
		size, err := unix.Read(n.FD, b)
		if err == unix.EINTR {
			continue
		}
		if err != nil || size <= 0 {
			break
		}
		if r, ok = wrap.ParseBeyond(string(b[:size])); ok {
			return r, true
		}
	}
	return wrap.Beyond{}, false
}

// Close tells the outer sbx that no narrowed process is left.
func (n Narrowing) Close() {
	if n.FD >= 0 {
		_, _ = ask(wrap.BudgetWide, 0, 0)
		unix.Close(n.FD)
	}
}
