package sbx

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sbx/spec"
)

// Cmd is a command that is prepared, runs or has run in a sandbox. Like an
// exec.Cmd it cannot be used again after Run, Start, Output or CombinedOutput.
type Cmd struct {
	// Path is the program sbx. Where it is empty, that is looked for beside the
	// running program and then on the PATH. No command may be able to write it.
	Path string
	// Spec is what the command may do. It is not changed. nil is the default of
	// sbx exec: access_mode workspace-write in Dir, no network, also where the
	// project has a spec of its own. Its working_dir
	// counts from Spec.Source.Dir or, where that is empty, from Dir; its other
	// relative paths count from the working_dir.
	Spec *spec.SandboxSpec
	// Args are the command and its arguments.
	Args []string
	// Dir is where sbx starts, and the command where the spec has no working_dir;
	// "" is the current directory.
	Dir string
	// Env is the environment of sbx, of which the command gets what the spec
	// passes; nil is that of the calling process. By HOME in it the secrets that
	// are hidden are found; without one, by the password file.
	Env []string
	// Stdin, Stdout and Stderr are the command's, as in exec.Cmd. Of sbx nothing
	// comes there but the lines of a refusal, on Stderr.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// ExtraFiles are handed to the command: entry i is its descriptor 3+i. A
	// directory is refused, as any descriptor by which a sandbox could be left.
	ExtraFiles []*os.File
	// Cancel is called when the context is done; nil kills sbx. Then the record is
	// "lost", and all that the command started is gone where its line "processes"
	// is enforced: under a spec with a rule on files or the network.
	Cancel func() error
	// WaitDelay bounds the time that Wait waits after that, see exec.Cmd.
	WaitDelay time.Duration

	// Process is sbx once it is started: a signal sent to it reaches the command,
	// but for SIGKILL, which ends the sandbox.
	Process *os.Process
	// ProcessState is how it ended, set by Wait.
	ProcessState *os.ProcessState

	cmd       *exec.Cmd
	dir       string // private: the spec, and the record
	record    *Record
	recordErr error
}

// Command prepares the command of that name under a spec; nil is the default. When
// ctx is done the sandbox is ended, as exec.CommandContext ends a process.
func Command(ctx context.Context, s *spec.SandboxSpec, name string, args ...string) *Cmd {
	return &Cmd{Spec: s, Args: append([]string{name}, args...), cmd: exec.CommandContext(ctx, "sbx"),
		recordErr: errors.New("sbx: the command has not ended")}
}

// Run starts the command and waits for it. The error is nil where the command ran
// and ended with status 0, a *Refused where it did not start, else an
// *exec.ExitError with the exit status of sbx exec: the command's own, 128+n where
// signal n ended it, 124 where a limit of the spec did.
func (c *Cmd) Run() error {
	if err := c.Start(); err != nil {
		return err
	}
	return c.Wait()
}

// Start starts the command and does not wait for it: whether sbx refuses it shows
// in Wait, which must be called.
func (c *Cmd) Start() error {
	if err := c.prepare(); err != nil {
		return err
	}
	if err := c.cmd.Start(); err != nil {
		return c.finish(err)
	}
	c.Process = c.cmd.Process
	return nil
}

// Wait waits for a command that Start started, and for what copies from Stdin and
// to Stdout and Stderr. The error is Run's.
func (c *Cmd) Wait() error {
	err := c.cmd.Wait()
	if c.dir == "" { // not started, or waited for before
		return err
	}
	return c.finish(err)
}

// Output runs the command and returns what it wrote to stdout. Where Stderr is nil
// the *exec.ExitError holds the ends of what was written there.
func (c *Cmd) Output() ([]byte, error) { return c.gather((*exec.Cmd).Output) }

// CombinedOutput runs the command and returns what it wrote to stdout and stderr.
func (c *Cmd) CombinedOutput() ([]byte, error) { return c.gather((*exec.Cmd).CombinedOutput) }

func (c *Cmd) gather(run func(*exec.Cmd) ([]byte, error)) ([]byte, error) {
	if err := c.prepare(); err != nil {
		return nil, err
	}
	out, err := run(c.cmd)
	return out, c.finish(err)
}

// StdinPipe is a pipe to the command's stdin, see exec.Cmd.StdinPipe.
func (c *Cmd) StdinPipe() (io.WriteCloser, error) {
	c.cmd.Stdin = c.Stdin
	w, err := c.cmd.StdinPipe()
	c.Stdin = c.cmd.Stdin
	return w, err
}

// StdoutPipe is a pipe from the command's stdout. As of exec.Cmd.StdoutPipe all is
// to be read from it before Wait is called.
func (c *Cmd) StdoutPipe() (io.ReadCloser, error) {
	c.cmd.Stdout = c.Stdout
	r, err := c.cmd.StdoutPipe()
	c.Stdout = c.cmd.Stdout
	return r, err
}

