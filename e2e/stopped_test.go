package e2e

import (
	"os"
	"testing"
	"time"
)

// A command that stops itself, or its group as an editor does at Ctrl-Z, is a stopped job of the
// shell from which sbx was started, each time that it does so.
func TestCommandsThatStopThemselves(t *testing.T) {
	needSandbox(t)
	bash := needPrograms(t, "bash")
	for _, whom := range []string{"0", "$$"} {
		t.Run(whom, func(t *testing.T) {
			b := newBox(t)
			// After enough programs, the supervisor answers in a thread of its own when another is
			// started, and has by then seen the SIGCONT that let it continue, which it passes on.
			script := "n=0; while [ $n -lt 40 ]; do n=$((n+1)); /bin/true; done; kill -TSTP " + whom + "; /bin/echo one $((40+2)); kill -TSTP " + whom + "; /bin/echo two $((41+2)); exit 5"
			for _, job := range []string{"/bin/sh -c '" + script + "'", b.typed(specWW, "/bin/sh", "-c", script)} {
				x := b.onTerminal(bash, "--norc", "--noprofile", "-i")
				x.expect("$ ")
				x.send(job + "\n")
				x.expect("Stopped")
				x.send("echo shell''is back\n")
				x.expect("shellis back")
				x.send("fg\n")
				x.expect("one 42")
				x.expect("Stopped")
				x.send("fg\n")
				x.expect("two 43")
				x.send("echo status''=$?\n")
				x.expect("status=5")
				x.send("exit\n")
				x.wait()
			}
		})
	}
}

// If no shell waits for it, nothing would let the supervisor continue.
func TestStopsWithoutATerminal(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	script := "(while [ ! -e over ]; do sleep 0.05; kill -CONT $$; done) & kill -TSTP $$; : >over; wait; echo end"
	b.plain("/bin/sh", "-c", script).ended()
	b.run(specWW, "/bin/sh", "-c", "rm -f over; "+script).ended()
}

// Processes that a command has left running stop with it, since otherwise nothing would enforce a
// limit, and continue with it.
func TestWhatIsLeftRunningStopsWithItsCommand(t *testing.T) {
	needSandbox(t)
	bash := needPrograms(t, "bash", "setsid")
	b := newBoxElsewhere(t)
	const script = `setsid /bin/sh -c 'while [ ! -e over ]; do echo x >>ticks; sleep 0.01; done' & until [ -s ticks ]; do sleep 0.01; done; kill -TSTP $$; : >over; wait; echo ended $((40+2))`
	size := func() int64 {
		info, err := os.Stat(b.ws + "/ticks")
		if err != nil {
			return 0
		}
		return info.Size()
	}
	// grows reports whether more is written within so many hundredths of a second.
	grows := func(long int) bool {
		before := size()
		for range long {
			time.Sleep(10 * time.Millisecond)
			if size() > before {
				return true
			}
		}
		return false
	}
	b.write("ws/script", script)
	for _, c := range []struct {
		name, job string
		goesOn    bool
		long      int
	}{
		{"control", "cd " + b.ws + " && /bin/sh ./script", true, 1000},
		{"sandbox", b.typed(specWW, "/bin/sh", "./script"), false, 50},
	} {
		x := b.onTerminal(bash, "--norc", "--noprofile", "-i")
		x.expect("$ ")
		x.send(c.job + "\n")
		x.expect("Stopped")
		x.send("echo shell''is back\n")
		x.expect("shellis back")
		if got := grows(c.long); got != c.goesOn {
			t.Errorf("%s: what was left running goes on: %v", c.name, got)
		}
		x.send("fg\n")
		x.expect("ended 42")
		x.send("exit\n")
		x.wait()
		for _, name := range []string{"ticks", "over"} {
			must(t, os.Remove(b.ws+"/"+name))
		}
	}
}
