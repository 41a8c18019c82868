package e2e

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A command that keeps the supervisor's lines from the terminal gains no time by that: it takes the
// foreground so that the terminal stops background writers, or suspends the terminal's output.
func TestHeldTerminalHoldsNoLimit(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "stty")
	for name, hold := range map[string]string{
		"nothing": "",
		"tostop":  "stty tostop; set -m",
		"output":  `"$1" try "$2" >/dev/null`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBoxElsewhere(t)
			spec := specWith(specWW, `"limits":{"timeout":"1s"}`)
			x := b.onTerminal(b.sbxOn(spec, "/bin/sh", "-c", hold+"\n(: >.envrc)\nsleep 60", "sh", b.probe(), callOf(unix.SYS_IOCTL, 0, unix.TCXONC, 0))...)
			if got := x.wait(); got != 124 {
				t.Errorf("status %d; %q", got, x.all())
			}
			x.expect("limits.timeout: 1s: the command was ended")
			if !strings.Contains(x.all(), ".envrc is a protected name") {
				t.Errorf("%q", x.all())
			}
		})
	}
}

// A program that fills the screen is not written over: sbx prints its lines after the program has
// ended, or has left that mode of the terminal.
func TestFullScreenIsNotWrittenOver(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "stty")
	b := newBoxElsewhere(t)
	second := b.write("out/second", "")
	const first = "sbx: protected_names: "
	run := func(raw, cooked, last string) []string {
		x := b.onTerminal(b.sbxOn(specWW, "/bin/sh", "-c", raw+"\n(: >.envrc) 2>/dev/null\necho full''screen\n"+cooked+"\n(: >"+second+") 2>/dev/null; echo la''st"+last)...)
		if code := x.wait(); code != 0 {
			t.Errorf("status %d: %q", code, x.all())
		}
		<-x.over
		var order []string
		for _, l := range strings.Split(x.all(), "\r\n") {
			switch {
			case strings.HasPrefix(l, first):
				order = append(order, "first line")
			case strings.HasPrefix(l, "sbx: access_mode: "):
				order = append(order, "second line")
			case l == "fullscreen" || l == "last":
				order = append(order, l)
			}
		}
		return order
	}
	for _, c := range []struct{ name, raw, cooked, last, want string }{
		{"lines", "", "", "", "[first line fullscreen second line last]"},
		{"a full screen", "stty -icanon", "", "; stty icanon", "[fullscreen last first line second line]"},
		{"one that is left", "stty -icanon", "stty icanon", "", "[fullscreen first line second line last]"},
		{"one that stays", "stty -icanon", "", "", "[fullscreen last first line second line]"},
	} {
		if got := fmt.Sprint(run(c.raw, c.cooked, c.last)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Filling the pipe to which both write gains no time either: the command ends, and the record is
// written, before any reader reads.
func TestFullPipeHoldsNoLimit(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	r, w, err := os.Pipe()
	must(t, err)
	defer r.Close()
	size, err := unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 4096)
	must(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := b.command(ctx, specWith(specWW, `"limits":{"timeout":"1s"}`), "/bin/sh", "-c",
		`head -c "$1" /dev/zero >&2; (: >.envrc) 2>/dev/null; sleep 60`, "sh", strconv.Itoa(size))
	cmd.Stderr = w
	must(t, cmd.Start())
	w.Close()
	eventually(t, "the record of a run whose stderr nobody reads", func() bool {
		text, _ := os.ReadFile(b.rec)
		return strings.Contains(string(text), `"ended_by": "timeout"`)
	})
	said, err := io.ReadAll(r)
	must(t, err)
	cmd.Wait()
	if got := statusOf(cmd.ProcessState); got != 124 || !strings.Contains(string(said), ".envrc is a protected name") ||
		!strings.HasSuffix(string(said), "limits.timeout: 2s would allow more\n") {
		t.Errorf("status %d; %q", got, strings.TrimLeft(string(said), "\x00"))
	}
}

// A command that takes the foreground and lets another process read in the background does not stop
// the supervisor, and does not continue without it.
func TestStopsOfACommandStopNoSupervisor(t *testing.T) {
	needSandbox(t)
	var major, minor int
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	must(t, err)
	if n, _ := fmt.Sscanf(string(release), "%d.%d", &major, &minor); n != 2 || major < 6 || major == 6 && minor < 12 {
		t.Skip("before Linux 6.12 the command has a group of its own, which stops as a whole, and the supervisor with it")
	}
	b := newBoxElsewhere(t)
	spec := specWith(specWW, `"limits":{"timeout":"1s"}`)
	// The shell's first job stays in its group; the shell with set -m has one of its own.
	const script = `sh -c 'while sleep 0.05; do head -c 1 </dev/tty; done' & sh -c 'set -m; sleep 60'`
	x := b.onTerminal("/bin/sh", "-i")
	x.expect("$ ")
	x.send(b.typed(spec, "/bin/sh", "-c", strings.ReplaceAll(script, "'", `'"'"'`)) + "; echo status $?\n")
	x.expect("limits.timeout: 1s: the command was ended")
	x.expect("status 124")
	x.send("exit\n")
	x.wait()
	if strings.Contains(x.all(), "topped") {
		t.Errorf("%q", x.all())
	}
}
