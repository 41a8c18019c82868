package e2e

import (
	"net"
	"testing"
)

// eachWrapper runs a test with each tool that this host has.
func eachWrapper(t *testing.T, f func(t *testing.T, b *box, tool outerTool)) {
	t.Helper()
	needSandbox(t)
	for _, name := range outerTools {
		t.Run(name, func(t *testing.T) {
			tool := ready(t, name)
			b := newBoxElsewhere(t)
			b.env = append(b.env, tool.env...)
			f(t, b, tool)
		})
	}
}

// Sockets in folders of which one holds another are out of reach, and the command
// starts.
func TestWrappedSockets(t *testing.T) {
	needPrograms(t, "python3")
	eachWrapper(t, func(t *testing.T, b *box, tool outerTool) {
		if tool.image {
			t.Skip("an image has none of these folders")
		}
		dirs := []string{b.out + "/e/d", b.out + "/e", b.out + "/e/d/k"}
		script := "import socket,sys\nfor p in sys.argv[1:]:\n try: socket.socket(socket.AF_UNIX).connect(p); print('connected')\n except OSError: print('refused')\n"
		argv, want := []string{"/usr/bin/python3", "-c", script}, ""
		b.write(b.out+"/e/d/k/file", "")
		for _, dir := range dirs {
			l, err := net.Listen("unix", dir+"/s")
			must(t, err)
			t.Cleanup(func() { l.Close() })
			argv, want = append(argv, dir+"/s"), want+"refused\n"
		}
		a, _ := b.wrap(b.invoked(nil, argv...), tool.flags("--wrapper")...)
		if r := a.start(b); r.code != 0 || r.out != want {
			t.Errorf("%d %q %q", r.code, r.out, r.err)
		}
	})
}
