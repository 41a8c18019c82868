package listen

import (
	"bytes"
	"strconv"

	"golang.org/x/sys/unix"

	"sbx/internal/reach"
)

// The sizes of addresses: of what the kernel copies (struct sockaddr_storage)
// and of what it takes for AF_UNIX (struct sockaddr_un).
const (
	maxAddress  = 128
	maxUnix     = 110
	sunPath     = 2 // where its path begins
	sizeofInet4 = 16
	sizeofInet6 = 24 // without the scope, as the kernel takes it (SIN6_LEN_RFC2133)
)

// address is a copy of what a caller's connect or bind names.
type address struct {
	b [maxAddress + 1]byte // one more, for the NUL that a path may lack
	n int
}

// family is what the address says it is, AF_UNSPEC where it says nothing.
func (a *address) family() int {
	if a.n < 2 {
		return unix.AF_UNSPEC
	}
	return int(uint16(a.b[0]) | uint16(a.b[1])<<8) // little-endian, as both architectures are
}

// path is the file that a socket of AF_UNIX is sought or made at, a NUL at its
// end; nil where the address names none, or none that the kernel takes
// (unix_validate_addr and unix_mkname_bsd of Linux).
func (a *address) path() []byte {
	if a.family() != unix.AF_UNIX || a.n <= sunPath || a.n > maxUnix || a.b[sunPath] == 0 {
		return nil
	}
	a.b[a.n] = 0
	return a.b[sunPath : sunPath+bytes.IndexByte(a.b[sunPath:a.n+1], 0)+1]
}

// abstract tells whether it is a name of AF_UNIX without a file.
func (a *address) abstract() bool {
	return a.family() == unix.AF_UNIX && a.n > sunPath && a.n <= maxUnix && a.b[sunPath] == 0
}

// outside is the text of an address of the internet that is not this network
// namespace's own: "192.0.2.1:443", "[2001:db8::1]:443".
func (a *address) outside() (string, bool) {
	ip, port, ok := a.internet()
	if !ok || ip.Loopback() || ip.Is4() && ip[12] == 0 { // 0.0.0.0/8 is this host's
		return "", false
	}
	return Target(ip.String(), port), true
}

// internet is an address of the internet and a port; false where it is none.
func (a *address) internet() (ip reach.IP, port int, ok bool) {
	switch {
	case a.family() == unix.AF_INET && a.n >= sizeofInet4:
		ip = reach.V4(a.b[4], a.b[5], a.b[6], a.b[7])
	case a.family() == unix.AF_INET6 && a.n >= sizeofInet6:
		copy(ip[:], a.b[8:24])
	default:
		return ip, 0, false
	}
	return ip, int(a.b[2])<<8 | int(a.b[3]), true
}

// ownFolder reads the path of a file beneath one of the caller's descriptors,
// as programs write it whose directory's name is too long for an address:
// /proc/self/fd/7/name. The supervisor's own /proc/self is another process.
func ownFolder(path []byte) (dirfd int32, rest []byte, ok bool) {
	for _, prefix := range [...]string{"/proc/self/fd/", "/proc/thread-self/fd/", "/dev/fd/"} {
		tail, found := bytes.CutPrefix(path, []byte(prefix))
		if !found {
			continue
		}
		number, name, cut := bytes.Cut(tail, []byte{'/'})
		n, err := strconv.ParseInt(string(number), 10, 32)
		name = bytes.TrimLeft(name, "/")
		if !cut || err != nil || n < 0 || len(name) <= 1 {
			return 0, nil, false
		}
		return int32(n), name, true
	}
	return 0, nil, false
}
