package audit

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// recorded has audit records from the kernel's documentation
// (Documentation/admin-guide/LSM/landlock.rst), without the "type=" and "msg=" that auditd adds.
// Process 289 made the domain.
const recorded = `1423 audit(1729738800.221:33): domain=1a6fdc679 blockers=fs.write_file path="/dev/tty" dev="devtmpfs" ino=9
1424 audit(1729738800.221:33): domain=1a6fdc679 status=allocated mode=enforcing pid=289 uid=0 exe="/root/sandboxer" comm="sandboxer"
1300 audit(1729738800.221:33): arch=c000003e syscall=257 success=no exit=-13 a0=ffffff9c items=1 ppid=272 pid=291 auid=0 uid=0 tty=(none) comm="sh" exe="/usr/bin/dash" key=(null)
1327 audit(1729738800.221:33): proctitle=7368002D63006563686F203E202F6574632F706173737764
1423 audit(1729738800.222:34): domain=195ba459b blockers=fs.write_file path="/etc/other" dev="vda2" ino=1
1424 audit(1729738800.222:34): domain=195ba459b status=allocated mode=enforcing pid=300 uid=0 exe="/root/sandboxer" comm="sandboxer"
1423 audit(1729738800.223:35): domain=1a6fdc679 blockers=fs.refer path="/usr/bin" dev="vda2" ino=351
1423 audit(1729738800.223:35): domain=1a6fdc679 blockers=fs.make_reg,fs.refer path="/usr/local" dev="vda2" ino=365
1423 audit(1729738800.224:36): domain=1a6fdc679 blockers=scope.signal opid=1 ocomm="systemd"
1423 audit(1729738800.225:37): domain=1a6fdc679 blockers=fs.read_file path=2F612062 dev="vda2" ino=4
1423 audit(1729738800.226:38): domain=1a6fdc679 blockers=net.connect_tcp daddr=127.0.0.1 dest=80
1423 audit(1729738800.227:39): domain=195ba459b blockers=fs.read_file path="/theirs" dev="vda2" ino=5
1424 audit(1729738800.261:40): domain=1a6fdc679 status=deallocated denials=2`

func feed(d *Denials, text string) (got []string) {
	var all []Denial
	for line := range strings.Lines(text) {
		var kind uint16
		_, _ = fmt.Sscan(line, &kind)
		_, rest, _ := strings.Cut(line, " ")
		all = append(all, d.Record(kind, []byte(rest))...)
	}
	for _, n := range append(all, d.Flush()...) {
		got = append(got, fmt.Sprintf("%s %q %d %s", strings.Join(n.Blockers, ","), n.Target, n.PID, n.Program))
	}
	return got
}

func TestDenialsAreOfOneSandbox(t *testing.T) {
	want := []string{
		`fs.write_file "/dev/tty" 291 sh`, `fs.refer "/usr/bin" 0 `, `fs.make_reg,fs.refer "/usr/local" 0 `,
		`scope.signal "systemd" 0 `, `fs.read_file "/a b" 0 `, `net.connect_tcp "127.0.0.1:80" 0 `,
	}
	if got := feed(&Denials{Creator: 289}, recorded); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := feed(&Denials{Creator: 300}, recorded); strings.Join(got, "\n") != "fs.write_file \"/etc/other\" 0 \nfs.read_file \"/theirs\" 0 " {
		t.Errorf("of 300: %q", got)
	}
	if got := feed(&Denials{Creator: 1}, recorded); len(got) != 0 {
		t.Errorf("of nobody: %q", got)
	}
}

