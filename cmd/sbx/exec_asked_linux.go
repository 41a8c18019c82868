package main

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/run"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/outer"
)

// execution is one use of exec or check: the command line, its documents, and the run that
// they ask for.
type execution struct {
	*call
	*run.Ask
	prepared *run.Prepared
	ran      bool // the command was started
}

// counterAsked returns the counter that the command line names.
func (x *execution) counterAsked() (wrap.Counter, error) {
	if !x.has("counter") {
		return wrap.CounterAuto, nil
	}
	c, ok := wrap.ParseCounter(x.value("counter"))
	if !ok {
		return c, usageError("exec: --counter is notify, ptrace or none, and not " + spec.Word(x.value("counter")))
	}
	return c, nil
}

// describeAsked returns which denials the command line wants described.
func (x *execution) describeAsked() (wrap.Describe, error) {
	switch v := x.value("violations"); v {
	case "", "on":
		return wrap.DescribeAll, nil
	case "names":
		return wrap.DescribeNames, nil
	case "off":
		return wrap.DescribeNone, nil
	default:
		return 0, usageError("exec: --violations is on, names or off, and not " + spec.Word(v))
	}
}

// progressAsked reads --progress, and closes its descriptor for the command.
func (x *execution) progressAsked() (int, error) {
	if !x.has("progress") {
		return 0, nil
	}
	v := x.value("progress")
	n, err := strconv.Atoi(v)
	if err != nil || n < 3 || n > 1<<20 {
		return 0, usageError("exec: --progress wants the number of a descriptor, of 3 or more, and not " + spec.Word(v))
	}
	if _, err := unix.FcntlInt(uintptr(n), unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
		return 0, &spec.Problem{On: "--progress " + v, Do: "report progress", Why: "the descriptor is not open"}
	}
	if slices.Contains(x.Keep, n) {
		return 0, usageError("exec: --progress and --keep-fd name the same descriptor")
	}
	return n, nil
}

// nativeBackend is the backend without another tool: sbx itself.
const nativeBackend = "native"

// backed reports whether another tool makes the sandbox.
func (c *documentSet) backed() bool {
	v := c.value("backend")
	return v != "" && v != nativeBackend
}

// checkBackend rejects an unknown backend.
func (x *execution) checkBackend() error {
	if !x.backed() {
		if x.has("image") {
			return usageError("exec: --image is for docker, podman and runsc")
		}
		return nil
	}
	name := x.value("backend")
	if _, image, ok := outer.NeedsOf(name); !ok {
		return usageError("exec: --backend is native, bwrap, nsjail, docker, podman or runsc, and not " + spec.Word(name))
	} else if x.has("image") && !image {
		return usageError("exec: --image is for docker, podman and runsc, and not for " + name)
	} else if strings.HasPrefix(x.value("image"), "-") {
		return usageError("exec: --image wants REF, and not " + spec.Word(x.value("image")) + ", which " + name + " would take for a flag")
	}
	for _, f := range []string{"counter", "violations", "keep-fd"} {
		if x.has(f) && !(f == "counter" && x.value(f) == "none") && !(f == "violations" && x.value(f) == "off") {
			return usageError("exec: --" + f + " is for the native backend")
		}
	}
	x.Backend, x.Image = name, x.value("image")
	return nil
}
