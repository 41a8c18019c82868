package e2e

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// brokerToken is the token of the tests' executions.
const brokerToken = "0123456789abcdef0123456789abcdef0123456789a"

// ofBroker has the facts with which a broker is started, in addition to its document.
type ofBroker struct {
	plan    string
	output  bool
	view    []map[string]any // in addition to the workspace, which is writable, and the rest, which is readable
	caps    []string         // broker.grant
	reach   []string
	environ []string
}

// brokered is a broker for which the test acts as sbx.
type brokered struct {
	*box
	cmd     *exec.Cmd
	control net.Conn
	lines   chan []byte      // messages that it sent; closed at its end
	said    []map[string]any // the other messages that it sent
	url     string
	dir     string // the run's directory
	output  string
}

// startBroker starts a broker with a document, and also returns its first answer.
func startBroker(t *testing.T, document string, of ofBroker) (*brokered, map[string]any) {
	t.Helper()
	b := newBoxElsewhere(t)
	return b.broker(document, of)
}

func (b *box) broker(document string, of ofBroker) (*brokered, map[string]any) {
	t := b.t
	t.Helper()
	x := &brokered{box: b, dir: b.base + "/run", output: b.base + "/output"}
	must(t, os.MkdirAll(x.dir, 0o700))
	must(t, os.MkdirAll(x.output, 0o755))
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	must(t, err)
	mine, theirs := os.NewFile(uintptr(ends[0]), "control"), os.NewFile(uintptr(ends[1]), "control")
	x.control, err = net.FileConn(mine)
	must(t, err)
	mine.Close()
	x.cmd = exec.Command(filepath.Join(filepath.Dir(sbxPath), "sbx-broker"), "serve")
	x.cmd.ExtraFiles, x.cmd.Env, x.cmd.Dir = []*os.File{theirs}, append(b.env, of.environ...), "/"
	var errs bytes.Buffer
	x.cmd.Stderr = &errs
	must(t, x.cmd.Start())
	theirs.Close()
	t.Cleanup(func() {
		x.control.Close()
		x.cmd.Process.Kill()
		x.cmd.Wait()
		if errs.Len() > 0 {
			t.Logf("sbx-broker says: %s", errs.String())
		}
	})
	x.lines = make(chan []byte, 10000) // a broker whose messages nobody reads waits
	go func() {
		defer close(x.lines)
		for r := bufio.NewReader(x.control); ; {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			x.lines <- line
		}
	}()
	view := append([]map[string]any{{"path": "/", "access": "read-only", "source": "/"}, {"path": "/tmp", "access": "writable"}, {"path": b.ws, "access": "writable", "source": b.ws}}, of.view...)
	output := ""
	if of.output {
		output = x.output
		view = append(view, map[string]any{"path": "/output", "access": "writable", "source": output})
	}
	sum := sha256.Sum256([]byte(brokerToken))
	start := map[string]any{"execution": "20260101T000000-e2e", "token_sha256": hex.EncodeToString(sum[:]), "workspace": b.ws, "run_dir": x.dir, "output": output, "sbx": sbxPath,
		"broker":  map[string]any{"name": "broker.yaml", "dir": b.out, "text": base64.StdEncoding.EncodeToString([]byte(document))},
		"granted": map[string]any{"view": view, "trees": []string{b.ws}, "reach": append([]string{}, of.reach...), "any": true, "caps": append([]string{}, of.caps...)}}
	if of.plan != "" {
		start["plan"] = map[string]any{"name": "plan.json", "dir": b.out, "text": base64.StdEncoding.EncodeToString([]byte(of.plan))}
	}
	x.send(map[string]any{"start": start})
	answer := x.receive()
	if answer["ready"] != nil {
		x.listen()
	}
	return x, answer
}

// readyBroker starts a broker that must become ready.
func readyBroker(t *testing.T, document string, of ofBroker) *brokered {
	t.Helper()
	b, answer := startBroker(t, document, of)
	if answer["ready"] == nil {
		t.Fatalf("the broker answers %v", answer)
	}
	return b
}

// listen gives it a loopback socket in place of the sandbox's.
func (x *brokered) listen() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(x.t, err)
	file, err := l.(*net.TCPListener).File()
	must(x.t, err)
	x.url = "http://" + l.Addr().String()
	l.Close()
	x.hand(file, "tcp")
}

// hand gives it a listening socket.
func (x *brokered) hand(file *os.File, kind string) {
	line := []byte(`{"sockets": {"kinds": ["` + kind + `"]}}` + "\n")
	raw, err := x.control.(*net.UnixConn).SyscallConn()
	must(x.t, err)
	must(x.t, raw.Write(func(fd uintptr) bool {
		must(x.t, unix.Sendmsg(int(fd), line, unix.UnixRights(int(file.Fd())), nil, 0))
		return true
	}))
	file.Close()
}

