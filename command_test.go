package sbx_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sbx"
	"sbx/spec"
)

var (
	tContext = context.Background()
	readOnly = decoded(`{"access_mode": "read-only"}`)
	writable = decoded(`{"access_mode": "workspace-write"}`)
)

// asHelper is set in a copy of the test program that has sbx next to it.
const asHelper = "SBX_API_HELPER"

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// exitOf returns the status of an *exec.ExitError, -1 for any other error.
func exitOf(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return -1
}

// noneLeft fails if a private directory of a Cmd is left.
func noneLeft(t *testing.T, temp string) {
	t.Helper()
	left, err := filepath.Glob(temp + "/*")
	must(t, err)
	if len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestCommandHasWhatItIsGiven(t *testing.T) {
	needSandbox(t)
	t.Setenv("TMPDIR", t.TempDir())
	dir := t.TempDir()
	r, w, err := os.Pipe()
	must(t, err)
	defer r.Close()
	var out, errs bytes.Buffer
	must(t, os.WriteFile(dir+"/.envrc", nil, 0o644)) // read-only inside, which sbx alone would report
	cmd := sbx.Command(tContext, writable, "sh", "-c", `cat; (echo x >.envrc) 2>/dev/null && exit 9; echo "$NAMED $0 $1"; pwd; echo to stderr >&2; echo by 4 >&4; : >made; ls /proc/self/fd/3 2>/dev/null`, "a b", "--")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "NAMED=from the caller")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("from stdin\n"), &out, &errs
	cmd.ExtraFiles = []*os.File{nil, w}
	err = cmd.Run()
	must(t, w.Close())
	if exitOf(err) != 2 { // of ls: descriptor 3 is nil
		t.Errorf("%v", err)
	}
	if want := "from stdin\nfrom the caller a b --\n" + dir + "\n"; out.String() != want || errs.String() != "to stderr\n" {
		t.Errorf("stdout %q, want %q; stderr %q", out.String(), want, errs.String())
	}
	if got, _ := io.ReadAll(r); string(got) != "by 4\n" {
		t.Errorf("descriptor 4 got %q", got)
	}
	if _, err := os.Stat(dir + "/made"); err != nil {
		t.Error(err)
	}
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 2 || cmd.Process == nil {
		t.Errorf("%v %v", cmd.Process, cmd.ProcessState)
	}
	record, err := cmd.Record()
	must(t, err)
	if record.State != "exited" || record.Command.Cwd != dir || record.Exit.EndedBy != "command" || record.Usage.WallMS == nil || len(record.JSON) == 0 {
		t.Errorf("%+v", record)
	}
	noneLeft(t, os.TempDir())
}

func TestPipesLeadToTheCommand(t *testing.T) {
	needSandbox(t)
	cmd := sbx.Command(tContext, readOnly, "sh", "-c", "read x; echo out $x; echo err $x >&2; kill -9 $$")
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	errs, err := cmd.StderrPipe()
	must(t, err)
	if _, err := cmd.StdoutPipe(); err == nil {
		t.Error("a second pipe from stdout")
	}
	must(t, cmd.Start())
	if err := cmd.Start(); err == nil {
		t.Error("started twice")
	}
	_, err = io.WriteString(in, "word\n")
	must(t, err)
	a, _ := io.ReadAll(out)
	b, _ := io.ReadAll(errs)
	if string(a) != "out word\n" || string(b) != "err word\n" {
		t.Errorf("%q %q", a, b)
	}
	if _, err := cmd.Record(); err == nil {
		t.Error("a record before the end")
	}
	if err := cmd.Wait(); exitOf(err) != 128+9 {
		t.Errorf("%v", err)
	}
	record, err := cmd.Record()
	must(t, err)
	if record.Exit.Signal != 9 || record.Exit.EndedBy != "signal" {
		t.Errorf("%+v", record.Exit)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("waited for twice")
	}
}

