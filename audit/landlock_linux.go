package audit

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// readLog is the multicast group to which the kernel copies its audit records
// (AUDIT_NLGRP_READLOG), for whoever has CAP_AUDIT_READ.
const readLog = 1

// LandlockLog reads the kernel's audit records of denials by Landlock. It does not enable audit: it
// asks whether audit is enabled, and closes its socket if not, or if there is no answer.
type LandlockLog struct {
	fd      int
	asked   bool // the kernel has answered that audit is enabled
	denials Denials
	buf     []byte
}

// OpenLandlockLog asks whether audit is enabled; creator is the process that
// restricted itself. The answer comes later, as the descriptor's first message.
// The kernel refuses the question to whoever may not read audit records, and in
// another user or pid namespace than the first: so pids are what they seem.
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

// Read returns the denials that are there, without waiting.
func (l *LandlockLog) Read() (out []Denial) {
	for round := 0; round < maxMessages && l.fd >= 0; round++ {
		n, from, err := unix.Recvfrom(l.fd, l.buf, 0)
		switch {
		case err == unix.EINTR, err == unix.ENOBUFS: // the kernel dropped messages
			continue
		case err != nil:
			return append(out, l.denials.Flush()...)
		}
		if k, ok := from.(*unix.SockaddrNetlink); ok && k.Pid == 0 { // the kernel's own
			out = append(out, l.message(l.buf[:n])...)
		}
	}
	return append(out, l.denials.Flush()...)
}

// message takes one message. Its length is the datagram's: some kernels leave the
// header out of what they write there.
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
