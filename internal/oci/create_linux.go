package oci

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sbx/audit"
	"sbx/audit/guard"
	"sbx/internal/doc"
	"sbx/internal/oci/front"
	"sbx/internal/oci/walls"
	"sbx/internal/run"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/host"
	"sbx/wrap/outer"

	"golang.org/x/sys/unix"
)

func isName(id string) bool {
	return id != "" && id != "." && id != ".." && !strings.ContainsAny(id, "/"+front.OfRoot) && len(id) < 200
}

// Create creates a container (create), or creates and runs one (run), under its specs.
func (c *Call) Create() (status int, err error) {
	looks := newThread() // which takes as long to start as all until it is needed
	bundle, text, err := c.bundle()
	if err != nil || c.ID() == "" {
		return 0, HandOn(c.Inner, &c.Line, c.Environ) // the runtime reports the error
	}
	t, err := Decode(c.ID(), bundle, text)
	if err == nil {
		err = c.named()
	}
	if err != nil {
		if docs, e := Documents(&c.Own, nil); e == nil && len(docs) == 0 && !bytes.Contains(text, []byte(AnnotationSpec)) {
			return 0, HandOn(c.Inner, &c.Line, c.Environ) // no spec applies
		}
		return 0, err
	}
	m := &making{Call: c, t: t, shelf: c.shelf(), looks: looks}
	m.docs, m.unread = t.documents(&c.Own)
	c.inherited = inherits()
	if front.Report() != 0 {
		front.Swallow()
		if !c.follow() {
			return 1, nil
		}
	}
	id, err := audit.NewID(time.Now())
	if err != nil {
		return 0, err
	}
	if err := m.shelf.claim(m.isThere); err != nil {
		return m.unclaimed(err)
	}
	m.record = audit.Record{ID: id, StartedAt: time.Now(), Version: c.Version, Command: audit.Command{Argv: t.Args, Cwd: t.Cwd}, Container: m.about(),
		Supervisor: audit.Self()} // until the container has a process of its own
	if err := m.openRecord(); err != nil {
		return 0, err
	}
	err = m.prepare()
	if err == nil {
		err = m.sink.Write(m.record)
	}
	if err != nil {
		return 0, m.refuse(err)
	}
	dir, _, _ := c.state()
	audit.Bound(dir, id)
	if m.supervisor != nil {
		go m.supervisor.serve()
	}
	ended, err := m.wait()
	if e := m.shelf.release(); err == nil {
		err = e
	}
	if ended.Signaled() {
		m.destroy()
	}
	status = statusOf(ended)
	switch {
	case err != nil:
		return 0, m.refuse(err)
	case m.foreground():
		err = m.ran(ended)
	case status != 0:
		_ = m.refuse(m.unmade(status))
	default:
		err = m.started()
	}
	return status, err
}

// bundle reads the container's bundle directory and config.json; crun's --config names another.
func (c *Call) bundle() (dir string, config []byte, err error) {
	dir = c.Value("bundle", "b")
	if dir, err = filepath.Abs(dir); err != nil {
		return "", nil, err
	}
	file := c.Value("config", "f")
	if file == "" {
		file = dir + "/config.json"
	}
	config, err = os.ReadFile(file)
	return dir, config, err
}

// making is the state of a container's creation.
type making struct {
	*Call
	t          *Container
	docs       []*spec.SandboxSpec
	unread     error  // why the documents cannot be read
	looks      thread // for inspect
	record     audit.Record
	sink       *audit.Sink
	shelf      *shelf
	supervisor *supervisor // nil if the container needs none
	begun      *begun
	config     []byte // the edited config.json
	looked     looked
}

