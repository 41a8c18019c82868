package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// execsPath is testdata/execs, compiled, statically if there are no shared libraries.
var execsPath = sync.OnceValues(func() (string, error) { return compileC("execs", "-pthread") })
var execsStatic = sync.OnceValues(func() (string, error) { return compileC("execs", "-pthread", "-static") })

// compileC compiles testdata/NAME/NAME.c.
func compileC(name string, flags ...string) (string, error) {
	out := filepath.Join(filepath.Dir(probePath), name+strings.Join(flags, ""))
	args := append([]string{"-O1", "-o", out, filepath.Join(moduleDir, "e2e/testdata", name, name+".c")}, flags...)
	if text, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("gcc: %w\n%s", err, text)
	}
	return out, nil
}

// traced returns how many execs strace sees in a command, and how many succeed, without the one of
// the command itself.
func (b *box) traced(argv ...string) (attempted, started int) {
	b.t.Helper()
	log := b.base + "/strace.log"
	args := append([]string{"strace", "-f", "-qq", "--seccomp-bpf", "-e", "trace=execve,execveat", "-e", "signal=none", "-o", log, "--"}, argv...)
	b.plain(args...)
	text, err := os.ReadFile(log)
	must(b.t, err)
	for line := range strings.Lines(string(text)) {
		if !execEnd.MatchString(line) {
			continue // the first half of an exec that the log interrupts
		}
		attempted++
		if strings.HasSuffix(strings.TrimSpace(line), "= 0") {
			started++
		}
	}
	return attempted - 1, started - 1
}

var execEnd = regexp.MustCompile(`\)\s+= `)

// whole returns a number of the record, -1 if there is none.
func (r record) whole(keys ...string) int {
	var v any = map[string]any(r)
	for _, k := range keys {
		m, ok := v.(map[string]any)
		if !ok {
			return -1
		}
		v = m[k]
	}
	if f, ok := v.(float64); ok {
		return int(f)
	}
	return -1
}

// execCase is a command whose programs are counted.
type execCase struct {
	name string
	argv []string
	root bool // needs root, and a sandbox that constrains nothing
}

// execCases are compared with strace. X stands for the compiled testdata/execs.
var execCases = []execCase{
	{"nothing", []string{"/bin/true"}, false},
	{"missing directories of PATH", []string{"env", "PATH=/no/such:/bin:/nor/this", "true"}, false},
	{"directories of PATH that may not be entered", []string{"sh", "-c", "PATH=$PWD/shut:$PWD/shut/further:$PATH; ls; env true; ./shut/true; env shut/true; exec ls"}, false},
	{"a script", []string{"./script.sh"}, false},
	{"a script by env", []string{"./env.sh"}, false},
	{"a script run by a script", []string{"sh", "-c", "./chain.sh"}, false},
	{"a script without an interpreter's file", []string{"sh", "-c", "./lost.sh; true"}, false},
	{"a script whose interpreter is no program", []string{"sh", "-c", "./odd.sh; true"}, false},
	{"a script with a relative interpreter", []string{"sh", "-c", "cd sub; ./relative.sh; true"}, false},
	{"a script without a first line", []string{"sh", "-c", "./plain.sh; env ./plain.sh; true"}, false},
	{"exec of a shell", []string{"sh", "-c", "exec ls"}, false},
	{"xargs", []string{"sh", "-c", "seq 40 | xargs -n1 -P4 echo"}, false},
	{"make", []string{"make", "-s", "-j8", "all"}, false},
	{"what is missing", []string{"sh", "-c", "/no/such; nosuch; ./sub/nor/this; /bin/true/x; ./plain.sh/x; true"}, false},
	{"no execute bit", []string{"sh", "-c", "./data; /etc/passwd; true"}, false},
	{"a directory", []string{"sh", "-c", "/bin; ./sub; . ./data; true"}, false},
	{"links", []string{"sh", "-c", "./dangling; ./far; ./loop; ./good; ./sub/up; true"}, false},
	{"an empty file", []string{"sh", "-c", "env ./empty; true"}, false},
	{"posix_spawn", []string{"X", "spawn", "300"}, false},
	{"vfork", []string{"X", "vfork", "300"}, false},
	{"8 times 500", []string{"X", "parallel", "8", "500"}, false},
	{"descriptors", []string{"X", "descriptors"}, false},
	{"paths", []string{"X", "paths"}, false},
	{"a program deleted while it runs", []string{"X", "deleted"}, false},
	{"a static program", []string{"S", "paths"}, false},
	{"python", []string{"python3", "-c", "import subprocess\nfor i in range(20): subprocess.run(['true'])\ntry: subprocess.run(['nosuch'])\nexcept OSError: pass"}, false},
	{"gcc", []string{"sh", "-c", "echo 'int main(){return 0;}' >a.c; gcc a.c -o a.out && ./a.out"}, false},
	{"another root", []string{"S", "chroot"}, true},
}

