package relay

import (
	"context"
	"net"
	"net/netip"
	"time"

	"sbx/internal/reach"
	"sbx/internal/relay/wire"
)

// failure is the reason why a connection could not be established.
type failure struct {
	outcome wire.Outcome
	detail  string
}

// Error is the detail.
func (f *failure) Error() string { return f.detail }

// The time limit of a connect to one address, and the delay after which the next address is
// tried in parallel (RFC 8305).
const (
	dialTime  = 10 * time.Second
	dialAhead = 250 * time.Millisecond
)

// addr converts an address to package netip's type.
func addr(ip reach.IP) netip.Addr { return netip.AddrFrom16(ip).Unmap() }

// dial connects to the first address of list that answers.
func dial(ctx context.Context, list []netip.Addr, port uint16) (*net.TCPConn, error) {
	d := net.Dialer{Timeout: dialTime}
	if len(list) == 1 {
		c, err := d.DialContext(ctx, "tcp", netip.AddrPortFrom(list[0], port).String())
		if err != nil {
			return nil, err
		}
		return c.(*net.TCPConn), nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		conn net.Conn
		err  error
	}
	results := make(chan result)
	var err error
	for tried, waiting := 0, 0; tried < len(list) || waiting > 0; {
		var ahead <-chan time.Time
		if tried < len(list) {
			a := netip.AddrPortFrom(list[tried], port).String()
			tried++
			waiting++
			go func() {
				c, err := d.DialContext(ctx, "tcp", a)
				select {
				case results <- result{c, err}:
				case <-ctx.Done():
					if c != nil {
						_ = c.Close()
					}
				}
			}()
			ahead = time.After(dialAhead)
		}
		if tried == len(list) {
			ahead = nil
		}
		select {
		case got := <-results:
			waiting--
			if got.err == nil {
				return got.conn.(*net.TCPConn), nil
			}
			err = got.err
		case <-ahead:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, err
}
