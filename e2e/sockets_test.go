package e2e

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

var socketsPath = sync.OnceValues(func() (string, error) { return compileC("sockets", "-pthread") })

// sockets puts testdata/sockets into a directory of the workspace.
func (b *box) sockets(dir string) string {
	b.t.Helper()
	path, err := socketsPath()
	must(b.t, err)
	to := filepath.Join(b.ws, dir, "sockets.bin")
	must(b.t, os.MkdirAll(filepath.Dir(to), 0o755))
	must(b.t, exec.Command("cp", path, to).Run())
	return to
}

// hostSocket is a pathname socket of the host that counts its clients.
type hostSocket struct {
	net.Listener
	came atomic.Int64
}

func (b *box) hostSocket(path string) *hostSocket {
	b.t.Helper()
	os.Remove(path)
	l, err := net.Listen("unix", path)
	must(b.t, err)
	b.t.Cleanup(func() { l.Close() })
	must(b.t, os.Chmod(path, 0o777))
	h := &hostSocket{Listener: l}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			h.came.Add(1)
			c.Close()
		}
	}()
	return h
}

// count returns how many clients came since it was last called.
func (h *hostSocket) count() int {
	time.Sleep(50 * time.Millisecond) // those in its queue
	return int(h.came.Swap(0))
}

// later runs a command after meanwhile was called, which creates something while the sandbox
// exists.
func (b *box) later(spec string, meanwhile func(), argv ...string) result {
	b.t.Helper()
	s := b.start(spec, append([]string{"/bin/sh", "-c", `echo up; read go; exec "$@"`, "sh"}, argv...)...)
	s.expect("up")
	meanwhile()
	s.say("")
	r := result{t: b.t, code: s.wait(), out: strings.Join(s.out.all(), "\n"), err: s.err.String()}
	r.rec, _ = readRecord(b.rec)
	return r.ended()
}

// A socket that the host creates while the sandbox runs is in view, and the command cannot connect
// to it, unless the spec names it.
func TestSocketsMadeLaterAreOutOfReach(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		within, without := b.ws+"/sock", b.out+"/sock"
		link := b.ws + "/link"
		must(t, os.Symlink(without, link))
		must(t, os.Mkdir(b.ws+"/named", 0o755))
		for _, c := range []struct {
			name, spec string
			reached    bool
		}{
			{"read-only", b.inView("read-only"), false},
			{"workspace-write", b.inView("workspace-write"), false},
			{"no descriptions", b.inView("workspace-write"), false},
			{"a directory above is named", specWith(b.inView("workspace-write"), fmt.Sprintf(`"filesystem":{"write":[%q]}`, b.ws)), false},
			{"network alone", `{"network":{"mode":"none"}}`, false},
			{"named", fmt.Sprintf(`{"access_mode":"workspace-write","filesystem":{"write":[%q]}}`, within), true},
			{"network host", specWith(b.inView("workspace-write"), `"network":{"mode":"host"}`), true},
		} {
			if b.private() && strings.Contains(c.name, "directory above") {
				continue // two filesystem members
			}
			t.Run(c.name, func(t *testing.T) {
				b.args = nil
				if c.name == "no descriptions" {
					b.args = []string{"--violations", "off"}
				}
				attempts := []string{"connect|" + within, "connect|sock", "connect|" + without, "connect|" + link}
				var hosts [2]*hostSocket // masked if they exist at launch
				r := b.later(c.spec, func() {
					hosts = [2]*hostSocket{b.hostSocket(within), b.hostSocket(without)}
				}, append([]string{b.probe(), "try"}, attempts...)...)
				for i, a := range attempts {
					want := "EACCES"
					switch {
					case c.name == "network host" && i >= 2:
						want = "ok ECONNREFUSED" // an overlay's file, if the directory hides a secret
					case c.reached && i < 2:
						want = "ok"
					case i >= 2:
						want = "EACCES ENOENT" // not in view everywhere
					}
					if got := r.lines()[a]; !oneOf(got, want) {
						t.Errorf("%s: %s, want %s", a, got, want)
					}
				}
				if !c.reached && !r.rec.refused("network", within) {
					t.Errorf("no violation tells of it: %v", r.rec["violations"])
				}
				for i, h := range hosts {
					want := 0
					if c.reached && i == 0 {
						want = 2
					}
					if n := h.count(); n != want && !(c.name == "network host" && i == 1) {
						t.Errorf("%d connections came to socket %d, want %d", n, i, want)
					}
				}
				for a, got := range b.control(attempts...) {
					if got != "ok" {
						t.Errorf("control: %s: %s", a, got)
					}
				}
				if n, m := hosts[0].count(), hosts[1].count(); n != 2 || m != 2 {
					t.Errorf("control: %d and %d connections came", n, m)
				}
				for _, h := range hosts {
					h.Close()
				}
			})
		}
	})
}

