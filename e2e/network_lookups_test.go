package e2e

import (
	"strings"
	"testing"
)

// lookups asks for names in the ways in which programs do.
const lookups = `
import errno, socket, struct, sys
def tries(name, f):
    try: r = f()
    except socket.gaierror as e: r = "unknown" if e.errno in (socket.EAI_NONAME, socket.EAI_NODATA) else "gaierror %d" % e.errno
    except OSError as e: r = errno.errorcode.get(e.errno, type(e).__name__)
    print(name, r, sep="\t", flush=True)
def ask(name, connect, server="192.0.2.1"):
    def f():
        q = struct.pack(">HHHHHH", 7, 256, 1, 0, 0, 0) + b"".join(bytes([len(l)]) + l for l in name.split(b".")) + b"\0" + struct.pack(">HH", 1, 1)
        c = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); c.settimeout(10)
        if connect: c.connect((server, 53)); c.send(q)
        else: c.sendto(q, (server, 53))
        a, who = c.recvfrom(600)
        if who != (server, 53): return "from %s" % (who,)
        return "rcode %d%s" % (a[3] & 15, "" if a[:2] == q[:2] and a[12:] == q[12:] else ", another question")
    return f
def connect(kind, port):
    def f(): socket.socket(socket.AF_INET, kind).connect(("192.0.2.1", port)); return "connected"
    return f
if "flood" in sys.argv:
    c = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); c.connect(("192.0.2.1", 53)); c.setblocking(False)
    for i in range(10000):
        try: c.send(struct.pack(">HHHHHH", i, 256, 1, 0, 0, 0) + b"\6" + b"n%05d" % i + b"\5flood\0\0\1\0\1")
        except OSError: pass
    c.settimeout(1); n = 0
    try:
        while c.recv(600): n += 1
    except OSError: pass
    print("answers", n, sep="\t")
    sys.exit()
tries("getaddrinfo", lambda: socket.getaddrinfo("Good.Example", 443, socket.AF_INET)[0][4][0])
if "names" in sys.argv: sys.exit()
tries("connected", ask(b"one.example", True))
tries("sendto", ask(b"two.example", False))
tries("a server of the loopback", ask(b"three.example", True, "127.0.0.53"))
tries("odd bytes", ask(b"o\xffd\x1b[m.example", True))
tries("an address's name", ask(b"1.2.0.192.in-addr.arpa", True))
def malformed():
    c = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); c.connect(("192.0.2.1", 53))
    for b in b"", b"x", b"\0" * 12, b"\0" * 4000, struct.pack(">HHHHHH", 7, 256, 1, 0, 0, 0) + b"\xc0\x0c\0\1\0\1": c.send(b)
    return ask(b"after.example", True)()
tries("after what is none", malformed)
tries("tcp", connect(socket.SOCK_STREAM, 53))
tries("another port", connect(socket.SOCK_DGRAM, 443))
def v6():
    socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).connect(("::ffff:192.0.2.1", 53)); return "connected"
tries("mapped", v6)
tries("no port of others", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).bind(("127.0.0.1", 53)) or "bound")
`

// askedFor returns the names that were looked up in vain, each with the line that would allow it.
func askedFor(r result) map[string]string {
	names := map[string]string{}
	for _, v := range r.rec.list("violations") {
		if v.text("action") == "look up a name" {
			names[v.text("target")] = v.text("allow_with")
		}
	}
	return names
}

