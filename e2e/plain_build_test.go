package e2e

import (
	"strings"
	"testing"
)

// A binary that was linked without the entry point makes sandboxes as well. It says what is lost,
// and no more than that is.
func TestBuiltWithoutItsEntryPoint(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	plain, err := plainBuilt()
	must(t, err)
	const inside = `ulimit -Sn; grep '^SigIgn' /proc/self/status; cat /proc/1/cmdline; echo; echo x >made; echo x >.envrc; echo end`
	spec := `{"access_mode": "workspace-write", "environment": {"set": {"NAMED": "in-the-document"}}}`
	b.write("ws/.envrc", "kept\n")
	run := func(sbx string) (doctor, soft, ignored, line string) {
		r := b.plain(append([]string{probePath, "with", "ignore=1", "nofile=256:512", "--", sbx}, b.execArgs(spec, "/bin/sh", "-c", inside)...)...).ended()
		b.holds(b.ws+"/made", "x\n")
		b.holds(b.ws+"/.envrc", "kept\n")
		if !strings.Contains(r.err, "Read-only file system") || r.rec.status("access_mode") != "enforced" {
			t.Errorf("%s: %v", sbx, r)
		}
		out := strings.Split(r.out, "\n")
		return b.plain(sbx, "doctor").out, out[0], out[1], out[2]
	}

	doctor, soft, ignored, line := run(sbxPath)
	if !strings.Contains(doctor, "built with its entry point  yes") || soft != "256" || !hasSignal(ignored, 1) || strings.Contains(line, "in-the-document") {
		t.Errorf("with it: %s %s %q\n%s", soft, ignored, line, doctor)
	}
	doctor, soft, ignored, line = run(plain)
	if !strings.Contains(doctor, "built with its entry point  no   commands get neither the signals that the caller ignores") ||
		!strings.Contains(doctor, "-E sbx_entry") {
		t.Errorf("doctor does not say what is lost:\n%s", doctor)
	}
	if soft == "256" || hasSignal(ignored, 1) || !strings.Contains(line, "in-the-document") {
		t.Errorf("doctor says of what is not lost that it is: %s %s %q", soft, ignored, line)
	}
}

// hasSignal reports whether signal n is in a line of /proc/PID/status.
func hasSignal(line string, n int) bool {
	_, set, _ := strings.Cut(line, "\t")
	last := set[len(set)-(n-1)/4-1]
	digit := strings.IndexByte("0123456789abcdef", last)
	return digit>>((n-1)%4)&1 == 1
}
