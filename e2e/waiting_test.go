package e2e

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// While sbx waits for a document, a signal has no command to go to, so it ends sbx. In the control,
// the document lets the command run.
func TestSignalsEndAWait(t *testing.T) {
	needSandbox(t)
	for _, sig := range []syscall.Signal{0, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT} {
		b := newBox(t)
		fifo := b.base + "/spec.json"
		must(t, unix.Mkfifo(fifo, 0o600))
		cmd := exec.Command(sbxPath, "exec", "-q", "--spec", fifo, "--", "true")
		cmd.Dir, cmd.Env = b.ws, b.env
		must(t, cmd.Start())
		late := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
		w, err := os.OpenFile(fifo, os.O_WRONLY, 0) // ends when sbx has opened it
		must(t, err)
		if sig == 0 {
			_, err = w.WriteString(`{"access_mode": "workspace-write"}`)
			must(t, err)
			must(t, w.Close())
		} else {
			must(t, cmd.Process.Signal(sig))
		}
		_ = cmd.Wait()
		late.Stop()
		w.Close()
		status := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if sig == 0 && status != 0 || sig != 0 && status.Signal() != sig {
			t.Errorf("%v: status %#x", sig, status)
		}
	}
}
