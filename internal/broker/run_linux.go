package broker

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/broker/caps"
	"sbx/internal/broker/document"
	"sbx/internal/doc"
	"sbx/internal/read"
	"sbx/spec"
)

var errOver = errors.New("the execution has ended")

// grace is how long a tool's sandbox may take to end by itself before it is killed.
const grace = 2 * time.Second

// statusRefused is sbx's exit status if it started nothing.
const statusRefused = 125

// maxRunning is how many calls may run at once.
const maxRunning = 16

// executor carries out the allowed calls.
type executor struct {
	*walls
	secrets  map[string]string
	redactor *Redactor
	environ  []string      // the environment of a tool's sbx, without secrets
	open     func() bool   // reports whether calls may still be started
	over     chan struct{} // closed at the end of the execution
	slots    chan struct{} // one for each running call
	running  sync.WaitGroup

	mu      sync.Mutex
	servers map[string]*server
}

// end ends the servers and waits for all running calls; over is closed.
func (x *executor) end() {
	x.endServers()
	x.running.Wait()
}

// carryOut executes an allowed call and checks the files that it made. why is for the
// audit only, not for the caller.
func (x *executor) carryOut(v *Verdict) (r *Result, why string) {
	select {
	case x.slots <- struct{}{}:
	default:
		return &Result{Kind: Busy, Reason: "16 calls are running"}, ""
	}
	defer func() { <-x.slots }()
	if !x.open() { // asked again, since a person may have taken long to answer
		return &Result{Kind: Closed, Reason: errOver.Error()}, ""
	}
	req := v.allowed
	if bad := x.reachable(req.needed); bad != "" {
		return &Result{Kind: Broken, Reason: bad}, ""
	}
	out, err := openOutputs(x.start.Output)
	if err != nil && len(req.artifacts) > 0 {
		return &Result{Kind: Broken, Reason: err.Error()}, ""
	}
	defer out.close()
	if len(req.tool.Server) > 0 {
		r, why = x.callServer(v)
	} else {
		r, why = x.runProgram(v)
	}
	if r.Kind != Allowed || out.dir < 0 {
		return r, why
	}
	if r.Artifacts, r.Unexpected, err = out.verify(req.artifacts); err != nil {
		r.Kind, r.Reason = Broken, "expected_artifacts: "+err.Error()
	}
	return r, why
}

// reachable returns what is wrong with the paths of a call's capabilities: a path does not
// exist, or has a link in it, which the sandbox may have created. A link that is created
// later is refused by the tool's own sandbox.
func (w *walls) reachable(needed []caps.Cap) string {
	for _, s := range w.shows(needed) {
		fd, err := unix.Openat2(unix.AT_FDCWD, s.source, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS})
		switch err {
		case nil:
			_ = unix.Close(fd)
		case unix.ELOOP:
			return "a link is on the way to " + s.path
		case unix.ENOENT, unix.ENOTDIR:
			return "there is nothing at " + s.path
		default:
			return s.path + " cannot be opened: " + err.Error()
		}
	}
	return ""
}

// command returns the process of the tool's sandbox, which ends together with the thread
// that starts it.
func (x *executor) command(ctx context.Context, t *document.Tool, id string, needed []caps.Cap, argv []string, timed bool) *exec.Cmd {
	args := []string{"exec", "-q", "--no-project-spec", "--effective", x.record(id)}
	for _, d := range x.documents(t, needed, timed) {
		args = append(args, "--spec-json", string(d.AppendJSON(nil, nil)))
	}
	cmd := exec.CommandContext(ctx, x.start.SBX, append(append(args, "--", t.Files[0]), argv[1:]...)...)
	cmd.Env = x.environ[:len(x.environ):len(x.environ)]
	for _, name := range t.Secrets {
		cmd.Env = append(cmd.Env, name+"="+x.secrets[name])
	}
	if cmd.Dir = x.granted.Tree.At(x.start.Workspace).Source; cmd.Dir == "" {
		cmd.Dir = "/"
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	cmd.WaitDelay = grace
	return cmd
}

// record returns the path for the record of a tool's run.
func (x *executor) record(id string) string {
	return filepath.Join(x.start.RunDir, "broker", id+".json")
}

// runProgram runs a tool that is a program.
func (x *executor) runProgram(v *Verdict) (*Result, string) {
	req := v.allowed
	ctx, cancel := x.limitedContext(req.tool.Timeout + grace)
	defer cancel()
	cmd := x.command(ctx, req.tool, v.id, req.needed, req.argv, true)
	if req.tool.Stdin != nil {
		cmd.Stdin = strings.NewReader(req.stdin)
	}
	stdout, stderr := &bounded{of: x.redactor, max: int(req.tool.MaxResult)}, &bounded{of: x.redactor, max: int(req.tool.MaxResult)}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err := onOneThread(cmd.Run)
	stdout.finish()
	stderr.finish()
	r := &Result{Stdout: string(stdout.out), Stderr: string(stderr.out), Truncated: stdout.cut || stderr.cut}
	status := &exec.ExitError{}
	switch {
	case ctx.Err() != nil && x.isOver():
		return &Result{Kind: Closed, Reason: errOver.Error()}, ""
	case ctx.Err() != nil:
		return &Result{Kind: Broken, Reason: "the tool did not end within " + req.tool.Timeout.String()}, "it had to be ended"
	case err != nil && !errors.As(err, &status):
		return &Result{Kind: Broken, Reason: "the tool's sandbox cannot be started"}, err.Error()
	case err == nil:
		r.Status = spec.Some[int64](0)
		return r, ""
	}
	code := int64(status.ExitCode())
	if code < 0 {
		code = 128 + int64(status.Sys().(syscall.WaitStatus).Signal())
	}
	r.Status = spec.Some(code)
	switch state := x.recorded(v.id); {
	case state == "refused" || state == "" && code == statusRefused:
		return &Result{Kind: Broken, Reason: "the tool's own sandbox did not start"}, r.Stderr
	case state == "timeout":
		r.Kind, r.Reason = Broken, "the tool did not end within "+req.tool.Timeout.String()
	}
	return r, ""
}

// limitedContext returns a context that ends after a time, or with the execution.
func (x *executor) limitedContext(long time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), long)
	go func() {
		select {
		case <-x.over:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// recorded returns how a tool's sandbox ended, from its record; "" for a normal end and if
// there is no record.
func (x *executor) recorded(id string) string {
	text, _ := read.Regular(x.record(id), 16<<20)
	root, err := doc.ParseLaxJSON("record", text, 64)
	if err != nil {
		return ""
	}
	if state := root.Get("state"); state != nil && state.Text == "refused" {
		return state.Text
	}
	if ended := root.Get("exit").Get("ended_by"); ended != nil {
		return ended.Text
	}
	return ""
}

func (x *executor) isOver() bool {
	select {
	case <-x.over:
		return true
	default:
		return false
	}
}

// onOneThread runs do on one thread until it returns: a child with a parent death signal
// is killed when the thread ends that started it.
func onOneThread(do func() error) error {
	ended := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := do()
		runtime.UnlockOSThread()
		ended <- err
	}()
	return <-ended
}
