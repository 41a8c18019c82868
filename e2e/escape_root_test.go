package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestNoNewPrivileges(t *testing.T) {
	b := newBoxElsewhere(t)
	for _, s := range eachSpec {
		if s.spec != specNone {
			needSandbox(t)
		}
		if got := b.tries(s.spec, "status|NoNewPrivs")["status|NoNewPrivs"]; got != "1" {
			t.Errorf("%s: no_new_privs is %q", s.name, got)
		}
	}
	if got := b.control("status|NoNewPrivs")["status|NoNewPrivs"]; got != "0" {
		lacks(t, "no_new_privs is set outside as well: the control shows nothing")
	}
}

// A program with another user's set-id bit gives nothing.
func TestSetuidProgramsGiveNothing(t *testing.T) {
	needSandbox(t)
	if !isRoot() {
		for _, name := range []string{"su", "sudo", "passwd", "mount"} {
			path, err := exec.LookPath(name)
			if err != nil {
				continue
			}
			info, err := os.Stat(path)
			if err != nil || info.Mode()&os.ModeSetuid == 0 {
				continue
			}
			b := newBox(t)
			seen := `"$0" --help >/dev/null 2>&1; grep -E '^(Uid|Cap(Eff|Prm))' /proc/self/status`
			control, inside := b.sh(specNone, seen).ended(), b.sh(specWW, seen).ended()
			if inside.out != control.out {
				t.Errorf("%s: %v", name, inside)
			}
		}
		// Only root can make the probe set-id: root's run covers it.
		return
	}
	b := newBoxElsewhere(t)
	suid := b.copyProbe(b.ws + "/suid")
	must(t, os.Remove(suid)) // a copy of its own, not a link
	text, err := os.ReadFile(probePath)
	must(t, err)
	must(t, os.WriteFile(suid, text, 0o755))
	must(t, os.Chown(suid, 12345, 12345))
	must(t, unix.Chmod(suid, 0o6755))
	control := b.plain(suid, "try", "id").ended().lines()["id"]
	if control != "12345" {
		lacks(t, "set-id programs do nothing here (nosuid): "+control)
	}
	for _, spec := range []string{specRO, specWW, specNone} {
		if got := b.run(spec, suid, "try", "id").ended().lines()["id"]; got != "0" {
			t.Errorf("%s: the set-id program runs as %q", spec, got)
		}
	}
}

func TestProcAndSysAreNotWritten(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	paths := []string{
		"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hostname", "/proc/sys/kernel/sysrq",
		"/proc/sys/vm/drop_caches", "/proc/sys/vm/overcommit_memory", "/proc/sys/fs/binfmt_misc/register",
		"/proc/sys/kernel/ns_last_pid", "/proc/sys/kernel/randomize_va_space", "/proc/sys/net/ipv4/ip_forward",
		"/proc/sysrq-trigger", "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/kernel/uevent_helper", "/sys/kernel/profiling",
		"/sys/power/state", "/sys/module/kernel/parameters/consoleblank",
		"/proc/irq/default_smp_affinity", "/proc/kcore", "/proc/mtrr", "/proc/dynamic_debug/control",
	}
	var argv []string
	for _, p := range paths {
		argv = append(argv, "write|"+p) // opened, never written
	}
	control := b.control(argv...)
	arrived := 0
	for _, spec := range []string{specRO, specWW} {
		inside := b.tries(spec, argv...)
		for _, a := range argv {
			if !oneOf(inside[a], "EROFS EACCES ENOENT EPERM") {
				t.Errorf("%s: %s: %s (%s outside)", spec, a, inside[a], control[a])
			}
			if control[a] == "ok" {
				arrived++
				if inside[a] == "ok" {
					t.Errorf("%s: %s is writable", spec, a)
				}
			}
		}
	}
	if isRoot() && arrived < 6 {
		t.Errorf("control: only %d could be opened outside: %v", arrived, control)
	}
	// A process's own files stay writable.
	if got := b.tries(specWW, "write|/proc/self/oom_score_adj", "write|/proc/self/comm")["write|/proc/self/comm"]; got != "ok" {
		t.Errorf("/proc/self/comm: %s", got)
	}
}

