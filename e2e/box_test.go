package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// box is a place on the host for one sandbox: a workspace, a home, a state directory, and a
// directory outside.
type box struct {
	t    *testing.T
	base string
	ws   string // the working directory
	home string
	out  string // outside of the workspace
	rec  string // the path of the record
	env  []string
	args []string // more flags of exec
	host []string // words before sbx that simulate another host
}

// counter is the counter that boxes use; "" for sbx's own choice.
var counter string

// eachPlace runs a test under /tmp, which is private inside, and elsewhere.
func eachPlace(t *testing.T, f func(t *testing.T, b *box)) {
	t.Helper()
	t.Run("tmp", func(t *testing.T) { f(t, newBox(t)) })
	if elsewhere != "" {
		t.Run("elsewhere", func(t *testing.T) { f(t, newBoxElsewhere(t)) })
	}
}

// newBox returns a box under the directory for temporary files.
func newBox(t *testing.T) *box {
	t.Helper()
	return boxIn(t, "")
}

// newBoxElsewhere returns a box that no private directory covers, if the caller may write any such
// place.
func newBoxElsewhere(t *testing.T) *box {
	t.Helper()
	return boxIn(t, elsewhere)
}

func boxIn(t *testing.T, root string) *box {
	t.Helper()
	base, err := os.MkdirTemp(root, "sbx-e2e.")
	must(t, err)
	base, err = filepath.EvalSymlinks(base)
	must(t, err)
	must(t, os.Chmod(base, 0o755))
	t.Cleanup(func() {
		filepath.WalkDir(base, func(path string, d os.DirEntry, err error) error {
			if d != nil && d.IsDir() {
				os.Chmod(path, 0o755)
			}
			return nil
		})
		os.RemoveAll(base)
	})
	b := &box{t: t, base: base, ws: base + "/ws", home: base + "/home", out: base + "/out", rec: base + "/rec.json"}
	for _, d := range []string{b.ws, b.home, b.out, base + "/state"} {
		must(t, os.Mkdir(d, 0o755))
	}
	if counter != "" {
		b.args = []string{"--counter", counter}
	}
	b.env = []string{
		"PATH=" + searchable(os.Getenv("PATH")), "HOME=" + b.home, "XDG_STATE_HOME=" + base + "/state",
		"LANG=C.UTF-8", "TERM=dumb", "USER=tester",
	}
	return b
}

// searchable removes from a PATH the directories that the caller may not enter: whether a program
// is in them cannot be determined.
func searchable(path string) string {
	var dirs []string
	for _, d := range filepath.SplitList(path) {
		if unix.Access(d, unix.X_OK) == nil {
			dirs = append(dirs, d)
		}
	}
	return strings.Join(dirs, ":")
}

// private reports whether the box lies where the inside sees a private directory.
func (b *box) private() bool { return isPrivate(b.base) }

// result is the result of a command.
type result struct {
	t        *testing.T
	code     int // exit status; 128+n, and negative if the process itself was ended by signal n
	out, err string
	rec      record
	recPath  string
}

// run runs argv under the spec in the workspace.
func (b *box) run(spec string, argv ...string) result {
	b.t.Helper()
	return b.runIn(b.ws, "", spec, argv...)
}

// runIn runs argv under the spec, in a directory, with an input.
func (b *box) runIn(dir, stdin, spec string, argv ...string) result {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := b.command(ctx, spec, argv...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(stdin)
	if stdin == "" {
		cmd.Stdin = nil
	}
	return b.finish(cmd)
}

// plain runs argv without a sandbox, as the control.
func (b *box) plain(argv ...string) result {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = b.ws, b.env, 2*time.Second
	os.Remove(b.rec)
	return b.finish(cmd)
}

// command returns `sbx exec` with the box's flags, not started.
func (b *box) command(ctx context.Context, spec string, argv ...string) *exec.Cmd {
	b.t.Helper()
	os.Remove(b.rec)
	args := append(append(slices.Clone(b.host), sbxPath), b.execArgs(spec, argv...)...)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = b.ws, b.env, 2*time.Second
	return cmd
}

func (b *box) execArgs(spec string, argv ...string) []string {
	args := []string{"exec", "--effective", b.rec}
	if spec != "" { // else b.args has it
		args = append(args, "--spec-json", spec)
	}
	args = append(args, b.args...)
	return append(append(args, "--"), argv...)
}

func (b *box) finish(cmd *exec.Cmd) result {
	b.t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	r := result{t: b.t, out: out.String(), err: errs.String(), recPath: b.rec}
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		b.t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, r.err)
	}
	r.code = statusOf(cmd.ProcessState)
	r.rec, _ = readRecord(b.rec)
	return r
}

func statusOf(p *os.ProcessState) int {
	if ws := p.Sys().(syscall.WaitStatus); ws.Signaled() {
		return -128 - int(ws.Signal())
	}
	return p.ExitCode()
}

// String returns all that is known, for a failure's message.
func (r result) String() string {
	s := fmt.Sprintf("status %d\nstdout: %s\nstderr: %s", r.code, cut(r.out), cut(r.err))
	if r.rec != nil {
		b, _ := json.Marshal(map[string]any{"enforcement": r.rec["enforcement"], "error": r.rec["error"], "swept": r.rec["swept"], "exit": r.rec["exit"]})
		s += "\nrecord: " + cut(string(b))
	}
	return s
}

