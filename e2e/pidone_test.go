package e2e

import (
	"strings"
	"testing"
)

// Pid 1 shares the supervisor's memory, and reveals nothing of it inside.
func TestPidOneTellsNothing(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.env = append(b.env, "OUTSIDE=marker-of-the-caller")
	for name, spec := range map[string]string{
		"access": `{"access_mode": "read-only", "environment": {"set": {"A": "marker-of-the-spec"}}}`,
		"net":    `{"network": {"mode": "none"}, "environment": {"set": {"A": "marker-of-the-spec"}}}`,
	} {
		r := b.sh(spec, `tr '\0' ' ' </proc/1/cmdline
echo
for f in environ maps mem auxv io; do cat /proc/1/$f >/dev/null 2>&1 && echo "read $f"; done
for f in exe cwd root ns/mnt fd/0 fd/1 fd/2; do readlink /proc/1/$f && echo "followed $f"; done`).ended()
		first, _, _ := strings.Cut(r.out, "\n") // the script follows, with its newlines
		_, said, _ := strings.Cut(r.out, "echo end ")
		if strings.Contains(r.out, "marker") || !strings.Contains(first, "sbx exec -- /bin/sh -c tr ") || strings.Contains(first, b.rec) {
			t.Errorf("%s: %v", name, r)
		}
		if strings.Contains(said, "read ") || strings.Contains(said, "followed ") {
			t.Errorf("%s: %v", name, r)
		}
	}
	// The host can see which command a supervisor runs, too.
	s := b.start(specRO, "/bin/sh", "-c", "echo ready; read -r x; echo end")
	s.expect("ready")
	if got := argvOf(s.cmd.Process.Pid); !strings.HasSuffix(got, "sbx exec -- /bin/sh -c echo ready; read -r x; echo end") {
		t.Errorf("outside: %q", got)
	}
	s.say("")
	s.expect("end")
	s.wait()
	// The control: a command line is what a process was started with.
	if r := b.plain("/bin/sh", "-c", `tr '\0' ' ' </proc/$$/cmdline; : marker; echo; echo end`).ended(); !strings.Contains(r.out, "marker") {
		t.Errorf("control: %v", r)
	}
}
