package e2e

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// serverInside is a server at each of the given addresses. It answers each connection with what it
// received, once it has all of that, and says when it is ready.
const serverInside = `
import socket, sys, threading
def serve(c, peer):
    got = 0
    while True:
        more = c.recv(65536)
        if not more: break
        got += len(more)
    c.sendall(("%d bytes for %s\n" % (got, peer[0])).encode()); c.close()
def listen(at):
    host, _, port = at.rpartition(":")
    s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind((host, int(port))); s.listen(1000)
    while True: threading.Thread(target=serve, args=s.accept(), daemon=True).start()
for at in sys.argv[1:]: threading.Thread(target=listen, args=(at,), daemon=True).start()
def there(at):
    host, _, port = at.rpartition(":")
    while True:
        try: return socket.create_connection((host, int(port)), 10).close()
        except ConnectionRefusedError: pass
for at in sys.argv[1:]: there(at)
print("ready", flush=True)
sys.stdin.read()
`

// freePort returns a port of the host on which nothing listens.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "0.0.0.0:0")
	must(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// listening starts the server under a network.listen, and waits until it is ready.
func (b *box) listening(network string, at ...string) *started {
	b.t.Helper()
	s := b.start(`{"access_mode": "workspace-write", "network": {`+network+`}}`, append([]string{"python3", "serve.py"}, at...)...)
	s.expect("ready")
	return s
}

// call sends to a server and returns its answer.
func call(at string, what string) (string, error) {
	c, err := net.DialTimeout("tcp", at, 10*time.Second)
	if err != nil {
		return "", err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(limit))
	if _, err = c.Write([]byte(what)); err == nil {
		err = c.(*net.TCPConn).CloseWrite()
	}
	if err != nil {
		return "", err
	}
	b := make([]byte, 100)
	n, err := c.Read(b)
	return string(b[:n]), err
}

func at(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }

// ownAddress returns an address of this host other than the loopback's.
func ownAddress(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	must(t, err)
	for _, a := range all {
		if ip := a.(*net.IPNet).IP; !ip.IsLoopback() && ip.To4() != nil {
			return ip.String()
		}
	}
	return ""
}

func newListenBox(t *testing.T) *box {
	t.Helper()
	needSandbox(t)
	needPrograms(t, "python3")
	b := newBox(t)
	b.write("ws/serve.py", serverInside)
	return b
}

// shut reports whether a connection was refused, or reset at once.
func shut(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "refused") || strings.Contains(err.Error(), "reset") || strings.Contains(err.Error(), "EOF"))
}

// A server inside can be reached at the host's port that the spec names, in each mode, and nothing
// else inside can. The port ends with the run. Without network.listen there is none.
func TestNetworkListen(t *testing.T) {
	for _, mode := range []string{`"mode": "none"`, `"allow": ["192.0.2.1:80"]`} {
		b := newListenBox(t)
		same, host, inside, other := freePort(t), freePort(t), freePort(t), freePort(t)
		servers := []string{at("127.0.0.1", same), at("127.0.0.1", inside), at("127.0.0.1", other)}
		s := b.listening(mode, servers...)
		for _, port := range []int{same, host, inside, other} {
			if _, err := call(at("127.0.0.1", port), ""); !shut(err) {
				t.Errorf("%s: without network.listen, port %d: %v", mode, port, err)
			}
		}
		s.wait()
		s = b.listening(fmt.Sprintf(`%s, "listen": [%d, "%d:%d"]`, mode, same, host, inside), servers...)
		for _, port := range []int{same, host} {
			if got, err := call(at("127.0.0.1", port), "hello"); got != "5 bytes for 127.0.0.1\n" {
				t.Errorf("%s: port %d: %q, %v", mode, port, got, err)
			}
		}
		for _, to := range []string{at("127.0.0.1", inside), at("127.0.0.1", other), at("::1", same), at(ownAddress(t), same)} {
			if strings.HasPrefix(to, ":") { // there is no other address
				continue
			}
			if got, err := call(to, "hello"); err == nil {
				t.Errorf("%s: %s can be reached: %q, %v", mode, to, got, err)
			}
		}
		if code := s.wait(); code != 0 {
			t.Errorf("exit %d: %s", code, s.err)
		}
		if _, err := call(at("127.0.0.1", same), ""); !shut(err) {
			t.Errorf("%s: the port is there after the run: %v", mode, err)
		}
		rec, err := readRecord(b.rec)
		must(t, err)
		rec.hasStatus(t, "network.listen", "enforced")
		rec.hasStatus(t, "network", "enforced")
		for _, c := range record(rec["network"].(map[string]any)).list("connections") {
			port := map[int]int{same: same, host: inside}[c.whole("port")]
			if c.text("direction") != "in" || c.text("host") != "127.0.0.1" || c.whole("inside") != port || c.whole("connections") != 1 ||
				c["failed"] != nil || c.whole("bytes_in") != 5 || c.whole("bytes_out") != 22 {
				t.Errorf("%s: %v", mode, c)
			}
		}
	}
}

