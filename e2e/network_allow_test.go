package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// zone has the records of the test's resolver.
var zone = []string{"good.example=8.8.8.1", "a.wild.example=8.8.8.2", "bad.example=8.8.8.3", "rebind.example=127.0.0.1", "private.example=10.1.2.3",
	"own.example=9.9.9.9", "second.example=9.9.9.10", "own6.example=2620:fe::9"}

// allowed is the spec of most of these tests.
const allowed = `{"access_mode": "workspace-write", "network": {"allow": ["good.example:80", "good.example:443", "good.example:22", "*.wild.example:443",
	"rebind.example:80", "private.example:80", "10.1.2.3:80", "8.8.4.4:80", "[2001:db8::1]:80", "localhost:8443", "table.example:80",
	"own.example:*", "second.example:80", "own6.example:80", "9.9.9.9:443"]}}`

// newWorld returns a box on a host with a network and a resolver of its own.
func newWorld(t *testing.T) *box {
	t.Helper()
	needSandbox(t)
	b := newBoxElsewhere(t)
	needPrograms(t, "ip")
	world, err := worldBuilt()
	must(t, err)
	b.host = append(append([]string{world, b.ws}, zone...), "--")
	return b
}

// bare runs argv in the box's world without sbx, as the control.
func (b *box) bare(argv ...string) result {
	b.t.Helper()
	return b.plain(append(append([]string{}, b.host...), argv...)...)
}

