package oci

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/doc"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/outer"
)

func (m *making) openRecord() (err error) {
	defer func() {
		if err != nil {
			_ = m.shelf.drop()
		}
	}()
	dir, environ, home := m.state()
	if m.sink, err = audit.Open(spec.Opt[string]{}, "", environ, home, m.record.ID); err != nil {
		return err
	}
	return m.link(dir)
}

// link creates the symlink from the container's id to its record.
func (m *making) link(dir string) error {
	if err := os.MkdirAll(dir+"/containers", 0o700); err != nil {
		return err
	}
	temp := dir + "/containers/." + m.record.ID
	if err := os.Symlink("../runs/"+m.record.ID, temp); err != nil {
		return err
	}
	return os.Rename(temp, m.linkPath())
}

// lines returns the record's enforcement lines, weakened where the engine's configuration of
// the container enforces less. exposed is keepApart's result.
func (m *making) lines(s *Seen, contained *outer.Contained, exposed string) []wrap.Enforcement {
	lines := slices.Clone(contained.Lines)
	weaken := func(f spec.Field, why string) {
		for i := range lines {
			if lines[i].Field == f {
				lines[i].Weaken(wrap.Degraded, why)
			}
		}
	}
	by := map[spec.Field]string{wrap.FieldProcesses: "the container's namespaces", wrap.FieldRecord: "the container's namespaces",
		"max_commands": "seccomp notify", "limits.timeout": "the supervisor"}
	for i := range lines { // sbx exec needs its own mounts and pid namespace for these fields; a container always has them
		l := &lines[i]
		if by, ok := by[l.Field]; ok && contained.Plan.Base == wrap.BaseHost && l.Status == wrap.Degraded {
			*l = wrap.Enforcement{Field: l.Field, Asked: l.Asked, By: by}
		}
	}
	for _, p := range s.hidden() {
		for i := range lines {
			lines[i].Reason = strings.ReplaceAll(lines[i].Reason, "nothing is at "+p.Abs+" to hide", p.Abs+" is masked by the runtime")
		}
	}
	if ns := m.t.namespace("pid"); ns == nil || ns.Get("path") != nil {
		weaken(wrap.FieldProcesses, "the engine has the container share processes with others")
		for _, f := range []spec.Field{"max_commands", "limits.timeout"} {
			weaken(f, "the engine has the container share processes with its supervisor, which root in there could end")
		}
		weaken("limits.timeout", "when the time is over, only the first process is ended")
	}
	if exposed != "" {
		for _, f := range []spec.Field{"max_commands", "commands.allow", "commands.deny", wrap.FieldUnmade, wrap.FieldSideDoors} {
			weaken(f, exposed)
		}
	}
	if ns := m.t.namespace("ipc"); ns == nil || ns.Get("path") != nil {
		weaken(wrap.FieldSideDoors, "the engine has the container share System V memory with others")
	}
	for i := range contained.Nodes {
		n := &contained.Nodes[i]
		if n.Kind != wrap.NodeEmptyFile && n.Kind != wrap.NodeEmptyDir {
			continue
		}
		if p := s.files.over(n.Path); p != nil && p.binds() && p.Path != n.Path {
			weaken(n.For, "what lies in a volume is masked by a mount on it: what the host or another container puts in its place shows")
			break
		}
	}
	return lines
}

// started writes the container's first process into the record, and runs the supervisor until
// the container's end, if there is one. It deletes a container with other files than sbx-oci has looked at.
func (m *making) started() error {
	pid := m.pid()
	if pid > 0 {
		m.record.Supervisor = audit.ProcessOf(pid)
		if m.supervisor == nil && !m.record.Container.NothingAsked {
			_ = m.shelf.put(pidFile, []byte(strconv.Itoa(pid))) // on failure start asks the runtime
		}
	}
	s := m.supervisor
	if s == nil {
		if len(m.looked) > 0 {
			if _, err := m.looked.in(pid); err != nil {
				m.destroy()
				return m.refuse(err)
			}
		}
		_ = m.sink.Write(m.record)
		m.shelf.unlock()
		if m.report() {
			// The parent ends, and the kernel this process with it. To end before would hold the parent up.
			_, _ = unix.Poll(nil, 1000)
		}
		return nil
	}
	err := s.know(pid)
	if err == nil {
		err = s.met(pid)
	}
	if errors.As(err, new(*spec.Problem)) {
		m.destroy()
		return m.refuse(err)
	}
	f := &follower{over: true}
	if err == nil && s.follows {
		var why error
		if f, why = s.trace(pid); why != nil {
			s.end() // start would run whatever there is
		}
	}
	_ = s.run.Write()
	m.stay()
	if err != nil { // the process has ended already and will never connect
		s.finish(0, neverStarted)
		return nil
	}
	ended := make(chan struct{})
	go func() { s.over(); close(ended) }()
	f.untilStarted()
	<-ended
	return nil
}

