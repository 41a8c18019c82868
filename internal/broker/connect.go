package broker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"

	"sbx/internal/broker/wire"
	"sbx/internal/sys"
)

// Connect carries MCP messages, one a line, from in to the broker of the sandbox in which
// it runs, and the replies to out, until in ends.
func Connect(in io.Reader, out io.Writer, environ []string) error {
	at := sys.Variable(environ, wire.URLVariable)
	if at == "" { // an agent may not pass its variables to the programs it starts
		at = "http://127.0.0.1:" + strconv.Itoa(wire.Port)
		if _, err := os.Stat(wire.SocketFile); err == nil {
			at = "unix:" + wire.SocketFile
		}
	}
	token := sys.Variable(environ, wire.TokenVariable)
	if token == "" {
		text, err := os.ReadFile(wire.TokenFile)
		if err != nil {
			return errors.New("there is no " + wire.TokenVariable + " and no " + wire.TokenFile + ": this sandbox has no broker")
		}
		token = strings.TrimSpace(string(text))
	}
	client := http.DefaultClient
	if path, ok := strings.CutPrefix(at, "unix:"); ok {
		at = "http://localhost"
		client = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}}}
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxBody)
	var writing sync.Mutex
	var all sync.WaitGroup
	slots := make(chan struct{}, maxRunning)
	for lines.Scan() {
		line := bytes.Clone(lines.Bytes())
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if answer := post(client, at+"/mcp", token, line); answer != nil {
				writing.Lock()
				defer writing.Unlock()
				_, _ = out.Write(append(answer, '\n'))
			}
		})
	}
	all.Wait()
	return lines.Err()
}

// post sends a message and returns the reply on one line; nil for none.
func post(client *http.Client, at, token string, line []byte) []byte {
	req, err := http.NewRequest(http.MethodPost, at, bytes.NewReader(line))
	if err != nil {
		return failure(line, err.Error())
	}
	req.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	res, err := client.Do(req)
	if err != nil {
		return failure(line, err.Error())
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	var one bytes.Buffer
	switch {
	case err != nil:
		return failure(line, err.Error())
	case res.StatusCode == http.StatusAccepted || len(body) == 0:
		return nil
	case json.Compact(&one, body) != nil || res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden:
		return failure(line, res.Status+": "+string(body))
	}
	return one.Bytes()
}

// failure is the error reply to a request that did not reach the broker.
func failure(line []byte, why string) []byte {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(line, &m) != nil || m.ID == nil {
		return nil
	}
	text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32603, "message": "broker: " + why}})
	return text
}