// execFiles makes the files that the cases run.
func (b *box) execFiles() {
	for name, text := range map[string]string{
		"script.sh": "#!/bin/sh\ntrue; /bin/true\n", "env.sh": "#!/usr/bin/env sh\n/bin/true\n",
		"chain.sh": "#!./script.sh\n", "lost.sh": "#!/no/interpreter\n", "odd.sh": "#!./data\n",
		"plain.sh": "/bin/true\n", "data": "true\n", "sub/relative.sh": "#!../script.sh\n", "empty": "",
		"Makefile": "all:" + strings.Repeat(" t", 0) + " a b c d e f g h\n%:\n\t@/bin/true $@; sh -c 'exec true'\n",
	} {
		path := b.write("ws/"+name, text)
		if name != "data" && name != "Makefile" {
			must(b.t, os.Chmod(path, 0o755))
		}
	}
	for name, to := range map[string]string{"dangling": "nowhere", "far": "/no/where", "loop": "loop", "good": "script.sh", "sub/up": "../script.sh"} {
		must(b.t, os.Symlink(to, b.ws+"/"+name))
	}
	must(b.t, os.Mkdir(b.ws+"/root", 0o755))
	must(b.t, os.Mkdir(b.ws+"/shut", 0))
}

// command puts the compiled programs into the workspace, which is in view wherever it lies, and
// returns the command line.
func (c *execCase) command(b *box) []string {
	argv := append([]string{}, c.argv...)
	copyTo := func(path string, err error, names ...string) {
		must(b.t, err)
		for _, n := range names {
			must(b.t, exec.Command("cp", path, b.ws+"/"+n).Run())
		}
	}
	switch argv[0] {
	case "X":
		argv[0] = "./x"
		path, err := execsPath()
		copyTo(path, err, "x")
	case "S":
		argv[0] = "./s"
		path, err := execsStatic()
		copyTo(path, err, "s", "root/in")
	}
	return argv
}

// The count equals that of strace for the same command in the same place.
func TestCommandsAreCountedAsStraceDoes(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "strace", "gcc", "make", "python3")
	for _, s := range []struct{ name, spec string }{{"constrains nothing", specNone}, {"workspace-write", specWW}} {
		for _, c := range execCases {
			if c.root && s.spec != specNone {
				continue
			}
			t.Run(s.name+"/"+c.name, func(t *testing.T) {
				if c.root && !isRoot() {
					t.Skip("only root can make it")
				}
				b := newBox(t)
				b.execFiles()
				attempted, started := b.traced(c.command(b)...)
				must(t, os.RemoveAll(b.ws))
				must(t, os.Mkdir(b.ws, 0o755))
				b.execFiles()
				r := b.run(s.spec, c.command(b)...)
				if got := r.rec.whole("commands_used"); got != started || started < 0 {
					t.Errorf("counted %d, strace %d\n%v", got, started, r.rec["commands"])
				}
				if got := r.rec.whole("commands", "attempted"); got != attempted {
					t.Errorf("%d attempts, strace %d\n%v", got, attempted, r.rec["commands"])
				}
				if by := r.rec.text("commands", "by"); by != counter && (counter != "" || by != "notify") {
					t.Errorf("counted by %q", by)
				}
			})
		}
	}
}

