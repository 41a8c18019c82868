package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Most tests run under these specs: the first constrains nothing.
const (
	specNone = `{}`
	specRO   = `{"access_mode":"read-only"}`
	specWW   = `{"access_mode":"workspace-write"}`
	specFull = `{"access_mode":"danger-full-access"}`
)

var eachSpec = []struct{ name, spec string }{
	{"none", specNone}, {"read-only", specRO}, {"workspace-write", specWW}, {"danger-full-access", specFull},
}

// inEach runs a test under each access mode.
func inEach(t *testing.T, f func(t *testing.T, b *box, spec string)) {
	t.Helper()
	for _, s := range eachSpec {
		t.Run(s.name, func(t *testing.T) {
			if s.spec == specRO || s.spec == specWW {
				needSandbox(t)
			}
			if s.spec == specRO { // a working directory under /tmp has its own test
				f(t, newBoxElsewhere(t), s.spec)
				return
			}
			f(t, newBox(t), s.spec)
		})
	}
}

func TestStreamsPassByteForByte(t *testing.T) {
	inEach(t, func(t *testing.T, b *box, spec string) {
		size := int64(64 << 20)
		if spec == specWW && !testing.Short() {
			size = 1 << 30
		}
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		cmd := b.command(ctx, spec, b.probe(), "hash")
		// The pipes are the test's own: the command has these very ends.
		r, w, err := os.Pipe()
		must(t, err)
		r2, w2, err := os.Pipe()
		must(t, err)
		var errs bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = r, w2, &errs
		must(t, cmd.Start())
		r.Close()
		w2.Close()
		sent, got := sha256.New(), sha256.New()
		go func() {
			block := make([]byte, 1<<20+7)
			rand.New(rand.NewSource(1)).Read(block)
			for n := size; n > 0; n -= int64(len(block)) {
				if n < int64(len(block)) {
					block = block[:n]
				}
				sent.Write(block)
				if _, err := w.Write(block); err != nil {
					break
				}
			}
			w.Close()
		}()
		n, err := io.Copy(got, r2)
		must(t, err)
		if err := cmd.Wait(); err != nil {
			t.Fatal(err, errs.String())
		}
		if n != size || !bytes.Equal(sent.Sum(nil), got.Sum(nil)) {
			t.Errorf("%d bytes came of %d, or others", n, size)
		}
		if want := fmt.Sprintf("%d %x end\n", size, got.Sum(nil)); errs.String() != want {
			t.Errorf("stderr says %q, want %q", errs.String(), want)
		}
	})
}

// The command has the caller's own open files: after the command seeks, the caller sees the new
// offset.
func TestDescriptorsAreTheCallersOwn(t *testing.T) {
	inEach(t, func(t *testing.T, b *box, spec string) {
		in := b.write("in", "one\ntwo\nthree\n")
		f, err := os.Open(in)
		must(t, err)
		defer f.Close()
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		out, err := os.OpenFile(b.base+"/log", os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o644)
		must(t, err)
		defer out.Close()
		cmd := b.command(ctx, spec, b.probe(), "fds")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = f, out, out
		must(t, cmd.Run())
		text, err := os.ReadFile(b.base + "/log")
		must(t, err)
		if !strings.HasSuffix(string(text), "end\n") {
			t.Errorf("no end: %q", text)
		}
		cmd = b.command(ctx, spec, "/bin/sh", "-c", "read line; echo $line")
		cmd.Stdin = f
		got, err := cmd.Output()
		must(t, err)
		if string(got) != "one\n" {
			t.Errorf("the first line is %q", got)
		}
		if at, _ := f.Seek(0, io.SeekCurrent); at == 0 {
			t.Error("the caller's own offset has not moved")
		}
	})
}

