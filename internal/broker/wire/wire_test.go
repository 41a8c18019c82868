package wire

import (
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var all = []Message{
	&Start{Execution: "20260101-000000-1", TokenSHA256: strings.Repeat("ab", 32), Workspace: "/work", RunDir: "/state/runs/x", Output: "/out", SBX: "/bin/sbx",
		Broker: Document{Name: "b.yaml", Dir: "/etc", Text: []byte("version: 1\n\xff")}, Plan: &Document{Name: "p.json", Dir: "/", Text: []byte("{}")},
		Granted: Granted{View: []Place{{"/", "read-only", "/", false}, {"/work/.git/hooks", "read-only", "/work/.git/hooks", true}}, Trees: []string{"/work"},
			Reach: []string{"example.com:443"}, Programs: []string{"/bin/true"}, Caps: []string{"secret:X"}}},
	&Start{Granted: Granted{Any: true}},
	&Sockets{Kinds: []string{"tcp", "unix"}}, &End{},
	&Ready{BrokerSHA256: "a", PlanSHA256: "b", Required: true, Tools: []string{"t"}},
	&Refused{"broker", "b.yaml:1:1", "read it", "why", "help"},
	&Call{"1", "2026-01-01T00:00:00Z", "t", "s", "deny", "r", "because\n\"x\"", "rules"},
	&Ask{"1", "t", "why"}, &Failed{"no space left"},
	&Summary{2, 1, []Count{{"t", 2, 1}}, 4},
}

// A written message can be read again. The reader requires each of its members, and rejects one
// that is there twice.
func TestRoundTrip(t *testing.T) {
	for _, m := range all {
		line := Append(nil, m)
		if strings.IndexByte(string(line), '\n') != len(line)-1 {
			t.Errorf("%T is more than a line: %s", m, line)
		}
		got, err := Read(line)
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%s came back as %+v, %v", line, got, err)
		}
	}
	for _, bad := range []string{
		``, `{}`, `[]`, `{"end": {}, "ask": {}}`, `{"other": {}}`, `{"end": 1}`, `{"end": {"x": 1}}`, `{"ask": {"id": 1}}`, `{"ask": {"id": "1", "id": "2"}}`,
		`{"start": {"broker": {"text": "%"}}}`, `{"sockets": {"kinds": [1]}}`, `{"summary": {"by_tool": [1]}}`, `{"summary": {"calls": 1.5}}`,
	} {
		if m, err := Read([]byte(bad)); err == nil {
			t.Errorf("%s is read as %+v", bad, m)
		}
	}
}

func TestDescriptorsComeBesideTheirMessage(t *testing.T) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	a, b := Conn{FD: ends[0]}, Conn{FD: ends[1]}
	if _, _, err := b.Receive(10 * time.Millisecond); err != unix.ETIMEDOUT {
		t.Errorf("who says nothing in time: %v", err)
	}
	long := &Start{Broker: Document{Text: make([]byte, 1<<20)}}
	go func() {
		_ = a.Send(long)
		_ = a.Send(&Sockets{Kinds: []string{"tcp"}}, int(file.Fd()))
		_ = a.Send(&End{})
		_ = unix.Close(a.FD)
	}()
	for i, want := range []Message{long, &Sockets{Kinds: []string{"tcp"}}, &End{}} {
		m, fds, err := b.Receive(-1)
		if err != nil || !reflect.DeepEqual(m, want) {
			t.Fatalf("message %d: %T, %v", i, m, err)
		}
		if (len(fds) == 1) != (i == 1) {
			t.Errorf("message %d came with descriptors %v", i, fds)
		}
		for _, fd := range fds {
			_ = unix.Close(fd)
		}
	}
	if _, _, err := b.Receive(time.Second); err != io.EOF {
		t.Errorf("the end is %v", err)
	}
	_ = unix.Close(b.FD)
}