// prepare edits a copy of the bundle if a spec applies, and starts the runtime proper before
// that, to save time. It leaves the engine's bundle unchanged, so that the engine can use it
// again.
func (m *making) prepare() error {
	defer unix.Umask(unix.Umask(0o22)) // files that are created here must be readable for the container's user
	for _, d := range m.docs {
		m.record.Sources = append(m.record.Sources, d.Source.Name)
	}
	m.record.Documents = m.docs
	if m.unread != nil {
		return m.unread
	}
	if len(m.docs) == 0 {
		m.record.Container.NothingAsked = true
		err := m.shelf.begin()
		if err == nil {
			err = m.shelf.put(narrowingFile, []byte("null"))
		}
		if err == nil {
			err = m.shelf.free(m.Inner)
		}
		return err
	}
	if len(m.t.Args) == 0 || m.t.Root == m.t.Bundle {
		return &spec.Problem{On: m.t.Bundle + "/config.json", Do: "hold a spec for this container", Why: "it names no command or no root"}
	}
	if err := m.t.ordered(); err != nil {
		return err
	}
	if err := m.confine(); err != nil {
		return err
	}
	supervised := m.t.unheard() == ""
	if supervised && !m.foreground() && front.Report() == 0 {
		return errUnparted
	}
	v := sight{planned: make(chan error, 1)}
	held := m.looks.begin(func() { v.held, v.unheld = m.look(&v) })
	err := m.ahead(supervised)
	if e := <-v.planned; err == nil {
		err = e
	}
	if v.Seen != nil {
		m.record.Resolved = v.Resolved
	}
	if err != nil {
		return err
	}
	if err := m.hooks(v.Resolved); err != nil {
		return err
	}
	w := m.t.walls(v.Resolved, v.Plan, v.Places)
	n := narrowing(v.Resolved, v.Plan, &w, m.t.caps())
	exposed := m.t.keepApart(n, &w)
	if supervised && !n.Attended { // the runtime inherited the socket to the supervisor; start it again without
		m.cancel()
		if err := m.ahead(false); err != nil {
			return err
		}
	}
	e := editor{c: m.t, groups: len(v.facts.Tools) > 0, s: v.Seen, plan: v.Plan, nodes: v.Nodes, hold: m.shelf.hold, root: m.shelf.root, looked: looked{}}
	if n.Init {
		if e.programs, err = m.inits(&w, v.Plan.Filter.On); err != nil {
			return err
		}
	}
	edits, err := e.all(n, m.handed(n))
	if err != nil {
		return err
	}
	m.looked = e.looked
	m.record.Host = &v.Seen.Host
	m.record.Enforcement = m.lines(v.Seen, v.Contained, exposed)
	m.record.AccessMode = v.Plan.HeldMode(v.Resolved)
	for _, edit := range edits {
		if edit.Why != "" {
			m.record.Container.Edits = append(m.record.Container.Edits, audit.ContainerEdit{At: edit.At, Why: edit.Why})
		}
	}
	m.config = apply(m.t.Config, edits).AppendJSON(nil, nil)
	err = m.shelf.put(narrowingFile, n.node().AppendJSON(nil, nil))
	if err == nil && (n.Attended || !n.NoNetwork) {
		err = m.shelf.free(m.Inner)
	}
	if err == nil {
		err = m.shelf.replace(configFile, m.config)
	}
	if err != nil || m.supervisor == nil {
		return err
	}
	if <-held; v.unheld != nil {
		return v.unheld
	}
	return m.attended(v.Seen, &run.Container{Of: v.Contained, Held: v.held}, &w, e.programs[walls.Init])
}

// sight is what sbx-oci has seen of a container, and its plan for it.
type sight struct {
	*Seen
	*outer.Contained
	facts   wrap.Host
	planned chan error // once all above is there

	held   *guard.Snapshot // nil without a supervisor
	unheld error           // why it could not be made
}

// look inspects the container and plans for it, on a thread of its own, and then holds what is protected.
func (m *making) look(v *sight) (held *guard.Snapshot, err error) {
	v.facts = m.facts()
	supervised := v.facts.Listener.State != wrap.No
	if v.Seen, err = inspect(m.t, m.docs, v.facts); err == nil {
		v.Contained, err = outer.Contain(outer.Ask{Resolved: v.Seen.Resolved, Host: &v.Seen.Host, Supervised: supervised}, v.Program)
	}
	if v.planned <- err; err != nil || !supervised {
		return nil, err
	}
	return guard.Hold(v.Plan.Watch)
}

// facts returns what the host can enforce, as far as the container's own list of system calls allows it.
func (m *making) facts() wrap.Host {
	facts := host.Facts()
	if why := m.t.unheard(); why != "" {
		facts.Listener = wrap.Answer{State: wrap.No, Why: why}
	}
	if !m.t.allows("landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "openat") {
		facts.LandlockABI, facts.LandlockWhy = 0, "the container's own list of system calls shuts it"
	}
	if !m.t.allows("seccomp") {
		facts.Seccomp = wrap.Answer{State: wrap.No, Why: "the container's own list of system calls denies seccomp(2)"}
	}
	if ofNode() && m.global("cgroup-manager") != "disabled" {
		facts.Tools = []wrap.Tool{{Name: "sbx-oci", Path: m.Inner}}
	}
	return facts
}

// handed returns the number of sbx-init's socket to the supervisor; 0 for none.
func (c *Call) handed(n *Narrowing) int {
	if !n.Attended {
		return 0
	}
	return c.Kept(c.Environ)
}

// hooks rejects config.json hooks that could add interfaces to a container without network
// that `run` starts at once; in all other cases start removes the interfaces.
func (m *making) hooks(r *spec.Resolved) error {
	if r.Network != spec.NetworkNone || m.Verb != "run" {
		return nil
	}
	for _, kind := range []string{"prestart", "createRuntime"} {
		if len(doc.Items(m.t.Config.Get("hooks").Get(kind))) > 0 {
			return &spec.Problem{Field: "network.mode", On: r.At("network.mode"), Do: "keep the container without a network",
				Why: "config.json has hooks." + kind + ", which could give it one", Help: "use create and start, or take the hooks out"}
		}
	}
	return nil
}