// A link put in a named socket's place does not get its permission.
func TestALinkTakesNoSocketsName(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	named, other := b.ws+"/named", b.ws+"/other"
	spec := fmt.Sprintf(`{"access_mode":"workspace-write","filesystem":{"write":[%q]}}`, named)
	var host *hostSocket
	links, connects := "symlink|"+other+"|"+named, "connect|"+named
	got := b.later(spec, func() { host = b.hostSocket(other) }, b.probe(), "try", links, connects).lines()
	if got[links] != "ok" || got[connects] != "EACCES" {
		t.Errorf("%v", got)
	}
	if n := host.count(); n != 0 {
		t.Errorf("%d connections came", n)
	}
	if got := b.control(connects)[connects]; got != "ok" {
		t.Errorf("control: %s", got)
	}
}

// Sockets that are created inside work, wherever a program may create them, and the host reaches
// those in its own directories.
func TestSocketsOfTheSandbox(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "gcc")
	b := newBoxElsewhere(t)
	bin := b.sockets(".")
	const alone = `{"network":{"mode":"none"}}`
	for _, c := range []struct{ spec, place string }{
		{specWW, "sock"}, {specWW, b.ws + "/sock2"}, {specWW, "/tmp/sock"}, {specWW, "/dev/shm/sock"},
		{specWW, "${XDG_RUNTIME_DIR:-/run/user/$(id -u)}/sock"}, {specWW, "/tmp/" + strings.Repeat("n", 100)},
		{alone, "sock"}, {alone, b.ws + "/sock2"},
	} {
		r := b.sh(c.spec, "p="+c.place+`; rm -f "$p"; ./sockets.bin answer "$p" & until [ -S "$p" ]; do sleep 0.01; done; sleep 0.05; ./sockets.bin exchange "$p"; wait`)
		if got := r.ended().lines()["connect"]; got != "pong" {
			t.Errorf("%v: %s", c, got)
		}
	}
	s := b.start(specWW, bin, "answer", "own")
	s.expect("ready")
	if got := b.plain(bin, "exchange", b.ws+"/own").ended().lines()["connect"]; got != "pong" {
		t.Errorf("from the host: %s", got)
	}
	if code := s.wait(); code != 0 {
		t.Errorf("status %d", code)
	}
	// The next sandbox did not create it.
	left := b.start(specNone, bin, "answer", "own")
	left.expect("ready")
	if got := b.run(specWW, bin, "exchange", "own").ended().lines()["connect"]; got != "EACCES" {
		t.Errorf("from another sandbox: %s", got)
	}
}

// A call fails as it would without a sandbox.
func TestSocketErrorsAreTheKernels(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "gcc")
	var want string
	for i, spec := range []string{"", specWW, `{"network":{"mode":"none"}}`} {
		b := newBoxElsewhere(t)
		b.sockets("in/in")
		script := "cd in/in && exec ./sockets.bin errnos"
		if i == 0 {
			want = b.plain("/bin/sh", "-c", script).ended().out
			if strings.Count(want, "\n") < 90 {
				t.Fatalf("control: %s", want)
			}
			continue
		}
		got := b.run(spec, "/bin/sh", "-c", script).ended().out
		w := result{out: want}.lines()
		for call, errno := range (result{out: got}).lines() {
			if errno != w[call] {
				t.Errorf("%s: %s: %s inside, %s without", spec, call, errno, w[call])
			}
		}
		if strings.Count(got, "\n") != strings.Count(want, "\n") {
			t.Errorf("%s: not all was tried", spec)
		}
	}
}

