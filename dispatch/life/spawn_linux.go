package life

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"sbx/audit"
	"sbx/dispatch"
	"sbx/internal/doc"
	"sbx/spec"
)

// Spawn starts a job, adds its row, and returns while the command runs. If it fails nothing
// runs and there is no row. It sets the job's ID.
//
// The keeper is started first, to save time, and waits until the row exists. Its PID and
// start time are written to the dispatch's directory before the row is added, so that Poll
// can always decide whether a row's process is alive.
func (w *World) Spawn(j *Job, row dispatch.Dispatch) (dispatch.Dispatch, error) {
	if j.Output != "" {
		t, err := w.openTarget(j, j.Output)
		if err != nil {
			return row, err
		}
		_ = t.Close()
	}
	j.ID = dispatch.NewID()
	insert := func(l *dispatch.Ledger, pid int) error {
		if err := w.admit(l, row.ScopeID); err != nil {
			return err
		}
		row.ID, row.Status = j.ID, dispatch.Running
		row.PID, row.StartedAt = spec.Some(int64(pid)), spec.Some(time.Now().Unix())
		return l.Insert(&row)
	}
	return row, w.launch(j, &row, insert)
}

// admit checks the limit of the portfolio of the run that is the dispatch's scope, if there
// is one. The limit may be exceeded, as in Intercore, since the count is some seconds old.
func (w *World) admit(l *dispatch.Ledger, scope spec.Opt[string]) error {
	if !scope.Set {
		return nil
	}
	p, has, err := l.Portfolio(scope.Value)
	if err != nil || !has {
		return err
	}
	if !p.Active.Set && w.Errors != nil {
		fmt.Fprintf(w.Errors, "sbx-dispatch: portfolio %s allows %d dispatches at once, and nobody has counted them: this one is not held to that\n"+
			"sbx-dispatch: hint: ic portfolio relay counts them\n", doc.Quote(p.ID), p.Most)
	}
	return p.Allows()
}

// Start starts a dispatch whose row exists and that was not started yet, such as one of
// Retry.
func (w *World) Start(j *Job) error {
	return w.launch(j, nil, func(l *dispatch.Ledger, pid int) error {
		claimed, err := l.Claim(j.ID, pid, time.Now())
		if err == nil && !claimed {
			err = problem(j.ID, "start the dispatch", "it was started already, or has ended", "")
		}
		return err
	})
}

// launch starts the keeper of a job, calls enter to add or claim the row, and lets the
// keeper continue.
func (w *World) launch(j *Job, row *dispatch.Dispatch, enter func(*dispatch.Ledger, int) error) (err error) {
	if w.StateDir == "" {
		return problem("the state directory", "find it", "there is no home directory, and XDG_STATE_HOME is not set to an absolute path", "set HOME")
	}
	f := w.dirOf(j.Ledger.Path, j.ID)
	if err := f.make(); err != nil {
		return problem(string(f), "make the dispatch's directory", dispatch.WithoutPath(err), "make room, or set XDG_STATE_HOME to a directory that can be written")
	}
	w.step("spawn: directory made")
	if row != nil && !row.OutputFile.Set {
		j.Output = f.path(outputFile)
		row.OutputFile, row.VerdictFile = spec.Some(j.Output), j.VerdictFile()
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(string(f))
		}
	}()
	keeper, say, err := w.startKeeper(f, j.Project)
	if err != nil {
		return err
	}
	defer func() {
		_ = say.Close()
		if err != nil { // the keeper ends, as its stdin closed without "go"
			_, _ = keeper.Process.Wait()
			return
		}
		_ = keeper.Process.Release()
	}()
	w.step("spawn: keeper started")
	if err := f.writeJSON(jobFile, j); err != nil {
		return problem(string(f), "write the job", dispatch.WithoutPath(err), "make room in the state directory")
	}
	w.step("spawn: job written")
	if err := f.writeJSON(processFile, audit.ProcessOf(keeper.Process.Pid)); err != nil {
		return problem(string(f), "note the keeper", dispatch.WithoutPath(err), "make room in the state directory")
	}
	w.step("spawn: keeper noted")
	l, err := dispatch.Open(j.Ledger, dispatch.Write)
	if err != nil {
		return err
	}
	if !w.Brief {
		defer func() { _ = l.Close() }()
	}
	if err := enter(l, keeper.Process.Pid); err != nil {
		return err
	}
	w.step("spawn: row added")
	if _, e := io.WriteString(say, "go\n"); e != nil {
		// The keeper has died. The next Poll ends the row as lost.
		w.step("spawn: keeper lost")
	}
	w.step("spawn: keeper told")
	return nil
}

// startKeeper starts this program as a keeper in a session of its own, so that signals
// from the terminal do not reach it. It returns the pipe to the keeper's stdin.
func (w *World) startKeeper(f jobDir, project string) (*exec.Cmd, *os.File, error) {
	cannot := func(err error) error { return problem(w.Self[0], "start the keeper", dispatch.WithoutPath(err), "") }
	read, write, err := os.Pipe()
	if err != nil {
		return nil, nil, cannot(err)
	}
	cmd := exec.Command(w.Self[0], append(append([]string{}, w.Self[1:]...), string(f))...)
	cmd.Dir, cmd.Env, cmd.Stdin = project, w.Environ, read
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	_ = read.Close()
	if err != nil {
		_ = write.Close()
		return nil, nil, cannot(err)
	}
	return cmd, write, nil
}

// HashPrompt returns the short digest of a prompt for a row, the same as Intercore's.
func (w *World) HashPrompt(j *Job, path string) (string, error) {
	text, _, err := w.readPrompt(j, path)
	if err != nil {
		return "", err
	}
	return digest(string(text))[:16], nil
}

// maxPrompt is the largest prompt. A foreign row may name any file.
const maxPrompt = 16 << 20

// openPrompt opens a prompt, which must be a regular file. It does not block on a FIFO.
func (w *World) openPrompt(j *Job, path string) (*os.File, error) {
	p, refusal := w.Follow(j, path)
	if refusal != nil {
		if refusal.Help == "" {
			refusal.Help = "name another file with --prompt-file"
		}
		refusal.On, refusal.Do = path, "read the prompt"
		return nil, refusal
	}
	f, err := openReal(p.Real, syscall.O_RDONLY|syscall.O_NONBLOCK)
	if err != nil {
		return nil, problem(path, "read the prompt", dispatch.WithoutPath(err), "name another file with --prompt-file")
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxPrompt {
		_ = f.Close()
		return nil, problem(path, "read the prompt", "it is not a regular file of 16 MiB at most", "name another file with --prompt-file")
	}
	return f, nil
}

// readPrompt returns the text and the permissions of a prompt.
func (w *World) readPrompt(j *Job, path string) (text []byte, mode os.FileMode, err error) {
	f, err := w.openPrompt(j, path)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(f, maxPrompt))
	}
	if err != nil {
		return nil, 0, problem(path, "read the prompt", dispatch.WithoutPath(err), "")
	}
	return text, info.Mode().Perm(), nil
}

// Absolute returns path, or path in dir if it is relative; "" stays "".
func Absolute(path, dir string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
