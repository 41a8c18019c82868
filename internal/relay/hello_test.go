package relay

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"sbx/internal/relay/wire"
)

// secure is a TLS server with a certificate of its own that accepts every name.
func secure(t testing.TB) net.Addr {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"api.example.com"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(t, err)
	config := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	return server(t, func(c *net.TCPConn) { tls.Server(c, config).Write([]byte("hello")) })
}

// named is a relay with one allowed name, whose host is the server.
func named(t testing.TB) *bench {
	z := newZone(t, 60, map[string]string{"api.example.com": "127.0.0.1"})
	return start(t, z.options(), "*.example.com:*", "127.0.0.1:*")
}

// clientHello returns the first message of a TLS client.
func clientHello(t testing.TB, name string) []byte {
	t.Helper()
	ours, theirs := net.Pipe()
	go func() {
		tls.Client(theirs, &tls.Config{ServerName: name, InsecureSkipVerify: true}).Handshake()
		theirs.Close()
	}()
	b := make([]byte, maxHello)
	n, err := io.ReadAtLeast(ours, b, 5)
	must(t, err)
	if want := 5 + int(binary.BigEndian.Uint16(b[3:])); n < want {
		_, err = io.ReadFull(ours, b[n:want])
		must(t, err)
		n = want
	}
	ours.Close()
	return b[:n]
}

// TLS reaches an allowed name's host if it asks for that name or for none.
func TestTLSName(t *testing.T) {
	s := secure(t)
	for name, c := range map[string]struct {
		ask   string
		ended wire.Ended // without counts and token
		says  string
	}{
		"the name":     {"api.example.com", wire.Ended{}, "hello"},
		"other case":   {"API.Example.com", wire.Ended{}, "hello"},
		"none":         {"", wire.Ended{NoSNI: true}, "hello"},
		"another":      {"evil.example.net", wire.Ended{Outcome: wire.Fronted, Detail: "evil.example.net"}, ""},
		"another rule": {"other.example.com", wire.Ended{Outcome: wire.Fronted, Detail: "other.example.com"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := named(t)
			conn, n := b.connect(b.pooled("api.example.com", s.(*net.TCPAddr).Port))
			client := tls.Client(conn, &tls.Config{ServerName: c.ask, InsecureSkipVerify: true})
			said, err := io.ReadAll(client)
			conn.Close()
			e := b.ended(n)
			if string(said) != c.says || c.says == "" && !isReset(err) {
				t.Errorf("the server said %q, %v", said, err)
			}
			if c.says == "" && e.Up != 0 {
				t.Errorf("%d bytes went there", e.Up)
			}
			e.Token, e.Up, e.Down = 0, 0, 0
			if e != c.ended {
				t.Errorf("ended as %+v", e)
			}
		})
	}
}

// ECH hides the real name; the outer name must follow the rule.
func TestTLSOuterName(t *testing.T) {
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	must(t, err)
	for outer, want := range map[string]wire.Ended{
		"front.example.net": {Outcome: wire.Fronted, Detail: "front.example.net"},
		"api.example.com":   {},
	} {
		t.Run(outer, func(t *testing.T) {
			b := named(t)
			conn, n := b.connect(b.pooled("api.example.com", secure(t).(*net.TCPAddr).Port))
			config := &tls.Config{ServerName: "hidden.example.net", MinVersion: tls.VersionTLS13, EncryptedClientHelloConfigList: echConfig(outer, key.PublicKey().Bytes())}
			err := tls.Client(conn, config).Handshake() // the server has no ECH key
			conn.Close()
			e := b.ended(n)
			if rejected := new(tls.ECHRejectionError); isReset(err) != (want.Outcome == wire.Fronted) || !isReset(err) && !errors.As(err, &rejected) && !strings.Contains(err.Error(), "certificate") {
				t.Errorf("the client: %v", err)
			}
			if e.Token, e.Up, e.Down = 0, 0, 0; e != want {
				t.Errorf("ended as %+v", e)
			}
		})
	}
}

// echConfig returns an ECHConfigList with one key (RFC 9849, 4).
func echConfig(outer string, key []byte) []byte {
	body := append([]byte{1, 0, 0x20, 0, byte(len(key))}, key...)     // id, KEM
	body = append(body, 0, 4, 0, 1, 0, 1, 0, byte(len(outer)))        // suites, the longest name
	body = append(append(body, outer...), 0, 0)                       // no extensions
	config := append([]byte{0xfe, 0x0d, 0, byte(len(body))}, body...) // version
	return append([]byte{0, byte(len(config))}, config...)
}