// A program that changes address, link or descriptor while it connects does not reach the host's
// socket.
func TestRacingConnects(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "gcc")
	b := newBoxElsewhere(t)
	bin := b.sockets(".")
	for _, kind := range []string{"addresses", "links", "descriptors"} {
		path := b.ws + "/" + kind // in an overlay, as a home may be, it could not be reached anyway
		host := b.hostSocket(path)
		reached := 0
		for try := 0; reached == 0 && try < 10; try++ { // the racer may not have had its turn
			b.plain(bin, "race", kind, path, "own", "0.3").ended()
			reached = host.count()
		}
		if reached == 0 {
			t.Errorf("%s: control: nobody reached the host", kind)
		}
		host.Close()
		r := b.later(specWW, func() { host = b.hostSocket(path) }, bin, "race", kind, path, "own", "1")
		if n := host.count(); n != 0 {
			t.Errorf("%s: %d connections came to the host", kind, n)
		}
		if reached := r.lines()["reached"]; kind != "descriptors" && reached == "0" {
			t.Errorf("%s: its own was not reached: %v", kind, r)
		}
		t.Logf("%s: %v", kind, r.lines())
	}
}

// A thread may have a descriptor table of its own.
func TestAThreadsOwnDescriptors(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "gcc")
	b := newBoxElsewhere(t)
	bin := b.sockets(".")
	for _, r := range []result{b.plain(bin, "table", "own").ended(), b.run(specWW, bin, "table", "own").ended()} {
		if got := r.lines(); got["thread"] != "ok" || got["came"] != "1" {
			t.Errorf("%v", r)
		}
	}
}

// Connects that wait for a place are bounded, delay no other call, and release their places when no
// caller waits for them any more.
func TestConnectsThatWait(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "gcc")
	b := newBoxElsewhere(t)
	bin := b.sockets(".")
	control := b.plain(bin, "crowd", "own", "63").ended().lines()
	if control["one more"] != "ok" || control["waiting ended"] != "3" || control["left"] != "0" {
		t.Errorf("control: %v", control)
	}
	start := time.Now()
	got := b.run(specWW, bin, "crowd", "own", "64").ended().lines()
	for what, want := range map[string]string{"one more": "EAGAIN", "others took": "no longer", "after their end": "ok", "waiting ended": "3", "left": "0"} {
		if got[what] != want {
			t.Errorf("%s: %q, want %q", what, got[what], want)
		}
	}
	if d := time.Since(start); d > 15*time.Second {
		t.Errorf("it took %v", d)
	}
}

// Many connects at once end like a single one, whether they are made, denied because there is no
// network, or denied by its rules.
func TestConnectsAtOnce(t *testing.T) {
	needPrograms(t, "gcc")
	b := newWorld(t)
	bin := b.sockets(".")
	for _, c := range []struct{ network, to, want string }{
		{`"allow": ["8.8.4.4:80"]`, "8.8.4.4", "ok"}, {`"allow": ["8.8.4.4:80"]`, "8.8.8.3", "ENETUNREACH"}, {`"mode": "none"`, "8.8.4.4", "ENETUNREACH"},
	} {
		argv := []string{bin, "burst", c.to, "80", "200", "5"}
		if got := b.bare(argv...).ended().lines(); got["ok"] != "1000" {
			t.Errorf("without sbx: %v", got)
		}
		if r := b.run(`{"access_mode": "workspace-write", "network": {`+c.network+`}}`, argv...).ended(); r.lines()[c.want] != "1000" {
			t.Errorf("%s: %s: %s", c.network, c.to, r.out)
		}
	}
}

// A program that may be executed but not read cannot be examined.
func TestAProgramThatCannotBeReadConnectsToNothing(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "gcc")
	if !isRoot() {
		t.Skip("only root can make a program that its user may not read")
	}
	b := newBoxElsewhere(t)
	if b.out == "" || strings.HasPrefix(b.base, "/root/") {
		b = newBox(t)
	}
	const user = 65534
	hidden := b.sockets(".")
	readable := b.sockets("beside")
	must(t, os.Chmod(hidden, 0o711))
	for _, dir := range []string{b.base, b.ws, b.home, b.base + "/state", b.ws + "/beside"} {
		must(t, os.Chown(dir, user, user))
	}
	b.env = append(b.env, "HOME="+b.home)
	run := func(bin string) result {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		cmd := b.command(ctx, specWW, "/bin/sh", "-c", `"$0" answer own & sleep 0.3; "$1" exchange own; kill $!; echo end`, readable, bin)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
		return b.finish(cmd).ended()
	}
	if got := run(readable).lines()["connect"]; got != "pong" {
		t.Errorf("control: %s", got)
	}
	r := run(hidden)
	if got := r.lines()["connect"]; got != "EPERM" {
		t.Errorf("%s, want EPERM: %v", got, r)
	}
	if !r.rec.refused("network", "") {
		t.Errorf("no violation tells of it: %v", r.rec["violations"])
	}
}

