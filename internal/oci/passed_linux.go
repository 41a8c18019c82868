package oci

import (
	"slices"
	"strconv"
	"strings"

	"sbx/internal/oci/front"
	"sbx/spec"
)

// ofSystemd are the variables by which a service gets sockets and reports its start (sd_listen_fds(3),
// sd_notify(3)). A runtime hands as many descriptors on as they say, if need be some of its own on the
// host's files, and mounts the directory of the socket.
var ofSystemd = []string{"LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "NOTIFY_SOCKET"}

// named rejects an id that is a path: crun takes ./ID for ID, under which name alone the container's
// spec is found.
func (c *Call) named() error {
	if c.ID() == "" || isName(c.ID()) {
		return nil
	}
	return &spec.Problem{On: spec.Word(c.ID()), Do: c.Verb + " the container", Why: "its id is longer than 199 characters, no file name, or has an " + front.OfRoot}
}

// confine leaves of the call what may reach the runtime where a spec holds: no variables of systemd,
// and of the descriptors only those that the caller has passed on.
func (c *Call) confine() error {
	c.Environ = slices.DeleteFunc(slices.Clone(c.Environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(ofSystemd, name)
	})
	asked := c.Value("preserve-fds")
	if asked == "" {
		return nil
	}
	refuse := func(why, help string) error {
		return &spec.Problem{On: "--preserve-fds " + spec.Word(asked), Do: "hand descriptors on to the container", Why: why, Help: help}
	}
	const most = front.AboveAll - 3
	n, err := strconv.ParseUint(asked, 10, 64)
	if err != nil || n > most {
		return refuse("a spec holds for it", "write a number up to "+strconv.Itoa(most))
	}
	for fd := 3; fd < 3+int(n); fd++ {
		if inherited(fd) == none {
			return refuse("descriptor "+strconv.Itoa(fd)+" is not open, and the runtime could have one of its own there", "open it, or hand fewer on")
		}
	}
	c.Line = c.With(strconv.FormatUint(n, 10), "preserve-fds") // which the runtimes may read otherwise
	return nil
}
