package broker

import (
	"net"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"sbx/internal/broker/wire"
	"sbx/spec"
)

// Run is the broker of one execution. sbx directs it over a socket, until it says that the
// execution is over, or has ended itself.
func Run(socket *os.File, environ []string) error {
	defer func() { _ = socket.Close() }() // not earlier: another file would get the descriptor's number
	// Other processes of the same user must not read the secrets in its memory.
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	conn := &wire.Conn{FD: int(socket.Fd())}
	var sending sync.Mutex
	tell := func(m wire.Message) {
		sending.Lock()
		defer sending.Unlock()
		_ = conn.Send(m) // if the supervisor is gone, the end of the socket shows it
	}
	m, _, err := conn.Receive(-1)
	if err != nil {
		return err
	}
	start, ok := m.(*wire.Start)
	if !ok {
		return unix.EPROTO
	}
	b, p := New(start, environ, tell)
	if p == nil {
		p = b.Open()
	}
	if p != nil {
		tell(refused(p))
		return nil
	}
	asked, err := b.questions.listen(start.RunDir)
	if err != nil {
		tell(refused(&spec.Problem{Do: "listen for answers", Why: err.Error()}))
		return nil
	}
	tell(b.Ready())
	var closes []func() error
	for {
		m, fds, err := conn.Receive(-1)
		if _, ok := m.(*wire.Sockets); ok && err == nil {
			sockets, err := listeners(fds)
			if err != nil {
				b.fail(err)
				continue
			}
			closes = append(closes, b.Serve(sockets).Close)
			continue
		}
		// The sandbox or the supervisor has ended: no caller is left.
		for _, end := range closes {
			_ = end()
		}
		sum := b.End()
		_ = asked.Close()
		_ = os.Remove(filepath.Join(start.RunDir, wire.SocketName)) // removed before sbx gets the summary, after which it ends the broker
		if err == nil {
			tell(sum)
		}
		return nil
	}
}

// listeners makes listeners of descriptors.
func listeners(fds []int) (all []net.Listener, err error) {
	for _, fd := range fds {
		file := os.NewFile(uintptr(fd), "socket")
		l, wrong := net.FileListener(file)
		_ = file.Close()
		if wrong != nil {
			err = wrong
			continue
		}
		all = append(all, l)
	}
	return all, err
}

// refused makes the message to sbx about a problem.
func refused(p *spec.Problem) *wire.Refused {
	return &wire.Refused{Field: string(p.Field), On: p.On, Do: p.Do, Why: p.Why, Help: p.Help}
}
