package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// rules are specs of one rule each that says nothing of writing.
func (b *box) rules() map[string]string {
	profile := b.write("out/profile.json", `{"defaultAction":"SCMP_ACT_ALLOW"}`)
	return map[string]string{
		"network":  `{"network":{"mode":"none"}}`,
		"hide":     `{"filesystem":{"hide":[` + quoted(b.write("out/hidden", "h")) + `]}}`,
		"mounts":   `{"filesystem":{"mounts":[{"source":` + quoted(b.out) + `,"target":` + quoted(b.home) + `,"mode":"ro"}]}}`,
		"commands": `{"commands":{"deny":["no-such-program"]}}`,
		"syscalls": `{"syscalls":` + quoted(profile) + `}`,
	}
}

// The host's devices are out of reach under every rule: a disk shows what is
// hidden, and a terminal or a loop device is a way out.
func TestDevicesAreTheSandboxsOwn(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	harmless := map[string]bool{"console": true, "fd": true, "full": true, "null": true, "ptmx": true, "pts": true, "random": true, "shm": true,
		"stderr": true, "stdin": true, "stdout": true, "tty": true, "urandom": true, "zero": true}
	host, err := os.ReadDir("/dev")
	must(t, err)
	others := 0
	for _, e := range host {
		if !harmless[e.Name()] {
			others++
		}
	}
	// Devices that do nothing by being opened.
	tries := []string{"open|/dev/kmsg", "open|/dev/loop-control", "open|/dev/fuse", "open|/dev/net/tun"}
	arrived := ""
	for a, got := range b.control(tries...) {
		if got == "ok" {
			arrived = a
		}
	}
	for name, spec := range b.rules() {
		r := b.sh(spec, `for d in /dev/*; do echo "${d#/dev/}"; done`).ended()
		for _, d := range strings.Fields(r.out) {
			if !harmless[d] && d != "end" {
				t.Errorf("%s: /dev/%s is in view", name, d)
			}
		}
		for a, got := range b.tries(spec, tries...) {
			if got != "ENOENT" {
				t.Errorf("%s: %s: %s", name, a, got)
			}
		}
		for a, got := range b.tries(spec, "write|/dev/null", "open|/dev/zero", "open|/dev/urandom", "write|/dev/full", "open|/dev/ptmx") {
			if got != "ok" {
				t.Errorf("%s: %s: %s", name, a, got)
			}
		}
	}
	if others == 0 || arrived == "" {
		t.Skip("this host has no other devices that the caller may open: the control shows nothing")
	}
}

// Shared memory is the host's where no rule makes files private, and what is
// hidden in it stays hidden.
func TestSharedMemoryStaysTheHosts(t *testing.T) {
	needSandbox(t)
	dir, err := os.MkdirTemp("/dev/shm", "sbx-e2e.")
	if err != nil {
		lacks(t, err.Error())
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	b := newBoxElsewhere(t)
	seen, hidden := b.write(dir+"/seen", "s"), b.write(dir+"/hidden", "h")
	specs := b.rules()
	specs["hide"] = `{"filesystem":{"hide":[` + quoted(hidden) + `]}}`
	for name, spec := range specs {
		got := b.tries(spec, "read|"+seen, "read|"+hidden, "create|"+dir+"/"+name)
		if got["read|"+seen] != "read:s" || got["create|"+dir+"/"+name] != "ok" || (got["read|"+hidden] == "read:h") == (name == "hide") {
			t.Errorf("%s: %v", name, got)
		}
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := b.tries(specRO, "read|"+seen)["read|"+seen]; got != "ENOENT" {
		t.Errorf("read-only: %s", got)
	}
	// A workspace there is written as elsewhere.
	b.ws = dir
	if r := b.run(`{"network":{"mode":"none"}}`, "/bin/sh", "-c", "echo x > made && echo end").ended(); r.code == 0 {
		b.holds(dir+"/made", "x\n")
	}
}

// The caller's terminal has its name inside, by which it can be opened again, and no
// other terminal has one.
func TestTerminalHasAName(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "tty")
	b := newBoxElsewhere(t)
	master, other := openTerminal(t)
	defer other.Close()
	defer master.Close() // with which its name ends
	specs := b.rules()
	specs["read-only"], specs["read"] = specRO, specRead
	const script = `n=$(tty) && echo "it is $n." && echo again >"$n" && : </dev/console && test ! -e "$1" && echo "en""d"`
	for name, spec := range specs {
		x := b.onTerminal(b.sbxOn(spec, "/bin/sh", "-c", script, "sh", other.Name())...)
		if n := x.number(); n < 16 {
			x.expect(fmt.Sprintf("it is /dev/pts/%d.", n))
		} else { // perhaps too many to count up to
			x.expect("it is /dev/")
		}
		x.expect("again")
		x.expect("end")
		if code := x.wait(); code != 0 {
			t.Errorf("%s: status %d: %q", name, code, x.all())
		}
	}
	x := b.onTerminal(b.sbxOn(specNone, "/bin/sh", "-c", `tty; test -c "$1" && echo "en""d"`, "sh", other.Name())...)
	x.expect(fmt.Sprintf("/dev/pts/%d", x.number()))
	x.expect("end")
	x.wait()
	if r := b.sh(specRO, "test ! -e /dev/console && ls /dev/pts").ended(); r.out != "ptmx\nend\n" { // without a terminal
		t.Error(r)
	}
}

// A command makes terminals of its own beside it.
func TestTerminalsOfItsOwn(t *testing.T) {
	needSandbox(t)
	python := needPrograms(t, "python3")
	b := newBoxElsewhere(t)
	const script = `import os, pty
for i in range(5):
    m, s = pty.openpty()
    os.write(s, b"through"); assert os.read(m, 7) == b"through"
    name = os.ttyname(s); assert os.stat(name).st_rdev == os.fstat(s).st_rdev and name != os.ttyname(0)
print("en" + "d")`
	x := b.onTerminal(b.sbxOn(specRO, python, "-c", script)...)
	x.expect("end")
	if code := x.wait(); code != 0 {
		t.Errorf("status %d: %q", code, x.all())
	}
}