// The way in which a client splits its ClientHello does not matter.
func TestTLSPieces(t *testing.T) {
	whole := clientHello(t, "evil.example.net")
	records := func(size int) (b []byte) {
		for body := whole[5:]; len(body) > 0; {
			n := min(size, len(body))
			b = append(b, whole[0], whole[1], whole[2], byte(n>>8), byte(n))
			b, body = append(b, body[:n]...), body[n:]
		}
		return b
	}
	as := func(version byte, b []byte) []byte {
		b = bytes.Clone(b)
		for at := 0; at < len(b); at += 5 + int(b[at+3])<<8 + int(b[at+4]) {
			b[at+1] = version
		}
		return b
	}
	for name, c := range map[string]struct {
		sent    []byte
		piece   int
		outcome wire.Outcome
		detail  string
	}{
		"at once":                         {whole, len(whole), wire.Fronted, "evil.example.net"},
		"a byte a packet":                 {whole, 1, wire.Fronted, "evil.example.net"},
		"over several records":            {records(100), len(whole) * 2, wire.Fronted, "evil.example.net"},
		"a byte a record":                 {records(1), 1000, wire.Fronted, "evil.example.net"},
		"behind a warning":                {append([]byte{0x15, 3, 1, 0, 2, 1, 100}, whole...), len(whole) * 2, wire.Fronted, "evil.example.net"},
		"of no version":                   {as(0x7f, whole), len(whole), wire.Fronted, "evil.example.net"},
		"of no version, in several":       {as(0x7f, records(100)), 7, wire.Fronted, "evil.example.net"},
		"of no version, behind a nothing": {append([]byte{0x16, 0x7f, 0, 0, 0}, as(0x7f, whole)...), len(whole) * 2, wire.Garbled, "no ClientHello"},
		"of no version, behind a warning": {append([]byte{0x15, 0x7f, 0, 0, 2, 1, 100}, as(0x7f, whole)...), len(whole) * 2, wire.Fronted, "evil.example.net"},
		"garbage":                         {append([]byte{0x16, 3, 1, 0, 200}, bytes.Repeat([]byte{0xff}, 200)...), 300, wire.Garbled, "no ClientHello"},
		"a record that is long":           {append([]byte{0x16, 3, 1, 0xff, 0xff}, bytes.Repeat([]byte{1}, maxHello)...), 4096, wire.Garbled, "no ClientHello"},
		"that, of no version":             {append([]byte{0x16, 9, 1, 0xff, 0xff}, bytes.Repeat([]byte{1}, maxHello)...), 4096, wire.Garbled, "no ClientHello"},
		"a hello without end":             {bytes.Repeat([]byte{0x16, 3, 1, 0, 4, 1, 0, 0xff, 0xff}, maxHello/9+1), 4096, wire.Garbled, "no ClientHello"},
	} {
		t.Run(name, func(t *testing.T) {
			b := named(t)
			s := server(t, echo)
			conn, n := b.connect(b.pooled("api.example.com", s.(*net.TCPAddr).Port))
			var err error
			for sent := c.sent; len(sent) > 0 && err == nil; { // the connection may be refused before its end
				k := min(c.piece, len(sent))
				_, err = conn.Write(sent[:k])
				sent = sent[k:]
			}
			if e := b.ended(n); e.Outcome != c.outcome || !strings.HasPrefix(e.Detail, c.detail) || e.Up != 0 {
				t.Errorf("ended as %+v", e)
			}
			if err == nil {
				_, err = io.ReadAll(conn)
			}
			if !isReset(err) {
				t.Errorf("the client reads %v, not that the connection was reset", err)
			}
		})
	}
}

// Data that is not TLS passes at once; on port 443 the connection is reported as one that named no
// host.
func TestPlain(t *testing.T) {
	for name, sent := range map[string][]byte{
		"text": []byte("GET / HTTP/1.0\r\n\r\n"), "a byte": {0}, "as TLS for a byte": {0x16, 0x01, 0x02, 0x03, 0x04, 0x05}, "as an alert for a byte": {0x15, 0x01, 0x02, 0x03, 0x04, 0x05}, "nothing": nil,
		"of MongoDB": append([]byte{0x16, 1, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0xdd, 7, 0, 0}, make([]byte, 262)...), // begins with its length
	} {
		t.Run(name, func(t *testing.T) {
			b := named(t)
			s := server(t, echo)
			conn, n := b.connect(b.pooled("api.example.com", s.(*net.TCPAddr).Port))
			conn.Write(sent)
			must(t, conn.CloseWrite())
			got, err := io.ReadAll(conn)
			if !bytes.Equal(got, sent) || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
			if e := b.ended(n); e.Outcome != wire.Done || e.NoSNI {
				t.Errorf("ended as %+v", e)
			}
		})
	}
}

// If the server speaks first, the client gets that before it has sent anything.
func TestServerSpeaksFirst(t *testing.T) {
	b := named(t)
	s := server(t, func(c *net.TCPConn) {
		io.WriteString(c, "SSH-2.0-test\r\n")
		io.Copy(io.Discard, c)
	})
	conn, n := b.connect(b.pooled("api.example.com", s.(*net.TCPAddr).Port))
	banner := make([]byte, 14)
	if _, err := io.ReadFull(conn, banner); err != nil || string(banner) != "SSH-2.0-test\r\n" {
		t.Errorf("read %q, %v", banner, err)
	}
	conn.Close()
	if e := b.ended(n); e.Outcome != wire.Done || e.Down != 14 {
		t.Errorf("ended as %+v", e)
	}
}

// FuzzHello checks that for any input no more is kept than a ClientHello can have, nothing is
// written, and everything that was read can be sent on.
func FuzzHello(f *testing.F) {
	whole := clientHello(f, "api.example.com")
	f.Add(whole)
	f.Add(clientHello(f, ""))
	f.Add(whole[:len(whole)/2])
	f.Add([]byte{0x16, 3, 1, 0, 4, 1, 0, 0xff, 0xff})
	f.Add([]byte("GET / HTTP/1.0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := &script{Reader: bytes.NewReader(b)}
		h, err := parseHello(c)
		if len(h.bytes) > maxHello || !bytes.HasPrefix(b, h.bytes) || c.written != 0 {
			t.Fatalf("%d bytes are kept of %d, %d written", len(h.bytes), len(b), c.written)
		}
		if h.name != "" && !h.tls || h.broken != "" && h.name != "" || h.name != strings.ToLower(h.name) {
			t.Fatalf("%+v, %v", h, err)
		}
	})
}

// script is a connection that sends a prepared text.
type script struct {
	net.Conn
	io.Reader
	written int
}

func (s *script) Read(b []byte) (int, error) { return s.Reader.Read(b) }
func (s *script) Write(b []byte) (int, error) {
	s.written += len(b)
	return len(b), nil
}