// attempts is a program's list of attempts, which prints a line with the result of each.
const attempts = `
import errno, os, socket, ssl, struct, sys
def tries(name, f):
    try: r = f()
    except OSError as e: r = errno.errorcode.get(e.errno, type(e).__name__)
    print(name, r, sep="\t", flush=True)
def http(host, port=80, family=socket.AF_UNSPEC, name=None, tls=None):
    def get():
        c = socket.create_connection((host, port), 10) if family == socket.AF_UNSPEC else socket.socket(family)
        if family != socket.AF_UNSPEC: c.settimeout(10); c.connect((host, port))
        if tls:
            x = ssl.create_default_context(cafile="ca.pem"); c = x.wrap_socket(c, server_hostname=tls)
        c.sendall(("GET / HTTP/1.0\r\nHost: %s\r\n\r\n" % (name or host)).encode())
        got = b""
        while True:
            more = c.recv(4096)
            if not more: break
            got += more
        return got.split(b"\r\n\r\n")[-1].decode().strip() or "nothing"
    return get
tries("name", http("good.example"))
tries("upper case", http("GOOD.example."))
tries("the host's table", http("table.example"))
tries("the table's address, other port", http("8.8.8.2", 8443))
tries("tls", http("good.example", 443, tls="good.example"))
tries("wild", http("a.wild.example", 443, tls="a.wild.example"))
tries("address", http("8.8.4.4"))
tries("v6", http("2001:db8::1"))
tries("mapped", http("::ffff:8.8.4.4", family=socket.AF_INET6))
tries("private", http("private.example"))
tries("the host's loopback", http("127.0.0.1", 8443, tls="localhost"))
def first():
    c = socket.create_connection(("good.example", 22), 10); return c.recv(100).decode().strip()
tries("hello first", first)
def nonblocking():
    c = socket.socket(); c.setblocking(False); a = socket.getaddrinfo("good.example", 80, socket.AF_INET)[0][4]
    e = c.connect_ex(a)
    if e != errno.EINPROGRESS and e: return errno.errorcode[e]
    import select; select.select([], [c], [], 10)
    e = c.connect_ex(a)
    return "connected" if e in (0, errno.EISCONN) else errno.errorcode[e]
tries("nonblocking", nonblocking)
def bound():
    c = socket.socket(); c.bind(("127.0.0.1", 0)); c.connect(("8.8.4.4", 80)); return "connected"
tries("bound", bound)
def twice():
    c = socket.socket(); c.connect(("8.8.4.4", 80)); c.connect(("8.8.8.8", 80)); return "connected"
tries("other name", http("bad.example"))
tries("other address", http("8.8.8.3"))
tries("the allowed name's address", http("8.8.8.1"))
tries("other port", http("good.example", 8443))
tries("rebinding", http("rebind.example"))
import urllib.request
tries("redirect", lambda: urllib.request.urlopen("http://good.example/to/bad.example", timeout=10).read().decode().strip())
tries("dns over https", http("8.8.8.8", 443, tls="bad.example"))
tries("the host's own", http("own.example"))
tries("the host's own, its second", http("second.example"))
tries("the host's own, v6", http("own6.example"))
tries("the host's own, with a rule", http("own.example", 443, tls="own.example"))
tries("fronting", http("good.example", 443, tls="bad.example"))
tries("mapped address", http("::ffff:8.8.8.3", family=socket.AF_INET6))
tries("twice", twice)
tries("the relay's port", http("127.0.0.1", 1))
tries("a token", http("127.64.0.0", 1))
def udp(connect):
    def f():
        c = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); c.settimeout(0.5)
        if connect: c.connect(("8.8.8.3", 443)); c.send(b"x")
        else: c.sendto(b"x", ("8.8.8.3", 443))
        return "sent" if c.recv(10) else ""
    return f
tries("udp", udp(True))
tries("udp without connect", udp(False))
def fastopen():
    c = socket.socket(); c.sendto(b"GET / HTTP/1.0\r\n\r\n", 0x20000000, ("8.8.8.3", 80)); return c.recv(100).decode().split("\r")[0]
tries("fast open", fastopen)
def relay():
    c = socket.socket(); c.sendto(b"GET / HTTP/1.0\r\n\r\n", 0x20000000, ("127.64.0.0", 1)); return c.recv(100).decode().split("\r")[0] or "nothing"
tries("fast open to the relay", relay)
tries("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1) and "made")
tries("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) and "made")
def ask(server, name, kind, stream=False):
    def f():
        q = struct.pack(">HHHHHH", 7, 256, 1, 0, 0, 0) + b"".join(bytes([len(l)]) + l.encode() for l in name.split(".")) + b"\0" + struct.pack(">HH", kind, 1)
        c = socket.socket(socket.AF_INET6 if ":" in server else socket.AF_INET, socket.SOCK_STREAM if stream else socket.SOCK_DGRAM); c.settimeout(float(sys.argv[1]))
        if stream: c.connect((server, 53)); c.sendall(struct.pack(">H", len(q)) + q); a = c.recv(600)[2:]
        else:
            c.sendto(q, (server, 53)); a, who = c.recvfrom(600)
            if who != (server, 53): return "from %s" % (who,)
        return "rcode %d, %d answers" % (a[3] & 15, struct.unpack(">H", a[6:8])[0])
    return f
tries("own resolver", ask("8.8.8.8", "bad.example", 1))
tries("own resolver, tcp", ask("8.8.8.8", "bad.example", 1, True))
tries("own resolver, tcp, v6", ask("2001:db8::53", "bad.example", 1, True))
tries("own resolver, allowed", ask("8.8.8.8", "good.example", 1))
tries("txt", ask("8.8.8.8", "good.example", 16))
import threading
s = socket.create_server(("127.0.0.1", 0)); threading.Thread(target=lambda: s.accept()[0].sendall(b"own"), daemon=True).start()
def own():
    c = socket.create_connection(("localhost", s.getsockname()[1]), 10); return c.recv(10).decode()
tries("own server", own)
print("end")
`

