package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The kernel's file systems that the host shows at other places, as in the directory of a chroot,
// are not the sandbox's own: through them a root could write sysctl files.
func TestKernelsFileSystemsElsewhere(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	jail := b.ws + "/jail"
	host := mounting(t, "mkdir -p "+jail+"/proc "+jail+"/sys "+srv+"/jail; mount --rbind /proc "+jail+"/proc; mount --rbind /sys "+jail+"/sys; "+
		"mount --bind /proc "+srv+"/jail; touch "+jail+"/one; mount --bind /proc/version "+jail+"/one; touch "+jail+"/plain")
	script := "for f in " + jail + "/proc/version " + jail + "/one " + srv + "/jail/version /opt/jail/proc/version /opt/jail/one; do\n" +
		"grep -s Linux $f >/dev/null && echo read $f; done\n" +
		"for f in " + jail + "/proc/sys/kernel/core_pattern " + srv + "/jail/sys/kernel/core_pattern " + jail + "/sys/kernel/mm/transparent_hugepage/enabled; do\n" +
		"(exec 9>>$f) 2>/dev/null && echo open $f; done\n" + // never written
		"ls -d " + jail + "/sys/kernel 2>/dev/null; ls " + jail + "/plain; echo end\n"
	want := 4
	if isRoot() {
		want = 7
	}
	if got := b.on(host, `{}`, "/bin/sh", "-c", script).ended().out; strings.Count(got, "\n") != want+2 {
		t.Errorf("control: %q", got)
	}
	for _, spec := range []string{modeOnly, specWith(specRO, `"filesystem":{"mounts":[{"label":"a","source":"`+jail+`","target":"/opt/jail","mode":"ro"}]}`),
		`{"filesystem":{"hide":["~/absent"]}}`, `{"access_mode":"danger-full-access","network":{"mode":"none"}}`,
		`{"filesystem":{"read":["@system","` + b.ws + `","` + srv + `"]}}`} {
		if r := b.on(host, spec, "/bin/sh", "-c", script).ended(); r.out != jail+"/plain\nend\n" {
			t.Errorf("%s: %v", spec, r)
		}
	}
	// Naming them opens nothing either.
	for field, path := range map[string]string{"write": jail + "/proc/sys", "read": srv + "/jail"} {
		b.on(host, `{"access_mode":"read-only","filesystem":{"`+field+`":["`+path+`"]}}`, "/bin/true").refused("filesystem." + field)
	}
}

// filesystem.read may name /proc and paths in it: they are the sandbox's own.
func TestProcIsNamed(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	look := fmt.Sprintf("[ -d /proc/%d ] && echo the test is there; grep -c processor /proc/cpuinfo >/dev/null && echo read; ls -d /proc/empty /proc/root", os.Getpid())
	b.plain("/bin/sh", "-c", look+"; echo end").ended().holdsLines(t, "control", "the test is there", "read", "end")
	for _, spec := range []string{`{"filesystem":{"read":["@system","PATH"]}}`, specWith(specWW, `"filesystem":{"read":["@system","PATH"]}`), specWith(specWW, `"filesystem":{"read":["/","PATH"]}`)} {
		for _, path := range []string{"/proc", "/proc/cpuinfo", "/proc/self"} {
			asked := strings.Replace(spec, "PATH", path, 1)
			b.sh(asked, look).ended().holdsLines(t, asked, "read", "end")
		}
	}
}

// The root directory contains the host's own /proc, /sys and /dev: no field makes it writable, and
// it is not a workspace for a command that starts there.
func TestTheRootIsNoWorkspace(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	file := b.write("out/file", "")
	look := fmt.Sprintf("[ -d /proc/%d ] && echo the test is there; echo x >%s && echo wrote; echo end", os.Getpid(), file)
	b.plain("/bin/sh", "-c", look).ended().holdsLines(t, "control", "the test is there", "wrote", "end")
	for _, spec := range []string{specWW, specWith(specWW, `"filesystem":{"read":["@system","`+b.out+`"]}`)} {
		r := b.runIn("/", "", spec, "/bin/sh", "-c", look).ended()
		r.holdsLines(t, spec, "end")
		if !strings.Contains(r.rec.reason("access_mode"), "the current directory is /") {
			t.Errorf("%s: %q", spec, r.rec.reason("access_mode"))
		}
		b.runIn("/", "", specWith(specWW, `"filesystem":{"write":["`+b.out+`"]}`), "/bin/sh", "-c", look).ended().holdsLines(t, "named", "wrote", "end")
	}
	for _, spec := range []string{
		specWith(specWW, `"filesystem":{"write":["/"]}`), `{"filesystem":{"write":["/"]}}`, specWith(specWW, `"working_dir":"/"`), `{"sandbox":{"root":"/"}}`,
	} {
		b.run(spec, "/bin/sh", "-c", look).refused("cannot make / writable")
	}
}
