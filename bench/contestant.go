package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// A contestant runs a command in its sandbox.
type contestant struct {
	name string
	wrap func(b *bencher, p place, argv []string) []string
}

var (
	none = contestant{"none", func(_ *bencher, _ place, argv []string) []string { return argv }}

	bwrap = contestant{"bwrap", func(b *bencher, p place, argv []string) []string {
		return append([]string{b.bwrap, "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev",
			"--proc", "/proc", "--tmpfs", "/tmp", "--bind", p.workspace, p.workspace}, argv...)
	}}

	sbx = contestant{"sbx", func(b *bencher, p place, argv []string) []string {
		return append([]string{b.sbx, "exec", "--spec", p.spec, "--"}, argv...)
	}}

	// These are sbx alone with less and less to answer, the least first; their differences show
	// what answering notifications costs.
	uncounted = less("sbx uncounted", "--counter", "none", "--violations", "off")
	unwatched = less("sbx --violations off", "--violations", "off")
	names     = less("sbx --violations names", "--violations", "names")
	traced    = less("sbx --counter ptrace", "--counter", "ptrace")

	strace = contestant{"strace", func(_ *bencher, _ place, argv []string) []string {
		return append([]string{"strace", "--seccomp-bpf", "-f", "-qq", "-e", "trace=execve,execveat", "-o", "/dev/null", "--"}, argv...)
	}}
)

// less is sbx with flags by which it watches less, or differently.
func less(name string, flags ...string) contestant {
	return contestant{name, func(b *bencher, p place, argv []string) []string {
		return append(append(append([]string{b.sbx, "exec", "-q"}, flags...), "--spec", p.spec, "--"), argv...)
	}}
}

// start starts argv as the caller of p would, without a terminal. out takes its output; nil
// discards it.
func (b *bencher) start(p place, argv []string, out *os.File) (*os.Process, error) {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	if out == nil {
		out = null
	}
	attr := &os.ProcAttr{Dir: p.workspace, Env: p.env, Files: []*os.File{null, out, null}, Sys: &syscall.SysProcAttr{}}
	if p.uid >= 0 {
		attr.Sys.Credential = &syscall.Credential{Uid: uint32(p.uid), Gid: uint32(p.uid)}
	}
	return os.StartProcess(path, argv, attr)
}

// once measures the time from before the start of n commands to the end of all.
func (b *bencher) once(p place, argv []string, n int) (time.Duration, error) {
	time.Sleep(b.settle)
	procs := make([]*os.Process, 0, n)
	begin := time.Now()
	var failed error
	for range n {
		proc, err := b.start(p, argv, nil)
		if err != nil {
			failed = err
			break
		}
		procs = append(procs, proc)
	}
	for _, proc := range procs {
		state, err := proc.Wait()
		if err == nil && !state.Success() {
			err = fmt.Errorf("%q: %v", argv, state)
		}
		if err != nil {
			failed = err
		}
	}
	return time.Since(begin), failed
}

// told runs argv and returns the number of nanoseconds that it prints.
func (b *bencher) told(p place, argv []string) (time.Duration, error) {
	time.Sleep(b.settle)
	r, w, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	proc, err := b.start(p, argv, w)
	w.Close()
	if err != nil {
		return 0, err
	}
	var text bytes.Buffer
	if _, err := text.ReadFrom(r); err != nil {
		return 0, err
	}
	if state, err := proc.Wait(); err != nil || !state.Success() {
		return 0, fmt.Errorf("%q: %v %v", argv, state, err)
	}
	var ns int64
	if _, err := fmt.Sscan(text.String(), &ns); err != nil {
		return 0, fmt.Errorf("%q printed %q: %w", argv, text.String(), err)
	}
	return time.Duration(ns), nil
}

// explain runs argv again and returns what it writes to stderr.
func (b *bencher) explain(p place, argv []string) string {
	cmd := b.command(p, argv)
	if p.uid >= 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(p.uid), Gid: uint32(p.uid)}}
	}
	out, err := cmd.CombinedOutput()
	return fmt.Sprintf("%s(%v)", out, err)
}

// command returns argv as the caller of p would start it.
func (b *bencher) command(p place, argv []string) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = p.workspace, p.env
	return cmd
}
