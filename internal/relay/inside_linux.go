package relay

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/relay/wire"
)

// published is a host port that is forwarded to a port inside the sandbox.
type published struct {
	at   *net.TCPListener
	port uint16
}

// servePublished forwards a connection to the nth published port. Such connections may use at most half
// of the connection limit; the rest is for the command's own.
func (r *Relay) servePublished(client *net.TCPConn, n int) {
	r.begin(client, wire.Published(n), r.Connections/2, func() (e wire.Ended) {
		defer r.bounded(client)()
		server, err := r.inside.dial(r.published[n].port)
		if err != nil {
			reset(client)
			return wire.Ended{Outcome: wire.NoAnswer, Detail: err.Error()}
		}
		defer r.bounded(server)()
		return join(server, client, &wire.Expected{}, nil)
	})
}

// inside connects to servers in the sandbox. The relay runs outside the sandbox's network
// namespace and cannot create sockets in it. It is given two that were created there: one
// connects to the other, and accept(2) yields a new socket of that namespace. The relay then
// disconnects the new socket (connect(2), AF_UNSPEC) and connects it to the server.
type inside struct {
	doors []*door // IPv4, then IPv6
}

// door makes sockets of one address family.
type door struct {
	mu       sync.Mutex
	listens  *net.TCPListener // at the loopback
	connects *net.TCPConn     // to it
}

// doorTime is the time limit for making a socket. Programs inside that connect to the door delay
// it until the relay has accepted them, and the kernel resends a SYN only after a second.
const doorTime = 3 * time.Second

func (r *Relay) addDoor(file *os.File) error {
	l, err := r.listener(file)
	r.inside.doors = append(r.inside.doors, &door{listens: l})
	return err
}

// setConnector takes over the connecting socket of the last door.
func (r *Relay) setConnector(file *os.File) error {
	c, err := net.FileConn(file)
	if err != nil {
		return err
	}
	context.AfterFunc(r.ctx, func() { _ = c.Close() })
	t, ok := c.(*net.TCPConn)
	if !ok || len(r.inside.doors) == 0 {
		return errOther
	}
	r.inside.doors[len(r.inside.doors)-1].connects = t
	return nil
}

// dial connects to a port of the sandbox's loopback: to 127.0.0.1 or, where nobody listens
// there, to ::1.
func (i *inside) dial(port uint16) (c *net.TCPConn, err error) {
	err = errors.New("the sandbox has no loopback")
	for _, d := range i.doors {
		if c, err = d.socket(); err != nil {
			return nil, err
		}
		to := netip.AddrPortFrom(d.listensAt().Addr(), port)
		_ = c.SetWriteDeadline(time.Now().Add(dialTime))
		if err = connect(c, to); err == nil {
			return c, c.SetWriteDeadline(time.Time{})
		}
		reset(c)
		if err != unix.ECONNREFUSED {
			break
		}
	}
	return nil, err
}

// listensAt returns the address at which the door listens.
func (d *door) listensAt() netip.AddrPort {
	a := d.listens.Addr().(*net.TCPAddr).AddrPort()
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// socket returns an unconnected socket in the sandbox's network namespace.
func (d *door) socket() (*net.TCPConn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := disconnect(d.connects); err != nil {
		return nil, err
	}
	own, err := d.knock()
	_ = d.listens.SetDeadline(time.Now().Add(doorTime))
	for err == nil {
		var c *net.TCPConn
		if c, err = d.listens.AcceptTCP(); err != nil {
			break
		}
		if c.RemoteAddr().(*net.TCPAddr).Port != own { // a program inside the sandbox connected
			reset(c)
			continue
		}
		if err = disconnect(c); err == nil {
			return c, nil
		}
		_ = c.Close()
	}
	return nil, err
}

// knock starts a connect to the door and returns the local port that it uses.
func (d *door) knock() (port int, err error) {
	raw, err := d.connects.SyscallConn()
	if err != nil {
		return 0, err
	}
	wait := raw.Control(func(fd uintptr) {
		if err = unix.Connect(int(fd), sockaddr(d.listensAt())); err != nil && err != unix.EINPROGRESS {
			return
		}
		port, err = ownPort(int(fd))
	})
	if wait != nil {
		err = wait
	}
	return port, err
}

// ownPort returns a socket's local port.
func ownPort(fd int) (port int, err error) {
	own, err := unix.Getsockname(fd)
	switch own := own.(type) {
	case *unix.SockaddrInet4:
		port = own.Port
	case *unix.SockaddrInet6:
		port = own.Port
	}
	return port, err
}

func sockaddr(a netip.AddrPort) unix.Sockaddr {
	if a.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
}

// connect connects a socket from socket() to an address of the loopback, and waits until it is
// connected. If no server listens there, the kernel may pick that very port as the local one, so
// that the socket connects to itself; connect treats this as a failure.
func connect(c *net.TCPConn, to netip.AddrPort) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	wait := raw.Write(func(fd uintptr) bool {
		switch err = unix.Connect(int(fd), sockaddr(to)); err {
		case unix.EINPROGRESS, unix.EALREADY, unix.EINTR:
			return false
		case nil, unix.EISCONN:
			var own int
			if own, err = ownPort(int(fd)); own == int(to.Port()) {
				err = unix.ECONNREFUSED
			}
		}
		return true
	})
	if wait != nil {
		return wait
	}
	return err
}