// Inside there is a loopback, and nothing beyond it.
func TestConnectsToTheInternet(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "python3")
	b := newBoxElsewhere(t)
	r := b.run(specWW, "python3", "-c", `
import asyncio, errno, http.server, socket, threading, urllib.request
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
s.RequestHandlerClass.log_message = lambda *a: None
threading.Thread(target=s.serve_forever, daemon=True).start()
for i in range(20):
    urllib.request.urlopen("http://127.0.0.1:%d/" % s.server_port).read()
async def nonblocking():
    for i in range(20):
        r, w = await asyncio.open_connection("127.0.0.1", s.server_port)
        w.close()
asyncio.run(nonblocking())
c = socket.socket(); c.setblocking(False)
print("nonblocking", c.connect_ex(("127.0.0.1", s.server_port)) in (0, errno.EINPROGRESS), sep="\t")
for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM:
    print("outside", errno.errorcode.get(socket.socket(socket.AF_INET, kind).connect_ex(("192.0.2.1", 443))), sep="\t")
print("nobody", errno.errorcode.get(socket.socket().connect_ex(("127.0.0.1", 1))), sep="\t")
print("end")
`).ended()
	for what, want := range map[string]string{"nonblocking": "True", "outside": "ENETUNREACH", "nobody": "ECONNREFUSED"} {
		if got := r.lines()[what]; got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	advice := map[string]string{"connect": `network.allow: ["192.0.2.1:443"]`, "connect by UDP": "network.mode: host"}
	for _, v := range r.rec.list("violations") {
		want, ok := advice[v.text("action")]
		if !ok || v.text("kind") != "network" || v.text("target") != "192.0.2.1:443" || v.text("rule") != "access_mode: workspace-write" || v.text("allow_with") != want {
			t.Errorf("%v", v)
		}
	}
	if len(r.rec.list("violations")) != len(advice) {
		t.Errorf("violations: %v", r.rec["violations"])
	}
}

// Common programs can use sockets of their own with each other.
func TestProgramsThatTalkOverSockets(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "python3", "node")
	b := newBoxElsewhere(t)
	b.write("ws/manager.py", `
import multiprocessing, multiprocessing.managers, multiprocessing.connection
def double(x): return 2 * x
if __name__ == "__main__":
    with multiprocessing.Manager() as m:
        d = m.dict()
        with multiprocessing.Pool(2) as p: d["x"] = sum(p.map(double, range(10)))
        print(d["x"])
    with multiprocessing.connection.Listener("conn", "AF_UNIX") as l:
        c = multiprocessing.connection.Client("conn"); a = l.accept(); c.send("sent"); print(a.recv(), l.address)
`)
	b.write("ws/net.js", `
const net = require('net'), http = require('http'), cluster = require('cluster');
if (cluster.isPrimary) {
  cluster.fork().on('message', m => { console.log(m); cluster.disconnect(); });
} else {
  const s = http.createServer((q, a) => a.end('over ' + s.address())).listen('/tmp/node.sock', () =>
    http.get({ socketPath: '/tmp/node.sock' }, a => a.on('data', d => { process.send(d.toString()); s.close(); })));
}
`)
	b.works("python3 manager.py; rm -f conn; node net.js", "90\nsent conn\nover /tmp/node.sock\n")
}

// A server cannot be sent a descriptor of the supervisor, which makes the connects.
func TestPeersAreNoDescriptors(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	a := "peer|" + b.ws + "/server"
	for _, spec := range []string{specWW, `{"network": {"mode": "none"}}`} {
		if got := b.tries(spec, a)[a]; got != "ENOPROTOOPT" {
			t.Errorf("%s: %s", spec, got)
		}
		os.Remove(b.ws + "/server")
	}
	if got := b.control(a)[a]; got != "ok" {
		lacks(t, "outside: "+got+" (SO_PEERPIDFD is of Linux 6.5)")
	}
	os.Remove(b.ws + "/server")
	// With the host's network, the caller makes its own connects.
	if got := b.tries(`{"filesystem": {"hide": ["/media"]}}`, a)[a]; got != "ok" {
		t.Errorf("with the host's network: %s", got)
	}
}