// StderrPipe is a pipe from the command's stderr, see StdoutPipe.
func (c *Cmd) StderrPipe() (io.ReadCloser, error) {
	c.cmd.Stderr = c.Stderr
	r, err := c.cmd.StderrPipe()
	c.Stderr = c.cmd.Stderr
	return r, err
}

// Record is what happened: of a command that ran and of one that was refused, once
// Wait has returned. It is an error where sbx left none, as when it could not
// be started or was too old.
func (c *Cmd) Record() (*Record, error) { return c.record, c.recordErr }

const (
	specName   = "spec.json"
	recordName = "effective.json"
)

// prepare makes the private directory and the line of sbx.
func (c *Cmd) prepare() error {
	if c.cmd.Process != nil || c.dir != "" {
		return errors.New("sbx: the command was started before")
	}
	if len(c.Args) == 0 || c.Args[0] == "" {
		return errors.New("sbx: no command")
	}
	var document []byte
	var err error
	if c.Spec != nil {
		if document, err = c.document(); err != nil {
			return err
		}
	}
	if c.Path != "" {
		c.cmd.Path, c.cmd.Err = c.Path, nil
	} else if path := beside(); path != "" {
		c.cmd.Path, c.cmd.Err = path, nil
	} // else what Command found on the PATH
	temp, err := filepath.Abs(os.TempDir())
	if err != nil {
		return err
	}
	if c.dir, err = os.MkdirTemp(temp, "sbx-"); err != nil {
		return err
	}
	args := []string{"sbx", "exec", "-q", "--effective", c.dir + "/" + recordName}
	if document != nil {
		args = append(args, "--spec", c.dir+"/"+specName)
		if err := os.WriteFile(c.dir+"/"+specName, document, 0o600); err != nil {
			return c.finish(err)
		}
	} else {
		args = append(args, "--no-project-spec")
	}
	for i, f := range c.ExtraFiles {
		if f != nil {
			args = append(args, "--keep-fd", strconv.Itoa(3+i))
		}
	}
	c.cmd.Args = append(append(args, "--"), c.Args...)
	c.cmd.Dir, c.cmd.Env, c.cmd.ExtraFiles, c.cmd.WaitDelay = c.Dir, c.Env, c.ExtraFiles, c.WaitDelay
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	if c.Cancel != nil {
		c.cmd.Cancel = c.Cancel
	}
	return nil
}

// document is the spec as the text of a file that may lie anywhere.
func (c *Cmd) document() ([]byte, error) {
	s := *c.Spec
	if s.Source.Kind != spec.SpecFile { // whose paths are bound to the file's directory
		return nil, errors.New("sbx: " + s.Source.Name + " is not a spec: run a workshop, a worker or an agent's file by the program sbx")
	}
	base := cmp.Or(s.Source.Dir, c.Dir)
	base, err := filepath.Abs(base)
	if err != nil {
		return nil, err
	}
	s.Source = spec.Source{}
	s.WorkingDir = within(base, s.WorkingDir)
	s.Sandbox.Value.Root = within(base, s.Sandbox.Value.Root)
	n := s.Node()
	if !isText(n) {
		return nil, errors.New("sbx: a spec holds UTF-8 alone")
	}
	return n.AppendJSON(nil, nil), nil
}

// within is a path of a document, counted from base where it is relative.
func within(base string, p spec.Opt[string]) spec.Opt[string] {
	if p.Value != "" && !strings.HasPrefix(p.Value, "/") && !strings.HasPrefix(p.Value, "~") {
		p.Value = base + "/" + p.Value
	}
	return p
}

// isText tells whether a document can be written as JSON without becoming another.
func isText(n *spec.Node) bool {
	for _, m := range n.Members {
		if !utf8.ValidString(m.Key) || !isText(m.Value) {
			return false
		}
	}
	for _, item := range n.Items {
		if !isText(item) {
			return false
		}
	}
	return utf8.ValidString(n.Text)
}

// finish takes the record out of the private directory, which goes, and gives err, or
// the refusal that it stands for.
func (c *Cmd) finish(err error) error {
	c.Process, c.ProcessState = c.cmd.Process, c.cmd.ProcessState
	c.record, c.recordErr = readRecord(c.dir + "/" + recordName)
	document := c.dir + "/" + specName
	if gone := os.RemoveAll(c.dir); err == nil {
		err = gone
	}
	c.dir = ""
	if c.recordErr != nil || c.record.Error == nil {
		return err
	}
	r := c.record.Error
	if strings.HasPrefix(r.On, document) { // by a place in a file that is gone
		r.On = c.Spec.Source.Name
	}
	refused := *r
	refused.exit = err
	return &refused
}
