package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Each bad request is refused; the control, with the token, the host and a good body, runs.
func TestBrokerRefusesBadInput(t *testing.T) {
	needSandbox(t)
	b := readyBroker(t, brokerTools, ofBroker{environ: brokerEnv()})
	good := `{"tool_name": "say", "tool_args": {"text": "x"}}`
	list := `{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`
	host := strings.TrimPrefix(b.url, "http://")
	_, port, err := net.SplitHostPort(host)
	must(t, err)
	const noToken = `{"error":"no token of this execution"}`
	for _, c := range []struct {
		name, method, path, body string
		headers                  []string
		code                     int
		word                     string
	}{
		{"the control", "POST", "/call", good, nil, 200, `"stdout":"x\n"`},
		{"the control of MCP", "POST", "/mcp", list, nil, 200, `"say"`},
		{"by another name of the loopback", "POST", "/call", good, []string{"Host", "localhost:" + port}, 200, "x"},
		{"its own origin", "POST", "/call", good, []string{"Origin", b.url}, 200, "x"},
		{"no token", "POST", "/call", good, []string{"Authorization", ""}, 401, noToken},
		{"a wrong token", "POST", "/call", good, []string{"Authorization", "Bearer " + strings.Repeat("A", 43)}, 401, noToken},
		{"a longer token", "POST", "/call", good, []string{"Authorization", "Bearer " + brokerToken + "A"}, 401, noToken},
		{"another scheme", "POST", "/call", good, []string{"Authorization", "Basic " + brokerToken}, 401, noToken},
		{"no token, MCP", "POST", "/mcp", list, []string{"Authorization", ""}, 401, noToken},
		{"no token, tools", "GET", "/tools", "", []string{"Authorization", ""}, 401, noToken},
		{"another host", "POST", "/call", good, []string{"Host", "example.com:" + port}, 403, "127.0.0.1"},
		{"another port", "POST", "/call", good, []string{"Host", "127.0.0.1:1"}, 403, "127.0.0.1"},
		{"another host, MCP", "POST", "/mcp", list, []string{"Host", "example.com"}, 403, "127.0.0.1"},
		{"another origin", "POST", "/call", good, []string{"Origin", "http://example.com"}, 403, "to no web page"},
		{"no origin that is one", "POST", "/call", good, []string{"Origin", "null"}, 403, "to no web page"},
		{"another origin, MCP", "POST", "/mcp", list, []string{"Origin", "https://" + host}, 403, "to no web page"},
		{"too much", "POST", "/call", `{"tool_name": "` + strings.Repeat("x", 1<<20) + `"}`, nil, 413, "1 MiB"},
		{"too much, MCP", "POST", "/mcp", `{"a": "` + strings.Repeat("x", 1<<20) + `"}`, nil, 413, "1 MiB"},
		{"no JSON", "POST", "/call", "{", nil, 400, "body:1:"},
		{"nothing", "POST", "/call", "", nil, 400, "empty"},
		{"no JSON, MCP", "POST", "/mcp", "{", nil, 400, "-32700"},
		{"a key twice", "POST", "/call", `{"tool_name": "say", "tool_name": "cat"}`, nil, 400, "twice"},
		{"a key twice, deep", "POST", "/call", `{"tool_name": "say", "tool_args": {"text": "a", "text": "b"}}`, nil, 400, "twice"},
		{"a key twice, MCP", "POST", "/mcp", `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "say", "arguments": {"text": "a", "text": "b"}}}`, nil, 400, "-32700"},
		{"too deep", "POST", "/call", `{"tool_name": "say", "tool_args": ` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`, nil, 400, "nested"},
		{"NUL", "POST", "/call", `{"tool_name": "say", "tool_args": {"text": "a\u0000b"}}`, nil, 400, "tool_args.text"},
		{"an unknown key", "POST", "/call", `{"tool_name": "say", "tool_arg": {}}`, nil, 400, "tool_args?"},
		{"no tool's name", "POST", "/call", `{"tool_args": {}}`, nil, 400, "missing"},
		{"arguments that are none", "POST", "/call", `{"tool_name": "say", "tool_args": [1]}`, nil, 400, "tool_args"},
		{"against the schema", "POST", "/call", `{"tool_name": "say", "tool_args": {"text": 1}}`, nil, 400, "/properties/text"},
		{"against the schema, MCP", "POST", "/mcp", `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "say", "arguments": {"text": 1}}}`, nil, 200, "-32602"},
		{"an unknown tool", "POST", "/call", `{"tool_name": "none"}`, nil, 404, "no tool"},
		{"an unknown tool, MCP", "POST", "/mcp", `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "none", "arguments": {}}}`, nil, 200, "-32602"},
		{"no capability", "POST", "/call", `{"tool_name": "say", "tool_args": {"text": "x"}, "requested_caps": ["all"]}`, nil, 400, "requested_caps"},
		{"another method", "GET", "/call", "", nil, 405, "want POST"},
		{"another path", "POST", "/", good, nil, 404, "/call"},
		{"a large header", "POST", "/call", good, []string{"X-Large", strings.Repeat("x", 32<<10)}, 431, ""},
	} {
		if r := b.ask(c.method, c.path, c.body, c.headers...); r.code != c.code || !strings.Contains(r.text, c.word) {
			t.Errorf("%s: want %d with %q, got %d: %s", c.name, c.code, c.word, r.code, cut(r.text))
		}
	}
	// A request that names no tool is no call; a call of an unknown tool is recorded.
	unknown := 0
	for _, line := range b.audit("asked") {
		if line["tool"] == "none" && line["verdict"] == "deny" {
			unknown++
		}
	}
	if unknown != 2 {
		t.Errorf("the unknown tool is in the audit %d times", unknown)
	}
}

// A token expires.
func TestBrokerTokenEnds(t *testing.T) {
	b := readyBroker(t, strings.Replace(brokerTools, "version: 1", "version: 1\ntoken_ttl: 300ms", 1), ofBroker{environ: brokerEnv()})
	within(t, limit, "the token to end", func() bool { return b.ask("GET", "/tools", "").code == 401 })
}

// A thousand connections of clients that send nothing, send slowly or read nothing take no more
// places than there are, and none for ever: another client is answered.
func TestBrokerBoundsConnections(t *testing.T) {
	needSandbox(t)
	auth := "Host: localhost\r\nAuthorization: Bearer " + brokerToken + "\r\n"
	for name, says := range map[string]string{
		"nothing":      "",
		"half a line":  "POST /call HTTP/1.1\r\n",
		"half a body":  "POST /call HTTP/1.1\r\n" + auth + "Content-Length: 1000\r\n\r\n{",
		"no reading":   strings.Repeat("GET /tools HTTP/1.1\r\n"+auth+"\r\n", 100),
		"without end":  "GET /tools HTTP/1.1\r\n" + auth + "X: " + strings.Repeat("x", 10<<10),
		"no token yet": "POST /call HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			b := readyBroker(t, brokerTools, ofBroker{environ: brokerEnv()})
			var idle []net.Conn
			defer func() {
				for _, c := range idle {
					c.Close()
				}
			}()
			for range 1000 {
				c, err := net.DialTimeout("tcp", strings.TrimPrefix(b.url, "http://"), 5*time.Second)
				if err != nil {
					t.Fatalf("after %d: %v", len(idle), err)
				}
				idle = append(idle, c)
				c.SetWriteDeadline(time.Now().Add(time.Second))
				io.WriteString(c, says)
			}
			if n := descriptors(t, b.cmd.Process.Pid); n > 100 {
				t.Errorf("the broker has %d descriptors open", n)
			}
			if kib := memory(t, b.cmd.Process.Pid); kib > 64<<10 {
				t.Errorf("the broker has %d KiB of memory", kib)
			}
			began := time.Now()
			if out := b.call("say", `{"text": "still"}`).stdout(t); out != "still\n" {
				t.Errorf("it says %q", out)
			}
			if took := time.Since(began); took > 3*time.Second { // each of these may take 5 or 10
				t.Errorf("another is answered after %v", took)
			}
		})
	}
}

// Calls are bounded in number: those that run at once, and all of them.
func TestBrokerBoundsCalls(t *testing.T) {
	needSandbox(t)
	b := readyBroker(t, strings.Replace(brokerTools, "version: 1", "version: 1\nmax_calls: 3", 1), ofBroker{environ: brokerEnv()})
	for range 3 {
		b.call("none", `{}`).denied(t, 404, "no tool")
	}
	for range 3 {
		b.call("say", `{"text": "x"}`).denied(t, 403, "max_calls")
	}
	if n := len(b.audit("asked")); n != 3 {
		t.Errorf("the audit has %d lines", n)
	}
	if sum := b.end(); sum["calls"] != 6.0 || sum["denied"] != 6.0 {
		t.Errorf("the summary is %v", sum)
	}
}

// A result beyond its bound is cut, and marked as cut.
func TestBrokerCutsResults(t *testing.T) {
	needSandbox(t)
	b := readyBroker(t, brokerTools, ofBroker{environ: brokerEnv()})
	r := b.call("sh", `{"script": "head -c 9000000 /dev/zero | tr '\\0' x"}`)
	result, _ := r.body["result"].(map[string]any)
	if r.code != 200 || result["truncated"] != true || len(fmt.Sprint(result["stdout"])) != 8<<20 {
		t.Errorf("%d: cut is %v, at %d bytes", r.code, result["truncated"], len(fmt.Sprint(result["stdout"])))
	}
	if r = b.call("sh", `{"script": "head -c 90000 /dev/zero | tr '\\0' x"}`); !strings.Contains(r.text, `"truncated":false`) {
		t.Error("the control is cut")
	}
}

// The broker of one execution rejects another's token.
func TestBrokerKnowsNoOthersToken(t *testing.T) {
	b := readyBroker(t, brokerTools, ofBroker{environ: brokerEnv()})
	req, err := http.NewRequest("GET", b.url+"/tools?token="+brokerToken, nil)
	must(t, err)
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	res.Body.Close()
	if res.StatusCode != 401 {
		t.Errorf("a token in the query: %d", res.StatusCode)
	}
	if r := b.ask("GET", "/tools", "", "Authorization", "Bearer "+strings.ToUpper(brokerToken)); r.code != 401 {
		t.Errorf("another execution's token: %d", r.code)
	}
}
