package listen

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/reach"
	"sbx/wrap"
)

// An sbx inside whose spec reaches less than this sandbox does has it held for its own
// process tree, by a request like those for a budget (wrap.BudgetNarrow). The network
// stays this sandbox's: what differs is which connects are made for whom. Landlock keeps
// such a tree from tracing or signalling what is outside of it. If its sbx ends without a
// word all the same, its rules stay for every process that has more filters than it had,
// as what it started does: nobody gets rid of a filter.

// maxNarrowed is how many are kept, maxBound how many sockets are known of each.
const (
	maxNarrowed = 16
	maxBound    = 8192
)

// narrowed is what one sbx inside may reach.
type narrowed struct {
	inside
	sock    int // to it
	filters int // that it has itself
	may     reach.Reach
	named   []string        // pathname sockets
	made    boundSockets    // those that were bound beneath it
	bound   map[uint64]bool // sockets that were, by their inodes
}

// narrow answers a request; sock is the caller's socket.
func (w *narrowing) narrow(sock int32) {
	e := unix.ENOENT
	if pid := w.process(); w.egress != nil && pid > 0 && w.waits() {
		e = w.openNarrow(pid, sock)
	}
	if e != 0 {
		w.fail(e)
		return
	}
	w.answer(0)
}

func (w *narrowing) openNarrow(pid int, sock int32) (e unix.Errno) {
	if len(w.list) == maxNarrowed || w.discards.full() {
		return unix.EAGAIN
	}
	n := &narrowed{filters: w.statusOf("Seccomp_filters:")}
	if n.filters <= 0 {
		return unix.ENOENT
	}
	if n.sock, e = w.socketOf(sock); e != 0 {
		return e
	}
	if e = n.read(); e == 0 {
		n.inside, e = openInside(pid)
	}
	if e == 0 {
		if e = w.egress.unasked(true); e == 0 {
			w.list = append(w.list, n)
			return 0
		}
		n.forget()
	}
	w.discards.add(n.sock)
	return e
}

// read reads what the sbx wants, which stays in the socket: descriptors that came with it
// would be closed here, and that may take as long as a program likes.
func (n *narrowed) read() unix.Errno {
	domain, _ := optionOf(n.sock, unix.SO_DOMAIN)
	if kind, _ := optionOf(n.sock, unix.SO_TYPE); domain != unix.AF_UNIX || kind != unix.SOCK_SEQPACKET {
		return unix.EINVAL
	}
	b := make([]byte, wrap.MaxNarrow+1)
	size, _, err := unix.Recvfrom(n.sock, b, unix.MSG_DONTWAIT|unix.MSG_PEEK)
	if err != nil {
		return errno(err)
	}
	want, ok := wrap.ParseNarrow(string(b[:size]))
	if !ok || size > wrap.MaxNarrow {
		return unix.EINVAL
	}
	n.named = want.Sockets
	for _, text := range want.Reach {
		e, err := reach.Parse(text)
		if err != nil {
			return unix.EINVAL
		}
		n.may = append(n.may, reach.Rule{Endpoint: e, Text: text})
	}
	return 0
}

// widen answers an sbx that says that nothing of what it started is left.
func (w *narrowing) widen() {
	pid := w.process()
	at := slices.IndexFunc(w.list, func(n *narrowed) bool { return n.pid == pid && !n.gone() })
	if at < 0 || !w.waits() {
		w.fail(unix.ENOENT)
		return
	}
	n := w.list[at]
	n.forget()
	n.made.forget(&w.discards)
	w.discards.add(n.sock)
	if w.list = slices.Delete(w.list, at, at+1); len(w.list) == 0 {
		_ = w.egress.unasked(false)
	}
	w.answer(0)
}

// narrows are those beneath which the waiting thread's process is.
func (w *narrowing) narrows() (list []*narrowed) {
	if len(w.list) == 0 {
		return nil
	}
	above, ok := w.ancestors()
	filters := w.statusOf("Seccomp_filters:")
	for _, n := range w.list {
		if n.gone() {
			if filters < 0 || filters > n.filters {
				list = append(list, n)
			}
		} else if !ok || slices.Contains(above, n.pid) {
			list = append(list, n)
		}
	}
	return list
}

