package main

import (
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/run"
	"sbx/internal/sys"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/outer"
)

// bundle writes an OCI bundle for an invocation, and returns the line by which runc, or
// crun, runs it.
func (w *wrapping) bundle(inv *outer.Invocation) (out outer.Invocation, audit outer.Audit, err error) {
	dir := w.value("bundle")
	if dir == "" {
		return out, audit, usageError("wrap: --wrapper oci wants --bundle DIR")
	}
	ask, left, err := w.ask(inv)
	if err != nil {
		return out, audit, err
	}
	b, err := outer.OCI(ask, *inv)
	if err != nil {
		return out, audit, err
	}
	cwd, err := currentDir()
	if err != nil {
		return out, audit, err
	}
	in := w.inputs(cwd)
	in.Job = w.job()
	at, refusal := run.Follow(dir, in, []*spec.SandboxSpec{ask.Resolved.Spec})
	if refusal != nil {
		refusal.On, refusal.Do = dir, "write the bundle"
		return out, audit, refusal
	}
	if err := writeBundle(at.Real, b); err != nil {
		return out, audit, err
	}
	b.Audit.NotHeld = append(b.Audit.NotHeld, left...)
	return outer.Invocation{Cmd: "runc", Args: []string{"run", "--bundle", dir, containerID(dir)}, Env: inv.Env, Cwd: inv.Cwd}, b.Audit, nil
}

// answerBundle answers with the line that runs a bundle, which is then there.
func (w *wrapping) answerBundle(dst []byte, inv *outer.Invocation) ([]byte, int) {
	out, audit, err := w.bundle(inv)
	if err != nil {
		return appendProblem(dst, err), wrapStatus(err)
	}
	return outer.AppendAnswer(dst, &out, &audit), exitOK
}

// containerID returns a name for the container of a bundle that runtimes accept.
func containerID(dir string) string {
	name := strings.TrimRight(dir, "/")
	name = name[strings.LastIndexByte(name, '/')+1:]
	return "sbx-" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, name)
}

// writeBundle creates the directory, then rootfs in it and config.json last: a runtime
// that finds config.json finds a complete bundle.
func writeBundle(dir string, b *outer.Bundle) error {
	fail := func(on string, err error) error {
		return &spec.Problem{On: on, Do: "write the bundle", Why: err.Error(), Help: "name a directory that is not there yet, or is empty"}
	}
	if err := unix.Mkdir(dir, 0o755); err != nil && err != unix.EEXIST {
		return fail(dir, err)
	}
	root := dir + "/rootfs"
	if err := unix.Mkdir(root, 0o755); err != nil { // an error if it exists, since it may contain anything
		return fail(root, err)
	}
	for i := range b.Root {
		n := &b.Root[i]
		var err error
		if n.Kind == wrap.NodeLink {
			err = unix.Symlink(n.Text, root+n.Path)
		} else {
			err = unix.Mkdir(root+n.Path, 0o755)
		}
		if err != nil && err != unix.EEXIST {
			return fail(root+n.Path, err)
		}
	}
	// Only the caller may read it: it contains the environment.
	fd, err := unix.Open(dir+"/config.json", unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return fail(dir+"/config.json", err)
	}
	defer unix.Close(fd)
	if sys.WriteAll(fd, b.Config) != nil {
		return fail(dir+"/config.json", unix.EIO)
	}
	return nil
}
