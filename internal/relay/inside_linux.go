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

// published is a port of the host's that leads to one inside.
type published struct {
	at   *net.TCPListener
	port uint16
}

// comeIn takes a connection that was made to the nth of the published ports. Half of all
// connections are left to the command's own.
func (r *Relay) comeIn(client *net.TCPConn, n int) {
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

// inside connects to servers in the sandbox. No socket for that can be made outside of
// its network namespace, and the relay does not go into it: of two sockets that were made
// there one connects to the other, and what comes of that as accepted is one more. It is
// freed of the connection (connect(2), AF_UNSPEC), and connects anew.
type inside struct {
	doors []*door // of IPv4, then of IPv6
}

// door makes sockets of one family.
type door struct {
	mu       sync.Mutex
	listens  *net.TCPListener // at the loopback
	connects *net.TCPConn     // to it
}

// doorTime is how long it takes at most to have a socket: programs inside that connect to
// the door hold it up, until they are accepted, and a SYN is sent again after a second.
const doorTime = 3 * time.Second

func (r *Relay) door(file *os.File) error {
	l, err := r.listener(file)
	r.inside.doors = append(r.inside.doors, &door{listens: l})
	return err
}

// way takes over what connects to the last door.
func (r *Relay) way(file *os.File) error {
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
		to := netip.AddrPortFrom(d.at().Addr(), port)
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

// at is where the door is.
func (d *door) at() netip.AddrPort {
	a := d.listens.Addr().(*net.TCPAddr).AddrPort()
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// socket makes a socket of the sandbox's network that is not connected.
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
		if c.RemoteAddr().(*net.TCPAddr).Port != own { // a program's inside
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

// knock begins to connect to the door, and says from which port.
func (d *door) knock() (port int, err error) {
	raw, err := d.connects.SyscallConn()
	if err != nil {
		return 0, err
	}
	wait := raw.Control(func(fd uintptr) {
		if err = unix.Connect(int(fd), sockaddr(d.at())); err != nil && err != unix.EINPROGRESS {
			return
		}
		port, err = ownPort(int(fd))
	})
	if wait != nil {
		err = wait
	}
	return port, err
}

// ownPort is the port of a socket's own address.
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

// connect connects a socket that is not connected to the loopback, and waits for that.
// Where nobody listens, the kernel may give it the very port that it connects to, and then
// it is connected to itself: that is no server.
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