// Unmodified programs reach exactly the hosts that network.allow names. Without sbx they reach all.
func TestNetworkAllow(t *testing.T) {
	needPrograms(t, "python3")
	b := newWorld(t)
	b.write("ws/try.py", attempts)
	// Without sbx nothing answers at the resolver's address, so the control does not wait for it.
	control := b.bare("python3", "try.py", "0.1").ended().lines()
	r := b.run(allowed, "python3", "try.py", "10").ended()
	got := r.lines()
	for what, want := range map[string][2]string{ // without sbx, and under the spec; "" is anything
		"name": {"good.example at 8.8.8.1:80, 0 bytes", "good.example at 8.8.8.1:80, 0 bytes"}, "upper case": {"GOOD.example. at 8.8.8.1:80, 0 bytes", "GOOD.example. at 8.8.8.1:80, 0 bytes"},
		"the host's table":                {"table.example at 8.8.8.2:80, 0 bytes", "table.example at 8.8.8.2:80, 0 bytes"},
		"the table's address, other port": {"Client sent an HTTP request to an HTTPS server.", "ENETUNREACH"},
		"tls":                             {"good.example at 8.8.8.1:443, 0 bytes", "good.example at 8.8.8.1:443, 0 bytes"}, "wild": {"a.wild.example at 8.8.8.2:443, 0 bytes", "a.wild.example at 8.8.8.2:443, 0 bytes"},
		"address": {"8.8.4.4 at 8.8.4.4:80, 0 bytes", "8.8.4.4 at 8.8.4.4:80, 0 bytes"}, "v6": {"2001:db8::1 at [2001:db8::1]:80, 0 bytes", "2001:db8::1 at [2001:db8::1]:80, 0 bytes"},
		"mapped": {"::ffff:8.8.4.4 at 8.8.4.4:80, 0 bytes", "::ffff:8.8.4.4 at 8.8.4.4:80, 0 bytes"}, "private": {"private.example at 10.1.2.3:80, 0 bytes", "private.example at 10.1.2.3:80, 0 bytes"},
		"the host's loopback": {"127.0.0.1 at 127.0.0.1:8443, 0 bytes", "127.0.0.1 at 127.0.0.1:8443, 0 bytes"},
		"hello first":         {"hello first", "hello first"}, "nonblocking": {"connected", "connected"}, "bound": {"", "connected"},
		"other name": {"bad.example at 8.8.8.3:80, 0 bytes", "gaierror"}, "other address": {"8.8.8.3 at 8.8.8.3:80, 0 bytes", "ENETUNREACH"},
		"the allowed name's address": {"8.8.8.1 at 8.8.8.1:80, 0 bytes", "ENETUNREACH"},
		"other port":                 {"Client sent an HTTP request to an HTTPS server.", "ENETUNREACH"}, "rebinding": {"rebind.example at 127.0.0.1:80, 0 bytes", "ECONNRESET"},
		"redirect": {"bad.example at 8.8.8.3:80, 0 bytes", "URLError"}, "dns over https": {"8.8.8.8 at 8.8.8.8:443, 0 bytes", "ENETUNREACH"},
		"the host's own": {"own.example at 9.9.9.9:80, 0 bytes", "ECONNRESET"}, "the host's own, its second": {"second.example at 9.9.9.10:80, 0 bytes", "ECONNRESET"},
		"the host's own, v6":          {"own6.example at [2620:fe::9]:80, 0 bytes", "ECONNRESET"},
		"the host's own, with a rule": {"own.example at 9.9.9.9:443, 0 bytes", "own.example at 9.9.9.9:443, 0 bytes"},
		"fronting":                    {"good.example at 8.8.8.1:443, 0 bytes", "ECONNRESET"}, "mapped address": {"::ffff:8.8.8.3 at 8.8.8.3:80, 0 bytes", "ENETUNREACH"},
		"twice": {"EISCONN", "ENETUNREACH"}, "the relay's port": {"ECONNREFUSED", "ECONNREFUSED"}, "a token": {"ECONNREFUSED", "ECONNREFUSED"},
		"udp": {"ECONNREFUSED", "ENETUNREACH"}, "udp without connect": {"", "TimeoutError"},
		"fast open": {"HTTP/1.0 200 OK", "ECONNREFUSED"}, "fast open to the relay": {"ECONNREFUSED", "ECONNRESET"},
		"raw": {"", "EPERM"}, "packet": {"", "EPERM"}, "own server": {"own", "own"},
		"own resolver": {"", "rcode 3, 0 answers"}, "own resolver, tcp": {"", "rcode 3, 0 answers"}, "own resolver, tcp, v6": {"", "rcode 3, 0 answers"}, "own resolver, allowed": {"", "rcode 0, 1 answers"}, "txt": {"", "rcode 5, 0 answers"},
	} {
		if want[0] != "" && control[what] != want[0] {
			t.Errorf("%s, without sbx: %q, want %q", what, control[what], want[0])
		}
		if got[what] != want[1] {
			t.Errorf("%s: %q, want %q", what, got[what], want[1])
		}
	}
	r.rec.hasStatus(t, "network", "enforced")
	for _, target := range []string{"bad.example", "8.8.8.3:80", "good.example:8443", "rebind.example:80", "own.example:80", "second.example:80", "own6.example:80", "bad.example:443", "8.8.8.3:443"} {
		if !r.rec.refused("network", target) {
			t.Errorf("no violation tells of %s", target)
		}
	}
	made := map[string]record{}
	for _, c := range record(r.rec["network"].(map[string]any)).list("connections") {
		made[kindOf(c)] = c
	}
	if c := made["good.example 443 python3"]; c.whole("connections") != 2 || c.whole("failed") != 1 || c.whole("bytes_in") == 0 || c.whole("bytes_out") == 0 {
		t.Errorf("connections: %v", r.rec["network"])
	}
	if c := made["table.example 80 python3"]; c.whole("connections") != 1 {
		t.Errorf("of the host's table: %v", r.rec["network"])
	}
	if t.Failed() {
		t.Log(r)
	}
}

