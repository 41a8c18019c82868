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

// Cmd is a command that is to run, runs or has run in a sandbox. Like an exec.Cmd it
// cannot be reused after Run, Start, Output or CombinedOutput.
type Cmd struct {
	// Path is the program sbx. If it is empty, sbx is searched for in the directory of the
	// running program and then in the PATH. No sandboxed command may be able to write it.
	Path string
	// Spec says what the command may do. It is not modified. nil is the default of sbx exec:
	// access_mode workspace-write in Dir, no network; a spec of the project is ignored. Its
	// working_dir is relative to Spec.Source.Dir or, if that is empty, to Dir; its other
	// relative paths are relative to the working_dir.
	Spec *spec.SandboxSpec
	// Args are the command and its arguments.
	Args []string
	// Dir is the working directory of sbx, and of the command if the spec has no working_dir;
	// "" is the current directory.
	Dir string
	// Env is the environment of sbx, of which the command gets what the spec passes; nil is
	// that of the calling process. The hidden secrets are searched for in its HOME; without
	// HOME, in the home directory of the password file.
	Env []string
	// Stdin, Stdout and Stderr are the command's, as in exec.Cmd. sbx itself prints only why
	// it refuses to start the command, on Stderr.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// ExtraFiles are further descriptors of the command: entry i is its descriptor 3+i. sbx
	// refuses a directory, like every descriptor that leads out of a sandbox.
	ExtraFiles []*os.File
	// Cancel is called when the context is done; nil kills sbx. The state of the record is
	// "lost" then. All processes of the command have ended if the record's line "processes" is
	// enforced: under a spec with a rule on files or the network.
	Cancel func() error
	// WaitDelay limits how long Wait waits after that, see exec.Cmd.
	WaitDelay time.Duration

	// Process is sbx, once it is started. A signal sent to it reaches the command, except
	// SIGKILL, which ends the sandbox.
	Process *os.Process
	// ProcessState says how sbx ended; Wait sets it.
	ProcessState *os.ProcessState

	cmd       *exec.Cmd
	dir       string // private, for the spec and the record
	record    *Record
	recordErr error
}

// Command returns a Cmd that runs the named program under a spec; nil is the default spec.
// When ctx is done, the sandbox is ended, as exec.CommandContext ends a process.
func Command(ctx context.Context, s *spec.SandboxSpec, name string, args ...string) *Cmd {
	return &Cmd{Spec: s, Args: append([]string{name}, args...), cmd: exec.CommandContext(ctx, "sbx"),
		recordErr: errors.New("sbx: the command has not ended")}
}

// Run starts the command and waits for it. The error is nil if the command ended with
// status 0, a *Refused if it did not start, and otherwise an *exec.ExitError with the exit
// status of sbx exec: the command's own, 128+n if signal n ended it, 124 if a limit of the
// spec did.
func (c *Cmd) Run() error {
	if err := c.Start(); err != nil {
		return err
	}
	return c.Wait()
}

// Start starts the command and does not wait for it. Wait, which must be called, reports
// whether sbx refused it.
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

// Wait waits for a command that Start started, and until Stdin, Stdout and Stderr are
// copied. The error is the same as Run's.
func (c *Cmd) Wait() error {
	err := c.cmd.Wait()
	if c.dir == "" { // not started, or Wait was called before
		return err
	}
	return c.finish(err)
}

// Output runs the command and returns what it wrote to stdout. If Stderr is nil, the
// *exec.ExitError holds the first and the last part of stderr.
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

// StdinPipe returns a pipe to the command's stdin, see exec.Cmd.StdinPipe.
func (c *Cmd) StdinPipe() (io.WriteCloser, error) {
	c.cmd.Stdin = c.Stdin
	w, err := c.cmd.StdinPipe()
	c.Stdin = c.cmd.Stdin
	return w, err
}

// StdoutPipe returns a pipe from the command's stdout. As with exec.Cmd.StdoutPipe, read
// all of it before you call Wait.
func (c *Cmd) StdoutPipe() (io.ReadCloser, error) {
	c.cmd.Stdout = c.Stdout
	r, err := c.cmd.StdoutPipe()
	c.Stdout = c.cmd.Stdout
	return r, err
}

// StderrPipe returns a pipe from the command's stderr, see StdoutPipe.
func (c *Cmd) StderrPipe() (io.ReadCloser, error) {
	c.cmd.Stderr = c.Stderr
	r, err := c.cmd.StderrPipe()
	c.Stderr = c.cmd.Stderr
	return r, err
}

// Record returns the record of a command that ran or was refused, after Wait has returned.
// It is an error if sbx left none, for example because sbx could not be started or was too
// old.
func (c *Cmd) Record() (*Record, error) { return c.record, c.recordErr }

const (
	specName   = "spec.json"
	recordName = "effective.json"
)

// prepare makes the private directory and the command line of sbx.
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
	} // otherwise the program that exec.Command found in the PATH
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

// document returns the spec as the text of a file that may be in any directory.
func (c *Cmd) document() ([]byte, error) {
	s := *c.Spec
	if s.Source.Kind != spec.SpecFile { // the paths of a workshop or a worker depend on the directory of its file
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

// within returns a path of a document as absolute; a relative one counts from base.
func within(base string, p spec.Opt[string]) spec.Opt[string] {
	if p.Value != "" && !strings.HasPrefix(p.Value, "/") && !strings.HasPrefix(p.Value, "~") {
		p.Value = base + "/" + p.Value
	}
	return p
}

// isText reports whether a document can be written as JSON without a change of its
// meaning.
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

// finish reads the record, removes the private directory, and returns err or the refusal
// for which it stands.
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
	if strings.HasPrefix(r.On, document) { // a position in the document's file, which is removed
		r.On = c.Spec.Source.Name
	}
	refused := *r
	refused.exit = err
	return &refused
}
