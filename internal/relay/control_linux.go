package relay

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"sbx/internal/relay/wire"
)

// control is the socket to the supervisor.
type control struct {
	conn   *net.UnixConn
	raw    syscall.RawConn
	handle func(packet []byte, fds []int) error

	mu     sync.Mutex // held while packets are read and handled
	packet [wire.Max]byte
	beside []byte
	err    error // why nothing more is read
}

// maxSockets is how many descriptors the kernel lets a packet have (SCM_MAX_FD).
const maxSockets = 253

// room is for what the supervisor does not read at once, in bytes.
const room = 1 << 20

func newControl(file *os.File) (*control, error) {
	conn, err := net.FileConn(file)
	file.Close()
	if err != nil {
		return nil, err
	}
	c := &control{beside: make([]byte, unix.CmsgSpace(4*maxSockets))}
	var ok bool
	if c.conn, ok = conn.(*net.UnixConn); !ok {
		_ = conn.Close()
		return nil, errors.New("descriptor 3 is not a supervisor's socket")
	}
	_ = c.conn.SetWriteBuffer(room)
	c.raw, err = c.conn.SyscallConn()
	return c, err
}

// serve handles packets until there are no more: nil where the supervisor ended it.
func (c *control) serve() error {
	err := c.raw.Read(c.drain)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil && c.err != io.EOF {
		return c.err
	}
	return err
}

// poll handles the packets that have arrived.
func (c *control) poll() { _ = c.raw.Control(func(fd uintptr) { c.drain(fd) }) }

// drain handles packets until none is there, and tells whether none will come.
func (c *control) drain(fd uintptr) (over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.err == nil {
		n, beside, _, _, err := unix.Recvmsg(int(fd), c.packet[:], c.beside, unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
		switch {
		case err == unix.EAGAIN:
			return false
		case err == unix.EINTR:
		case err == nil && n == 0, err == unix.ECONNRESET: // it ended with or without having read all
			c.err = io.EOF
		case err != nil:
			c.err = err
		default:
			c.err = c.handle(c.packet[:n], descriptors(c.beside[:beside]))
		}
	}
	return true
}

// descriptors are those that came with a packet.
func descriptors(beside []byte) (fds []int) {
	messages, err := unix.ParseSocketControlMessage(beside)
	if err != nil {
		return nil
	}
	for i := range messages {
		if more, err := unix.ParseUnixRights(&messages[i]); err == nil {
			fds = append(fds, more...)
		}
	}
	return fds
}

// send sends a packet, and waits while the supervisor has not read what was sent before.
// The supervisor's end is all that can fail it, and ends the relay.
func (c *control) send(packet []byte) error {
	_, err := c.conn.Write(packet)
	return err
}

func (c *control) ended(e *wire.Ended) { _ = c.send(e.Append(nil)) }

// reset ends a connection as one that was broken off.
func reset(c *net.TCPConn) {
	_ = c.SetLinger(0)
	_ = c.Close()
}
