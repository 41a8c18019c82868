package e2e

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// wide is the outer sandbox of these tests, narrow the inner one.
const (
	wide   = `{"access_mode": "workspace-write", "network": {"allow": ["good.example:80", "bad.example:80", "*.wild.example:443", "8.8.4.4:80", "private.example:80", "10.1.2.3:80"]}}`
	narrow = `{"access_mode": "workspace-write", "network": {"allow": ["good.example:80", "private.example:80"]}}`
)

// peer is a program of the outer sandbox: servers that could lead to whatever the outer sandbox
// reaches.
const peer = `
import os, socket, sys, threading
def serve(s):
    s.listen(16); threading.Thread(target=lambda: [s.accept()[0].sendall(b"peer") for _ in iter(int, 1)], daemon=True).start()
for family, at in (socket.AF_INET, ("127.0.0.1", 7001)), (socket.AF_INET6, ("::", 7002)), (socket.AF_UNIX, "peer.sock"), (socket.AF_UNIX, "\0peer"):
    s = socket.socket(family)
    if family != socket.AF_UNIX: s.setsockopt(socket.IPPROTO_TCP, 23, 16) # TCP_FASTOPEN
    s.bind(at); serve(s)
open("pid", "w").write(str(os.getpid())); os.rename("pid", "ready"); sys.stdin.read()
`

// reaching is a program's list of attempts, which prints a line with the result of each.
const reaching = `
import errno, os, signal, socket, sys, threading
def tries(name, f):
    try: r = f()
    except OSError as e: r = errno.errorcode.get(e.errno, type(e).__name__)
    print(sys.argv[1] + " " + name, r, sep="\t", flush=True)
def http(host):
    def get():
        c = socket.create_connection((host, 80), 10); c.sendall(b"GET / HTTP/1.0\r\n\r\n"); return c.recv(100).decode().split("\r")[0]
    return get
def hello(family, at, flags=None):
    def get():
        c = socket.socket(family)
        if flags is None: c.settimeout(10); c.connect(at)
        else: c.sendto(b"x", flags, at)
        return c.recv(100).decode()
    return get
def own(family, at, to=None):
    def get():
        s = socket.socket(family); s.bind(at); s.listen(1)
        threading.Thread(target=lambda: s.accept()[0].sendall(b"own"), daemon=True).start()
        a = s.getsockname(); return hello(family, a if to is None else (to, a[1]))()
    return get
pid = int(open("ready").read())
tries("good", http("good.example"))
tries("bad", http("bad.example"))
tries("address", http("8.8.4.4"))
tries("private", http("private.example"))
tries("secret", lambda: socket.gethostbyname(sys.argv[1] + ".wild.example").split(".")[0])
tries("unknown", lambda: socket.gethostbyname("other.example"))
tries("peer", hello(socket.AF_INET, ("127.0.0.1", 7001)))
tries("peer v6", hello(socket.AF_INET, ("127.0.0.1", 7002)))
tries("fast open", hello(socket.AF_INET, ("127.0.0.1", 7001), 0x20000000))
def later():
    global c, s # a server of its own, which the connection is not made to before it is gone
    s = socket.socket(); s.bind(("127.0.0.1", 7004)); s.listen(1)
    c = socket.socket(); c.setsockopt(socket.IPPROTO_TCP, 30, 1); c.setsockopt(socket.IPPROTO_TCP, 34, 1) # TCP_FASTOPEN_CONNECT, TCP_FASTOPEN_NO_COOKIE
    c.connect(("127.0.0.1", 7004)); s.close(); return c.send(b"x")
tries("put off", later)
tries("a token", hello(socket.AF_INET, ("127.64.0.0", 1)))
tries("path", hello(socket.AF_UNIX, "peer.sock"))
tries("abstract", hello(socket.AF_UNIX, "\0peer"))
tries("nobody", hello(socket.AF_INET, ("127.0.0.1", 7003)))
tries("own", own(socket.AF_INET, ("127.0.0.1", 0)))
tries("own v6", own(socket.AF_INET6, ("::", 0), "::1"))
tries("own path", own(socket.AF_UNIX, sys.argv[1] + ".sock"))
tries("trace", lambda: os.close(os.open("/proc/%d/mem" % pid, os.O_RDWR)) or "done")
tries("signal", lambda: os.kill(pid, signal.SIGCONT) or "done")
reader, writer = os.pipe()
if os.fork() == 0: # and beneath nobody but its sbx
    os.setsid()
    if os.fork() == 0: tries("orphan", http("bad.example"))
    os._exit(0)
os.close(writer); os.read(reader, 1)
`

