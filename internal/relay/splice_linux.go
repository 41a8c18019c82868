package relay

import (
	"io"
	"net"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// most is the maximum of one splice(2), in bytes.
const most = 1 << 20

// move copies bytes from one socket to another until end of file, for which err is nil. It holds
// a pipe only while there are bytes to move, so that an idle connection costs two descriptors,
// and the user does not exceed the kernel's limit on pipe pages (pipe-user-pages-soft), as with
// io.Copy.
func move(to, from *net.TCPConn) (n uint64, err error) {
	in, err := from.SyscallConn()
	if err != nil {
		return 0, err
	}
	out, err := to.SyscallConn()
	if err != nil {
		return 0, err
	}
	for {
		p, held, err := fill(in)
		if err != nil || held == 0 {
			return n, err
		}
		sent, err := p.empty(out, held)
		n += uint64(sent)
		if err != nil {
			p.close()
			return n, err
		}
		p.keep()
	}
}

// fill waits for bytes and splices them into a pipe; n is 0 at end of file.
func fill(in syscall.RawConn) (p *pipe, n int, err error) {
	wait := in.Read(func(fd uintptr) bool {
		if p, err = newPipe(); err != nil {
			return true
		}
		n, err = splice(int(fd), p.write)
		if err == unix.EAGAIN {
			p.keep()
			return false
		}
		return true
	})
	switch {
	case wait != nil:
		return nil, 0, wait
	case p != nil && (err != nil || n == 0):
		p.keep()
	}
	return p, n, err
}

// empty splices the n bytes in the pipe to the socket out.
func (p *pipe) empty(out syscall.RawConn, n int) (sent int, err error) {
	wait := out.Write(func(fd uintptr) bool {
		for sent < n {
			var m int
			m, err = splice(p.read, int(fd))
			switch {
			case err == unix.EAGAIN:
				return false
			case err == nil && m == 0:
				err = io.ErrUnexpectedEOF
			}
			if err != nil {
				return true
			}
			sent += m
		}
		return true
	})
	if wait != nil {
		err = wait
	}
	return sent, err
}

func splice(from, to int) (int, error) {
	for {
		n, err := unix.Splice(from, nil, to, nil, most, unix.SPLICE_F_NONBLOCK|unix.SPLICE_F_MOVE)
		if err != unix.EINTR {
			return int(n), err
		}
	}
}

// pipe is a pipe(2) that holds bytes only between fill and empty.
type pipe struct {
	read, write int
	wide        bool
}

// pipes is a pool of a few unused pipes. The first ones have a capacity of most, which halves
// the work. Not all do: beyond 16384 pages in pipes, the kernel gives a user only small ones,
// and there may be several relays.
var pipes struct {
	mu   sync.Mutex
	idle []*pipe
	wide int
}

const (
	maxIdlePipes = 32
	maxWidePipes = 8
)

func newPipe() (*pipe, error) {
	pipes.mu.Lock()
	defer pipes.mu.Unlock()
	if n := len(pipes.idle); n > 0 {
		p := pipes.idle[n-1]
		pipes.idle = pipes.idle[:n-1]
		return p, nil
	}
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return nil, err
	}
	p := &pipe{fds[0], fds[1], pipes.wide < maxWidePipes}
	if p.wide {
		pipes.wide++
		_, _ = unix.FcntlInt(uintptr(p.write), unix.F_SETPIPE_SZ, most)
	}
	return p, nil
}

// keep puts an empty pipe back into the pool.
func (p *pipe) keep() {
	pipes.mu.Lock()
	defer pipes.mu.Unlock()
	if p.wide || len(pipes.idle) < maxIdlePipes {
		pipes.idle = append(pipes.idle, p)
		return
	}
	p.shut()
}

// close closes a pipe that may still hold bytes.
func (p *pipe) close() {
	pipes.mu.Lock()
	defer pipes.mu.Unlock()
	if p.wide {
		pipes.wide--
	}
	p.shut()
}

func (p *pipe) shut() {
	unix.Close(p.read)
	unix.Close(p.write)
}

// peek waits for a connection's next byte and returns it unread; 0 at end of file.
func peek(c *net.TCPConn) (byte, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var b [1]byte
	wait := raw.Read(func(fd uintptr) bool {
		for {
			_, _, err = unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
			if err != unix.EINTR {
				return err != unix.EAGAIN
			}
		}
	})
	if wait != nil {
		err = wait
	}
	return b[0], err
}