// A target that looks like a field stays text: it cannot make a foreign domain count as the
// command's.
func TestDenialsBelieveNoTarget(t *testing.T) {
	const evil = `1423 audit(1.0:1): domain=9 blockers=fs.read_file path="/x domain=7 pid=289" dev="vda2" ino=4
1424 audit(1.0:1): domain=9 status=allocated mode=enforcing pid=5 uid=0 exe="/a status=allocated pid=289" comm="pid=289"
1423 audit(1.0:2): domain=7 blockers=fs.read_file path="/y" dev="vda2" ino=4`
	if got := feed(&Denials{Creator: 289}, evil); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

// No input makes the parser panic or keep more than its bounds.
func FuzzDenials(f *testing.F) {
	for line := range strings.Lines(recorded) {
		f.Add([]byte(line))
	}
	f.Add([]byte("1423 audit(1:1): domain=1 blockers= path=\" =\"=  = pid"))
	f.Add([]byte("1424 audit(): domain=ffffffffffffffffff status=allocated pid=289"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d := &Denials{Creator: 289}
		for _, kind := range []uint16{recordLandlockAccess, recordLandlockDomain, recordSyscall} {
			for _, line := range bytes.Split(b, []byte{'\n'}) {
				_, rest, _ := bytes.Cut(line, []byte{' '})
				d.Record(kind, line)
				d.Record(kind, rest)
			}
		}
		if n := len(d.Flush()); n > maxDenials || len(d.ours) > maxDenials {
			t.Errorf("%d denials, %d domains", n, len(d.ours))
		}
	})
}

// On a host where audit is off, the log closes and audit stays off.
func TestLandlockLogLeavesAuditOff(t *testing.T) {
	l, err := OpenLandlockLog(1)
	if err != nil {
		if os.Getuid() != 0 {
			return // the kernel denies it at once
		}
		t.Skipf("audit cannot be asked for: %v", err)
	}
	defer l.Close()
	ready := func() {
		p := []unix.PollFd{{Fd: int32(l.FD()), Events: unix.POLLIN}}
		if n, err := unix.Poll(p, 5000); n != 1 {
			t.Fatalf("no answer came: %v", err)
		}
	}
	ready()
	out := l.Read()
	if l.FD() >= 0 {
		if os.Getuid() != 0 {
			t.Error("an ordinary user is told of audit")
		}
		t.Skip("audit is on here")
	}
	if len(out) != 0 {
		t.Errorf("%v", out)
	}
	// A second try: audit is still off, and the log closes.
	if l, err = OpenLandlockLog(1); err != nil {
		t.Fatal(err)
	}
	ready()
	if l.Read(); l.FD() >= 0 {
		t.Error("audit is on now")
	}
}

// The answer must come first: a record before it is ignored, and a truncated message does no harm.
func TestLandlockLogMessages(t *testing.T) {
	message := func(kind uint16, text string) []byte {
		b := make([]byte, unix.SizeofNlMsghdr, 256)
		b[0], b[4], b[5] = byte(len(text)), byte(kind), byte(kind>>8) // the length does not count the header
		return append(b, text...)
	}
	const enabled = "\x00\x00\x00\x00\x01\x00\x00\x00"
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(ends[1])
	for _, answer := range []string{"\x00\x00\x00\x00\x00\x00\x00\x00", "\x00", ""} {
		fd, err := unix.Dup(ends[0])
		if err != nil {
			t.Fatal(err)
		}
		l := &LandlockLog{fd: fd}
		if l.message(message(unix.AUDIT_GET, answer)); l.FD() >= 0 || l.asked {
			t.Errorf("after the answer %q it goes on", answer)
		}
	}
	l := &LandlockLog{fd: ends[0], asked: true, denials: Denials{Creator: 289}}
	l.message([]byte{1, 2})
	l.message(message(recordLandlockAccess, `audit(1.0:1): domain=7 blockers=fs.read_file path="/a" dev="vda2" ino=1`))
	l.message(message(recordLandlockDomain, `audit(1.0:1): domain=7 status=allocated mode=enforcing pid=289 uid=0 exe="/a" comm="a"`))
	if got := l.message(message(recordSyscall, `audit(1.0:2): pid=4`)); len(got) != 1 || got[0].Target != "/a" {
		t.Errorf("%v", got)
	}
	l = &LandlockLog{fd: -1}
	if l.message(message(unix.AUDIT_GET, enabled)); l.FD() != -1 { // descriptor -1 cannot join the group
		t.Error("it goes on without a group")
	}
	l.Close()
	unix.Close(ends[0])
}