func TestExitStatus(t *testing.T) {
	inEach(t, func(t *testing.T, b *box, spec string) {
		for _, n := range []int{0, 1, 2, 3, 77, 124, 125, 126, 127, 128, 129, 200, 255} {
			r := b.run(spec, "/bin/sh", "-c", "echo x; exit "+strconv.Itoa(n))
			if r.code != n || r.out != "x\n" || r.err != "" {
				t.Errorf("exit %d: %v", n, r)
			}
			if r.rec.text("state") != "exited" || r.rec.at("exit", "code") != float64(n) || r.rec.text("exit", "ended_by") != "command" {
				t.Errorf("exit %d: the record says %v", n, r.rec["exit"])
			}
		}
		for _, sig := range []syscall.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGABRT, unix.SIGKILL, unix.SIGUSR1, unix.SIGSEGV, unix.SIGPIPE, unix.SIGTERM, unix.SIGSYS} {
			r := b.run(spec, "/bin/sh", "-c", fmt.Sprintf("ulimit -c 0; kill -%d $$; echo not ended", sig))
			if r.code != 128+int(sig) || r.out != "" {
				t.Errorf("%v: %v", sig, r)
			}
			if r.rec.at("exit", "signal") != float64(sig) || r.rec.text("exit", "ended_by") != "signal" {
				t.Errorf("%v: the record says %v", sig, r.rec["exit"])
			}
		}
	})
}

func TestStatusOfWhatCannotRun(t *testing.T) {
	inEach(t, func(t *testing.T, b *box, spec string) {
		b.write("ws/plain", "#!/bin/sh\n")
		b.write("ws/noint", "#!/no/such/interpreter\n")
		b.write("ws/noise", "\x00\x01\x02 no program\n")
		must(t, os.Chmod(b.ws+"/noint", 0o755))
		must(t, os.Chmod(b.ws+"/noise", 0o755))
		for _, c := range []struct {
			argv []string
			want int
		}{
			{[]string{"no-such-program-anywhere"}, 127},
			{[]string{"./missing"}, 127},
			{[]string{"/no/such/dir/prog"}, 127},
			{[]string{"./plain"}, 126},
			{[]string{"./noint"}, 126},
			{[]string{"./noise"}, 126},
			{[]string{"."}, 126},
			{[]string{"/"}, 126},
			{[]string{"/etc/passwd"}, 126},
			{[]string{"/etc/passwd/x"}, 127},
			{[]string{"true"}, 0},
		} {
			r := b.run(spec, c.argv...)
			if r.code != c.want {
				t.Errorf("%q: %v, want %d", c.argv, r, c.want)
			}
			if c.want != 0 && !strings.HasPrefix(r.err, "sbx: ") {
				t.Errorf("%q: stderr %q", c.argv, r.err)
			}
		}
	})
}

func TestStatusOfABadCall(t *testing.T) {
	b := newBox(t)
	for _, c := range []struct {
		args []string
		want int
	}{
		{[]string{"exec"}, 2},
		{[]string{"exec", "--"}, 2},
		{[]string{"exec", "--no-such-flag", "--", "true"}, 2},
		{[]string{"exec", "--keep-fd", "x", "--", "true"}, 2},
		{[]string{"exec", "--spec"}, 2},
		{[]string{"no-such-verb"}, 2},
		{nil, 2},
		{[]string{"exec", "--spec", "/no/such/spec.json", "--", "true"}, 125},
		{[]string{"exec", "--spec-json", "{", "--", "true"}, 125},
		{[]string{"exec", "--spec-json", `{"acces_mode":"read-only"}`, "--", "true"}, 125},
		{[]string{"exec", "--spec-json", `{"access_mode":"read-onlyy"}`, "--", "true"}, 125},
		{[]string{"exec", "--spec-json", `{} {}`, "--", "true"}, 125},
		{[]string{"exec", "--spec-json", `{"access_mode":"read-only","access_mode":"read-only"}`, "--", "true"}, 125},
		{[]string{"exec", "--spec-json", `{"access_mode":null}`, "--", "true"}, 125},
		{[]string{"exec", "--spec-json", `{"working_dir":"/no/such/dir"}`, "--", "true"}, 125},
		{[]string{"exec", "--spec-json", `{}`, "--keep-fd", "99", "--", "true"}, 125},
	} {
		r := b.plain(append([]string{sbxPath}, c.args...)...)
		if r.code != c.want || r.out != "" || !strings.HasPrefix(r.err, "sbx: ") {
			t.Errorf("%q: %v, want %d and a word on stderr alone", c.args, r, c.want)
		}
	}
	for _, args := range [][]string{{"help"}, {"--help"}, {"exec", "--help"}, {"help", "exec"}} {
		if r := b.plain(append([]string{sbxPath}, args...)...); r.code != 0 || r.out == "" || r.err != "" {
			t.Errorf("%q: %v, want help on stdout and 0", args, r)
		}
	}
}