// 0.0.0.0 is every address of the host, the server may listen on a port below 1024 inside, and a
// server that listens only on ::1 is found.
func TestNetworkListenPlaces(t *testing.T) {
	t.Run("as they are", func(t *testing.T) { listenPlaces(t, newListenBox(t)) })
	t.Run("without user namespaces", func(t *testing.T) {
		if !isRoot() {
			t.Skip("an ordinary user has no network namespace then")
		}
		b := newListenBox(t)
		b.host = refusing(t, "userns")
		listenPlaces(t, b)
	})
}

func listenPlaces(t *testing.T, b *box) {
	every, low, six, inside := freePort(t), freePort(t), freePort(t), 80
	var fs unix.Statfs_t
	if must(t, unix.Statfs("/proc/sys", &fs)); fs.Flags&unix.ST_RDONLY != 0 { // as in a container
		inside = 1080
	}
	s := b.listening(fmt.Sprintf(`"listen": ["0.0.0.0:%d:3000", "%d:%d", "%d:3001"]`, every, low, inside, six), "127.0.0.1:3000", "::1:3000", at("127.0.0.1", inside), "::1:3001")
	for to, want := range map[string]string{
		at("127.0.0.1", every): "5 bytes for 127.0.0.1\n", at(ownAddress(t), every): "5 bytes for 127.0.0.1\n",
		at("127.0.0.1", low): "5 bytes for 127.0.0.1\n", at("127.0.0.1", six): "5 bytes for ::1\n",
	} {
		if strings.HasPrefix(to, ":") { // there is no other address
			continue
		}
		if got, err := call(to, "hello"); got != want {
			t.Errorf("%s: %q, %v", to, got, err)
		}
	}
	s.wait()
	// The ports on which a program may listen depend only on those that are published.
	r := b.run(`{"network": {"mode": "none", "listen": ["`+strconv.Itoa(low)+`:3000"]}}`, "python3", "-c", `
import socket
try: socket.socket().bind(("127.0.0.1", 80)); print("bound")
except PermissionError: print("not permitted")`)
	if r.out != "not permitted\n" {
		t.Errorf("port 80, of which nobody spoke: %v", r)
	}
}

