package e2e

import (
	"bufio"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// If the caller's environment has a proxy, allowed connections go through it, by name and with its
// credentials, and the command sees neither. Nothing else reaches the proxy.
func TestNetworkAllowThroughAProxy(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "curl")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	var mu sync.Mutex
	var asked []string
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.Method+" "+r.Host+" "+r.Header.Get("Proxy-Authorization"))
		mu.Unlock()
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
		if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			io.WriteString(c, "HTTP/1.0 200 OK\r\n\r\nby the proxy\n")
		}
	})}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })

	b := newBox(t)
	spec := `{"access_mode": "workspace-write", "network": {"allow": ["far.example:8080"]}}`
	argv := []string{"/bin/sh", "-c", "env | grep -i -e proxy= -e s3cret; curl -sS http://far.example:8080/; curl -sS http://other.example:8080/; curl -sS http://" + l.Addr().String() + "/; echo end"}
	if r := b.run(spec, argv...); r.out != "end\n" {
		t.Errorf("without a proxy: %v", r)
	}
	b.env = append(b.env, "HTTPS_PROXY=http://user:s3cret@"+l.Addr().String(), "http_proxy=http://user:s3cret@"+l.Addr().String())
	r := b.run(spec, argv...)
	if r.out != "by the proxy\nend\n" || strings.Contains(r.err, "s3cret") || !r.rec.refused("network", "other.example") {
		t.Errorf("%v\n%v", r, r.rec["violations"])
	}
	mu.Lock()
	defer mu.Unlock()
	if want := "CONNECT far.example:8080 Basic " + base64.StdEncoding.EncodeToString([]byte("user:s3cret")); len(asked) != 1 || asked[0] != want {
		t.Errorf("the proxy was asked for %q, want %q", asked, want)
	}
}