func TestSignalsReachTheCommandOnce(t *testing.T) {
	all := []syscall.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGWINCH, unix.SIGALRM, unix.SIGCONT}
	inEach(t, func(t *testing.T, b *box, spec string) {
		argv := []string{b.probe(), "signals"}
		for _, s := range all {
			argv = append(argv, strconv.Itoa(int(s)))
		}
		s := b.start(spec, argv...)
		s.expect("ready")
		for _, sig := range all {
			must(t, s.cmd.Process.Signal(sig))
			s.expect(fmt.Sprintf("got %d", sig))
		}
		if code := s.wait(); code != 0 {
			t.Fatalf("status %d: %q %s", code, s.out.all(), s.err)
		}
		counts := result{out: strings.Join(s.out.all(), "\n")}.lines()
		for _, sig := range all {
			if n := counts[fmt.Sprintf("count %d", sig)]; n != "1" {
				t.Errorf("%v came %q times", sig, n)
			}
		}
		if lastLine(strings.Join(s.out.all(), "\n")) != "end" {
			t.Error("the command did not come to its end")
		}
	})
}

// An unhandled signal ends the command, and sbx reports it.
func TestForwardedSignalEndsTheCommand(t *testing.T) {
	inEach(t, func(t *testing.T, b *box, spec string) {
		for _, sig := range []syscall.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGUSR2} {
			s := b.start(spec, "/bin/sh", "-c", "echo ready; exec sleep 15")
			s.expect("ready")
			must(t, s.cmd.Process.Signal(sig))
			if code := s.wait(); code != 128+int(sig) {
				t.Errorf("%v: status %d, want %d", sig, code, 128+int(sig))
			}
		}
	})
}

const tellState = `umask; ulimit -Sn; ulimit -Hn; nice; cat /proc/self/timerslack_ns; grep -E '^Sig(Ign|Blk)' /proc/self/status; echo end`

func TestCallersStateIsTheCommands(t *testing.T) {
	hard := hardFiles(t)
	for _, c := range []struct {
		name string
		with []string
	}{
		{"as it is", nil},
		{"ignored", []string{"ignore=13", "ignore=15", "ignore=10", "ignore=1", "ignore=2", "ignore=3"}},
		{"ignored rare ones", []string{"ignore=20", "ignore=21", "ignore=22", "ignore=28", "ignore=17"}},
		{"blocked", []string{"block=12", "block=15", "block=34", "block=64"}},
		{"umask", []string{"umask=027"}},
		{"umask of nothing", []string{"umask=0777"}},
		{"niceness", []string{"nice=7"}},
		{"timer slack", []string{"slack=123456"}},
		{"open files", []string{fmt.Sprintf("nofile=256:%d", hard)}},
		{"open files, hard", []string{"nofile=128:512"}},
		{"open files, few", []string{"nofile=32:32"}},
		{"all at once", []string{"ignore=13", "block=10", "umask=077", "nice=3", "nofile=100:200"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inEach(t, func(t *testing.T, b *box, spec string) {
				with := append(append([]string{probePath, "with"}, c.with...), "--")
				control := b.plain(append(with, "/bin/sh", "-c", tellState)...).ended()
				r := b.plain(append(append(with, sbxPath), b.execArgs(spec, "/bin/sh", "-c", tellState)...)...).ended()
				if r.out != control.out {
					t.Errorf("inside:\n%soutside:\n%s", r.out, control.out)
				}
			})
		})
	}
}

