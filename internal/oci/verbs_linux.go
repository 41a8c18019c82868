package oci

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/doc"
	"sbx/internal/oci/front"
	"sbx/internal/oci/walls"
	"sbx/spec"
)

// Run carries out the verb and returns the exit status, unless it has replaced this process
// with the runtime proper.
func (c *Call) Run() (status int, err error) {
	switch c.Verb {
	case "create", "run":
		return c.Create()
	case "restore":
		return c.restore()
	case "start", "exec", "delete":
		err = c.named()
	}
	switch {
	case err != nil:
	case c.Verb == "start":
		err = c.start()
	case c.Verb == "exec":
		err = c.exec()
	case c.Verb == "delete":
		return c.remove()
	}
	if err != nil {
		return 0, err
	}
	return 0, HandOn(c.Inner, &c.Line, c.Environ)
}

// kept reads the stored Narrowing of the call's container; nil if no spec applies to the container.
// If the file is lost, kept returns an error: a process started without the Narrowing would be less
// restricted than the container.
func (c *Call) kept() (*Narrowing, error) {
	if c.ID() == "" {
		return nil, nil // the runtime reports it
	}
	path := c.shelf().dir + "/" + narrowingFile
	b, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		if _, err := os.Lstat(c.linkPath()); os.IsNotExist(err) {
			// Another program created the container, or the call has another spelling of --root or
			// another --sbx-state. The bundle of a container under a spec is its directory of
			// state.
			bundle := ""
			if c.bundled == "" {
				state, err := c.askState()
				if err != nil {
					return nil, err
				}
				bundle = doc.Text(state.Get("bundle"))
			}
			switch _, err := os.Lstat(bundle + "/" + narrowingFile); {
			case err == nil:
			case bundle != "" && slices.Contains([]string{filepath.Base(front.OfState), filepath.Base(front.OfNode)}, filepath.Base(filepath.Dir(bundle))):
				return nil, lost(bundle, err)
			default:
				return nil, nil
			}
			c.bundled = bundle
			return c.kept()
		}
	}
	var n *doc.Node
	if err == nil {
		n, err = doc.ParseJSON(path, b)
	}
	switch {
	case err != nil:
		return nil, lost(path, err)
	case n.Kind == doc.Null:
		return nil, nil // no spec applied
	}
	return narrowingOf(n), nil
}

func lost(path string, err error) error {
	return &spec.Problem{On: path, Do: "know what holds for the container", Why: err.Error(), Help: "delete the container, and make it anew"}
}

// askState returns the runtime's state of the container (runtime-spec, "State"); nil if it knows none.
func (c *Call) askState() (n *doc.Node, err error) {
	out, err := ask(c.Inner, &Line{Global: c.Global, Verb: "state", Rest: []string{c.ID()}}, c.Environ)
	if out != nil && err == nil {
		n, err = doc.ParseLaxJSON("the container's state", out, 64)
	}
	if err != nil {
		return nil, &spec.Problem{On: c.ID(), Do: "ask " + filepath.Base(c.Inner) + " for the container's state", Why: err.Error()}
	}
	return n, nil
}

// isThere reports whether the runtime proper knows the container, or does not tell.
func (c *Call) isThere() bool {
	n, err := c.askState()
	return n != nil || err != nil
}

// restore fails if a spec applies: the spec never restricted the processes of a checkpoint.
func (c *Call) restore() (int, error) {
	_, config, err := c.bundle()
	annotations := map[string]string{}
	if err == nil {
		t, err := Decode(c.ID(), "/", config)
		if err != nil {
			return 0, err
		}
		annotations = t.Annotations
	}
	docs, err := Documents(&c.Own, annotations)
	if err != nil {
		return 0, err
	}
	if len(docs) > 0 {
		return 0, &spec.Problem{Do: "restore a checkpoint under a spec", Why: "its processes would have the mounts and walls that they had then", Help: "start the container anew"}
	}
	return 0, HandOn(c.Inner, &c.Line, c.Environ)
}

// start removes the interfaces that the engine has added to a container without network, unless a
// supervisor does that.
func (c *Call) start() error {
	n, err := c.kept()
	if n == nil || !n.NoNetwork || n.Attended {
		return err
	}
	b, _ := os.ReadFile(c.shelf().dir + "/" + pidFile)
	pid, _ := strconv.Atoi(string(b))
	if pid == 0 {
		state, err := c.askState()
		if err != nil {
			return err
		}
		pid = int(whole(state.Get("pid")))
	}
	if err := emptyNetwork(pid); err != nil {
		return &spec.Problem{Field: "network.mode", Do: "take the container's network away", Why: err.Error()}
	}
	return nil
}