// All other files that a kernel has in /proc and that root may write by their modes are read-only,
// except those that every user may write.
func TestProcHasNothingElseToWrite(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "find")
	b := newBoxElsewhere(t)
	list := func(dir string) string { // opened, never written
		return "find " + dir + ` -path '/proc/[0-9]*' -prune -o -type f -perm /222 ! -perm /002 -print 2>/dev/null |
			while read -r f; do (exec 9>>"$f") 2>/dev/null && echo "$f"; done`
	}
	for _, spec := range []string{b.inView("read-only"), specWW} {
		if r := b.sh(spec, list("/proc")).ended(); r.out != "end\n" {
			t.Errorf("%s: can be written: %v", spec, r)
		}
	}
	if r := b.plain("/bin/sh", "-c", list("/proc/sys/kernel")); isRoot() && !strings.Contains(r.out, "/proc/sys/kernel/core_pattern\n") {
		t.Errorf("control: %v", r)
	}
}

func TestRootsFilesAndDevices(t *testing.T) {
	needSandbox(t)
	if !isRoot() {
		t.Skip("what only root could read or make")
	}
	b := newBoxElsewhere(t)
	reset := func() {
		for _, n := range []string{"blk", "chr", "fifo"} {
			os.Remove(b.ws + "/" + n)
		}
	}
	hold(t, b, []string{specWW}, reset, []escape{
		{"mkblock|" + b.ws + "/blk", "ok", "EPERM"},
		{"mkchar|" + b.ws + "/chr", "ok", "EPERM"},
		{"mkfifo|" + b.ws + "/fifo", "ok", "ok"},
		{"open|/etc/shadow", "ok", "ENOENT"},
		{"id", "0", "0"},
	})
	// The nodes of /dev are the host's: the command can use them, but not change them. The attempts
	// would change nothing if they succeeded: the nodes belong to root.
	hold(t, b, []string{specRO, specWW}, func() {}, []escape{
		{"chown|/dev/null", "ok", "EROFS"},
		{"chown|/dev/tty", "ok", "EROFS"},
		{"write|/dev/null", "ok", "ok"},
		{"append|/dev/full", "ENOSPC", "ENOSPC"},
	})
	if got := b.tries(specRO, "open|/etc/shadow", "open|/etc/passwd"); got["open|/etc/shadow"] != "ENOENT" || got["open|/etc/passwd"] != "ok" {
		t.Errorf("read-only: %v", got)
	}
	// A node that the host has made in the workspace is no device inside.
	reset()
	must(t, unix.Mknod(b.ws+"/chr", unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))))
	if err := b.control("open|" + b.ws + "/chr")["open|"+b.ws+"/chr"]; err != "ok" {
		t.Logf("control: %s: this file system has no devices", err)
	}
	if got := b.tries(specWW, "open|"+b.ws+"/chr")["open|"+b.ws+"/chr"]; got != "EACCES" {
		t.Errorf("a device of the workspace: %s inside", got)
	}
	// No device of the host's disks is in view.
	if r := b.sh(specRO, `find /dev -type b; find /dev -maxdepth 1 -type c | sort`).ended(); strings.Contains(r.out, "vd") || strings.Contains(r.out, "mem") {
		t.Errorf("devices inside: %s", r.out)
	}
}

// A device that root's sbx got as a standard stream can be used, but not changed: a new mode would
// apply to the whole host.
func TestRootsStreamsAreNotTheHostsNodes(t *testing.T) {
	needSandbox(t)
	if !isRoot() {
		t.Skip("an ordinary user can change no device of the host's")
	}
	b := newBoxElsewhere(t)
	node := b.base + "/null"
	must(t, unix.Mknod(node, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))))
	if f, err := os.OpenFile(node, os.O_RDWR, 0); err != nil {
		t.Skip("this file system has no devices: ", err)
	} else {
		f.Close()
	}
	with := func(cmd *exec.Cmd) (result, string) {
		f, err := os.OpenFile(node, os.O_RDWR, 0)
		must(t, err)
		defer f.Close()
		must(t, os.Chmod(node, 0o666))
		cmd.Stdin = f
		r := b.finish(cmd)
		st, err := os.Stat(node)
		must(t, err)
		return r, st.Mode().String()
	}
	script := []string{"/bin/sh", "-c", "chmod 600 /dev/stdin; chmod 600 /proc/self/fd/0; echo x >/dev/stdin && cat /dev/stdin && readlink /proc/self/fd/0; echo end"}
	plain := exec.Command(script[0], script[1:]...)
	plain.Dir, plain.Env = b.ws, b.env
	if r, mode := with(plain); mode != "Dcrw-------" {
		t.Errorf("control: %s: %v", mode, r)
	}
	for _, spec := range []string{specRO, specWW, `{"filesystem":{"read":["@system","."]}}`} {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		r, mode := with(b.command(ctx, spec, script...))
		cancel()
		if mode != "Dcrw-rw-rw-" || r.ended().out != "/dev/null\nend\n" || strings.Count(r.err, "Read-only file system") != 2 {
			t.Errorf("%s: %s: %v", spec, mode, r)
		}
	}
	for _, hidden := range []string{"/dev", "/dev/null"} { // the sandbox's own is not in view, but open
		spec := `{"filesystem":{"hide":[` + quoted(hidden) + `]}}`
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		r, mode := with(b.command(ctx, spec, "/bin/sh", "-c", "chmod 600 /proc/self/fd/0; cat; echo end"))
		cancel()
		if mode != "Dcrw-rw-rw-" || r.ended().out != "end\n" || strings.Count(r.err, "Read-only file system") != 1 {
			t.Errorf("%s: %s: %v", spec, mode, r)
		}
	}
}

