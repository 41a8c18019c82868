package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// wired is a broker to which the test sends raw bytes.
type wired struct {
	*brokered
	host string
}

// raw sends bytes on a connection of its own, and returns the status of each answer and all of the
// text, until the broker closes the connection.
func (w wired) raw(text string) (codes []int, all string) {
	w.t.Helper()
	c, err := net.DialTimeout("tcp", w.host, 5*time.Second)
	must(w.t, err)
	defer c.Close()
	must(w.t, c.SetDeadline(time.Now().Add(limit)))
	go io.WriteString(c, text) // an answer may come before all is sent
	r := bufio.NewReader(c)
	for {
		res, err := http.ReadResponse(r, nil)
		if err != nil {
			return codes, all
		}
		body, _ := io.ReadAll(res.Body)
		codes, all = append(codes, res.StatusCode), all+string(body)
		if res.StatusCode >= 200 && res.Close {
			return codes, all
		}
	}
}

// Of arbitrary bytes only a whole request with the token is a call: no second one hides in the body
// of a first, or after it.
func TestBrokerReadsRequests(t *testing.T) {
	needSandbox(t)
	b := readyBroker(t, brokerTools, ofBroker{environ: brokerEnv()})
	w := wired{b, strings.TrimPrefix(b.url, "http://")}
	const body = `{"tool_name": "say", "tool_args": {"text": "x"}}`
	auth := "Authorization: Bearer " + brokerToken + "\r\n"
	own := "Host: " + w.host + "\r\n"
	const end = "Connection: close\r\n\r\n"
	length := func(s string) string { return "Content-Length: " + strconv.Itoa(len(s)) + "\r\n" }
	chunk := func(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }
	const chunked = "Transfer-Encoding: chunked\r\n"
	post := func(target, headers, rest string) string { return "POST " + target + " HTTP/1.1\r\n" + headers + rest }
	good := post("/call", own+auth+length(body), end+body)
	first := post("/call", own+auth+length(body), "\r\n"+body) // the connection goes on
	bytewise := ""
	for i := range len(body) {
		bytewise += chunk(body[i : i+1])
	}
	nested := func(lists int) string {
		return `{"tool_name": "say", "tool_args": {"text": ` + strings.Repeat("[", lists) + strings.Repeat("]", lists) + `}}`
	}
	calls := len(b.audit("asked"))
	for _, c := range []struct {
		name, text string
		codes      string // of the answers; one of several
		calls      int    // that are recorded
	}{
		{"the control", good, "200", 1},
		{"two, one after another", first + good, "200 200", 2},
		{"two in one piece, the second without a token", first + post("/call", own+length(body), end+body), "200 401", 1},
		{"two in one piece, the second from elsewhere", first + post("/call", "Host: a.com\r\n"+auth+length(body), end+body), "200 403", 1},
		{"no token, and a good one behind", post("/call", own+length(body), "\r\n"+body) + good, "401 200", 1},
		{"in a chunk", post("/call", own+auth+chunked, end+chunk(body)+"0\r\n\r\n"), "200", 1},
		{"byte by byte", post("/call", own+auth+chunked, end+bytewise+"0\r\n\r\n"), "200", 1},
		{"a chunk of no size", post("/call", own+auth+chunked, end+"x\r\n"+body+"\r\n0\r\n\r\n"), "400", 0},
		{"a chunk of a negative size", post("/call", own+auth+chunked, end+"-5\r\n"+body+"\r\n0\r\n\r\n"), "400", 0},
		{"chunks beyond the bound", post("/call", own+auth+chunked, end+strings.Repeat(chunk(strings.Repeat(" ", 64<<10)), 17)+"0\r\n\r\n"), "413", 0},
		{"a trailer with a token", post("/call", own+chunked+"Trailer: Authorization\r\n", end+chunk(body)+"0\r\n"+auth+"\r\n"), "401", 0},
		{"a length and chunks, the second in the body", post("/call", own+auth+length(body)+chunked, "\r\n"+"0\r\n\r\n"+post("/call", own+length(body), end+body)), "400 401|400", 0},
		{"chunks and a length, the second behind", post("/call", own+auth+chunked+length("0\r\n\r\n"), "\r\n"+chunk(body)+"0\r\n\r\n"+post("/call", own+length(body), end+body)), "200 401|400", 1},
		{"two lengths", post("/call", own+auth+length(body)+length("x"), end+body), "400", 0},
		{"a length of another number", post("/call", own+auth+"Content-Length: +5\r\n", end+body), "400", 0},
		{"two codings", post("/call", own+auth+"Transfer-Encoding: chunked, identity\r\n", end+chunk(body)+"0\r\n\r\n"), "400|501", 0},
		{"another coding", post("/call", own+auth+"Transfer-Encoding: xchunked\r\n", end+chunk(body)+"0\r\n\r\n"), "400|501", 0},
		{"a coding behind a blank", post("/call", own+auth+"Transfer-Encoding : chunked\r\n"+length(""), end+chunk(body)+"0\r\n\r\n"), "400", 0},
		{"more than its length", post("/call", own+auth+length(body), "\r\n"+body+"POST\r\n\r\n"), "200 400", 1},
		{"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + good, "403", 0},
		{"an upgrade to HTTP/2", post("/call", own+auth+length(body)+"Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n", "\r\n"+body), "200", 1},
		{"an upgrade to a socket", "GET /mcp HTTP/1.1\r\n" + own + auth + "Connection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n", "405", 0},
		{"HTTP/1.0", "POST /call HTTP/1.0\r\n" + own + auth + length(body) + "\r\n" + body, "200", 1},
		{"HTTP/1.0 without a host", "POST /call HTTP/1.0\r\n" + auth + length(body) + "\r\n" + body, "403", 0},
		{"HTTP/0.9", "GET /tools\r\n\r\n", "400", 0},
		{"no host", post("/call", auth+length(body), end+body), "400", 0},
		{"two hosts", post("/call", own+"Host: a.com\r\n"+auth+length(body), end+body), "400", 0},
		{"the whole address", post("http://"+w.host+"/call", own+auth+length(body), end+body), "200", 1},
		{"the whole address of another, and its own host", post("http://a.com/call", own+auth+length(body), end+body), "403", 0},
		{"its own address with a user", post("http://127.0.0.1@a.com/call", own+auth+length(body), end+body), "403", 0},
		{"a tunnel", "CONNECT a.com:443 HTTP/1.1\r\n" + own + auth + end, "403", 0},
		{"no path", "OPTIONS * HTTP/1.1\r\n" + own + auth + end, "404|200", 0},
		{"another path that leads there", post("//call", own+auth+length(body), end+body), "404", 0},
		{"a path with dots", post("/x/../call", own+auth+length(body), end+body), "404", 0},
		{"a method in small letters", "post /call HTTP/1.1\r\n" + own + auth + length(body) + end + body, "405", 0},
		{"a wrong token before the right one", post("/call", own+"Authorization: Bearer x\r\n"+auth+length(body), end+body), "401", 0},
		{"two blanks before the token", post("/call", own+"Authorization: Bearer  "+brokerToken+"\r\n"+length(body), end+body), "401", 0},
		{"a token on two lines", post("/call", own+"Authorization: Bearer\r\n "+brokerToken+"\r\n"+length(body), end+body), "200", 1},
		{"a NUL in a header", post("/call", own+auth+"X-A: a\x00b\r\n"+length(body), end+body), "400", 0},
		{"many headers within the bound", post("/call", own+auth+strings.Repeat("X-A: b\r\n", 1000)+length(body), end+body), "200", 1},
		{"many headers beyond it", post("/call", own+auth+strings.Repeat("X-A: b\r\n", 4000)+length(body), end+body), "431", 0},
		{"a long target", post("/call?"+strings.Repeat("a", 32<<10), own+auth+length(body), end+body), "431", 0},
		{"told to wait", post("/call", own+auth+length(body)+"Expect: 100-continue\r\n", end+body), "100 200|200", 1},
		{"nested 32 deep", post("/call", own+auth+length(nested(30)), end+nested(30)), "400", 1}, // which its schema rejects
		{"nested 33 deep", post("/call", own+auth+length(nested(31)), end+nested(31)), "400", 0},
		{"a mark of the byte order", post("/call", own+auth+length("\ufeff"+body), end+"\ufeff"+body), "400", 0},
		{"bad UTF-8", post("/call", own+auth+length(`{"tool_name": "say`+"\xff"+`"}`), end+`{"tool_name": "say`+"\xff"+`"}`), "400", 0},
		{"half a pair", post("/call", own+auth+length(`{"tool_name": "\ud800"}`), end+`{"tool_name": "\ud800"}`), "400", 0},
		{"two values", post("/call", own+auth+length(body+body), end+body+body), "400", 0},
	} {
		codes, text := w.raw(c.text)
		got := strings.Trim(fmt.Sprint(codes), "[]")
		ok := false
		for want := range strings.SplitSeq(c.codes, "|") {
			ok = ok || got == want
		}
		now := len(b.audit("asked"))
		if !ok || now-calls != c.calls {
			t.Errorf("%s: want %s and %d calls, got %s and %d: %s", c.name, c.codes, c.calls, got, now-calls, cut(text))
		}
		calls = now
	}
	// The connection ends before the body does.
	c, err := net.Dial("tcp", w.host)
	must(t, err)
	io.WriteString(c, post("/call", own+auth+"Content-Length: 100\r\n", "\r\n"+body))
	must(t, c.(*net.TCPConn).CloseWrite())
	if res, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil && res.StatusCode != 400 {
		t.Errorf("half a body: %d", res.StatusCode)
	}
	c.Close()
	if now := len(b.audit("asked")); now != calls {
		t.Errorf("half a body is a call")
	}
	if codes, _ := w.raw(good); fmt.Sprint(codes) != "[200]" {
		t.Errorf("afterwards: %v", codes)
	}
}

// The door of MCP keeps no session, and a batch is no way around the rules: every call that it
// answers is recorded, and a call that is not recorded did not run.
func TestBrokerMCPDoor(t *testing.T) {
	needSandbox(t)
	b := readyBroker(t, brokerTools, ofBroker{environ: brokerEnv()})
	say := func(id int, text string) string {
		return fmt.Sprintf(`{"jsonrpc": "2.0", "id": %d, "method": "tools/call", "params": {"name": "say", "arguments": {"text": "%s"}}}`, id, text)
	}
	const initialize = `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}`
	none := func(body string) string { return strings.Replace(body, `"say"`, `"none"`, 1) }
	for _, c := range []struct {
		name, method, body string
		headers            []string
		code               int
		word               string
		calls              int
	}{
		{"the control", "POST", say(1, "a"), nil, 200, `"text":"a\n"`, 1},
		{"the same id again", "POST", say(1, "b"), nil, 200, `"text":"b\n"`, 1},
		{"before any beginning, in a session that is none", "POST", say(2, "c"), []string{"Mcp-Session-Id", "made-up"}, 200, `"text":"c\n"`, 1},
		{"a stream to listen at", "GET", "", []string{"Accept", "text/event-stream"}, 405, "want POST", 0},
		{"the end of a session", "DELETE", "", []string{"Mcp-Session-Id", "made-up"}, 405, "want POST", 0},
		{"a beginning", "POST", initialize, nil, 200, `"sbx"`, 0},
		{"a version that there is not", "POST", say(3, "d"), []string{"Mcp-Protocol-Version", "1999-01-01"}, 400, "", 0},
		{"a call that wants no answer", "POST", `{"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "say", "arguments": {"text": "e"}}}`, nil, 0, "", 0},
		{"an unknown method", "POST", `{"jsonrpc": "2.0", "id": 4, "method": "tools/run", "params": {"name": "say"}}`, nil, 0, "", 0},
		{"no version of JSON-RPC", "POST", `{"id": 5, "method": "tools/call", "params": {"name": "say", "arguments": {"text": "f"}}}`, nil, 400, "", 0},
		{"a key in other letters", "POST", `{"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {"Name": "say", "arguments": {"text": "g"}}}`, nil, 200, "-32602", 1},
		{"another kind of content", "POST", say(7, "h"), []string{"Content-Type", "text/plain"}, 0, "", 0},
		{"no arguments", "POST", `{"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": "say"}}`, nil, 200, "-32602", 1},
		{"a NUL in the arguments", "POST", say(9, `a\u0000b`), nil, 200, "NUL", 0},
		{"an answer of its own", "POST", `{"jsonrpc": "2.0", "id": 1, "result": {}}`, nil, 202, "", 0},
	} {
		before := len(b.audit("asked"))
		r := b.ask(c.method, "/mcp", c.body, c.headers...)
		calls := len(b.audit("asked")) - before
		if c.code != 0 && r.code != c.code || !strings.Contains(r.text, c.word) || calls != c.calls {
			t.Errorf("%s: want %d with %q and %d calls, got %d and %d: %s", c.name, c.code, c.word, c.calls, r.code, calls, cut(r.text))
		}
	}
	// The calls of a batch are decided one by one.
	before := len(b.audit("asked"))
	r := b.ask("POST", "/mcp", `[`+say(1, "one")+`, `+none(say(2, "two"))+`, `+say(3, "three")+`]`)
	if asked := len(b.audit("asked")) - before; asked != 3 || !strings.Contains(r.text, `one\n`) || !strings.Contains(r.text, "no tool") || !strings.Contains(r.text, `three\n`) {
		t.Errorf("a batch: %d calls are written down, and %d: %s", asked, r.code, cut(r.text))
	}
}

// A thousand connections that send nothing take all places, and no more; once they are gone calls
// are answered again.
func TestBrokerBoundsAThousandConnections(t *testing.T) {
	needSandbox(t)
	b := readyBroker(t, brokerTools, ofBroker{environ: brokerEnv()})
	var idle []net.Conn
	for range 1000 {
		c, err := net.DialTimeout("tcp", strings.TrimPrefix(b.url, "http://"), 2*time.Second)
		if err != nil {
			break
		}
		idle = append(idle, c)
	}
	if len(idle) < 200 { // more wait in the kernel's queue if that is long
		t.Fatalf("only %d connections can be opened", len(idle))
	}
	if n := descriptors(t, b.cmd.Process.Pid); n > 100 {
		t.Errorf("the broker has %d descriptors open for %d connections", n, len(idle))
	}
	for _, c := range idle {
		c.Close()
	}
	if out := b.call("say", `{"text": "still"}`).stdout(t); out != "still\n" {
		t.Errorf("it says %q", out)
	}
}