func cut(s string) string {
	if len(s) > 3000 {
		return s[:1500] + " […] " + s[len(s)-1500:]
	}
	return s
}

// ended fails unless the status is 0 and the last line is the one that only a finished inside
// prints.
func (r result) ended() result {
	r.t.Helper()
	if r.code != 0 || lastLine(r.out) != "end" {
		r.t.Fatalf("the inside did not come to its end: %v", r)
	}
	return r
}

// refused fails unless the status is 125, nothing ran, and the reason has a word.
func (r result) refused(word string) result {
	r.t.Helper()
	if r.code != 125 || !strings.Contains(r.err, word) || !strings.HasPrefix(r.err, "sbx: ") {
		r.t.Fatalf("want 125 and %q on stderr: %v", word, r)
	}
	if strings.Contains(r.out, "end") {
		r.t.Fatalf("the command ran: %v", r)
	}
	return r
}

// lines returns the tab-separated pairs that the probe prints.
func (r result) lines() map[string]string {
	m := map[string]string{}
	for _, l := range strings.Split(r.out, "\n") {
		if k, v, ok := strings.Cut(l, "\t"); ok {
			m[k] = v
		}
	}
	return m
}

func lastLine(s string) string {
	s = strings.TrimRight(s, "\n")
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// sh runs a script that prints end at its end.
func (b *box) sh(spec, script string) result {
	b.t.Helper()
	return b.run(spec, "/bin/sh", "-c", script+"\necho end")
}

// tries runs attempts of the probe under the spec, and returns the answer to each.
func (b *box) tries(spec string, attempts ...string) map[string]string {
	b.t.Helper()
	return b.run(spec, append([]string{b.probe(), "try"}, attempts...)...).ended().lines()
}

// control runs attempts of the probe without a sandbox.
func (b *box) control(attempts ...string) map[string]string {
	b.t.Helper()
	return b.plain(append([]string{b.probe(), "try"}, attempts...)...).ended().lines()
}

// probe puts the probe into the workspace, where every spec has it in view.
func (b *box) probe() string {
	b.t.Helper()
	return b.copyProbe(b.ws + "/probe.bin")
}

func (b *box) copyProbe(to string) string {
	b.t.Helper()
	if _, err := os.Lstat(to); err == nil {
		return to
	}
	if os.Link(probePath, to) == nil {
		return to
	}
	from, err := os.Open(probePath)
	must(b.t, err)
	defer from.Close()
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	must(b.t, err)
	_, err = io.Copy(f, from)
	must(b.t, err)
	must(b.t, f.Close())
	return to
}

// write makes a file of the host, with its directories.
func (b *box) write(path, text string) string {
	b.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.base, path)
	}
	must(b.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(b.t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// holds fails unless a file of the host has this content.
func (b *box) holds(path, want string) {
	b.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.base, path)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		b.t.Errorf("%v, want %q in it", err, want)
	} else if string(got) != want {
		b.t.Errorf("%s holds %q, want %q", path, got, want)
	}
}

// absent fails if the host has such a file.
func (b *box) absent(path string) {
	b.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.base, path)
	}
	if _, err := os.Lstat(path); err == nil {
		b.t.Errorf("%s is there", path)
	}
}

// started is a sandbox that runs during the test.
type started struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	out    *lineReader
	err    *bytes.Buffer
	cancel context.CancelFunc
	waited bool
}

// start starts argv and leaves it running, at most until the test ends.
func (b *box) start(spec string, argv ...string) *started {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	return b.launch(b.command(ctx, spec, argv...), cancel)
}

func (b *box) launch(cmd *exec.Cmd, cancel context.CancelFunc) *started {
	b.t.Helper()
	s := &started{t: b.t, cmd: cmd, err: &bytes.Buffer{}, cancel: cancel}
	var err error
	s.stdin, err = cmd.StdinPipe()
	must(b.t, err)
	out, err := cmd.StdoutPipe()
	must(b.t, err)
	cmd.Stderr = s.err
	must(b.t, cmd.Start())
	s.out = readLines(out)
	b.t.Cleanup(func() {
		s.cancel()
		if !s.waited {
			cmd.Wait()
		}
	})
	return s
}

// expect waits for a line.
func (s *started) expect(line string) {
	s.t.Helper()
	if !s.out.wait(func(l string) bool { return l == line }) {
		s.t.Fatalf("no line %q came: %q; stderr %q", line, s.out.all(), s.err.String())
	}
}

// say writes a line to the inside.
func (s *started) say(line string) {
	s.t.Helper()
	_, err := io.WriteString(s.stdin, line+"\n")
	must(s.t, err)
}

// wait closes stdin and returns the exit status.
func (s *started) wait() int {
	s.t.Helper()
	s.stdin.Close()
	s.out.drain()
	s.cmd.Wait()
	s.waited = true
	s.cancel()
	return statusOf(s.cmd.ProcessState)
}

// eventually calls ask until it returns true, for ten seconds.
func eventually(t *testing.T, what string, ask func() bool) {
	t.Helper()
	within(t, 10*time.Second, what, ask)
}

// within calls ask until it returns true, for so long.
func within(t *testing.T, long time.Duration, what string, ask func() bool) {
	t.Helper()
	for end := time.Now().Add(long); ; time.Sleep(10 * time.Millisecond) {
		if ask() {
			return
		}
		if time.Now().After(end) {
			t.Fatal("it did not come to be: " + what)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// quoted returns a word as JSON.
func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}