func (x *brokered) send(m map[string]any) {
	x.t.Helper()
	line, err := json.Marshal(m)
	must(x.t, err)
	_, err = x.control.Write(append(line, '\n'))
	must(x.t, err)
}

// receive returns the next message; nil at the end of the socket.
func (x *brokered) receive() map[string]any {
	x.t.Helper()
	select {
	case line, more := <-x.lines:
		if !more {
			return nil
		}
		var m map[string]any
		must(x.t, json.Unmarshal(line, &m))
		return m
	case <-time.After(limit):
		x.t.Fatal("the broker says nothing")
		return nil
	}
}

// until returns the next message of a kind, and keeps the others.
func (x *brokered) until(kind string) map[string]any {
	x.t.Helper()
	for {
		m := x.receive()
		if m == nil {
			x.t.Fatalf("the broker ended, and said no %s but %v", kind, x.said)
		}
		if found, ok := m[kind].(map[string]any); ok {
			return found
		}
		x.said = append(x.said, m)
	}
}

// end ends the execution.
func (x *brokered) end() map[string]any {
	x.t.Helper()
	x.send(map[string]any{"end": map[string]any{}})
	sum := x.until("summary")
	must(x.t, x.cmd.Wait())
	return sum
}

// brokerReply is a door's answer.
type brokerReply struct {
	code int
	text string
	body map[string]any
}

// ask sends a request. The headers have the token unless they are given.
func (x *brokered) ask(method, path, body string, headers ...string) brokerReply {
	x.t.Helper()
	req, err := http.NewRequest(method, x.url+path, strings.NewReader(body))
	must(x.t, err)
	req.Header.Set("Authorization", "Bearer "+brokerToken)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i+1 < len(headers); i += 2 {
		switch {
		case headers[i] == "Host":
			req.Host = headers[i+1]
		case headers[i+1] == "":
			req.Header.Del(headers[i])
		default:
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		x.t.Fatalf("%s %s %s %q: %v", method, path, cut(body), headers, err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	must(x.t, err)
	r := brokerReply{code: res.StatusCode, text: string(text)}
	json.Unmarshal(text, &r.body)
	return r
}

// call calls a tool.
func (x *brokered) call(tool, args string, more ...string) brokerReply {
	x.t.Helper()
	body := `{"tool_name": "` + tool + `", "tool_args": ` + args
	for _, m := range more {
		body += ", " + m
	}
	return x.ask("POST", "/call", body+"}")
}

// stdout returns the output of an allowed call's tool; the test fails if the call was denied.
func (r brokerReply) stdout(t *testing.T) string {
	t.Helper()
	result, _ := r.body["result"].(map[string]any)
	if r.code != 200 || result["status"] != 0.0 {
		t.Fatalf("%d: %s", r.code, r.text)
	}
	return result["stdout"].(string)
}

// denied fails unless the call was denied with this status, and with these words.
func (r brokerReply) denied(t *testing.T, code int, words ...string) {
	t.Helper()
	for _, w := range words {
		if r.code != code || !strings.Contains(r.text, w) {
			t.Errorf("want %d with %q, got %d: %s", code, w, r.code, r.text)
		}
	}
}

// audit returns the lines of the broker's audit, by their event.
func (x *brokered) audit(event string) (lines []map[string]any) {
	x.t.Helper()
	text, err := os.ReadFile(x.dir + "/broker.jsonl")
	must(x.t, err)
	if strings.Contains(string(text), brokerToken) {
		x.t.Error("the audit has the token")
	}
	for line := range strings.Lines(string(text)) {
		var m map[string]any
		must(x.t, json.Unmarshal([]byte(line), &m))
		if m["event"] == event {
			lines = append(lines, m)
		}
	}
	return lines
}

// limitFileSize limits the size of the files that a process writes.
func limitFileSize(pid int, size uint64) error {
	lim := unix.Rlimit{Cur: size, Max: size}
	return unix.Prlimit(pid, unix.RLIMIT_FSIZE, &lim, nil)
}

// descriptors returns how many descriptors a process has open.
func descriptors(t *testing.T, pid int) int {
	t.Helper()
	list, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/fd")
	if err != nil {
		return 0 // of a process that others may not look at
	}
	return len(list)
}

// memory returns a process's memory in KiB; 0 for a process that others may not look at.
func memory(t *testing.T, pid int) (kib int) {
	t.Helper()
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); f[0] == "VmRSS:" {
			kib, _ = strconv.Atoi(f[1])
		}
	}
	return kib
}

// quietly sends a call whose answer, or its lack, does not matter.
func quietly(url, body string) {
	req, err := http.NewRequest("POST", url+"/call", strings.NewReader(body))
	if err != nil {
		return
	}
	req.Header.Set("Authorization", "Bearer "+brokerToken)
	if res, err := http.DefaultClient.Do(req); err == nil {
		res.Body.Close()
	}
}