// A socket of the host that the caller passes in connects to nothing, also if the spec allows the
// host.
func TestNetworkAllowSocketAsStdin(t *testing.T) {
	needPrograms(t, "python3")
	b := newWorld(t)
	b.host = append(b.host, "python3", b.write("ws/held.py", "import os, socket, sys; s = socket.socket(); os.dup2(s.fileno(), 0); os.execvp(sys.argv[1], sys.argv[1:])"))
	argv := []string{"python3", "-c", `
import errno, socket
for s in socket.socket(fileno=0), socket.socket():
    try: s.connect(("8.8.4.4", 80)); print("connected")
    except OSError as e: print(errno.errorcode[e.errno])`}
	if r := b.bare(argv...); r.out != "connected\nconnected\n" {
		t.Fatalf("without sbx: %v", r)
	}
	if r := b.run(allowed, argv...); r.out != "EPERM\nconnected\n" {
		t.Errorf("%v", r)
	}
}

func kindOf(c record) string {
	return c.text("host") + " " + strconv.Itoa(c.whole("port")) + " " + c.text("program")
}

// A name that libc tries with a search domain of resolv.conf is reported once; one that only looks
// like it is reported by itself.
func TestNetworkAllowSearch(t *testing.T) {
	needPrograms(t, "python3")
	b := newWorld(t)
	b.write("ws/ask.py", `
import socket
for name in ("other.test", "other.test.hidden.example"):
    try: socket.getaddrinfo(name, 443)
    except OSError: print("refused")
`)
	r := b.run(allowed, "python3", "ask.py")
	var told []string
	for _, v := range r.rec.list("violations") {
		told = append(told, v.text("target"))
	}
	if got := strings.Join(told, " "); r.out != "refused\nrefused\n" || got != "other.test other.test.hidden.example" {
		t.Errorf("told of %q: %v", got, r)
	}
}

// The line that the record suggests does allow the connection.
func TestNetworkAllowWith(t *testing.T) {
	needPrograms(t, "curl")
	b := newWorld(t)
	const one = `{"network": {"allow": ["good.example:80"]}}`
	for _, url := range []string{"https://bad.example/", "http://8.8.8.8/"} {
		argv := []string{"curl", "-ksS", "--max-time", "5", url}
		r := b.run(one, argv...)
		list := r.rec.list("violations")
		if r.code == 0 || len(list) == 0 {
			t.Errorf("%s is let through, or nothing tells of it: %v", url, r)
			continue
		}
		line := strings.TrimPrefix(list[0].text("allow_with"), "network.allow: ")
		if r = b.run(`{"network": {"allow": `+line+`}}`, argv...); r.out == "" || len(r.rec.list("violations")) > 0 {
			t.Errorf("%s is refused with %s: %v", url, line, r)
		}
	}
}

