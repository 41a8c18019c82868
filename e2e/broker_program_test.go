package e2e

import (
	"bufio"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Without a network namespace the door is a socket with a path.
func TestBrokerAtASocketWithAPath(t *testing.T) {
	needSandbox(t)
	b := readyBroker(t, brokerTools, ofBroker{environ: brokerEnv()})
	path := b.base + "/door.sock"
	l, err := net.Listen("unix", path)
	must(t, err)
	defer l.Close()
	file, err := l.(*net.UnixListener).File()
	must(t, err)
	b.hand(file, "unix")
	file.Close()
	connect := exec.Command(filepath.Join(filepath.Dir(sbxPath), "sbx-broker"), "connect")
	connect.Env = append(b.env, "SBX_BROKER_URL=unix:"+path, "SBX_BROKER_TOKEN="+brokerToken)
	connect.Stdin = strings.NewReader(`{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "say", "arguments": {"text": "by a path"}}}` + "\n")
	out, err := connect.Output()
	if err != nil || !strings.Contains(string(out), `"text":"by a path\n"`) {
		t.Errorf("it says %s, %v", out, err)
	}
}

// A question's words go to the terminal as plain text, whatever listens at the socket.
func TestBrokerAnswerShowsNoControls(t *testing.T) {
	b := newBox(t)
	dir := b.base + "/state/sbx/runs/r"
	must(t, os.MkdirAll(dir, 0o700))
	l, err := net.Listen("unix", dir+"/broker.sock")
	must(t, err)
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			bufio.NewReader(c).ReadString('\n')
			io.WriteString(c, `{"pending": [{"id": "a\u001b[2J\nb-1", "tool": "t\u001b[1m", "args": "{}\r\u009bx"}]}`)
			c.Close()
		}
	}()
	program := filepath.Join(filepath.Dir(sbxPath), "sbx-broker")
	r := b.plain(program, "answer")
	if r.code != 0 || !strings.Contains(r.out, "b-1: t") || strings.ContainsAny(strings.TrimSuffix(r.out, "\n"), "\x1b\r\n\u009b") {
		t.Errorf("it lists %q", r.out)
	}
	if r = b.plain(program, "answer", "a\x1b[2J", "yes"); r.code != 1 || strings.Contains(r.err, "\x1b") {
		t.Errorf("it complains %q", r.err)
	}
}

// The command line writes results to stdout, and errors with a hint to stderr.
func TestBrokerCommandLine(t *testing.T) {
	b := newBox(t)
	program := filepath.Join(filepath.Dir(sbxPath), "sbx-broker")
	file := b.write(b.out+"/broker.yaml", "version: 1\ntools: {t: {run: [true]}}\nrules: [{tool: u, verdict: allow}]\n")
	for _, c := range []struct {
		args     string
		code     int
		out, err string
	}{
		{"help", 0, "usage: sbx-broker", ""},
		{"man", 0, ".B check \\-\\-broker FILE", ""},
		{"--version", 0, "sbx-broker ", ""},
		{"schema", 0, `"urn:sbx:broker"`, ""},
		{"schema plan", 0, `"urn:sbx:broker:plan"`, ""},
		{"schema other", 2, "", "want schema broker"},
		{"", 2, "", "hint: sbx-broker help"},
		{"other", 2, "", "want a command"},
		{"serve", 2, "", "hint: sbx exec --broker"},
		{"connect", 1, "", "this sandbox has no broker"},
		{"answer", 0, "", ""},
		{"answer x", 2, "", "yes|no"},
		{"check", 2, "", "want --broker"},
		{"check --broker /none.yaml", 125, "", "/none.yaml"},
		{"check --broker " + file, 125, "", "cannot read the Broker document"},
		{"check --brokr " + file, 2, "", "unknown flag --brokr"},
	} {
		r := b.plain(append([]string{program}, strings.Fields(c.args)...)...)
		if r.code != c.code || !strings.Contains(r.out, c.out) || !strings.Contains(r.err, c.err) || (c.err == "") != (r.err == "") {
			t.Errorf("%q: want %d, %q, %q, got %v", c.args, c.code, c.out, c.err, r)
		}
	}
}
