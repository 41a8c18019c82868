package listen

import (
	"bytes"
	"strconv"

	"golang.org/x/sys/unix"

	"sbx/internal/reach"
	"sbx/internal/relay/wire"
)

// Sizes of socket addresses in bytes: the most that the kernel copies (struct
// sockaddr_storage) and the most that it accepts for AF_UNIX (struct sockaddr_un).
const (
	maxAddress  = 128
	maxUnix     = 110
	sunPath     = 2 // offset of sun_path in struct sockaddr_un
	sizeofInet4 = 16
	sizeofInet6 = 24 // without sin6_scope_id, which the kernel does not require (SIN6_LEN_RFC2133)
)

// address is a copy of the socket address that a caller passed to connect or bind.
type address struct {
	b [maxAddress + 1]byte // one byte more than the kernel's: a path may lack its NUL
	n int
}

// family returns the address family, AF_UNSPEC if the address is too short for one.
func (a *address) family() int {
	if a.n < 2 {
		return unix.AF_UNSPEC
	}
	return int(uint16(a.b[0]) | uint16(a.b[1])<<8) // little-endian, as both architectures are
}

// path returns the NUL-terminated file path of an AF_UNIX address; nil if the address
// has no path or the kernel would reject it (unix_validate_addr and unix_mkname_bsd of
// Linux).
func (a *address) path() []byte {
	if a.family() != unix.AF_UNIX || a.n <= sunPath || a.n > maxUnix || a.b[sunPath] == 0 {
		return nil
	}
	a.b[a.n] = 0
	return a.b[sunPath : sunPath+bytes.IndexByte(a.b[sunPath:a.n+1], 0)+1]
}

// abstract reports whether the address is in AF_UNIX's abstract namespace, unix(7).
func (a *address) abstract() bool {
	return a.family() == unix.AF_UNIX && a.n > sunPath && a.n <= maxUnix && a.b[sunPath] == 0
}

// outside formats an IP address that is not local to this network namespace, such as
// "192.0.2.1:443" or "[2001:db8::1]:443". ok is false for any other address.
func (a *address) outside() (string, bool) {
	ip, port, ok := a.internet()
	if !ok || ip.Loopback() || ip.Is4() && ip[12] == 0 { // 0.0.0.0/8 is this host's
		return "", false
	}
	return Target(ip.String(), port), true
}

// internet returns the IP address and port; ok is false for other address families.
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

// ownDir splits a path such as /proc/self/fd/7/name into the caller's descriptor
// and the name under it. Programs use such paths if the directory's own path is too
// long for a socket address. They need parsing because the supervisor's /proc/self is
// another process.
func ownDir(path []byte) (dirfd int32, rest []byte, ok bool) {
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

// Target formats a host and a port as network.allow writes them.
func Target(host string, port int) string {
	if ip, ok := reach.ParseIP(host); ok && !ip.Is4() {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(port)
}

// toToken replaces the address by the one that carries token, at which the relay expects
// the connection.
func (a *address) toToken(token uint32, v6 bool) {
	ip := wire.Token(token, v6)
	a.b[2], a.b[3] = wire.Port>>8, wire.Port
	if a.family() == unix.AF_INET {
		copy(a.b[4:8], ip[12:])
		return
	}
	copy(a.b[8:24], ip[:])
	clear(a.b[4:8])
	clear(a.b[24:28])
}

// toward replaces the address by the /proc path of a descriptor of the supervisor.
func (a *address) toward(fd int) {
	a.n = sunPath + copy(a.b[sunPath:], ownFD(fd))
}