// Without the relay's program nothing starts; under best_effort nothing can be reached.
func TestNetworkAllowWithoutARelay(t *testing.T) {
	n := newNestElsewhere(t) // a copy of sbx without the other programs next to it
	const spec = `{"network": {"allow": ["localhost:1"]}, "best_effort": %s}`
	run := func(effort string, more ...string) result {
		args := append([]string{n.inner, "exec", "--effective", n.rec, "--spec-json", strings.Replace(spec, "%s", effort, 1)}, more...)
		return n.box.plain(append(args, "--", "/bin/sh", "-c", "grep -c : /proc/net/dev; echo end")...)
	}
	if r := run(`[]`); r.code != 125 || !strings.Contains(r.err, "sbx-egress") || !strings.Contains(r.err, "hint: ") {
		t.Errorf("%v", r)
	}
	r := run(`["network"]`).ended()
	if !strings.HasPrefix(r.out, "1\n") || r.rec.status("network") != "unavailable" || r.rec.status("network.allow") != "unavailable" {
		t.Errorf("%v", r)
	}
}

// An agent in a workshop reaches only its model if no document says anything about the network; any
// other command has its caller's network.
func TestNetworkAllowInAWorkshop(t *testing.T) {
	needPrograms(t, "curl")
	b := newWorld(t)
	b.write("ws/workshop.yaml", "sandbox: {root: .}\n")
	b.args = []string{"--workshop", "workshop.yaml"}
	b.env = append(b.env, "ANTHROPIC_BASE_URL=http://good.example")
	for spec, want := range map[string]string{
		`{}`:                  "bad.example at 8.8.8.3:80, 0 bytes\ngood.example at 8.8.8.1:80, 0 bytes\nend\n",
		`{"agent": "claude"}`: "good.example at 8.8.8.1:80, 0 bytes\nend\n",
	} {
		r := b.sh(spec, "curl -sS --max-time 5 http://bad.example/; curl -sS --max-time 5 http://good.example/")
		if r.out != want || (r.rec.status("network") == "enforced") != strings.Contains(spec, "agent") {
			t.Errorf("%s: %v", spec, r)
		}
	}
}

// An inner sandbox reaches what the outer one does, if its spec asks for as much.
func TestNetworkAllowNested(t *testing.T) {
	needScopes(t)
	needPrograms(t, "curl")
	b := newWorld(t)
	n := nestIn(t, b)
	const get = `curl -sS --max-time 5 http://good.example/; curl -sS --max-time 5 http://bad.example/; echo end`
	r, rec := n.run(`{"access_mode": "workspace-write", "network": {"allow": ["good.example:80", "*.wild.example:443"]}}`,
		`{"access_mode": "workspace-write", "network": {"allow": ["*.wild.example:443", "good.example:80"]}, "best_effort": ["network"]}`, get)
	if r.out != "good.example at 8.8.8.1:80, 0 bytes\nend\n" || rec.status("network") != "enforced" || rec.by("network") == "" {
		t.Errorf("%v %v", r, rec["enforcement"])
	}
}

// relayOf returns the one relay among a process's descendants.
func relayOf(t *testing.T, pid int) int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	must(t, err)
	var relays []int
	for _, stat := range stats {
		n, _ := strconv.Atoi(strings.Split(stat, "/")[2])
		if name, _ := os.ReadFile(filepath.Dir(stat) + "/comm"); string(name) != "sbx-egress\n" {
			continue
		}
		for p := n; p > 1; p = parentOf(p) {
			if p == pid {
				relays = append(relays, n)
			}
		}
	}
	if len(relays) != 1 {
		t.Fatalf("relays: %v", relays)
	}
	return relays[0]
}

// parentOf returns a process's parent, 0 after it has ended.
func parentOf(pid int) int {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(f) < 2 || f[0] == "Z" {
		return 0
	}
	parent, _ := strconv.Atoi(f[1])
	return parent
}