// narrowing runs a program outside of a nested sandbox, in it, and outside again.
func narrowing(t *testing.T, b *box, outer, inner, program string) (result, record) {
	t.Helper()
	n := nestIn(t, b)
	b.write("ws/peer.py", peer)
	b.write("ws/try.py", program)
	rec := "/tmp/inner.json"
	const word = "--- the inner record\n"
	r := b.run(outer, "/bin/sh", "-c", `mkfifo hold; python3 peer.py <hold & exec 7>hold; for i in $(seq 3000); do [ -e ready ] && break; sleep 0.01; done
python3 try.py before; `+n.inner+` exec --effective `+rec+` --spec-json "$1" -- python3 try.py inside; echo "status	$?"; python3 try.py after; exec 7>&-; echo end
echo "`+strings.TrimSpace(word)+`"; cat `+rec, "sh", inner)
	out, text, ok := strings.Cut(r.out, word)
	var inside record
	if err := json.Unmarshal([]byte(text), &inside); !ok || err != nil {
		t.Fatalf("the outer sandbox did not come to its end: %v %v", err, r)
	}
	r.out = out
	return r.ended(), inside
}

// A nested sandbox that allows less reaches only that: no other host, and no program of the outer
// sandbox that reaches more. The outer one reaches all of it, before and afterwards.
func TestNetworkNestedNarrower(t *testing.T) {
	needScopes(t)
	needPrograms(t, "python3")
	b := newWorld(t)
	r, inside := narrowing(t, b, wide, narrow, reaching)
	got := r.lines()
	const ok = "HTTP/1.0 200 OK"
	for what, want := range map[string][2]string{ // outside, and inside
		"good": {ok, ok}, "bad": {ok, "ENETUNREACH"}, "address": {ok, "ENETUNREACH"}, "orphan": {ok, "ENETUNREACH"},
		"private": {ok, "ECONNRESET"}, "secret": {"gaierror", "198"}, "unknown": {"gaierror", "gaierror"},
		"peer": {"peer", "ECONNREFUSED"}, "peer v6": {"peer", "ECONNREFUSED"}, "fast open": {"peer", "ENOTSUP"}, "put off": {"ECONNREFUSED", "ENOTSUP"}, "a token": {"ECONNREFUSED", "ECONNREFUSED"},
		"path": {"peer", "EACCES"}, "abstract": {"peer", "EPERM"}, "nobody": {"ECONNREFUSED", "ECONNREFUSED"},
		"own": {"own", "own"}, "own v6": {"own", "own"}, "own path": {"own", "own"},
		"trace": {"done", "EACCES"}, "signal": {"done", "EPERM"},
	} {
		for when, want := range map[string]string{"before": want[0], "inside": want[1], "after": want[0]} {
			if got[when+" "+what] != want {
				t.Errorf("%s %s: %q, want %q", what, when, got[when+" "+what], want)
			}
		}
	}
	asked, err := os.ReadFile(b.ws + "/asked")
	must(t, err)
	if text := string(asked); !strings.Contains(text, "before.wild.example") || strings.Contains(text, "inside.wild.example") {
		t.Errorf("outside was asked for %q", text)
	}
	for _, field := range []string{"network", "network.allow"} {
		inside.hasStatus(t, field, "enforced")
		if !strings.HasPrefix(inside.by(field), "outer supervisor") {
			t.Errorf("%s is held by %q", field, inside.by(field))
		}
	}
	for _, target := range []string{"bad.example:80", "8.8.4.4:80", "127.0.0.1:7001", b.ws + "/peer.sock"} {
		if !inside.refused("network", target) || !r.rec.refused("network", target) {
			t.Errorf("not both records tell of %s: %v, %v", target, inside["violations"], r.rec["violations"])
		}
	}
	for _, v := range inside.list("violations") {
		if want := `network.allow: ["good.example:80", "private.example:80", "bad.example:80"]`; v.text("target") == "bad.example:80" && v.text("allow_with") != want {
			t.Errorf("%v, want %s", v, want)
		}
	}
	if inside.refused("network", "127.0.0.1:7003") {
		t.Errorf("that nobody listens is told as a violation: %v", inside["violations"])
	}
	if t.Failed() {
		t.Log(r)
	}
}

