package host

import (
	"bytes"

	"sbx/internal/read"
	"sbx/wrap"
)

// Bounds on /proc/net/unix: a busy desktop has some thousand lines.
const (
	maxSocketTable = 16 << 20
	maxSockets     = 4096
)

// sockets finds the pathname sockets that somebody listens on or receives
// from, where they are in view. /proc/net/unix shows those of the caller's
// network namespace only: a socket that a container made in a directory of the
// host's is not there, and connecting is refused by the listener alone.
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

// socketPath is the path at the end of a line of /proc/net/unix, where it is
// absolute (abstract ones begin with "@") and bound rather than connected:
//
//	0000000000000000: 00000002 00000000 00010000 0001 01 12345 /run/x.sock
//
// State 03 is a connected stream, which repeats the path of the socket that
// accepted it, or a datagram socket (type 0002) that another was once connected to.
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
	for i := range p.h.Sockets {
		if p.h.Sockets[i].Path == path {
			return true
		}
	}
	return false
}