func TestRefusedIsTyped(t *testing.T) {
	needSandbox(t)
	t.Setenv("TMPDIR", t.TempDir())
	dir := t.TempDir()
	for _, c := range []struct {
		name, spec, command string
		code                int
		field, on, why      string
	}{
		{"a spec that cannot be", `{"access_mode": "workspace-write", "working_dir": "/nowhere"}`, "true", 125, "working_dir", "spec.json", "/nowhere does not exist"},
		{"no such command", `{"access_mode": "workspace-write"}`, "no-such-command", 127, "", "no-such-command", "in no directory of PATH"},
		{"a file that cannot be executed", `{"access_mode": "workspace-write"}`, "./plain", 126, "", "plain", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			must(t, os.WriteFile(dir+"/plain", nil, 0o644))
			cmd := sbx.Command(tContext, decoded(c.spec), c.command)
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			var refused *sbx.Refused
			if !errors.As(err, &refused) || exitOf(err) != c.code {
				t.Fatalf("%v (%d): %s", err, exitOf(err), out)
			}
			if refused.Field != c.field || !strings.Contains(refused.On, c.on) || !strings.Contains(refused.Why, c.why) || strings.Contains(refused.On, os.TempDir()) {
				t.Errorf("%#v", refused)
			}
			if text := err.Error(); !strings.HasPrefix(text, "sbx: "+c.field) || !strings.HasSuffix(text, refused.Why) {
				t.Errorf("%q", text)
			}
			record, err := cmd.Record()
			if err != nil || record.State != "refused" || record.Error == nil || record.Error.Field != c.field {
				t.Errorf("%+v %v", record, err)
			}
		})
	}
	noneLeft(t, os.TempDir())
	// The control: without the faulty part, the spec and the command run.
	cmd := sbx.Command(tContext, writable, "true")
	cmd.Dir = dir
	must(t, cmd.Run())
}

// Cancelling the context of exec.CommandContext ends the sandbox, with the same error.
func TestContextEndsTheSandbox(t *testing.T) {
	needSandbox(t)
	t.Setenv("TMPDIR", t.TempDir())
	const script = "sleep 100 & echo ready; wait"
	plain := func(ctx context.Context) (start, wait func() error, out io.Reader) {
		cmd := exec.CommandContext(ctx, "sh", "-c", script)
		out, err := cmd.StdoutPipe()
		must(t, err)
		return cmd.Start, cmd.Wait, out
	}
	var last *sbx.Cmd
	boxed := func(ctx context.Context) (start, wait func() error, out io.Reader) {
		last = sbx.Command(ctx, readOnly, "sh", "-c", script)
		out, err := last.StdoutPipe()
		must(t, err)
		return last.Start, last.Wait, out
	}
	for _, run := range []func(context.Context) (start, wait func() error, out io.Reader){plain, boxed} {
		ctx, cancel := context.WithCancel(tContext)
		start, wait, out := run(ctx)
		must(t, start())
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
			t.Fatalf("%q %v", line, err)
		}
		cancel()
		if err := wait(); err == nil || err.Error() != "signal: killed" {
			t.Errorf("%v", err)
		}
		past, cancel := context.WithDeadline(tContext, time.Unix(1, 0))
		start, _, _ = run(past)
		if err := start(); err != context.DeadlineExceeded {
			t.Errorf("%v", err)
		}
		cancel()
	}
	if record, err := last.Record(); err == nil {
		t.Errorf("a record of what was never started: %+v", record)
	}
	noneLeft(t, os.TempDir())
}

