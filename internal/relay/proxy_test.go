package relay

import (
	"bufio"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"sbx/internal/reach"
	"sbx/internal/relay/wire"
)

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// connecting is a proxy that leads every CONNECT to a server, if the headers are right.
func connecting(t testing.TB, to net.Addr, asked chan<- string, answer string) net.Addr {
	return server(t, func(c *net.TCPConn) {
		r := bufio.NewReader(c)
		var head strings.Builder
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			if line == "\r\n" {
				break
			}
			head.WriteString(line)
		}
		asked <- head.String()
		io.WriteString(c, answer)
		if !strings.Contains(answer, " 200") {
			return
		}
		out, err := net.Dial("tcp", to.String())
		if err != nil {
			return
		}
		defer out.Close()
		go func() {
			io.Copy(out, r)
			out.(*net.TCPConn).CloseWrite()
		}()
		io.Copy(c, out)
	})
}

// With a proxy, the proxy resolves names, the relay adds the credentials, and hosts in NO_PROXY are
// reached directly.
func TestThroughProxy(t *testing.T) {
	s := server(t, echo)
	asked := make(chan string, 1)
	p := connecting(t, s, asked, "HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\nearly ")
	z := newZone(t, 60, map[string]string{"near.example.com": "127.0.0.1"})
	o := z.options()
	o.Proxy = ProxyFrom(environment("HTTPS_PROXY", "http://user:pass%20word@"+p.String(), "NO_PROXY", "other.test, near.example.com"))
	b := start(t, o, "*.example.com:*", "127.0.0.1:*")

	c, n := b.connect(b.pooled("far.example.com", 443))
	io.WriteString(c, "hello")
	must(t, c.CloseWrite())
	if got, err := io.ReadAll(c); string(got) != "early hello" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	want := "CONNECT far.example.com:443 HTTP/1.1\r\nHost: far.example.com:443\r\nProxy-Authorization: Basic dXNlcjpwYXNzIHdvcmQ=\r\n"
	if head := <-asked; head != want {
		t.Errorf("the proxy was asked\n%s, want\n%s", head, want)
	}
	if e := b.ended(n); e != (wire.Ended{Token: n, NoSNI: true, Up: 5, Down: 11}) {
		t.Errorf("ended as %+v", e)
	}
	if n := z.times("far.example.com"); n != 0 {
		t.Errorf("the name was asked for %d times", n)
	}

	c, n = b.connect(b.pooled("near.example.com", s.(*net.TCPAddr).Port))
	io.WriteString(c, "hello")
	must(t, c.CloseWrite())
	if got, err := io.ReadAll(c); string(got) != "hello" || err != nil || len(asked) > 0 {
		t.Errorf("directly: read %q, %v", got, err)
	}
	b.ended(n)
	if m := b.ask("udp4", "evil.example.net", dnsmessage.TypeA); m.RCode != dnsmessage.RCodeNameError {
		t.Errorf("another name: %v", m.RCode)
	}
}

// A proxy that refuses, or is not a proxy, is reported.
func TestProxyRefuses(t *testing.T) {
	s := server(t, echo)
	gone, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	gone.Close()
	for name, c := range map[string]struct{ url, answer, detail string }{
		"refused":          {"", "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "the host's proxy answered HTTP/1.1 407 Proxy Authentication Required"},
		"no HTTP":          {"", "SSH-2.0-x\r\n", "the host's proxy answered SSH-2.0-x"},
		"too much":         {"", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", maxHeaders), "the host's proxy does not answer in HTTP"},
		"ends":             {"", "HTTP/1.1 200 OK\r\n", "the host's proxy does not answer in HTTP"},
		"not there":        {"http://" + gone.Addr().String(), "", "connect: connection refused"},
		"another protocol": {"socks5://127.0.0.1:1", "", "the host's proxy uses socks5"},
		"no URL":           {"http://user:secret@:1:2:%", "", "the host's proxy is not a URL"},
	} {
		t.Run(name, func(t *testing.T) {
			url := c.url
			if url == "" {
				url = server(t, func(conn *net.TCPConn) {
					conn.Read(make([]byte, 1024))
					io.WriteString(conn, c.answer)
				}).String()
			}
			b := start(t, Options{Proxy: ProxyFrom(environment("all_proxy", url))}, "api.example.com:*")
			conn, n := b.connect(b.pooled("api.example.com", s.(*net.TCPAddr).Port))
			if _, err := io.ReadAll(conn); !isReset(err) {
				t.Errorf("the client reads %v", err)
			}
			if e := b.ended(n); e.Outcome != wire.ByProxy || !strings.Contains(e.Detail, c.detail) || strings.Contains(e.Detail, "secret") {
				t.Errorf("ended as %+v", e)
			}
		})
	}
}

// The rules decide which connections go through a proxy.
func TestNoProxy(t *testing.T) {
	for _, c := range []struct {
		no, host string
		port     uint16
		proxied  bool
	}{
		{"", "example.com", 443, true}, {"*", "example.com", 443, false},
		{"example.com", "example.com", 443, false}, {"example.com", "a.example.com", 443, false}, {"example.com", "aexample.com", 443, true},
		{".example.com", "a.example.com", 443, false}, {"*.example.com", "a.example.com", 443, false}, {"EXAMPLE.com", "example.com", 443, false},
		{"example.com:80", "example.com", 443, true}, {"example.com:443", "example.com", 443, false},
		{"a.test,,b.test c.test", "c.test", 443, false},
		{"10.0.0.0/8", "10.1.2.3", 443, false}, {"10.0.0.0/8", "11.1.2.3", 443, true}, {"10.1.2.3", "10.1.2.3", 443, false},
		{"fd00::/8", "fd00::1", 443, false}, {"[fd00::1]:443", "fd00::1", 443, false}, {"fd00::1", "fd00::1", 443, false},
		{"", "127.0.0.1", 443, false}, {"", "::1", 443, false},
		{"10.0.0.0/8", "example.com", 443, true},
	} {
		p := ProxyFrom(environment("http_proxy", "proxy.test:3128", "no_proxy", c.no))
		m := wire.Expected{Name: c.host, Port: c.port}
		if ip, ok := reach.ParseIP(c.host); ok {
			m.Name, m.IP = "", ip
		}
		if got := p.For(&m); got != c.proxied {
			t.Errorf("NO_PROXY %q, %s port %s: by proxy %v", c.no, c.host, strconv.Itoa(int(c.port)), got)
		}
	}
	if p := ProxyFrom(environment("NO_PROXY", "x")); p.For(&wire.Expected{Name: "example.com"}) || p.Resolves("example.com") {
		t.Error("there is no proxy, and one is used")
	}
}