// permits tells whether it allows a connection, by a name or, where that is "", to the
// address.
func (n *narrowed) permits(ip reach.IP, port int, name string) bool {
	_, ok := n.may.Name(name, port)
	if name == "" {
		_, ok = n.may.Addr(ip, port)
	}
	return ok
}

// permitAll tells whether all of these let a pathname socket be connected to.
func permitAll(within []*narrowed, p *paths, id inode) bool {
	return !slices.ContainsFunc(within, func(n *narrowed) bool { return !n.made.has(id) && !p.isNamed(n.named, id) })
}

// beyond tells those inside of a connect that is refused; outer says that the sandbox
// itself refuses it, which tells of that by itself.
func (w *narrowing) beyond(within []*narrowed, target string, outer bool) {
	if len(within) == 0 {
		return
	}
	told := wrap.Beyond{Target: target, Outer: outer}
	_, told.Program = audit.CallerOf(int(w.n.TID))
	for _, n := range within { // who does not read is not told
		_ = unix.Send(n.sock, []byte(told.Text()), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	}
	if !outer && w.describes {
		w.report(ByNarrow, Connect, target)
	}
}

// bindsBeneath takes note of a socket that is about to be bound.
func (w *narrowing) bindsBeneath(within []*narrowed) {
	if len(within) == 0 || w.discards.full() {
		return
	}
	sock, e := w.socketOf(int32(w.call.Args[0]))
	if e != 0 {
		return
	}
	defer w.discards.add(sock)
	var st unix.Stat_t
	if unix.Fstat(sock, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return
	}
	for _, n := range within {
		if n.bound == nil || len(n.bound) == maxBound {
			n.bound = map[uint64]bool{}
		}
		n.bound[st.Ino] = true
	}
}

// ownServer tells whether whoever listens at a port of the sandbox's loopback is beneath
// all of these: this is no way to what another program may reach.
func (w *narrowing) ownServer(within []*narrowed, ip reach.IP, port int) bool {
	found, own := false, true
	each := func(inode uint64) {
		found = true
		for _, n := range within {
			own = own && n.bound[inode]
		}
	}
	whole := w.listening("net/tcp", port, each) && w.listening("net/tcp6", port, each)
	if found && !own {
		w.beyond(within, Target(ip.String(), port), false)
	}
	return whole && found && own
}

// maxListed is how much is read of a table of sockets, which begins with those that
// listen.
const maxListed = 1 << 20

// listening calls f with the inode of each socket that listens at a port, in a table of
// the waiting thread's network (proc_pid_net(5)), and tells whether it was all of them.
func (w *narrowing) listening(table string, port int, f func(inode uint64)) bool {
	const listen = "0A"
	fd, e := openFile(w.proc(table, -1))
	if e != 0 {
		return e == unix.ENOENT // without IPv6
	}
	defer unix.Close(fd)
	var rest string
	for buf, size, first := make([]byte, 1<<14), 0, true; size < maxListed; {
		n, err := unix.Read(fd, buf)
		if n <= 0 {
			return err == nil && rest == ""
		}
		size += n
		rest += string(buf[:n])
		for {
			line, more, whole := strings.Cut(rest, "\n")
			if !whole {
				break
			}
			rest = more
			column := strings.Fields(line)
			switch {
			case first: // what the columns are called
				first = false
				continue
			case len(column) < 10:
				return false
			case column[3] != listen:
				return true
			}
			at, err := strconv.ParseUint(column[1][strings.IndexByte(column[1], ':')+1:], 16, 16)
			inode, err2 := strconv.ParseUint(column[9], 10, 64)
			if err != nil || err2 != nil {
				return false
			}
			if int(at) == port {
				f(inode)
			}
		}
	}
	return false
}
