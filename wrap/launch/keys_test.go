package launch

import (
	"bytes"
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// Terminal signals from before the exec are passed on by the supervisor, since the command had
// no handler yet. It receives later ones itself, however late the supervisor reads them.
// Signals that a process has sent are always passed on.
func TestEarlyKeys(t *testing.T) {
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			kind(s)
			plan := s.plan(s.doc(), "/bin/sh", "-c", `trap "echo 2 >>got" INT; trap "echo 3 >>got" QUIT; trap "exit 7" TERM
				while :; do sleep 0.1; done`)
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
				pr, err := Start(plan, Options{Caller: Inherited(), Signals: ends[0]})
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
				note(unix.SIGINT, siKernel)
				if !catches(pr, unix.SIGTERM) {
					t.Error("the command has no handler")
				}
				note(unix.SIGTERM, 0)
				if exit := pr.Supervise(lenient(pr)); exit.Code != 7 {
					t.Errorf("%+v", exit)
				}
			})
			if got, err := os.ReadFile(s.dir + "/got"); string(got) != "3\n" {
				t.Errorf("the command got %q, %v", got, err)
			}
		})
	}
}

// catches waits until the command has a handler of a signal, for some seconds.
func catches(pr *Process, sig unix.Signal) bool {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		caught := read.StatusLine(read.Status(strconv.Itoa(pidOf(pr.target))), "SigCgt:")
		if mask, err := strconv.ParseUint(strings.TrimSpace(caught), 16, 64); err == nil && mask&(1<<(sig-1)) != 0 {
			return true
		}
	}
	return false
}