// isOver reports whether a process has ended with all of its threads, which hold its descriptors
// until the last has ended.
func isOver(pid int) bool {
	threads, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*")
	return parentOf(pid) == 0 && len(threads) <= 1
}

// If the relay is killed, the network is gone, and the record says so. No relay is left after the
// command, or sbx itself, has ended.
func TestNetworkAllowRelayKilled(t *testing.T) {
	needPrograms(t, "python3")
	b := newWorld(t)
	b.write("ws/go.py", `
import errno, socket, sys
def try_():
    try: c = socket.create_connection(("8.8.4.4", 80), 10); c.sendall(b"GET / HTTP/1.0\r\n\r\n"); return c.recv(100).decode().split("\r")[0]
    except OSError as e: return errno.errorcode.get(e.errno, str(e))
for line in sys.stdin: print(try_(), flush=True)
print("end")
`)
	s := b.start(allowed, "python3", "-u", "go.py")
	s.say("go")
	s.expect("HTTP/1.0 200 OK")
	pid := relayOf(t, s.cmd.Process.Pid)
	must(t, syscall.Kill(pid, syscall.SIGKILL))
	eventually(t, "the relay is gone", func() bool { return isOver(pid) })
	s.say("go")
	s.expect("ECONNREFUSED")
	if code := s.wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	rec, err := readRecord(b.rec)
	must(t, err)
	rec.hasStatus(t, "network", "degraded")

	s = b.start(allowed, "python3", "-u", "go.py")
	s.say("go")
	s.expect("HTTP/1.0 200 OK")
	pid = relayOf(t, s.cmd.Process.Pid)
	must(t, syscall.Kill(parentOf(pid), syscall.SIGKILL))
	eventually(t, "the relay ends with sbx", func() bool { return isOver(pid) })
}

// Of ten thousand connections that send nothing, a bounded number is accepted, with bounded memory.
// The rest are refused, and after they are gone others are served.
func TestNetworkAllowHalfOpen(t *testing.T) {
	needPrograms(t, "python3")
	b := newWorld(t)
	b.write("ws/open.py", `
import errno, resource, socket, sys, time
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
def get():
    c = socket.create_connection(("8.8.4.4", 80), 60); c.sendall(b"GET / HTTP/1.0\r\n\r\n"); return c.recv(100).decode().split("\r")[0]
print(get(), flush=True)
count = 10000 if hard > 10100 else hard - 100
all = []
for i in range(count):
    c = socket.socket(); c.setblocking(False); all.append(c)
    e = c.connect_ex(("8.8.4.4", 80))
    if e not in (0, errno.EINPROGRESS, errno.EAGAIN): print("connection", i, errno.errorcode[e]); break
print("open", flush=True); sys.stdin.readline()
for c in all: c.close()
for i in range(100): # as the relay hears of it
    try: print(get(), flush=True); break
    except OSError as e: last = e; time.sleep(0.05)
else: print(last); sys.exit(1)
print("end", flush=True)
`)
	s := b.start(allowed, "python3", "-u", "open.py")
	s.expect("HTTP/1.0 200 OK")
	s.expect("open")
	pid := relayOf(t, s.cmd.Process.Pid)
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	must(t, err)
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	kilobytes, _ := strconv.Atoi(strings.Fields(peak)[0])
	if kilobytes == 0 || kilobytes > 128<<10 {
		t.Errorf("the relay has %d KiB", kilobytes)
	}
	t.Logf("%d KiB", kilobytes)
	s.say("go on")
	s.expect("HTTP/1.0 200 OK")
	s.expect("end")
	if code := s.wait(); code != 0 {
		t.Errorf("exit %d: %s", code, s.err)
	}
	rec, err := readRecord(b.rec)
	must(t, err)
	rec.hasStatus(t, "network", "enforced")
	if made := record(rec["network"].(map[string]any)).list("connections"); len(made) != 1 || made[0].whole("connections") < 1000 || made[0].whole("failed") == 0 {
		t.Errorf("%v", made)
	}
}
