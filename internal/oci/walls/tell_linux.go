package walls

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// The messages to the container's supervisor, a byte each, over a socket that keeps messages apart.
const (
	Follow   = 'f' // from sbx-oci, which then becomes the runtime: look at what this executes in the container
	Ask      = 'a' // from sbx-init: send the walls
	Listener = 'l' // from sbx-init, with its seccomp listener
)

// Tell sends a message with descriptors and waits for its acknowledgement.
func Tell(supervisor int, message byte, fds ...int) error {
	if err := send(supervisor, message, fds...); err != nil {
		return err
	}
	_, err := receive(supervisor, make([]byte, 1))
	return err
}

func send(supervisor int, message byte, fds ...int) error {
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	return unix.Sendmsg(supervisor, []byte{message}, rights, nil, unix.MSG_NOSIGNAL)
}

// receive is read(2), to which the end of the socket is an error.
func receive(supervisor int, into []byte) (int, error) {
	n, err := unix.Read(supervisor, into)
	if err == nil && n == 0 {
		err = unix.EPIPE
	}
	return max(n, 0), err
}

// part is how many bytes of the walls a message has at most: the kernel's buffers bound it.
const part = 32 << 10

// Send sends encoded walls: their length, then parts.
func Send(conn int, encoded []byte) error {
	_, err := unix.Write(conn, binary.LittleEndian.AppendUint64(nil, uint64(len(encoded))))
	for err == nil && len(encoded) > 0 {
		n := min(part, len(encoded))
		_, err = unix.Write(conn, encoded[:n])
		encoded = encoded[n:]
	}
	return err
}

// Fetch asks the supervisor for the walls.
func Fetch(supervisor int) ([]byte, error) {
	if err := send(supervisor, Ask); err != nil {
		return nil, err
	}
	var length [8]byte
	if _, err := receive(supervisor, length[:]); err != nil {
		return nil, err
	}
	var encoded []byte
	into := make([]byte, part)
	for want := binary.LittleEndian.Uint64(length[:]); uint64(len(encoded)) < want; {
		n, err := receive(supervisor, into)
		if err != nil {
			return nil, err
		}
		encoded = append(encoded, into[:n]...)
	}
	return encoded, nil
}