// A nested sandbox that allows nothing has no internet sockets, and reaches none of the outer
// sandbox's sockets by path.
func TestNetworkNestedNone(t *testing.T) {
	needScopes(t)
	needPrograms(t, "python3")
	b := newWorld(t)
	r, inside := narrowing(t, b, wide, `{"access_mode": "workspace-write", "network": {"mode": "none"}}`, reaching)
	got := r.lines()
	for what, want := range map[string]string{"good": "gaierror", "address": "EPERM", "peer": "EPERM", "path": "EACCES", "abstract": "EPERM", "own path": "own", "trace": "EACCES"} {
		if got["inside "+what] != want {
			t.Errorf("%s: %q, want %q", what, got["inside "+what], want)
		}
	}
	if got["after bad"] != "HTTP/1.0 200 OK" || got["after peer"] != "peer" {
		t.Errorf("the outer sandbox is held as well: %v", r)
	}
	inside.hasStatus(t, "network", "enforced")
	if t.Failed() {
		t.Log(r)
	}
}

// If the outer sandbox has the host's network, its supervisor does not decide on connects: a
// narrower request is refused, with the reason.
func TestNetworkNestedInHost(t *testing.T) {
	b := newWorld(t)
	n := nestIn(t, b)
	outer := `{"access_mode": "workspace-write", "network": {"mode": "host"}}`
	r, rec := n.run(outer, narrow, "echo ran")
	if r.code != 125 || strings.Contains(r.out, "ran") || !strings.Contains(r.err, "the outer sandbox has host") || rec.text("error", "field") != "network" {
		t.Errorf("%v", r)
	}
	r, rec = n.run(outer, strings.TrimSuffix(narrow, "}")+`, "best_effort": ["network"]}`, "echo ran")
	if r.code != 0 || r.out != "ran\n" || rec.status("network") != "degraded" {
		t.Errorf("%v %v", r, rec["enforcement"])
	}
}

// A sandbox in a narrower one must keep to both, whatever it believes about the outer one.
func TestNetworkNestedTwice(t *testing.T) {
	needScopes(t)
	needPrograms(t, "curl")
	b := newWorld(t)
	n := nestIn(t, b)
	b.write("ws/get", "for host in good.example bad.example 8.8.4.4; do curl -sS -o /dev/null -w \"$host %{http_code} \" --max-time 5 http://$host/ 2>/dev/null; done; echo")
	r := n.box.run(wide, "/bin/sh", "-c", `sh get; ./sbx exec --spec-json "$1" -- sh -c 'sh get; ./sbx exec --spec-json "$1" -- sh get; ./sbx exec --spec-json "$2" -- sh get; sh get' sh "$2" "$3"; sh get; echo end`,
		"sh", narrowTo("good.example:80", "bad.example:80"), wide, narrowTo("good.example:80", "8.8.4.4:80"))
	want := "good.example 200 bad.example 200 8.8.4.4 200 \n" + strings.Repeat("good.example 200 bad.example 200 8.8.4.4 000 \n", 2) +
		"good.example 200 bad.example 000 8.8.4.4 000 \ngood.example 200 bad.example 200 8.8.4.4 000 \ngood.example 200 bad.example 200 8.8.4.4 200 \nend\n"
	if r.out != want {
		t.Errorf("got\n%swant\n%s%v", r.out, want, r)
	}
}

func narrowTo(hosts ...string) string {
	return `{"access_mode": "workspace-write", "network": {"allow": ["` + strings.Join(hosts, `", "`) + `"]}}`
}

// Processes that a killed sbx leaves stay restricted, and no others become so.
func TestNetworkNestedKilled(t *testing.T) {
	needScopes(t)
	needPrograms(t, "python3")
	b := newWorld(t)
	n := nestIn(t, b)
	b.write("ws/left.py", `
import os, socket, time
def get(host):
    try: c = socket.create_connection((host, 80), 10); c.close(); return "reached"
    except OSError as e: return "not"
outer, parent = os.getppid(), os.getpid()
if os.fork() > 0: os.wait()
print("in", get("bad.example"), flush=True)
open("pid", "w").write(str(outer)); os.rename("pid", "running")
for i in range(3000):
    if os.getppid() != parent: break
    time.sleep(0.01)
print("left", get("good.example"), get("bad.example"), flush=True)
open("left", "w").close()
`)
	r := n.box.run(wide, "/bin/sh", "-c", `await() { for i in $(seq 3000); do [ -e $1 ] && break; sleep 0.01; done; }
`+n.inner+` exec --spec-json "$1" -- python3 left.py & await running
kill -KILL "$(cat running)"; await left
python3 -c 'import socket; socket.create_connection(("bad.example", 80), 10); print("outside reached")'; echo end`, "sh", narrow)
	if r.ended().out != "in not\nleft reached not\noutside reached\nend\n" {
		t.Errorf("%v", r)
	}
}

