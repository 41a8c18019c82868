package broker

import (
	"net"
	"net/http"
	"strings"
)

// isLocal reports whether a request addresses the broker by the loopback and comes from no web page
// of another origin: a page in a browser inside must not reach the broker.
func isLocal(r *http.Request) bool {
	port := ""
	if at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		_, port, _ = net.SplitHostPort(at.String())
	}
	named := func(host string) bool {
		name, at, err := net.SplitHostPort(host)
		if err != nil {
			name, at = strings.Trim(host, "[]"), ""
		}
		return (name == "127.0.0.1" || name == "localhost" || name == "::1" || name == "" && port == "") && (at == port || port == "")
	}
	origins := r.Header["Origin"]
	if len(origins) == 0 {
		return named(r.Host)
	}
	from, plain := strings.CutPrefix(origins[0], "http://")
	return named(r.Host) && len(origins) == 1 && plain && from == r.Host
}

// bearerToken returns the token of a request; "" for none.
func bearerToken(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return token
}