// Programs that strace miscounts count themselves. A program that races is never charged for less
// than it ran.
func TestCommandsAreCountedUnderThreadsAndSignals(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "gcc")
	ran := regexp.MustCompile(`ran (\d+)`)
	for _, s := range []struct{ name, spec string }{{"constrains nothing", specNone}, {"workspace-write", specWW}} {
		for _, c := range []struct {
			argv  []string
			exact bool
		}{{[]string{"threads", "50"}, true}, {[]string{"alarms", "100"}, true}, {[]string{"racer", "1000"}, false}} {
			t.Run(s.name+"/"+c.argv[0], func(t *testing.T) {
				b := newBox(t)
				b.execFiles()
				r := b.run(s.spec, (&execCase{argv: append([]string{"X"}, c.argv...)}).command(b)...)
				m := ran.FindStringSubmatch(r.out)
				if m == nil {
					t.Fatalf("it did not tell how many it saw: %v", r)
				}
				n, _ := strconv.Atoi(m[1])
				if got := r.rec.whole("commands_used"); got < n || c.exact && got != n || n == 0 {
					t.Errorf("charged %d for %d that ran: %v", got, n, r.rec["commands"])
				}
			})
		}
	}
}

// refused reports whether the record has a violation of that kind about a target.
func (r record) refused(kind, target string) bool {
	for _, v := range r.list("violations") {
		if v.text("kind") == kind && v.text("target") == target {
			return true
		}
	}
	return false
}

// Two thousand processes come and go while the supervisor is delayed and signals arrive: the run
// ends, and each process is counted.
func TestCountingEndsUnderStress(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "gcc")
	for _, spec := range []string{specNone, specWW} {
		b := newBox(t)
		b.inBox("x", 0o755)
		s := b.start(spec, "./x", "parallel", "8", "250")
		for range 15 {
			for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGURG, syscall.SIGWINCH, syscall.SIGCONT} {
				s.cmd.Process.Signal(sig)
				time.Sleep(10 * time.Millisecond)
			}
		}
		if code := s.wait(); code != 0 {
			t.Fatalf("status %d: %s", code, s.err)
		}
		rec, err := readRecord(b.rec)
		must(t, err)
		if n := rec.whole("commands_used"); n != 2000 {
			t.Errorf("%d are counted: %v", n, rec["commands"])
		}
	}
}

// A call by an x32 number starts no program if the kernel does not support x32.
func TestX32IsNotCharged(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("x32 is a part of amd64")
	}
	const execve, execveat = "call|0x40000208|0|0|0", "call|0x40000221|-100|0|0|0|0"
	b := newBox(t)
	absent := b.control(execve)[execve] == "ENOSYS"
	for _, name := range []string{"notify", "ptrace"} {
		b.args = []string{"--counter", name}
		r := b.run(`{"max_commands": 1}`, b.probe(), "try", execve, execveat, execve, "run|/bin/true", execve, "run|/bin/true").ended()
		for _, a := range []string{execve, execveat} {
			if got := r.lines()[a]; absent && got != "ENOSYS" {
				t.Errorf("%s: %s: %s", name, a, got)
			}
		}
		if absent && (r.rec.whole("commands_used") != 1 || r.rec.whole("commands", "started") != 1) {
			t.Errorf("%s: %d used: %v", name, r.rec.whole("commands_used"), r)
		}
	}
	if !absent {
		lacks(t, "this kernel has x32, whose calls are counted as any other")
	}
}
