package life

import (
	"bufio"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"sbx/audit"
	"sbx/dispatch"
	"sbx/spec"
)

// keeper supervises one dispatch from the start of its command to the end of its row.
type keeper struct {
	*World
	f       jobDir
	j       *Job
	started time.Time
	x       *execution
	target  *target
	live    *live // nil for none
	stopped bool  // a signal has asked the keeper to end
	running
	inLedger
}

// running is the process of sbx exec.
type running struct {
	cmd    *exec.Cmd
	output *os.File // the command's stdout; nil if that is a stream
	stream *stream  // nil if stdout is not a stream
	used   chan dispatch.Counts
	done   chan error
}

// inLedger is the row of the dispatch.
type inLedger struct {
	ledger *dispatch.Ledger // nil until open is called
	own    bool             // the ledger is an own one, see package dispatch
	last   dispatch.Counts  // the newest counts
	told   dispatch.Counts  // the counts in the row
	toldAt time.Time        // when the row was last updated
}

// tellEvery is the shortest interval between updates of the row.
const tellEvery = time.Second

// Time limits of a keeper that is asked to end. Other programs, such as Intercore, kill it
// five seconds after they asked.
const (
	stopAfter = 3 * time.Second  // until the keeper kills the command
	lastFor   = time.Second      // then for sbx exec to write its record
	retryFor  = 30 * time.Second // to write the end of the row
)

// Keep runs the job in a directory as its keeper. It starts nothing before the spawning
// process writes "go" to stdin, and never if that process ends first.
func (w *World) Keep(path string, stdin io.Reader) int {
	f := jobDir(path)
	word, _ := bufio.NewReader(stdin).ReadString('\n')
	j := f.readJob()
	if j == nil {
		return 1
	}
	w.step("keeper: told to go")
	if word != "go\n" {
		_ = f.write(recordFile, w.substitute(j, time.Now(), problem("", "start the dispatch", "the process that spawned it was ended before it could", "")))
		return 1
	}
	k := &keeper{World: w, f: f, j: j}
	return k.keep()
}

// keep runs the job, ends its row and returns the exit status. It locks its thread because
// the kernel kills sbx exec when the thread that started it ends (PR_SET_PDEATHSIG).
func (k *keeper) keep() int {
	runtime.LockOSThread()
	k.started = time.Now()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	if err := k.start(); err != nil {
		return k.end(spec.Some(int64(125)), err)
	}
	k.step("keeper: command started")
	status := k.watch(signals)
	k.step("keeper: command ended")
	return k.end(status, nil)
}

// start starts sbx exec.
func (k *keeper) start() error {
	at, err := k.surroundings()
	if err != nil {
		return err
	}
	if k.x, err = k.j.execution(at); err != nil {
		return err
	}
	if err := k.f.write(specFile, []byte(k.x.text)); err != nil {
		return problem(string(k.f), "keep the spec", dispatch.WithoutPath(err), "make room in the state directory")
	}
	if k.target, err = k.openTarget(k.j, k.j.Output); err != nil {
		return err
	}
	project, err := k.Project(k.j)
	if err != nil {
		return err
	}
	k.cmd = exec.Command(k.Sbx, k.x.args...)
	k.cmd.Dir, k.cmd.Env, k.cmd.WaitDelay = project, k.Environ, 5*time.Second
	k.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := k.streams(); err != nil {
		return err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return problem(k.Sbx, "start it", err.Error(), "")
	}
	k.cmd.ExtraFiles = []*os.File{write}
	err = k.cmd.Start()
	_ = write.Close()
	if f, ok := k.cmd.Stdin.(*os.File); ok {
		_ = f.Close()
	}
	if err != nil {
		_ = read.Close()
		return problem(k.Sbx, "start it", dispatch.WithoutPath(err), "install sbx next to sbx-dispatch, or in PATH")
	}
	k.used, k.done = make(chan dispatch.Counts, 1), make(chan error, 1)
	go readUsed(read, k.used)
	go func() { k.done <- k.cmd.Wait() }()
	return nil
}

// streams sets the command's stdin, stdout and stderr.
func (k *keeper) streams() error {
	var stdin *os.File
	var err error
	if k.x.input != "" {
		stdin, err = k.openPrompt(k.j, k.x.input)
	} else if stdin, err = os.Open(k.f.path(specFile)); err != nil {
		err = problem(string(k.f), "read the spec", dispatch.WithoutPath(err), "")
	}
	if err != nil {
		return err
	}
	k.cmd.Stdin = stdin
	k.cmd.Stderr = k.errors()
	if k.j.Argv == nil && k.x.agent != 0 {
		k.stream = newStream(k.x.agent)
		k.cmd.Stdout = k.stream
		return nil
	}
	if k.output, err = k.target.create(""); err != nil {
		return err
	}
	k.cmd.Stdout = k.output
	return nil
}

// errors returns the writer for stderr: a file of the dispatch, up to maxErrors bytes, and
// for a driver its own stderr too.
func (k *keeper) errors() io.Writer {
	f, err := os.OpenFile(k.f.path(errorsFile), os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return k.Errors
	}
	if k.j.Driver && k.Errors != nil {
		return io.MultiWriter(&capped{f, maxErrors}, k.Errors)
	}
	return &capped{f, maxErrors}
}

const maxErrors = 1 << 20

// capped writes the first left bytes to to and drops all others.
type capped struct {
	to   io.Writer
	left int
}

// Write never fails, as the command must not fail because of a lost message.
func (c *capped) Write(p []byte) (int, error) {
	if n := min(len(p), c.left); n > 0 {
		_, _ = c.to.Write(p[:n])
		c.left -= n
	}
	return len(p), nil
}

// readUsed reads the reports of sbx exec and keeps only the newest in the channel.
func readUsed(from *os.File, to chan dispatch.Counts) {
	defer func() { _ = from.Close() }()
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		var u struct {
			Commands *int64 `json:"commands_used"`
			Turns    *int64 `json:"turns_used"`
		}
		if json.Unmarshal(lines.Bytes(), &u) != nil {
			continue
		}
		var c dispatch.Counts
		if u.Commands != nil {
			c.Commands = spec.Some(*u.Commands)
		}
		if u.Turns != nil {
			c.Turns = spec.Some(*u.Turns)
		}
		select {
		case <-to:
		default:
		}
		to <- c
	}
}

// record returns the present text of the record.
func (f jobDir) record() ([]byte, error) {
	if b := f.read(recordFile); b != nil {
		return b, nil
	}
	return nil, fs.ErrNotExist
}

// recordNow returns the present record; ok is false if there is none.
func (f jobDir) recordNow() (b []byte, v audit.View, ok bool) {
	b = f.read(recordFile)
	v, err := audit.Parse(b)
	return b, v, err == nil
}
