package e2e

import (
	"net"
	"os"
	"slices"
	"strings"
	"testing"
)

// eachWrapper runs a test with each tool that this host has, except those named.
func eachWrapper(t *testing.T, f func(t *testing.T, b *box, tool outerTool), but ...string) {
	t.Helper()
	needSandbox(t)
	for _, name := range found(outerTools) {
		if slices.Contains(but, name) || name == "oci" || name == "crun" { // bundles are covered by the tests of denials
			continue
		}
		t.Run(name, func(t *testing.T) {
			tool := ready(t, name)
			b := newBoxElsewhere(t)
			b.env = append(b.env, tool.env...)
			f(t, b, tool)
		})
	}
}

// Sockets in nested directories are out of reach, and the command starts.
func TestWrappedSockets(t *testing.T) {
	needPrograms(t, "python3")
	eachWrapper(t, func(t *testing.T, b *box, tool outerTool) {
		dirs := []string{b.out + "/e/d", b.out + "/e", b.out + "/e/d/k"}
		script := "import socket,sys\nfor p in sys.argv[1:]:\n try: socket.socket(socket.AF_UNIX).connect(p); print('connected')\n except OSError: print('refused')\n"
		argv, want := []string{"/usr/bin/python3", "-c", script}, ""
		b.write(b.out+"/e/d/k/file", "")
		for _, dir := range dirs {
			l, err := net.Listen("unix", dir+"/s")
			must(t, err)
			t.Cleanup(func() { l.Close() })
			argv, want = append(argv, dir+"/s"), want+"refused\n"
		}
		// One is for datagrams, and looks connected after a client has been.
		at := &net.UnixAddr{Name: b.out + "/e/datagrams", Net: "unixgram"}
		l, err := net.ListenUnixgram("unixgram", at)
		must(t, err)
		t.Cleanup(func() { l.Close() })
		c, err := net.DialUnix("unixgram", nil, at)
		must(t, err)
		c.Close()
		argv[2] += "try:\n s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\n s.connect('" + at.Name + "')\n print('connected')\nexcept OSError: print('refused')\n"
		control := b.plain(argv...)
		if strings.Contains(control.out, "refused") {
			t.Errorf("control: %s", control)
		}
		a, _ := b.wrap(b.invoked(nil, argv...), tool.flags("--wrapper")...)
		if r := a.start(b); r.code != 0 || r.out != want+"refused\n" {
			t.Errorf("%d %q %q", r.code, r.out, r.err)
		}
	}, "docker", "podman", "runsc") // an image has none of these directories
}

// The command's loader variables do not make the tool, which runs outside, load anything, and an
// engine's client goes where its caller says.
func TestWrappedEnvironment(t *testing.T) {
	needPrograms(t, "gcc")
	eachWrapper(t, func(t *testing.T, b *box, tool outerTool) {
		b.write(b.ws+"/e.c", `#include <fcntl.h>
__attribute__((constructor)) static void loaded(void) { open("`+b.base+`/loaded", O_CREAT|O_WRONLY, 0666); }
`)
		if r := b.plain("gcc", "-shared", "-fPIC", "-o", b.ws+"/e.so", b.ws+"/e.c"); r.code != 0 {
			t.Skip("no library can be made: " + r.err)
		}
		spec := `{"access_mode": "workspace-write", "environment": {"pass": ["*"], "set": {"LD_PRELOAD": "` + b.ws + `/e.so", "DOCKER_HOST": "tcp://127.0.0.1:1", "CONTAINERS_CONF": "/nowhere"}}}`
		argv := []string{"/bin/sh", "-c", `echo "$LD_PRELOAD $DOCKER_HOST $CONTAINERS_CONF"`}
		want := b.ws + "/e.so tcp://127.0.0.1:1 /nowhere\n"
		a, _ := b.wrap(b.invoked(nil, argv...), append(tool.flags("--wrapper"), "--spec-json", spec)...)
		if r := a.start(b); r.code != 0 || r.out != want {
			t.Errorf("%d %q %q", r.code, r.out, r.err)
		}
		if tool.name != "sbx" {
			b.args = append(b.args, tool.flags("--backend")...)
			b.env = append(b.env, "LD_PRELOAD="+b.ws+"/e.so")
			if r := b.run(spec, argv...); r.code != 0 || r.out != want {
				t.Errorf("as a backend: %d %q %q", r.code, r.out, r.err)
			}
		}
		if _, err := os.Lstat(b.base + "/loaded"); err == nil {
			t.Error("it was loaded outside of the sandbox")
		}
	})
}

