package wire

import (
	"bytes"
	"errors"
	"io"
	"time"

	"golang.org/x/sys/unix"
)

// Conn is one end of the socket. One goroutine may send while another receives.
type Conn struct {
	FD int

	b   []byte
	fds []int // received descriptors; the kernel may deliver them with the bytes of the message before
}

// Send sends a message with descriptors, which the caller keeps.
func (c *Conn) Send(m Message, fds ...int) error {
	line := Append(nil, m)
	if len(line) > Max {
		return errTooLong
	}
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	for len(line) > 0 {
		n, err := unix.SendmsgN(c.FD, line, rights, nil, unix.MSG_NOSIGNAL)
		switch err {
		case nil:
			line, rights = line[n:], nil
		case unix.EINTR:
		case unix.EAGAIN:
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(c.FD), Events: unix.POLLOUT}}, -1)
		default:
			return err
		}
	}
	return nil
}

// Receive waits for a message, at most for patience, or without limit if that is negative.
// The caller owns the received descriptors. The error is io.EOF at the end of the socket,
// and ETIMEDOUT when the time is over.
func (c *Conn) Receive(patience time.Duration) (Message, []int, error) {
	for end := time.Now().Add(patience); ; {
		m, fds, err := c.Next()
		if m != nil || err != nil {
			return m, fds, err
		}
		left := -1
		if patience >= 0 {
			rest := time.Until(end)
			if rest <= 0 {
				return nil, nil, unix.ETIMEDOUT
			}
			left = int(rest/time.Millisecond) + 1
		}
		if n, _ := unix.Poll([]unix.PollFd{{Fd: int32(c.FD), Events: unix.POLLIN}}, left); n <= 0 {
			continue // interrupted, or the time is over
		}
		if err = c.Fill(); err != nil && err != unix.EAGAIN {
			return nil, nil, err
		}
	}
}

// Next returns a message that was received completely; nil if there is none.
func (c *Conn) Next() (Message, []int, error) {
	end := bytes.IndexByte(c.b, '\n')
	if end < 0 {
		if len(c.b) > Max {
			return nil, nil, errTooLong
		}
		return nil, nil, nil
	}
	m, err := Read(c.b[:end])
	if err != nil {
		return nil, nil, err
	}
	c.b = c.b[end+1:]
	s, ok := m.(*Sockets)
	if !ok {
		return m, nil, nil
	}
	if len(s.Kinds) != len(c.fds) {
		return nil, nil, errors.New("message: sockets that were not sent with it")
	}
	fds := c.fds
	c.fds = nil
	return m, fds, nil
}

// Fill reads the bytes that have arrived; EAGAIN if a non-blocking socket has none.
func (c *Conn) Fill() error {
	part, oob := make([]byte, 64<<10), make([]byte, unix.CmsgSpace(16*4))
	n, oobn, _, _, err := unix.Recvmsg(c.FD, part, oob, unix.MSG_CMSG_CLOEXEC)
	if err == unix.EINTR {
		return nil
	}
	if err != nil {
		return err
	}
	if messages, err := unix.ParseSocketControlMessage(oob[:oobn]); err == nil {
		for i := range messages {
			if fds, err := unix.ParseUnixRights(&messages[i]); err == nil {
				c.fds = append(c.fds, fds...)
			}
		}
	}
	if n == 0 {
		return io.EOF
	}
	c.b = append(c.b, part[:n]...)
	return nil
}

var errTooLong = errors.New("message: longer than 4 MiB")