// exec applies the container's Narrowing to an additional process.
func (c *Call) exec() error {
	n, err := c.kept()
	if n == nil {
		return err
	}
	if err := c.confine(); err != nil {
		return err
	}
	file := c.Value("process", "p")
	if file == "" {
		return c.execLine(n)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	process, err := doc.ParseJSON(file, b)
	if err != nil {
		return err
	}
	at, err := c.come(n)
	if err != nil {
		return err
	}
	if err := clear(process); err != nil {
		return err
	}
	edits := append(n.edits(process, at), Edit{"env", doc.Strs(n.environ(doc.Texts(process.Get("env")))), "environment"})
	fd, err := unix.MemfdCreate("sbx-process", unix.MFD_CLOEXEC)
	if err == nil {
		fd, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD, front.AboveAll) // closes when the runtime exits
	}
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), "sbx-process")
	if _, err := f.Write(apply(process, edits).AppendJSON(nil, nil)); err != nil {
		return err
	}
	c.Line = c.Line.With("/proc/self/fd/"+strconv.Itoa(fd), "process", "p")
	return nil
}

// execLine is exec for a process given on the command line instead of a file: the runtime takes
// everything else from config.json's process.
func (c *Call) execLine(n *Narrowing) error {
	for _, f := range c.Flags {
		if slices.Contains([]string{"cap", "c", "env", "e"}, f.Name) {
			return &spec.Problem{On: "--" + f.Name, Do: "have a process in the container that has more than its first one", Why: "a spec holds for the container",
				Help: "leave the flag out"}
		}
	}
	if i := slices.Index(c.Rest, c.ID()); n.Init && len(c.Rest) > i+1 {
		at, err := c.come(n)
		if err != nil {
			return err
		}
		c.Rest = slices.Insert(slices.Clone(c.Rest), i+1, walls.Line(at, nil)...)
	}
	return nil
}

// come connects to the container's supervisor and passes the socket on to the process that the
// runtime starts, as descriptor number at; 0 if there is no supervisor.
func (c *Call) come(n *Narrowing) (at int, err error) {
	if !n.Attended {
		return 0, nil
	}
	conn, err := comeTo(c.shelf().dir)
	if err == nil { // this process becomes the runtime
		err = walls.Tell(conn, walls.Follow)
	}
	if err == nil {
		at = c.Kept(c.Environ)
		if conn == at {
			_, err = unix.FcntlInt(uintptr(conn), unix.F_SETFD, 0)
		} else {
			err = unix.Dup3(conn, at, 0)
		}
	}
	if err != nil {
		return 0, &spec.Problem{Do: "start a process in the container", Why: "its supervisor does not answer: " + err.Error(), Help: "the container was left without one: make it anew"}
	}
	c.Line = c.With(strconv.Itoa(at-2), "preserve-fds")
	return at, nil
}

// remove deletes the container and finishes its record.
func (c *Call) remove() (status int, err error) {
	link := c.linkPath()
	if _, err := os.Lstat(link); err != nil {
		return 0, HandOn(c.Inner, &c.Line, c.Environ)
	}
	state, _ := c.askState() // without it, the container can be deleted all the same
	status, err = attend(c.Inner, &c.Line, c.Environ)
	if err != nil || status != 0 {
		return status, err
	}
	why := "a runtime does not wait for the container: its engine alone knows the exit status"
	if doc.Text(state.Get("status")) == "created" {
		why = neverStarted
	}
	switch was, lives := gone(c.shelf().dir); {
	case lives:
		c.log("sbx-oci: the container's supervisor still runs: its record and its state stay")
		return 0, nil
	case was:
		why = "its supervisor was killed"
	}
	path, err := filepath.EvalSymlinks(link)
	if err == nil {
		err = audit.EndContainer(path, time.Now(), why)
	}
	err = errors.Join(err, c.shelf().drop(), os.Remove(link))
	if err != nil {
		c.log("sbx-oci: the container's record is not finished: " + err.Error())
	}
	return 0, nil
}