// The line for a shell leaves out the same variables as the answer in JSON.
func TestWrappedLine(t *testing.T) {
	eachWrapper(t, func(t *testing.T, b *box, tool outerTool) {
		b.env = append(b.env, "SERVICE_TOKEN=hunter2", "KEPT=a b")
		spec := `{"access_mode": "workspace-write", "environment": {"set": {"ADDED": "c d"}}}`
		flags := append(tool.flags("--wrapper"), "-q", "--spec-json", spec, "--", "/bin/sh", "-c", `echo "$SERVICE_TOKEN,$KEPT,$ADDED"`)
		line := b.plain(append([]string{sbxPath, "wrap"}, flags...)...)
		r := b.plain("/bin/sh", "-c", line.out)
		if want := ",a b,c d\n"; line.code != 0 || r.code != 0 || r.out != want || strings.Contains(line.out, "hunter2") {
			t.Errorf("%d %q %q", r.code, r.out, r.err)
		}
	})
}

// The file of a spec cannot be changed by a command under it, as in sbx exec, because the next
// wrapping reads it.
func TestWrappedSpecFile(t *testing.T) {
	eachWrapper(t, func(t *testing.T, b *box, tool outerTool) {
		const text = `{"access_mode": "workspace-write"}`
		b.write(b.ws+"/spec.json", text)
		script := "echo x > new && echo x > spec.json; mv spec.json old; rm -f spec.json; echo the end"
		a, _ := b.wrap(b.invoked(nil, "/bin/sh", "-c", script), append(tool.flags("--wrapper"), "--spec", b.ws+"/spec.json")...)
		r := a.start(b)
		got, err := os.ReadFile(b.ws + "/spec.json")
		if err != nil || string(got) != text || r.out != "the end\n" {
			t.Errorf("%q %v: %d %q %q", got, err, r.code, r.out, r.err)
		}
		if _, err := os.Lstat(b.ws + "/new"); err != nil {
			t.Error("nothing can be written at all")
		}
	})
}

// A hidden or protected path stays so if a directory above it becomes a mount point, or read-only,
// for another reason: for the spec's file, the record, or a name that is protected itself.
func TestBackendPinnedLater(t *testing.T) {
	eachBackend(t, func(t *testing.T, b *box, tool outerTool) {
		sub := b.ws + "/sub"
		spec := `{"access_mode": "workspace-write", "working_dir": "` + b.ws + `", "filesystem": {"hide": ["` + sub + `/file", "` + sub + `/dir", "` + b.ws + `/.vscode/file"]}}`
		b.write(sub+"/spec.json", spec)
		b.write(sub+"/file", "hidden")
		b.write(sub+"/dir/file", "hidden")
		b.write(b.ws+"/.vscode/file", "hidden")
		b.write(sub+"/r/.git/config", "[core]\n")
		b.write(sub+"/r/.git/HEAD", "ref: refs/heads/main\n")
		b.write(sub+"/r/.git/refs/x", "")
		b.write(sub+"/r/.git/objects/x", "")
		b.args = append(b.args, "--spec", sub+"/spec.json")
		b.rec = sub + "/rec.json"
		r := b.run("", "/bin/sh", "-c", "cat sub/file sub/dir/file .vscode/file; echo x >> sub/r/.git/config; echo x > .vscode/new; mv sub other; echo x > sub/new; echo the end")
		if r.out != "the end\n" || r.code != 0 {
			t.Errorf("%d %q %q", r.code, r.out, r.err)
		}
		if text, err := os.ReadFile(sub + "/r/.git/config"); err != nil || string(text) != "[core]\n" {
			t.Errorf("%q %v", text, err)
		}
		if _, err := os.Lstat(sub + "/new"); err != nil {
			t.Error("nothing can be written at all")
		}
	})
}