// Without a network a look-up fails at once, whichever server it asks and however, and the record
// has the name.
func TestNamesAskedForWithoutANetwork(t *testing.T) {
	needPrograms(t, "python3")
	b := newWorld(t)
	script := b.write("ws/lookups.py", lookups)
	if got := b.bare("python3", script, "names").lines(); got["getaddrinfo"] != "8.8.8.1" {
		t.Fatalf("the control: %v", got)
	}
	r := b.run(specWW, "python3", script)
	got := r.lines()
	for what, want := range map[string]string{"getaddrinfo": "unknown", "connected": "rcode 3", "sendto": "rcode 3", "a server of the loopback": "rcode 3",
		"odd bytes": "rcode 3", "an address's name": "rcode 3", "after what is none": "rcode 3", "tcp": "ENETUNREACH", "another port": "ENETUNREACH",
		"mapped": "connected", "no port of others": "EACCES"} {
		if got[what] != want {
			t.Errorf("%s: %q, and not %q", what, got[what], want)
		}
	}
	names := askedFor(r)
	for _, name := range []string{"good.example", "one.example", "two.example", "three.example", "after.example"} {
		if want := `network.allow: ["` + name + `:443"]`; names[name] != want {
			t.Errorf("%s: allowed by %q", name, names[name])
		}
	}
	if allow, ok := names["o?d?[m.example"]; !ok || allow != "" {
		t.Errorf("the name with odd bytes: %v", names)
	}
	if len(names) != 7 || names["192.0.2.1:53"] != `network.allow: ["192.0.2.1:53"]` { // over TCP the name is not seen
		t.Errorf("%v", names)
	}
	if !strings.Contains(r.err, "good.example has no address here") || !strings.Contains(texts(r.rec["observed_kinds"]), `"network"`) {
		t.Errorf("%v", r)
	}
	for _, network := range []string{`{"mode":"none"}`, `{"mode":"none","listen":["8080:3000"]}`, `{}`} {
		spec := specWith(specWW, `"network":`+network)
		r = b.run(spec, "python3", script, "names")
		line := askedFor(r)["good.example"]
		if r.lines()["getaddrinfo"] != "unknown" || !strings.Contains(line, `"good.example:443"`) || strings.Contains(network, "listen") != strings.Contains(line, `"listen": ["8080:3000"]`) {
			t.Errorf("%s: %v", network, r)
			continue
		}
		r = b.run(followed(t, spec, line), "python3", script, "names")
		if got := r.lines()["getaddrinfo"]; !strings.HasPrefix(got, "198.18.") || len(askedFor(r)) != 0 || r.rec.text("requested", "network", "mode") == "host" {
			t.Errorf("%s, followed: %v", line, r)
		}
	}
	b.args = []string{"--violations", "off"}
	if r = b.run(specWW, "python3", script, "names"); len(r.rec.list("violations")) != 0 || !strings.HasPrefix(r.lines()["getaddrinfo"], "gaierror") {
		t.Errorf("nothing is described: %v", r)
	}
}

// A program that asks for many names gets a few hundred answers a second, and the run ends.
func TestManyNamesAreBounded(t *testing.T) {
	needPrograms(t, "python3")
	b := newBox(t)
	needSandbox(t)
	r := b.run(specWW, "python3", b.write("ws/lookups.py", lookups), "flood")
	answers := r.lines()["answers"]
	if r.code != 0 || answers == "" || answers == "0" || len(answers) > 4 {
		t.Errorf("%v", r)
	}
	if n := len(askedFor(r)); n == 0 || n > 5000 {
		t.Errorf("%d names", n)
	}
}

// If the host finds no address for an allowed name, that is reported once, and is no denial. A name
// that only a pattern allows is only in the record.
func TestAllowedNameWithoutAnAddress(t *testing.T) {
	needPrograms(t, "getent")
	b := newWorld(t)
	const told = "network.allow: nowhere.example is allowed, but this host finds no address for it"
	look := func(allow string, args ...string) result {
		b.args = args
		return b.run(`{"access_mode": "workspace-write", "network": {"allow": ["`+allow+`", "good.example:80"]}}`,
			"/bin/sh", "-c", "getent ahosts nowhere.example; getent hosts nowhere.example; getent hosts good.example && echo end")
	}
	r := look("nowhere.example:443")
	r.ended()
	if strings.Count(r.err, told) != 1 || strings.Contains(r.err, "good.example") || !strings.Contains(texts(r.rec["warnings"]), told) || len(r.rec.list("violations")) != 0 {
		t.Errorf("by its name: %v", r)
	}
	if r = look("*.example:443"); strings.Contains(r.err, "no address") || !strings.Contains(texts(r.rec["warnings"]), told) {
		t.Errorf("by a pattern: %v", r)
	}
	if r = look("nowhere.example:443", "-q"); r.err != "" {
		t.Errorf("with -q: %v", r)
	}
}
