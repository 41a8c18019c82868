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
	err    error // why reading has ended
}

// maxSockets is how many descriptors one packet may carry (SCM_MAX_FD).
const maxSockets = 253

// room is the size of the send buffer in bytes, for the time that the supervisor does not
// read.
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

// serve handles packets until there are no more; nil if the supervisor has closed its end.
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

// drain handles the packets that have arrived, and reports whether the socket has ended.
func (c *control) drain(fd uintptr) (over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.err == nil {
		n, beside, _, _, err := unix.Recvmsg(int(fd), c.packet[:], c.beside, unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
		switch {
		case err == unix.EAGAIN:
			return false
		case err == unix.EINTR:
		case err == nil && n == 0, err == unix.ECONNRESET: // the supervisor ended, with or without having read everything
			c.err = io.EOF
		case err != nil:
			c.err = err
		default:
			c.err = c.handle(c.packet[:n], descriptors(c.beside[:beside]))
		}
	}
	return true
}

// descriptors returns the descriptors of a packet.
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

// send sends a packet; it waits if the supervisor has not read the earlier ones. It fails
// only when the supervisor has ended, and then the relay ends, too.
func (c *control) send(packet []byte) error {
	_, err := c.conn.Write(packet)
	return err
}

func (c *control) ended(e *wire.Ended) { _ = c.send(e.Append(nil)) }

// reset closes a connection with a TCP reset.
func reset(c *net.TCPConn) {
	_ = c.SetLinger(0)
	_ = c.Close()
}