func hardFiles(t *testing.T) uint64 {
	t.Helper()
	var lim syscall.Rlimit
	must(t, syscall.Getrlimit(unix.RLIMIT_NOFILE, &lim))
	return lim.Max
}

func TestClosedStreamsAreNull(t *testing.T) {
	inEach(t, func(t *testing.T, b *box, spec string) {
		// The answer goes to a file, since stdout may be closed.
		const script = `(for n in 0 1 2; do readlink /proc/$$/fd/$n || echo closed; done; echo end) >"$0" 2>&1; true`
		answer := b.ws + "/answer"
		if spec == specRO {
			answer = b.out + "/answer"
			spec = specWith(spec, `"filesystem":{"write":[`+quoted(b.out)+`]}`)
		}
		links := func(argv ...string) []string {
			t.Helper()
			r := b.plain(argv...)
			text, _ := os.ReadFile(answer)
			lines := strings.Split(strings.TrimSpace(string(text)), "\n")
			os.Remove(answer)
			if r.code != 0 || len(lines) != 4 || lines[3] != "end" {
				t.Fatalf("%q: %v", lines, r)
			}
			return lines
		}
		for _, closed := range []string{"0", "1", "2", "01", "02", "12", "012"} {
			with := []string{probePath, "with"}
			for _, c := range closed {
				with = append(with, "close="+string(c))
			}
			with = append(with, "--")
			control := links(append(with, "/bin/sh", "-c", script, answer)...)
			inside := links(append(append(with, sbxPath), b.execArgs(spec, "/bin/sh", "-c", script, answer)...)...)
			for _, c := range closed {
				n := int(c - '0')
				if control[n] == "/dev/null" || inside[n] != "/dev/null" {
					t.Errorf("closed %s: %d is %q inside, %q outside", closed, n, inside[n], control[n])
				}
			}
		}
	})
}

// specWith adds members to a spec.
func specWith(spec, members string) string {
	if spec == specNone {
		return "{" + members + "}"
	}
	return strings.TrimSuffix(spec, "}") + "," + members + "}"
}

// A file of the host that is passed in for reading cannot be opened again for writing, though its
// descriptor is on the host's own mount.
func TestInputIsNotWritten(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	file := b.write(b.out+"/input", "as it was\n")
	const inside = `cat; (echo changed >/proc/self/fd/0) 2>/dev/null; (echo changed >/dev/stdin) 2>/dev/null; echo end`
	for _, spec := range []string{specWW, b.inView("read-only")} {
		r := b.plain("/bin/sh", "-c", `exec "$1" exec --effective "$2" --spec-json "$3" -- /bin/sh -c "$4" <"$5"`, "sh", sbxPath, b.rec, spec, inside, file)
		if r.out != "as it was\nend\n" {
			t.Errorf("%s: %v", spec, r)
		}
		b.holds(file, "as it was\n")
	}
	if r := b.plain("/bin/sh", "-c", `exec /bin/sh -c "$1" <"$2"`, "sh", inside, file); r.code != 0 {
		t.Errorf("control: %v", r)
	}
	b.holds(file, "changed\n")
}