// A port that is not available is reported before the command starts.
func TestNetworkListenRefused(t *testing.T) {
	b := newListenBox(t)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	spec := fmt.Sprintf(`{"access_mode": "workspace-write", "network": {"listen": ["%d:3000"]}, "best_effort": ["*"]}`, port)
	r := b.run(spec, "touch", "ran")
	r.refused("network.listen[0]")
	b.absent("ws/ran")
	if !strings.Contains(r.err, "another program listens there") || !strings.Contains(r.err, fmt.Sprintf(`"%d:3000"`, port+1)) {
		t.Errorf("%v", r)
	}
	l.Close()
	if r = b.run(spec, "touch", "ran"); r.code != 0 {
		t.Errorf("it is free again: %v", r)
	}
	r = b.run(`{"network": {"mode": "none", "listen": ["192.0.2.1:8080:80"]}}`, "true")
	if r.code != 125 || !strings.Contains(r.err, "cannot assign requested address") || !strings.Contains(r.err, "hint: ") {
		t.Errorf("%v", r)
	}
	if isRoot() {
		b.host = []string{"unshare", "-m", "/bin/sh", "-c", `mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys && exec "$@"`, "sh"}
		r := b.run(`{"network": {"mode": "none", "listen": ["`+strconv.Itoa(port)+`:80"]}}`, "true")
		if r.code != 125 || !strings.Contains(r.err, "ip_unprivileged_port_start") || !strings.Contains(r.err, "hint: have the command listen at a port from 1024 on") {
			t.Errorf("%v", r)
		}
		if r := b.run(`{"network": {"mode": "none", "listen": ["`+strconv.Itoa(port)+`:3000"]}}`, "true"); r.code != 0 {
			t.Errorf("%v", r)
		}
		return
	}
	first, _ := strconv.Atoi(strings.TrimSpace(readText(t, "/proc/sys/net/ipv4/ip_unprivileged_port_start")))
	if r := b.run(`{"network": {"mode": "none", "listen": ["1023:3000"]}}`, "true"); first > 1023 && (r.code != 125 || !strings.Contains(r.err, "permission denied: ports below 1024 are for root")) {
		t.Errorf("%v", r)
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return string(b)
}

// byOther returns the probe as another user, if the test may start one.
func (b *box) byOther(args ...string) *exec.Cmd {
	b.t.Helper()
	cmd := exec.Command(b.probe(), args...)
	if isRoot() {
		const nobody = 65534
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	return cmd
}

// No process can take a published port during the run, neither another user's nor the same user's,
// even if it had bound the port before. Without the run it can. The spec says nothing about ::1.
func TestNetworkListenContested(t *testing.T) {
	b := newListenBox(t)
	port := strconv.Itoa(freePort(t))
	own := exec.Command(b.probe(), "claim", port)
	rivals := func(when string, want map[string]string) {
		t.Helper()
		for _, cmd := range []*exec.Cmd{exec.Command(own.Path, own.Args[1:]...), b.byOther("claim", port)} {
			out, err := cmd.Output()
			must(t, err)
			for at, came := range (result{out: string(out)}).lines() {
				if came != want[at] && came != "EADDRNOTAVAIL" { // without IPv6
					t.Errorf("%s: %s: %s, want %s", when, at, came, want[at])
				}
			}
		}
	}
	free := map[string]string{"127.0.0.1": "ok", "0.0.0.0": "ok", "::": "ok", "::1": "ok", "::ffff:127.0.0.1": "ok"}
	taken := map[string]string{"127.0.0.1": "EADDRINUSE", "0.0.0.0": "EADDRINUSE", "::": "EADDRINUSE", "::1": "ok", "::ffff:127.0.0.1": "EADDRINUSE"}
	rivals("before", free)
	for _, address := range []string{"", "0.0.0.0:"} {
		early := b.byOther("claim", port, "later")
		goesOn, err := early.StdinPipe()
		must(t, err)
		said, err := early.StdoutPipe()
		must(t, err)
		must(t, early.Start())
		lines := bufio.NewScanner(said)
		if !lines.Scan() || lines.Text() != "bound\tok" {
			t.Fatalf("it is not bound: %q", lines.Text())
		}
		s := b.listening(`"listen": ["`+address+port+`:3000"]`, "127.0.0.1:3000")
		goesOn.Close()
		if !lines.Scan() || lines.Text() != "listens\tEADDRINUSE" {
			t.Errorf("published at %s, and bound before by another: %q", address, lines.Text())
		}
		must(t, early.Wait())
		rivals("published at "+address, taken)
		if got, err := call("127.0.0.1:"+port, "hello"); got != "5 bytes for 127.0.0.1\n" {
			t.Errorf("published at %s: %q, %v", address, got, err)
		}
		s.wait()
	}
	rivals("after", free)
	if out, _ := own.Output(); (result{out: string(out)}).lines()["::1"] != "ok" {
		return // there is no IPv6
	}
	s := b.listening(`"listen": ["`+port+`:3000", "[::1]:`+port+`:3000"]`, "127.0.0.1:3000")
	taken["::1"] = "EADDRINUSE"
	rivals("published at ::1", taken)
	s.wait()
}

// A server inside belongs to no other user. When it asks the kernel who its client is, it learns
// that it is the caller of sbx, whoever the client is.
func TestNetworkListenClient(t *testing.T) {
	b := newListenBox(t)
	const server = `
import os, socket
s = socket.socket(); s.bind(("127.0.0.1", 3000)); s.listen(1)
try: os.setresuid(65534, 65534, 65534); print("another user", flush=True)
except OSError: print("the same user", flush=True) # no capability, or no such user
c, peer = s.accept()
for line in open("/proc/net/tcp"):
    w = line.split()
    if w[1].endswith(":%04X" % peer[1]): c.sendall(w[7].encode())
c.recv(1); c.close()
`
	port := freePort(t)
	s := b.start(fmt.Sprintf(`{"access_mode": "read-only", "network": {"listen": ["%d:3000"]}}`, port), "python3", "-c", server)
	s.expect("the same user")
	got, err := b.byOther("get", at("127.0.0.1", port)).Output()
	if want := strconv.Itoa(os.Getuid()); string(got) != want {
		t.Errorf("the client's user: %q, %v, want %s", got, err, want)
	}
	s.wait()
}

// Many connections at once all come through, next to a client that sends and reads nothing.
func TestNetworkListenMany(t *testing.T) {
	b := newListenBox(t)
	port := freePort(t)
	s := b.listening(fmt.Sprintf(`"listen": ["%d:3000"]`, port), "127.0.0.1:3000")
	quiet, err := net.Dial("tcp4", at("127.0.0.1", port))
	must(t, err)
	defer quiet.Close()
	const many = 200
	what := strings.Repeat("x", 1<<18)
	answers := make(chan string)
	for range many {
		go func() {
			got, err := call(at("127.0.0.1", port), what)
			answers <- fmt.Sprint(got, err)
		}()
	}
	for range many {
		if got := <-answers; got != "262144 bytes for 127.0.0.1\n<nil>" {
			t.Error(got)
		}
	}
	s.wait() // with a connection that is still open
	rec, err := readRecord(b.rec)
	must(t, err)
	if c := record(rec["network"].(map[string]any)).list("connections"); len(c) != 1 || c[0].whole("connections") != many+1 || c[0].whole("bytes_in") != many<<18 {
		t.Errorf("connections: %v", c)
	}
}

// If the relay is killed, the port is gone, and the record says so. The same holds if sbx itself is
// killed.
func TestNetworkListenRelayKilled(t *testing.T) {
	b := newListenBox(t)
	port := freePort(t)
	network := fmt.Sprintf(`"listen": ["%d:3000"]`, port)
	s := b.listening(network, "127.0.0.1:3000")
	pid := relayOf(t, s.cmd.Process.Pid)
	must(t, syscall.Kill(pid, syscall.SIGKILL))
	eventually(t, "the relay is gone", func() bool { return isOver(pid) })
	if _, err := call(at("127.0.0.1", port), ""); !shut(err) { // no other process has its socket
		t.Errorf("the port is there without the relay: %v", err)
	}
	if code := s.wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	rec, err := readRecord(b.rec)
	must(t, err)
	rec.hasStatus(t, "network.listen", "degraded")
	rec.hasStatus(t, "network", "enforced")

	s = b.listening(network, "127.0.0.1:3000")
	pid = relayOf(t, s.cmd.Process.Pid)
	must(t, s.cmd.Process.Kill())
	eventually(t, "the relay ends with sbx", func() bool { return isOver(pid) })
	if _, err := call(at("127.0.0.1", port), ""); !shut(err) {
		t.Errorf("the port is there without sbx: %v", err)
	}
}

// Without namespaces, and with another tool, nothing is published, and the record does not claim
// it.
func TestNetworkListenUnavailable(t *testing.T) {
	b := newListenBox(t)
	port := strconv.Itoa(freePort(t))
	spec := `{"network": {"mode": "none", "listen": [` + port + `]}, "best_effort": `
	host := refusing(t, "mount")
	r := b.on(host, spec+`[]}`, "true")
	if r.code != 125 || !strings.Contains(r.err, "network.listen") || !strings.Contains(r.err, "no network namespace") {
		t.Errorf("%v", r)
	}
	r = b.on(host, spec+`["*"]}`, "python3", "-c", `
import socket
s = socket.socket(socket.AF_UNIX); print("end")`).ended()
	r.rec.hasStatus(t, "network.listen", "unavailable")
	for _, tool := range []string{"bwrap", "docker", "podman"} {
		out, code := b.rawWrap(strings.NewReader(`{"cmd": "true"}`), "--wrapper", tool, "--image", "x", "--spec-json", spec+`[]}`, "--json")
		if code == 0 || !strings.Contains(out, "cannot have "+tool+" hold network.listen") {
			t.Errorf("%s: status %d: %s", tool, code, out)
		}
	}
}

// An sbx inside another may have the ports that the outer one publishes.
func TestNetworkListenNested(t *testing.T) {
	n := nestIn(t, newListenBox(t))
	spec := fmt.Sprintf(`{"access_mode": "workspace-write", "network": {"listen": [%d]}, "best_effort": ["network.listen"]}`, freePort(t))
	if r, rec := n.run(spec, spec, "echo end"); r.out != "end\n" || rec.status("network.listen") != "enforced" {
		t.Errorf("%v %v", r, rec["enforcement"])
	}
}
