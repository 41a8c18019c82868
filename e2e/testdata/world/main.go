// World is a host of its own for the tests of network.allow, and an internet: one machine
// that has every address but the host's, with a resolver, web servers and a server that
// says hello first. The servers are on the host as well. A command runs on the host as
// who started it.
//
//	world FOLDER NAME=ADDRESS[,ADDRESS]... -- command args
//
// FOLDER gets asked, the names that the resolver was asked for, and ca.pem, which the web
// servers' certificates are signed by. They serve the files of the directory "site" beside it
// and, as git does, its repositories (NAME.git); /to/HOST leads to another host.
// On the internet's port 2222 is an sshd, whose configuration is ssh/config beside it.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"
)

const inside = "SBX_TEST_WORLD"

// host is what the host's network is, beside its loopback: an address of each family, and
// a second one of IPv4, whose packets have the first for their source.
var host = []string{
	"link set net0 up", "addr add 9.9.9.9/24 dev net0", "addr add 9.9.9.10/24 dev net0", "route add default via 9.9.9.1",
	"addr add 2620:fe::9/64 dev net0 nodad", "-6 route add default via 2620:fe::1",
}

// others is what the internet's is.
var others = []string{
	"link set lo up", "link set net0 up", "addr add 9.9.9.1/24 dev net0", "addr add 2620:fe::1/64 dev net0 nodad",
	"route add local 0.0.0.0/0 dev lo table local", "route add 9.9.9.0/24 dev net0 table local",
	"-6 route add local ::/0 dev lo table local", "-6 route add 2620:fe::/64 dev net0 table local",
}

// The first thread stays in the host's network, so that the process is known by it.
func init() { runtime.LockOSThread() }

func main() {
	if os.Getenv(inside) == "" {
		os.Exit(enter())
	}
	os.Unsetenv(inside)
	folder, zone := os.Args[1], map[string][]string{}
	rest := os.Args[2:]
	for ; rest[0] != "--"; rest = rest[1:] {
		name, addresses, _ := strings.Cut(rest[0], "=")
		zone[name] = strings.Split(addresses, ",")
	}
	check(replace(folder, "/etc/resolv.conf", "nameserver 192.0.2.53\nsearch corp.example\noptions timeout:2 attempts:1\n"))
	check(replace(folder, "/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n8.8.8.2 Table.example # of the host's own\n"))
	check(replace(folder, "/etc/nsswitch.conf", "hosts: files dns\n"))
	certify, err := authority(folder)
	check(err)
	check(ip("link set lo up"))
	internet := make(chan error)
	go func() { internet <- beyond(zone, folder, certify) }()
	check(<-internet)
	check(ip(host...))
	check(web(folder, certify))
	os.Exit(run(rest[1:], nil))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "world:", err)
		os.Exit(99)
	}
}

// enter runs this program once more in namespaces of its own, with the capabilities
// there that an ordinary user has nowhere else.
func enter() int {
	attr := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWNS}
	if os.Getuid() != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE}
	}
	os.Setenv(inside, "1")
	return run(append([]string{"/proc/self/exe"}, os.Args[1:]...), attr)
}

// run runs a command, without capabilities unless attr gives it some, and says how it
// ended.
func run(argv []string, attr *syscall.SysProcAttr) int {
	if attr == nil && os.Getuid() != 0 {
		check(clearAmbient())
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = os.Stdin, os.Stdout, os.Stderr, attr
	if attr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	}
	err := cmd.Run()
	if cmd.ProcessState == nil {
		check(err)
	}
	return cmd.ProcessState.ExitCode()
}

// clearAmbient has what this goroutine starts run without the capabilities.
func clearAmbient() error {
	runtime.LockOSThread()
	return unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
}

// ip runs lines of ip(8).
func ip(lines ...string) error {
	for _, line := range lines {
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", line, err, out)
		}
	}
	return nil
}

// beyond makes the internet: a network namespace of this thread's, which ends with it and
// leaves its sockets.
func beyond(zone map[string][]string, folder string, certify certifier) error {
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return err
	}
	if err := ip(append([]string{fmt.Sprintf("link add net0 type veth peer name net0 netns %d", os.Getpid())}, others...)...); err != nil {
		return err
	}
	if err := resolver(zone, folder); err != nil {
		return err
	}
	l, err := net.Listen("tcp", ":2222")
	if err != nil {
		return err
	}
	go shells(folder, l)
	return web(folder, certify)
}