// A directory above a hidden path cannot be renamed where it could be written: under its new name
// the next run would show its contents.
func TestDirsAboveHiddenOnesStay(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.write(b.ws+"/a/b/secret", "S")
	b.write(b.ws+"/a/deep/file", "F")
	b.write(b.ws+"/.config/gh/hosts.yml", "S")
	b.env = append(b.env, "HOME="+b.ws)
	for i, kv := range b.env {
		if kv == "HOME="+b.home {
			b.env[i] = "HOME=" + b.ws
		}
	}
	script := "mv a a2 && echo moved-a; mv .config c2 && echo moved-config; mv a/deep a/d2 && echo moved-deep; mv a/d2 a/deep; cat a/b/secret a/deep/secret .config/gh/hosts.yml 2>/dev/null; echo the end"
	if r := b.plain("/bin/sh", "-c", script+"; mv a2 a; mv c2 .config"); !strings.Contains(r.out, "moved-a") || !strings.Contains(r.out, "moved-config") {
		t.Fatalf("control: %s", r)
	}
	for _, spec := range []string{`{"access_mode":"workspace-write","filesystem":{"hide":["a/b"]}}`, `{"access_mode":"workspace-write","filesystem":{"hide":["a/b/secret"]}}`} {
		if r := b.run(spec, "/bin/sh", "-c", script); r.out != "moved-deep\nthe end\n" {
			t.Errorf("%s: %s", spec, r)
		}
	}
}

// If the host's own /dev stays in view, its devices can be used, also if the root is rebuilt for a
// mount that has no place on the host.
func TestWrappedDevices(t *testing.T) {
	needSandbox(t)
	for _, name := range []string{"sbx", "bwrap", "oci"} {
		t.Run(name, func(t *testing.T) {
			tool := ready(t, name)
			b := newBoxElsewhere(t)
			b.env = append(b.env, tool.env...)
			spec := `{"filesystem": {"mounts": [{"label": "l", "source": "` + b.out + `", "target": "/` + uniqueName(t) + `", "mode": "ro"}]}}`
			argv := []string{"/bin/sh", "-c", "echo x >/dev/null && head -c 2 /dev/zero | wc -c"}
			if r := b.plain(argv...); r.code != 0 || strings.TrimSpace(r.out) != "2" {
				t.Fatalf("the control: %v", r)
			}
			a, _ := b.wrap(b.invoked(nil, argv...), append(tool.flags("--wrapper"), "--spec-json", spec)...)
			if tool.line != nil { // the runtime itself has options of its own here
				a.Wrapped.Cmd, a.Wrapped.Args = tool.line[0], append(slices.Clone(tool.line[1:]), a.Wrapped.Args...)
			}
			if r := a.start(b); r.code != 0 || strings.TrimSpace(r.out) != "2" {
				t.Errorf("%d %q %q", r.code, r.out, r.err)
			}
		})
	}
}

// A line starts the command in the same directory as sbx exec, and shows the same files: not the
// directory in which it was requested, if the spec has that out of view.
func TestWrappedStart(t *testing.T) {
	eachWrapper(t, func(t *testing.T, b *box, tool outerTool) {
		b.write("ws/file", "of the directory")
		b.write("ws/in/part", "of a part")
		for _, spec := range []string{`{"filesystem": {"read": ["@system", "in"]}}`, `{"filesystem": {"read": ["@system"], "write": ["in"]}}`,
			`{"access_mode": "workspace-write", "working_dir": "in"}`, `{"sandbox": {"root": "in"}}`, `{"access_mode": "read-only"}`} {
			argv := []string{"/bin/sh", "-c", "pwd; cat " + b.ws + "/file " + b.ws + "/in/part 2>/dev/null; echo"}
			b.args = []string{"--spec-json", spec}
			want := b.run("", argv...)
			line := b.plain(append([]string{sbxPath, "wrap", "-q", "--wrapper", tool.name, "--spec-json", spec, "--"}, argv...)...)
			if r := b.plain("/bin/sh", "-c", line.out); r.code != 0 || r.out != want.out {
				t.Errorf("%s: %d %q %q, and under sbx exec %q", spec, r.code, r.out, r.err, want.out)
			}
		}
	}, "nsjail", "docker", "podman", "runsc") // an image shows its own files
}