// If the supervisor of a sandbox is killed, all of its processes end, and its record says that it
// was lost.
func TestCancelledIsLost(t *testing.T) {
	needSandbox(t)
	ctx, cancel := context.WithCancel(tContext)
	defer cancel()
	r, w, err := os.Pipe()
	must(t, err)
	defer r.Close()
	cmd := sbx.Command(ctx, readOnly, "sh", "-c", "trap '' TERM HUP INT; setsid sleep 1000 & echo ready; wait")
	out, err := cmd.StdoutPipe()
	must(t, err)
	cmd.ExtraFiles = []*os.File{w}
	must(t, cmd.Start())
	must(t, w.Close())
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q %v", line, err)
	}
	cancel()
	if err := cmd.Wait(); err == nil {
		t.Error("no error")
	}
	if _, err := io.ReadAll(r); err != nil { // ends when no process has the pipe any more
		t.Error(err)
	}
	record, err := cmd.Record()
	must(t, err)
	if record.State != "lost" || !record.EndedAt.IsZero() || record.AccessMode != "read-only" {
		t.Errorf("%+v", record)
	}
}

// A Cancel of the caller's own ends the command in its way, and the record says so.
func TestCancelByASignal(t *testing.T) {
	needSandbox(t)
	ctx, cancel := context.WithCancel(tContext)
	cmd := sbx.Command(ctx, readOnly, "sh", "-c", "trap 'exit 7' TERM; echo ready; while :; do sleep 0.1; done")
	out, err := cmd.StdoutPipe()
	must(t, err)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	must(t, cmd.Start())
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q %v", line, err)
	}
	cancel()
	if err := cmd.Wait(); exitOf(err) != 7 {
		t.Errorf("%v", err)
	}
	record, err := cmd.Record()
	must(t, err)
	if record.State != "exited" || record.Exit.Code == nil || *record.Exit.Code != 7 {
		t.Errorf("%+v", record)
	}
}

// A document's paths are relative to the place where it was written, whatever file sbx gets, and no
// other process of the host sees that file.
func TestSpecIsHandedWhole(t *testing.T) {
	needSandbox(t)
	dir := t.TempDir()
	must(t, os.MkdirAll(dir+"/at/work/sub", 0o755))
	must(t, os.WriteFile(dir+"/at/work/secret", []byte("told"), 0o644))
	must(t, os.WriteFile(dir+"/at/work/shown", []byte("x"), 0o644))
	text := `{"access_mode": "workspace-write", "working_dir": "at/work", "filesystem": {"hide": ["secret"]}, "environment": {"set": {"NAMED": "in-the-document"}}}`
	for name, from := range map[string]func(*spec.SandboxSpec, *sbx.Cmd){
		"from its own directory":       func(s *spec.SandboxSpec, c *sbx.Cmd) { s.Source.Dir, c.Dir = dir, "/" },
		"from the command's directory": func(_ *spec.SandboxSpec, c *sbx.Cmd) { c.Dir = dir },
	} {
		t.Run(name, func(t *testing.T) {
			s := decoded(text)
			cmd := sbx.Command(tContext, s, "sh", "-c", `pwd; ls; cat secret; echo $NAMED; read x; tr '\0' ' ' </proc/1/cmdline`)
			from(s, cmd)
			in, err := cmd.StdinPipe()
			must(t, err)
			out, err := cmd.StdoutPipe()
			must(t, err)
			must(t, cmd.Start())
			line, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/cmdline")
			must(t, err)
			must(t, in.Close())
			got, _ := io.ReadAll(out)
			if err := cmd.Wait(); err != nil {
				t.Fatalf("%v: %s", err, got)
			}
			want := dir + "/at/work\nsecret\nshown\nsub\nin-the-document\n"
			if head, tail, ok := strings.Cut(string(got), "in-the-document\n"); !ok || head+"in-the-document\n" != want || strings.Contains(tail, "in-the-document") {
				t.Errorf("%q, want %q", got, want)
			}
			if bytes.Contains(line, []byte("in-the-document")) || s.WorkingDir.Value != "at/work" || s.Source.Name != "spec.json" {
				t.Errorf("%q %+v", line, s)
			}
		})
	}
}