// A file that is protected in the workspace, where Landlock would allow a write, is read through a
// pipe; any other file stays as it is.
func TestProtectedInputIsNotWritten(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		const inside = `read line; echo "$line"; (echo changed >>/proc/self/fd/0) 2>/dev/null; (echo changed >/dev/stdin) 2>/dev/null; cat >/dev/null; echo end`
		spec := b.write("ws/spec.json", specWW)
		for _, name := range []string{".git/config", "sub/.git/config", ".vscode/tasks.json", "spec.json", "free"} {
			const text = specWW + "\nsecond\n"
			file := b.write("ws/"+name, text)
			if name == "spec.json" {
				must(t, os.WriteFile(file, []byte(specWW+"\n"), 0o644))
			}
			before, err := os.ReadFile(file)
			must(t, err)
			run := func() result {
				return b.plain("/bin/sh", "-c", `cd "$1" && exec "$2" exec --effective "$3" --spec "$4" -- /bin/sh -c "$5" <"$6"`, "sh", b.ws, sbxPath, b.rec, spec, inside, file)
			}
			if r := run(); !strings.HasPrefix(r.out, specWW+"\n") || !strings.HasSuffix(r.out, "end\n") {
				t.Errorf("%s: %v", name, r)
			}
			after, err := os.ReadFile(file)
			must(t, err)
			if (string(after) != string(before)) != (name == "free") { // the control
				t.Errorf("%s was %q and is %q", name, before, after)
			}
		}
		big := b.write("ws/.envrc", strings.Repeat("x", 2<<20))
		r := b.plain("/bin/sh", "-c", `cd "$1" && exec "$2" exec --effective "$3" --spec "$4" -- /bin/cat <"$5"`, "sh", b.ws, sbxPath, b.rec, spec, big)
		if r.code != 125 || !strings.Contains(r.err, "pipe it in") {
			t.Errorf("%v", r)
		}
	})
}

func TestFurtherDescriptors(t *testing.T) {
	inEach(t, func(t *testing.T, b *box, spec string) {
		file := b.write("kept", "kept\n")
		with := []string{probePath, "with", "open=5:" + file, "open=77:" + file, "--"}
		control := b.plain(append(with, probePath, "fds")...).ended().lines()
		if control["5"] != file || control["77"] != file {
			t.Fatalf("control: the descriptors are not handed on: %v", control)
		}
		open := b.plain(append(append(with, sbxPath), b.execArgs(spec, b.probe(), "fds")...)...).ended().lines()
		b.args = []string{"--keep-fd", "77"}
		kept := b.plain(append(append(with, sbxPath), b.execArgs(spec, b.probe(), "fds")...)...).ended().lines()
		b.args = nil
		if spec == specNone || spec == specFull {
			if open["5"] != file || open["77"] != file {
				t.Errorf("where nothing is constrained they are open: %v", open)
			}
			return
		}
		if len(open) != 3 {
			t.Errorf("inside are more than three: %v", open)
		}
		if len(kept) != 4 || kept["77"] == "" {
			t.Errorf("inside is not the kept one alone: %v", kept)
		}
	})
}

func TestDescriptorsThatLeadOut(t *testing.T) {
	needSandbox(t)
	for _, c := range []struct{ name, with, keep string }{
		{"a directory on stdin", "dir=0:/", ""},
		{"a directory on stdout", "dir=1:/", ""},
		{"a directory on stderr", "dir=2:/", ""},
		{"an O_PATH on stdin", "path=0:/etc/passwd", ""},
		{"an O_PATH of a directory", "path=0:/", ""},
		{"a namespace on stdin", "open=0:/proc/self/ns/mnt", ""},
		{"a user namespace on stdin", "open=0:/proc/self/ns/user", ""},
		{"a kept directory", "dir=9:/", "9"},
		{"a kept O_PATH", "path=9:/etc", "9"},
		{"a kept namespace", "open=9:/proc/self/ns/net", "9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBox(t)
			if c.keep != "" {
				b.args = []string{"--keep-fd", c.keep}
			}
			for _, spec := range []string{specRO, specWW} {
				r := b.plain(append([]string{probePath, "with", c.with, "--", sbxPath}, b.execArgs(spec, "/bin/sh", "-c", "echo end >&2; echo end")...)...)
				if r.code != 125 || strings.Contains(r.out+r.err, "end\n") {
					t.Errorf("want 125 and nothing run: %v", r)
				}
				if c.with != "dir=2:/" && !strings.Contains(r.err, "descriptor") {
					t.Errorf("no word of the descriptor: %v", r)
				}
			}
			// The control: if nothing is constrained the descriptor is passed on, and a directory
			// is a way out.
			b.args = nil
			fd := c.with[strings.IndexByte(c.with, '=')+1:][:1]
			r := b.plain(append([]string{probePath, "with", c.with, "--", sbxPath}, b.execArgs(specNone, "/bin/sh", "-c", "readlink /proc/self/fd/"+fd+" >"+b.ws+"/link; exit 3")...)...)
			if r.code != 3 {
				t.Errorf("control: %v", r)
			}
		})
	}
}

