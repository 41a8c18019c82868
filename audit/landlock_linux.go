package audit

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// readLog is the multicast group to which the kernel copies its audit records
// (AUDIT_NLGRP_READLOG). To join it takes CAP_AUDIT_READ.
const readLog = 1

// LandlockLog reads the kernel's audit records of denials by Landlock. It does not enable audit: it
// asks whether audit is enabled, and closes its socket if not, or if there is no answer.
type LandlockLog struct {
	fd      int
	asked   bool // the kernel has answered that audit is enabled
	denials Denials
	buf     []byte
}

// OpenLandlockLog asks the kernel whether audit is enabled; creator is the process that restricted
// itself. The answer comes later, as the first message. The kernel denies the question without
// CAP_AUDIT_READ, and in a user or pid namespace other than the initial one, so that the pids in
// the records are those that the caller sees.
func OpenLandlockLog(creator int) (*LandlockLog, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_AUDIT)
	if err != nil {
		return nil, err
	}
	// struct nlmsghdr: length 4, type 2, flags 2, sequence 4, port 4.
	ask := []byte{0: unix.SizeofNlMsghdr, 4: unix.AUDIT_GET & 0xff, 5: unix.AUDIT_GET >> 8, 6: unix.NLM_F_REQUEST, 15: 0}
	if err := unix.Sendto(fd, ask, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return &LandlockLog{fd: fd, denials: Denials{Creator: creator}, buf: make([]byte, 9<<10)}, nil
}

// FD returns the descriptor to poll for reading, -1 after Close.
func (l *LandlockLog) FD() int { return l.fd }

// Heard reports whether the log receives the kernel's records.
func (l *LandlockLog) Heard() bool { return l.asked }

// Close closes the socket.
func (l *LandlockLog) Close() {
	if l.fd >= 0 {
		unix.Close(l.fd)
	}
	l.fd = -1
}

// maxMessages bounds one Read: a busy log must not keep the supervisor busy.
const maxMessages = 64

// Read returns the denials that have arrived, without waiting.
func (l *LandlockLog) Read() (out []Denial) {
	for round := 0; round < maxMessages && l.fd >= 0; round++ {
		n, from, err := unix.Recvfrom(l.fd, l.buf, 0)
		switch {
		case err == unix.EINTR, err == unix.ENOBUFS: // the kernel dropped messages
			continue
		case err != nil:
			return append(out, l.denials.Flush()...)
		}
		if k, ok := from.(*unix.SockaddrNetlink); ok && k.Pid == 0 { // sent by the kernel
			out = append(out, l.message(l.buf[:n])...)
		}
	}
	return append(out, l.denials.Flush()...)
}

// message reads one message. It takes the length from the datagram, because some kernels do not
// count the header in the length that they write there.
func (l *LandlockLog) message(b []byte) []Denial {
	if len(b) < unix.SizeofNlMsghdr {
		return nil
	}
	kind, text := uint16(binary.LittleEndian.Uint32(b[4:])), b[unix.SizeofNlMsghdr:]
	switch {
	case l.asked:
		return l.denials.Record(kind, text)
	case kind == unix.AUDIT_GET && len(text) >= 8 && binary.LittleEndian.Uint32(text[4:]) != 0: // audit_status.enabled
		if unix.SetsockoptInt(l.fd, unix.SOL_NETLINK, unix.NETLINK_ADD_MEMBERSHIP, readLog) == nil {
			l.asked = true
			return nil
		}
	}
	l.Close()
	return nil
}