// Whatever a program requests, it restricts only the processes that it starts.
func TestNetworkNestedRequests(t *testing.T) {
	needPrograms(t, "python3")
	b := newWorld(t)
	r := b.run(wide, "python3", "-c", `
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
execveat = 322 if os.uname().machine == "x86_64" else 281
narrow, wide = 7, 8
def ask(request, number=0):
    n = libc.syscall(execveat, ctypes.c_long(0), None, ctypes.c_long(request), ctypes.c_long(number), ctypes.c_long(0x73620078), None)
    return n if n >= 0 else -ctypes.get_errno()
def pair(text, kind=socket.SOCK_SEQPACKET):
    a, b = socket.socketpair(socket.AF_UNIX, kind)
    if text is not None: a.send(text)
    keep.append((a, b)); return b.fileno()
def reach(host):
    if os.fork() == 0:
        try: socket.create_connection((host, 80), 10); os._exit(0)
        except OSError: os._exit(1)
    return os.waitstatus_to_exitcode(os.wait()[1]) == 0
keep, inet = [], socket.socket()
print(ask(narrow, -1), ask(narrow, os.pipe()[0]), ask(narrow, inet.fileno()), ask(narrow, pair(b"", socket.SOCK_STREAM)), flush=True)
print(ask(narrow, pair(None)), ask(narrow, pair(b"good.example:80")), ask(narrow, pair(b"\0good")), ask(narrow, pair(b"\0" + b"/" * 66000)), ask(wide), flush=True)
print(reach("good.example"), reach("bad.example"), ask(narrow, pair(b"\0good.example:80")), reach("good.example"), reach("bad.example"), flush=True)
child = os.fork()
if child == 0: print(ask(wide), ask(narrow, pair(b"\0bad.example:80")), reach("bad.example"), ask(wide), flush=True); os._exit(0)
os.waitpid(child, 0)
print(reach("bad.example"), ask(wide), reach("bad.example"), ask(wide), flush=True)
print([ask(narrow, pair(b"")) for i in range(17)][-2:], reach("good.example"), [ask(wide) for i in range(17)][-2:], reach("good.example"), flush=True)
`)
	want := "-9 -22 -22 -22\n-11 -22 -22 -22 -2\nTrue True 0 True False\n-2 0 False 0\nFalse 0 True -2\n[0, -11] False [0, -2] True\n"
	if r.out != want {
		t.Errorf("got\n%swant\n%s%v", r.out, want, r)
	}
	if r = b.run(specWW, "python3", "-c", "import ctypes, os; libc = ctypes.CDLL(None, use_errno=True); print(libc.syscall(322 if os.uname().machine == \"x86_64\" else 281, 0, None, 7, 0, 0x73620078, None), ctypes.get_errno())"); r.out != "-1 2\n" {
		t.Errorf("without a list: %v", r)
	}
}

// A profile of the caller's does not weaken this.
func TestNetworkNestedProfile(t *testing.T) {
	needScopes(t)
	needPrograms(t, "python3")
	b := newWorld(t)
	n := nestIn(t, b)
	b.write("ws/profile.json", `{"defaultAction": "SCMP_ACT_ALLOW"}`)
	const script = `python3 -c '
import errno, socket
def tries(f):
    try: return f() and "done"
    except OSError as e: return errno.errorcode[e.errno]
print(tries(socket.socket), tries(lambda: socket.socket().sendto(b"x", 0x20000000, ("127.0.0.1", 9))))'`
	for network, want := range map[string]string{`{"mode": "none"}`: "EPERM EPERM\n", `{"allow": ["good.example:80"]}`: "done ENOTSUP\n"} {
		r, rec := n.run(wide, `{"access_mode": "workspace-write", "syscalls": "profile.json", "network": `+network+`}`, script)
		if r.out != want || rec.status("network") != "enforced" {
			t.Errorf("%s: %v %v", network, r, rec["enforcement"])
		}
	}
}