func TestWorkshopCountsFromItsDocument(t *testing.T) {
	needSandbox(t)
	dir := t.TempDir()
	must(t, os.MkdirAll(dir+"/at/work", 0o755))
	s := decoded(`{"sandbox": {"root": "at/work"}, "access_mode": "workspace-write"}`)
	s.Source.Dir = dir
	if out, err := sbx.Command(tContext, s, "pwd").Output(); string(out) != dir+"/at/work\n" || s.Sandbox.Value.Root.Value != "at/work" {
		t.Errorf("%q %v %+v", out, err, s.Sandbox)
	}
}

// A spec that cannot be written as a document is not replaced by another.
func TestSpecThatIsNoText(t *testing.T) {
	needSandbox(t)
	hide := func(path string) *spec.SandboxSpec {
		return &spec.SandboxSpec{AccessMode: spec.Some(spec.ReadOnly), Filesystem: spec.Some(spec.Filesystem{Hide: spec.Some([]string{path})})}
	}
	must(t, sbx.Command(tContext, hide("/srv/\ufffd"), "true").Run())
	worker := hide("/srv")
	worker.Source.Kind = spec.WorkerFile
	for name, s := range map[string]*spec.SandboxSpec{"no UTF-8": hide("/srv/\xff"), "of a worker": worker,
		"no UTF-8 in a name": {Environment: spec.Some(spec.Environment{Set: spec.Some(map[string]string{"A\xff": "x"})})}} {
		err := sbx.Command(tContext, s, "true").Run()
		if err == nil || exitOf(err) != -1 {
			t.Errorf("%s: %v", name, err)
		}
	}
	// sbx itself checks invalid values.
	err := sbx.Command(tContext, &spec.SandboxSpec{AccessMode: spec.Some(spec.AccessMode(77))}, "true").Run()
	var refused *sbx.Refused
	if !errors.As(err, &refused) || refused.Field != "access_mode" {
		t.Errorf("%v", err)
	}
	if err := sbx.Command(tContext, nil, "").Run(); err == nil || exitOf(err) != -1 {
		t.Errorf("no command: %v", err)
	}
}

func TestProgramIsFound(t *testing.T) {
	needSandbox(t)
	t.Setenv("TMPDIR", t.TempDir())
	here, err := exec.LookPath("sbx")
	must(t, err)
	run := func(path string) error {
		cmd := sbx.Command(tContext, readOnly, "/bin/true")
		cmd.Path = path
		return cmd.Run()
	}
	if err := run("/no/such/sbx"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	must(t, run(""))
	must(t, run(here))
	t.Setenv("PATH", "/usr/bin:/bin")
	if _, err := exec.LookPath("sbx"); err == nil {
		t.Skip("another sbx is on the PATH")
	}
	if err := run(""); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("%v", err)
	}
	must(t, run(here))

	// next to the running program, which is a copy of this one
	dir := t.TempDir()
	self, err := os.Executable()
	must(t, err)
	for from, to := range map[string]string{self: dir + "/program", here: dir + "/sbx"} {
		text, err := os.ReadFile(from)
		must(t, err)
		must(t, os.WriteFile(to, text, 0o755))
	}
	cmd := exec.Command(dir+"/program", "-test.run", "^TestHelper$", "-test.v")
	cmd.Env = append(os.Environ(), asHelper+"=1")
	if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("found beside")) {
		t.Errorf("%v\n%s", err, out)
	}
	noneLeft(t, os.TempDir())
}

// TestHelper is the program that TestProgramIsFound runs.
func TestHelper(t *testing.T) {
	if os.Getenv(asHelper) == "" {
		return
	}
	cmd := sbx.Command(tContext, readOnly, "/bin/true")
	must(t, cmd.Run())
	args, err := cmd.Record()
	must(t, err)
	if !slices.Equal(args.Command.Argv, []string{"/bin/true"}) {
		t.Fatal(args.Command)
	}
	t.Log("found beside")
}
