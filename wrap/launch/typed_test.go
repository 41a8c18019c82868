package launch

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// A terminal's keys from before the exec reach the command by the supervisor, which no
// handler of its own saw; later ones it got by itself, however late the supervisor
// looks. What a process has sent is passed on always.
func TestEarlyKeys(t *testing.T) {
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			kind(s)
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if _, err := unix.FcntlInt(w.Fd(), unix.F_SETFD, 0); err != nil {
				t.Fatal(err)
			}
			out := strconv.Itoa(int(w.Fd()))
			plan := s.plan(s.doc(), "/bin/sh", "-c", `trap "echo 2" INT; trap "echo 3" QUIT; trap "exit 7" TERM
				exec >&`+out+`; echo ready; while :; do sleep 0.1; done`)
			var ends [2]int
			if err := unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
				t.Fatal(err)
			}
			defer unix.Close(ends[0])
			defer unix.Close(ends[1])
			note := func(sig unix.Signal, code int32) {
				var b bytes.Buffer
				err := binary.Write(&b, binary.NativeEndian, siginfo{signo: int32(sig), code: code})
				if err == nil {
					_, err = unix.Write(ends[1], b.Bytes())
				}
				if err != nil {
					t.Error(err)
				}
			}
			onThread(func() {
				pr, err := Start(plan, Options{Caller: Inherited(), Keep: []int{int(w.Fd())}, Signals: ends[0]})
				if err == nil {
					err = pr.Ready()
				}
				note(unix.SIGQUIT, siKernel)
				if err == nil {
					err = pr.Go()
				}
				if err != nil {
					t.Error(err)
					return
				}
				w.Close()
				note(unix.SIGINT, siKernel)
				line := make([]byte, len("ready\n"))
				if _, err := io.ReadFull(r, line); err != nil || string(line) != "ready\n" {
					t.Errorf("%q, %v", line, err)
				}
				note(unix.SIGTERM, 0)
				if exit := pr.Supervise(lenient(pr)); exit.Code != 7 {
					t.Errorf("%+v", exit)
				}
			})
			if got, err := io.ReadAll(r); string(got) != "3\n" {
				t.Errorf("the command got %q, %v", got, err)
			}
		})
	}
}