// telling adds --pid-file to the runtime's line if the engine has not: otherwise sbx-oci would have
// to run the runtime once more to ask for the pid.
func (m *making) telling(l *Line) *Line {
	if m.Value("pid-file") != "" {
		return l
	}
	with := l.With(m.shelf.dir+"/"+pidFile, "pid-file")
	return &with
}

// pid returns the pid of the container's first process, from the pid file or else from the
// runtime's `state`.
func (c *Call) pid() int {
	file := c.Value("pid-file")
	if file == "" {
		file = c.shelf().dir + "/" + pidFile
	}
	b, _ := os.ReadFile(file)
	if pid, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil {
		return pid
	}
	state, _ := c.askState()
	return int(whole(state.Get("pid")))
}

// ran finishes the record of a container whose end the runtime has waited for. A container that the
// runtime could not start has no pid file.
func (m *making) ran(ended unix.WaitStatus) error {
	status := statusOf(ended)
	if s := m.supervisor; s != nil {
		s.known.Do(func() {}) // nothing of the container is met any more
		if errors.As(s.unmet, new(*spec.Problem)) {
			return m.refuse(s.unmet)
		}
	}
	if st, err := os.Stat(cmp.Or(m.Value("pid-file"), m.shelf.dir+"/"+pidFile)); status != 0 && (err != nil || st.ModTime().Before(m.record.StartedAt.Truncate(time.Second))) {
		_ = m.refuse(m.unmade(status))
		return nil
	}
	defer func() {
		_ = m.shelf.drop()
		_ = os.Remove(m.linkPath())
	}()
	if s := m.supervisor; s != nil && !s.begun.Load() {
		return m.refuse(&spec.Problem{Do: "hold the spec in the container", Why: "sbx-init did not start the command there, and something else may have run in its place",
			Help: "use create and start, which trace what is started"})
	}
	unknown := ""
	if ended.Signaled() {
		unknown = filepath.Base(m.Inner) + ", which alone knows it, was killed"
	}
	if m.supervisor != nil {
		m.supervisor.finish(unix.WaitStatus(status<<8), unknown)
		return nil
	}
	m.record.EndedAt = time.Now()
	if m.record.Container.ExitUnknown = unknown; unknown == "" {
		m.record.Exit = audit.Exit{Code: spec.Some(status)}
	}
	m.record.Usage.WallMS = spec.Some(time.Since(m.record.StartedAt).Milliseconds())
	_ = m.sink.Close(m.record)
	return nil
}

// unmade returns the error about a container that the runtime could not create.
func (m *making) unmade(status int) error {
	return &spec.Problem{Do: "make the container", Why: filepath.Base(m.Inner) + " ended with " + strconv.Itoa(status) + "; what it said is the engine's to tell"}
}

// destroy deletes the container under a spec whose runtime was killed: nobody waits for it any more.
// If it is one of another bundle, the killed runtime did not make it.
func (m *making) destroy() {
	state, err := m.askState()
	if at := fileAt(m.shelf.dir); err != nil || at == (file{}) || fileAt(doc.Text(state.Get("bundle"))) != at {
		return
	}
	_, _ = ask(m.Inner, &Line{Global: m.Global, Verb: "delete", Flags: []Flag{{Words: []string{"--force"}}}, Rest: []string{m.ID()}}, m.Environ)
}

// unclaimed handles a container whose name is taken. Without a spec, the runtime reports that. With
// a spec, the runtime is not called: the other container may be gone by then, and the runtime would
// create the new one without its spec.
func (m *making) unclaimed(err error) (int, error) {
	if err == errTaken && m.unread == nil && len(m.docs) == 0 {
		return 0, HandOn(m.Inner, &m.Line, m.Environ)
	}
	return 0, &spec.Problem{On: m.ID(), Do: "make the container", Why: err.Error()}
}

// refuse finishes the record with the error that kept the container from being created.
func (m *making) refuse(err error) error {
	m.cancel()
	m.record.Error = audit.RefusalOf(spec.AsProblems(err)[0])
	m.record.EndedAt = time.Now()
	_ = m.sink.Close(m.record)
	_ = m.shelf.drop()
	_ = os.Remove(m.linkPath())
	return err
}