// argvOf returns the command line of a process of the host, "" if it is gone or is a zombie.
func argvOf(pid int) string {
	text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	return strings.ReplaceAll(strings.TrimRight(string(text), "\x00"), "\x00", " ")
}

// withArg lists the processes of the host that have this argument.
func withArg(word string) []int {
	var pids []int
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && strings.HasSuffix(argvOf(pid), " "+word) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// endAll ends the processes with that name and returns how many there were.
func endAll(name string) int {
	left := withArg(name)
	for _, pid := range left {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	return len(left)
}

// uniqueName returns a word that no other process of the host has as an argument.
func uniqueName(t *testing.T) string {
	return fmt.Sprintf("e2e-%d-%d", os.Getpid(), time.Now().UnixNano())
}

func TestNothingOutlivesTheCommand(t *testing.T) {
	inEach(t, func(t *testing.T, b *box, spec string) {
		name := uniqueName(t)
		control := exec.Command(probePath, "orphans", "go", name)
		out, err := control.Output()
		must(t, err)
		left := endAll(name)
		if !strings.HasSuffix(string(out), "end\n") || left != 3 {
			t.Fatalf("control: %d daemons are left without a sandbox: %q", left, out)
		}
		name = uniqueName(t)
		b.run(spec, b.probe(), "orphans", "go", name).ended()
		if left := endAll(name); left != 0 {
			t.Errorf("%d daemons are left", left)
		}
	})
}

func TestNothingOutlivesTheSupervisor(t *testing.T) {
	for _, spec := range []string{specRO, specWW} {
		needSandbox(t)
		for _, sig := range []syscall.Signal{unix.SIGKILL, unix.SIGTERM, unix.SIGSEGV} {
			if sig == unix.SIGSEGV && spec != specWW {
				continue // the runtime prints its stacks for ten seconds
			}
			t.Run(sig.String(), func(t *testing.T) {
				b, name := newBoxElsewhere(t), uniqueName(t)
				s := b.start(spec, b.probe(), "orphans", "stay", name)
				s.expect("ready")
				// Three daemons, the command, pid 1 and the supervisor all have the name at the
				// end.
				if n := len(withArg(name)); n < 5 {
					t.Fatalf("%d processes while it runs", n)
				}
				must(t, s.cmd.Process.Signal(sig))
				code := s.wait()
				eventually(t, "nothing is left", func() bool { return len(withArg(name)) == 0 })
				if sig == unix.SIGTERM && code == 0 {
					return // wait closes stdin, and the command may see that before the signal
				}
				if want := 128 + int(sig); sig != unix.SIGSEGV && code != want && code != -want { // at SEGV the runtime has a status of its own
					t.Errorf("status %d after signal %d", code, sig)
				}
			})
		}
	}
}

func TestSessionAndGroupAreTheCallers(t *testing.T) {
	inEach(t, func(t *testing.T, b *box, spec string) {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		cmd := b.command(ctx, spec, "/bin/sh", "-c", "echo ready; read x; exit 4")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		s := b.launch(cmd, cancel)
		s.expect("ready")
		pgid := cmd.Process.Pid
		members := 0
		entries, _ := os.ReadDir("/proc")
		for _, e := range entries {
			if pid, err := strconv.Atoi(e.Name()); err == nil {
				if g, err := syscall.Getpgid(pid); err == nil && g == pgid {
					members++
				}
			}
		}
		if members < 2 {
			t.Errorf("%d processes are in the caller's group", members)
		}
		// The caller ends the job as a shell does: by its group.
		must(t, syscall.Kill(-pgid, syscall.SIGTERM))
		if code := s.wait(); code != 143 && code != -143 {
			t.Errorf("status %d", code)
		}
	})
}