func TestCapabilities(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	want := "0000000000000000"
	if isRoot() {
		want = fmt.Sprintf("%016x", 1<<unix.CAP_CHOWN|1<<unix.CAP_DAC_OVERRIDE|1<<unix.CAP_FOWNER|1<<unix.CAP_FSETID)
	}
	fields := []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}
	var argv []string
	for _, f := range fields {
		argv = append(argv, "status|"+f)
	}
	for _, spec := range []string{specRO, specWW} {
		got := b.tries(spec, argv...)
		for _, f := range fields[1:3] {
			if got["status|"+f] != want {
				t.Errorf("%s: %s is %s, want %s", spec, f, got["status|"+f], want)
			}
		}
		for _, f := range fields {
			if c := got["status|"+f]; c != want && c != "0000000000000000" {
				t.Errorf("%s: %s is %s, more than %s", spec, f, c, want)
			}
		}
	}
	if isRoot() {
		if c := b.control("status|CapEff")["status|CapEff"]; c == want {
			t.Errorf("control: root has no more outside: %s", c)
		}
	}
	r := b.sh(specWW, "id -u; id -g").ended()
	if r.out != fmt.Sprintf("%d\n%d\nend\n", os.Getuid(), os.Getgid()) {
		t.Errorf("the caller's ids are not its own: %v", r)
	}
}

// Root works on files of other owners, as tar and another user's project require.
func TestRootWorksOnOthersFiles(t *testing.T) {
	needSandbox(t)
	if !isRoot() {
		t.Skip("root's alone")
	}
	needPrograms(t, "tar")
	eachPlace(t, func(t *testing.T, b *box) {
		b.write("tree/file", "of another\n")
		must(t, os.Chown(b.base+"/tree/file", 4321, 8765))
		must(t, os.Chmod(b.base+"/tree/file", 0o640))
		if r := b.plain("tar", "-C", b.base+"/tree", "--numeric-owner", "-cf", b.ws+"/a.tar", "file"); r.code != 0 {
			t.Fatal(r)
		}
		r := b.sh(specWW, `tar --numeric-owner -xf a.tar && stat -c '%u %g %a' file; chown 77:78 file && stat -c '%u %g' file`).ended()
		if r.out != "4321 8765 640\n77 78\nend\n" {
			t.Errorf("tar: %v", r)
		}
		// The project belongs to another user, and is closed to others.
		b.write("ws/theirs/f", "theirs\n")
		for _, p := range []string{"", "/theirs", "/theirs/f"} {
			must(t, os.Chown(b.ws+p, 5555, 5555))
		}
		must(t, os.Chmod(b.ws+"/theirs", 0o700))
		must(t, os.Chmod(b.ws+"/theirs/f", 0o600))
		r = b.sh(specWW, `cat theirs/f && echo mine >theirs/f && echo new >theirs/g && chmod 644 theirs/f`).ended()
		if r.out != "theirs\nend\n" {
			t.Errorf("another's project: %v", r)
		}
		b.holds(b.ws+"/theirs/f", "mine\n")
		b.holds(b.ws+"/theirs/g", "new\n")
	})
}
