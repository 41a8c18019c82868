package host

import (
	"bytes"
	"slices"

	"sbx/internal/read"
	"sbx/wrap"
)

// Limits for /proc/net/unix: a busy desktop has a few thousand lines.
const (
	maxSocketTable = 16 << 20
	maxSockets     = 4096
)

// sockets finds the visible pathname sockets on which a program listens or receives.
// /proc/net/unix shows only those of the caller's network namespace. It does not show a
// socket that a container created in a directory of the host: only the syscall listener
// denies connecting to such a socket.
func (p *prober) sockets() {
	read.Lines("/proc/net/unix", maxSocketTable, func(line []byte) {
		path, ok := socketPath(line)
		if !ok || len(p.h.Sockets) >= maxSockets || p.isOpened(path, path) || !p.inView(path) || p.hasSocket(path) {
			return
		}
		if kindAt(path) == wrap.Socket {
			res := resolve(parent(path))
			p.h.Sockets = append(p.h.Sockets, wrap.Found{Path: path, Real: join(res.path, base(path)), Kind: wrap.Socket,
				Why: "a socket that a program outside has made"})
		}
	})
}

// socketPath parses the path at the end of a line of /proc/net/unix. It returns false unless
// the
// path is absolute (abstract ones begin with "@") and the socket bound rather than connected:
//
//	0000000000000000: 00000002 00000000 00010000 0001 01 12345 /run/x.sock
//
// State 03 is a connected stream, which repeats the path of the socket that accepted it, or
// a datagram socket (type 0002) to which another was once connected.
func socketPath(line []byte) (string, bool) {
	i := bytes.IndexByte(line, '/')
	if i < 1 || line[i-1] != ' ' {
		return "", false
	}
	var f [7][]byte
	rest := line[:i]
	for n := range f {
		word, more, _ := bytes.Cut(bytes.TrimLeft(rest, " "), []byte{' '})
		f[n], rest = word, more
	}
	if len(f[6]) == 0 || len(bytes.TrimLeft(rest, " ")) > 0 || string(f[5]) == "03" && string(f[4]) != "0002" {
		return "", false
	}
	return string(line[i:]), true
}

func (p *prober) hasSocket(path string) bool {
	return slices.ContainsFunc(p.h.Sockets, func(f wrap.Found) bool { return f.Path == path })
}
