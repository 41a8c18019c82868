package listen

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/reach"
	"sbx/internal/sys"
	"sbx/wrap"
)

// A nested sbx whose spec allows less network than this sandbox asks this listener to
// enforce that for its process tree, by a request like those for a budget
// (wrap.BudgetNarrow). The tree shares this sandbox's network; the listener decides its
// connects by the nested rules too. Landlock keeps the tree from tracing or signalling
// processes outside it. If the nested sbx dies without wrap.BudgetWide, its rules stay
// for every process with more seccomp filters than it had: its descendants have more, and
// no process can remove a filter.

// maxNarrowed is how many nested sandboxes are kept, maxBound how many sockets of each.
const (
	maxNarrowed = 16
	maxBound    = 8192
)

// narrowed holds what one nested sbx and its descendants may connect to.
type narrowed struct {
	innerProcess
	sock    int // socket to the nested sbx
	filters int // number of its own seccomp filters
	may     reach.Reach
	named   []string        // paths of allowed pathname sockets
	sockets boundSockets    // pathname sockets that its descendants bound
	bound   map[uint64]bool // all sockets that its descendants bound, by inode
}

// narrowing holds the network rules of nested sbx, each for its own process tree.
type narrowing struct {
	*copies
	*answers
	egress    *Egress
	describes bool
	list      []*narrowed
}

// narrow answers wrap.BudgetNarrow; sock is the caller's number of its socket.
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
		n.innerProcess, e = openInside(pid)
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

// read reads the request from the socket. It peeks: taking the packet out would also
// close descriptors that came with it, which may block as long as a program likes.
func (n *narrowed) read() unix.Errno {
	domain, _ := optionOf(n.sock, unix.SO_DOMAIN)
	if kind, _ := optionOf(n.sock, unix.SO_TYPE); domain != unix.AF_UNIX || kind != unix.SOCK_SEQPACKET {
		return unix.EINVAL
	}
	b := make([]byte, wrap.MaxNarrow+1)
	size, _, err := unix.Recvfrom(n.sock, b, unix.MSG_DONTWAIT|unix.MSG_PEEK)
	if err != nil {
		return sys.Errno(err)
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

// widen answers wrap.BudgetWide: all descendants of the nested sbx have ended, and its
// rules are dropped.
func (w *narrowing) widen() {
	pid := w.process()
	at := slices.IndexFunc(w.list, func(n *narrowed) bool { return n.pid == pid && !n.gone() })
	if at < 0 || !w.waits() {
		w.fail(unix.ENOENT)
		return
	}
	n := w.list[at]
	n.forget()
	n.sockets.forget(&w.discards)
	w.discards.add(n.sock)
	if w.list = slices.Delete(w.list, at, at+1); len(w.list) == 0 {
		_ = w.egress.unasked(false)
	}
	w.answer(0)
}

// ofCaller returns the nested sandboxes that the waiting thread's process is in.
func (w *narrowing) ofCaller() (list []*narrowed) {
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

// permits reports whether all nested sandboxes in within allow a connection to name or, if
// that is "", to the address.
func permits(within []*narrowed, ip reach.IP, port int, name string) bool {
	return !slices.ContainsFunc(within, func(n *narrowed) bool {
		_, ok := n.may.Name(name, port)
		if name == "" {
			_, ok = n.may.Addr(ip, port)
		}
		return !ok
	})
}

// permitAll reports whether all nested sandboxes in within allow a connect to the
// pathname socket id.
func permitAll(within []*narrowed, p *paths, id inode) bool {
	return !slices.ContainsFunc(within, func(n *narrowed) bool { return !n.sockets.has(id) && !p.isNamed(n.named, id) })
}

// notify sends the nested sandboxes a notice of a denied connect. outer says that this
// sandbox denies it too and reports that elsewhere.
func (w *narrowing) notify(within []*narrowed, target string, outer bool) {
	if len(within) == 0 {
		return
	}
	told := wrap.Beyond{Target: target, Outer: outer}
	_, told.Program = audit.CallerOf(int(w.n.TID))
	for _, n := range within { // never blocks: an sbx that does not read misses notices
		_ = unix.Send(n.sock, []byte(told.Text()), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	}
	if !outer && w.describes {
		w.report(ByNarrow, Connect, target)
	}
}

// noteBind records a socket that is about to be bound for the sandboxes in within.
func (w *narrowing) noteBind(within []*narrowed) {
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

// ownServer reports whether every socket that listens on a loopback port was bound inside
// all sandboxes in within. Otherwise the server could be a way to what only programs
// outside them may reach.
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
		w.notify(within, Target(ip.String(), port), false)
	}
	return whole && found && own
}

// maxListed is how many bytes are read of a socket table. Listening sockets come first.
const maxListed = 1 << 20

// listening calls f with the inode of each socket that listens on a port, from a table of
// the waiting thread's network namespace (proc_pid_net(5)). It returns false if it may
// have missed some.
func (w *narrowing) listening(table string, port int, f func(inode uint64)) bool {
	const listen = "0A"
	fd, e := openFile(w.proc(table, -1))
	if e != 0 {
		return e == unix.ENOENT // no IPv6
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
			case first: // the header line
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
