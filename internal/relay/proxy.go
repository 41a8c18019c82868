package relay

import (
	"bufio"
	"cmp"
	"context"
	"encoding/base64"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sbx/internal/relay/wire"
)

// Proxy is the HTTP proxy that the host itself uses, if it has no direct access.
type Proxy struct {
	host, port string
	credential string // the value of Proxy-Authorization
	bad        string // why it cannot be used
	direct     []bypass
}

// bypass is an entry of NO_PROXY.
type bypass struct {
	any    bool
	name   string // matches the name and its subdomains
	prefix netip.Prefix
	port   string // "" for all ports
}

// ProxyFrom reads the environment variables that configure a proxy.
func ProxyFrom(getenv func(string) string) (p Proxy) {
	var text string
	for _, name := range []string{"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "http_proxy", "HTTP_PROXY"} {
		if text = getenv(name); text != "" {
			break
		}
	}
	if text == "" {
		return p
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "":
		p.bad = "the host's proxy is not a URL" // the URL is not shown: it may have a password
		return p
	case u.Scheme != "http":
		p.bad = "the host's proxy uses " + u.Scheme + ", which sbx does not speak; name an http:// proxy in HTTPS_PROXY"
		return p
	}
	p.host, p.port = u.Hostname(), u.Port()
	if p.port == "" {
		p.port = "80"
	}
	if u.User != nil {
		password, _ := u.User.Password()
		p.credential = "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password))
	}
	no := cmp.Or(getenv("no_proxy"), getenv("NO_PROXY"))
	for _, s := range strings.FieldsFunc(no, func(c rune) bool { return c == ',' || c == ' ' }) {
		p.direct = append(p.direct, readBypass(strings.ToLower(s)))
	}
	return p
}

func readBypass(s string) (b bypass) {
	if s == "*" {
		return bypass{any: true}
	}
	if prefix, err := netip.ParsePrefix(s); err == nil {
		return bypass{prefix: prefix}
	}
	if host, port, err := net.SplitHostPort(s); err == nil {
		s, b.port = host, port
	}
	if a, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		b.prefix = netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen())
		return b
	}
	b.name = strings.TrimPrefix(strings.TrimPrefix(s, "*"), ".")
	return b
}

// For reports whether a connection is made through the proxy.
func (p *Proxy) For(m *wire.Expected) bool {
	if m.Name != "" {
		return p.used() && !p.bypassed(m.Name, netip.Addr{}, strconv.Itoa(int(m.Port)))
	}
	a := addr(m.IP)
	return p.used() && !a.IsLoopback() && !a.IsUnspecified() && !p.bypassed("", a, strconv.Itoa(int(m.Port)))
}

// Resolves reports whether the proxy resolves a name, for any port.
func (p *Proxy) Resolves(name string) bool { return p.used() && !p.bypassed(name, netip.Addr{}, "") }

func (p *Proxy) used() bool { return p.host != "" || p.bad != "" }

func (p *Proxy) bypassed(name string, a netip.Addr, port string) bool {
	for _, b := range p.direct {
		switch {
		case b.any:
			return true
		case b.port != "" && b.port != port:
		case b.prefix.IsValid() && a.IsValid() && b.prefix.Contains(a):
			return true
		case b.name != "" && (name == b.name || strings.HasSuffix(name, "."+b.name)):
			return true
		}
	}
	return false
}

// maxHeaders is the size limit of a proxy's response headers.
const maxHeaders = 16 << 10

// connect connects to the destination m through the proxy (RFC 9110, 9.3.6).
func (p *Proxy) connect(ctx context.Context, m *wire.Expected) (out *net.TCPConn, early []byte, err error) {
	if p.bad != "" {
		return nil, nil, &failure{wire.ByProxy, p.bad}
	}
	d := net.Dialer{Timeout: dialTime, Resolver: &net.Resolver{PreferGo: true}}
	c, err := d.DialContext(ctx, "tcp", net.JoinHostPort(p.host, p.port))
	if err != nil {
		return nil, nil, &failure{wire.ByProxy, err.Error()}
	}
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	_ = c.SetDeadline(time.Now().Add(dialTime))
	host := m.Name
	if host == "" {
		host = m.IP.String()
	}
	target := net.JoinHostPort(host, strconv.Itoa(int(m.Port)))
	request := "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n"
	if p.credential != "" {
		request += "Proxy-Authorization: " + p.credential + "\r\n"
	}
	if _, err = c.Write([]byte(request + "\r\n")); err == nil {
		early, err = accepted(bufio.NewReaderSize(c, maxHeaders))
	}
	if err != nil {
		_ = c.Close()
		return nil, nil, &failure{wire.ByProxy, err.Error()}
	}
	_ = c.SetDeadline(time.Time{})
	return c.(*net.TCPConn), early, nil
}

// accepted reads a proxy's response, and returns the bytes that came after it.
func accepted(r *bufio.Reader) (early []byte, err error) {
	left := maxHeaders
	for first := true; ; first = false {
		line, err := r.ReadSlice('\n')
		left -= len(line)
		if err != nil || left <= 0 {
			return nil, &failure{wire.ByProxy, "the host's proxy does not answer in HTTP"}
		}
		text := strings.TrimRight(string(line), "\r\n")
		if first {
			version, status, _ := strings.Cut(text, " ")
			if !strings.HasPrefix(version, "HTTP/1.") || !strings.HasPrefix(status, "2") {
				return nil, &failure{wire.ByProxy, "the host's proxy answered " + shown(text)}
			}
		} else if text == "" {
			break
		}
	}
	early = make([]byte, r.Buffered())
	_, _ = r.Read(early)
	return early, nil
}