// shells serves SSH by the machine's own sshd, as who started the world. Root's wants a
// directory in /run, which it gets in a mount namespace of its own.
func shells(folder string, l net.Listener) {
	runtime.LockOSThread()
	check(unix.Unshare(unix.CLONE_NEWNS))
	check(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	check(unix.Mount("world", "/run", "tmpfs", 0, "mode=755"))
	check(os.Mkdir("/run/sshd", 0o755))
	check(clearAmbient())
	for {
		c, err := l.Accept()
		check(err)
		file, err := c.(*net.TCPConn).File()
		check(err)
		c.Close()
		own := filepath.Join(filepath.Dir(folder), "ssh")
		sshd := exec.Command("/usr/sbin/sshd", "-i", "-f", own+"/config", "-E", own+"/log")
		sshd.Stdin, sshd.Stdout = file, file
		check(sshd.Start())
		file.Close()
		go sshd.Wait()
	}
}

// replace lays a file over one of the host's.
func replace(folder, path, text string) error {
	own := filepath.Join(folder, filepath.Base(path))
	if err := os.WriteFile(own, []byte(text), 0o644); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return unix.Mount(own, path, "", unix.MS_BIND, "")
}

// resolver answers for the zone, over UDP at the address that the host knows and at another,
// and adds each name that it is asked for to FOLDER/asked.
func resolver(zone map[string][]string, folder string) error {
	asked, err := os.Create(folder + "/asked")
	if err != nil {
		return err
	}
	answer := func(query []byte) []byte {
		var m dnsmessage.Message
		if m.Unpack(query) != nil || len(m.Questions) != 1 {
			return nil
		}
		m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
		q := m.Questions[0]
		name := strings.ToLower(strings.TrimSuffix(q.Name.String(), "."))
		fmt.Fprintln(asked, name)
		addresses, ok := zone[name]
		if !ok {
			m.RCode = dnsmessage.RCodeNameError
		}
		for _, a := range addresses {
			ip := net.ParseIP(a)
			h := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 1}
			switch v4 := ip.To4(); {
			case q.Type == dnsmessage.TypeA && v4 != nil:
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: [4]byte(v4)}})
			case q.Type == dnsmessage.TypeAAAA && v4 == nil:
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: [16]byte(ip)}})
			}
		}
		b, err := m.Pack()
		if err != nil {
			return nil
		}
		return b
	}
	for _, at := range []string{"192.0.2.53:53", "8.8.8.8:53"} {
		c, err := net.ListenPacket("udp4", at)
		if err != nil {
			return err
		}
		go func() {
			b := make([]byte, 4096)
			for {
				n, from, err := c.ReadFrom(b)
				if err != nil {
					return
				}
				c.WriteTo(answer(b[:n]), from)
			}
		}()
	}
	return nil
}

// certifier makes certificates for whatever name is asked for.
type certifier func(*tls.ClientHelloInfo) (*tls.Certificate, error)

// authority is one whose certificate the directory gets.
func authority(folder string) (certifier, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a test's"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		leaf := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), NotBefore: ca.NotBefore, NotAfter: ca.NotAfter, DNSNames: []string{hello.ServerName}}
		der, err := x509.CreateCertificate(rand.Reader, leaf, ca, &key.PublicKey, key)
		return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
	}, os.WriteFile(filepath.Join(folder, "ca.pem"), text, 0o644)
}

// web serves every address: HTTP on port 80, the same over TLS on 443 and 8443, and on
// port 22 one that says hello first.
func web(folder string, certify certifier) error {
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		site := filepath.Join(filepath.Dir(folder), "site")
		if strings.Contains(r.URL.Path, ".git/") {
			repositories(site).ServeHTTP(w, r)
			return
		}
		file := filepath.Join(site, filepath.FromSlash(path.Clean("/"+r.URL.Path)))
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			http.ServeFile(w, r, file)
			return
		}
		if in := filepath.Dir(file); strings.HasPrefix(in, site+"/") && isFolder(in) {
			http.NotFound(w, r)
			return
		}
		if host, ok := strings.CutPrefix(r.URL.Path, "/to/"); ok {
			http.Redirect(w, r, "http://"+host+"/", http.StatusFound)
			return
		}
		n, _ := io.Copy(io.Discard, r.Body)
		at := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		fmt.Fprintf(w, "%s at %s, %d bytes\n", r.Host, at, n)
	})
	for _, at := range []string{":80", ":443", ":8443", ":22"} {
		l, err := net.Listen("tcp", at)
		if err != nil {
			return err
		}
		switch at {
		case ":22":
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					go func() {
						fmt.Fprintln(c, "hello first")
						io.Copy(c, c)
						c.Close()
					}()
				}
			}()
		case ":80":
			go http.Serve(l, page)
		default:
			go http.Serve(tls.NewListener(l, &tls.Config{GetCertificate: certify}), page)
		}
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// repositories serves those of a directory by the machine's own git, to whoever asks.
func repositories(folder string) http.Handler {
	git, err := exec.LookPath("git")
	check(err)
	return &cgi.Handler{Path: git, Args: []string{"http-backend"}, Env: []string{"GIT_PROJECT_ROOT=" + folder, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1"}}
}
