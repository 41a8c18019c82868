package oci

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/doc"
	"sbx/internal/oci/front"
	"sbx/internal/oci/walls"
	"sbx/internal/run"
	"sbx/internal/sys"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/host"
)

// Call is one call of this program.
type Call struct {
	Line
	Inner   string // the runtime proper
	Environ []string
	Version string

	inherited []int // descriptors
}

// shelf is what is kept of the call's container for as long as it is there.
func (c *Call) shelf() *shelf { return &shelf{dir: filepath.Join(c.runDir(), c.key())} }

// key is a container's name among those of all engines, which each have a folder of state
// of their own.
func (c *Call) key() string {
	root := c.Root()
	if root == "" {
		return c.ID()
	}
	sum := strconv.FormatUint(1<<32|uint64(front.Sum(root)), 16)
	return c.ID() + "." + sum[1:]
}

func (c *Call) runDir() string {
	switch dir := sys.Variable(c.Environ, "XDG_RUNTIME_DIR"); {
	case c.Own.State != "":
		return c.Own.State + front.OfState
	case ofNode():
		return front.OfNode
	case strings.HasPrefix(dir, "/"):
		return dir + "/sbx-oci"
	}
	dir, _, _ := c.state()
	return dir + "/made"
}

// ofNode tells whether the caller is the node's root, and not the root of a user's own
// namespace, as under podman without root.
func ofNode() bool {
	b, _ := os.ReadFile("/proc/self/uid_map")
	f := strings.Fields(string(b))
	return unix.Geteuid() == 0 && len(f) == 3 && f[0] == "0" && f[1] == "0"
}

// state is the folder of records, and the variables and the home that lead to it.
func (c *Call) state() (dir string, environ []string, home string) {
	environ = c.Environ
	switch {
	case c.Own.State != "":
		environ = []string{"XDG_STATE_HOME=" + c.Own.State}
	case ofNode(): // the whole node's, whatever the engine's variables
		environ = []string{"XDG_STATE_HOME=/var/lib"}
	}
	home = spec.HomeDir(environ, func() string { return sys.PasswdHome(unix.Geteuid()) }, spec.HostPaths{})
	return audit.StateDir(environ, home), environ, home
}

// linkPath is where a container's record is found by its id.
func (c *Call) linkPath() string {
	dir, _, _ := c.state()
	return dir + "/containers/" + c.key()
}

func isName(id string) bool {
	return id != "" && id != "." && id != ".." && !strings.ContainsRune(id, '/') && len(id) < 200
}

// Create makes a container, or makes and runs one, under the specs that hold for it.
func (c *Call) Create() (status int, err error) {
	if !isName(c.ID()) {
		return 0, HandOn(c.Inner, &c.Line, c.Environ) // which refuses it
	}
	bundle, text, err := c.bundle()
	if err != nil {
		return 0, HandOn(c.Inner, &c.Line, c.Environ)
	}
	t, err := Decode(c.ID(), bundle, text)
	if err != nil {
		return 0, err
	}
	if front.Report() != 0 {
		c.inherited = inherits()
		if !c.follow() {
			return 1, nil
		}
	}
	id, err := audit.NewID(time.Now())
	if err != nil {
		return 0, err
	}
	m := &making{Call: c, t: t, shelf: c.shelf()}
	if err := m.shelf.claim(m.isThere); err != nil {
		return m.unclaimed(err)
	}
	m.record = audit.Record{ID: id, StartedAt: time.Now(), Version: c.Version, Command: audit.Command{Argv: t.Args, Cwd: t.Cwd}, Container: m.about(),
		Supervisor: audit.Self()} // until there is a process of the container
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
	status, err = m.wait()
	if e := m.shelf.release(); err == nil {
		err = e
	}
	switch {
	case err != nil:
		return 0, m.refuse(err)
	case m.foreground():
		m.ran(status)
	case status != 0:
		_ = m.refuse(&spec.Problem{Do: "make the container", Why: filepath.Base(c.Inner) + " ended with " + strconv.Itoa(status) + "; what it said is the engine's to tell"})
	default:
		m.started()
	}
	return status, nil
}

// bundle is the container's folder and its configuration. crun can be told another file.
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

// making is a container while it is made.
type making struct {
	*Call
	t          *Container
	record     audit.Record
	sink       *audit.Sink
	shelf      *shelf
	supervisor *supervisor // nil where nothing is answered
	begun      *begun
	config     []byte // of the edited copy
}

// prepare makes an edited copy of the bundle where something is asked, and begins the
// runtime proper ahead of that. The engine's bundle stays as it is: whoever starts it again
// starts from what he wrote.
func (m *making) prepare() error {
	docs, err := m.t.documents(&m.Own)
	for _, d := range docs {
		m.record.Sources = append(m.record.Sources, d.Source.Name)
	}
	m.record.Documents = docs
	if err != nil {
		return err
	}
	if len(docs) == 0 {
		m.record.Container.NothingAsked = true
		if err = m.shelf.begin(); err == nil {
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
	facts := host.Facts()
	if why := m.t.unheard(); why != "" {
		facts.Listener = wrap.Answer{State: wrap.No, Why: why}
	}
	if !m.t.allows("landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self") {
		facts.LandlockABI, facts.LandlockWhy = 0, "the container's own list of system calls shuts it"
	}
	if ofNode() && m.global("cgroup-manager") != "disabled" {
		facts.Tools = []wrap.Tool{{Name: "sbx-oci", Path: m.Inner}}
	}
	supervised := facts.Listener.State != wrap.No
	if supervised && !m.foreground() && front.Report() == 0 {
		return errUnparted
	}
	if err := m.ahead(supervised); err != nil {
		return err
	}
	var contained *wrap.Contained
	var held *audit.Snapshot
	s, err := inspect(m.t, docs, facts, func(s *Seen) (err error) {
		m.record.Resolved = s.Resolved
		if contained, err = wrap.Contain(wrap.Ask{Resolved: s.Resolved, Host: &s.Host, Supervised: supervised}, s.Program); err == nil && supervised {
			held, err = audit.Hold(contained.Plan.Watch)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := m.hooks(s.Resolved); err != nil {
		return err
	}
	w := wallsOf(contained.Plan)
	n := narrowing(s.Resolved, contained.Plan, &w)
	exposed := m.t.keepApart(n, &w)
	if supervised && !n.Attended { // it has a descriptor that nothing would close
		m.cancel()
		if err := m.ahead(false); err != nil {
			return err
		}
	}
	e := editor{c: m.t, groups: len(facts.Tools) > 0, s: s, plan: contained.Plan, nodes: contained.Nodes, hold: m.shelf.hold, root: m.shelf.root, programs: map[string]string{walls.File: m.shelf.dir + "/" + wallsFile}}
	if n.Init {
		if e.programs[walls.Init], err = initProgram(); err != nil {
			return err
		}
	}
	edits, err := e.all(n, m.handed(n))
	if err != nil {
		return err
	}
	m.record.Host = &s.Host
	m.record.Enforcement = m.lines(s, contained, exposed)
	m.record.AccessMode = contained.Plan.HeldMode(s.Resolved)
	for _, edit := range edits {
		if edit.Why != "" {
			m.record.Container.Edits = append(m.record.Container.Edits, audit.ContainerEdit{At: edit.At, Why: edit.Why})
		}
	}
	m.config = apply(m.t.Config, edits).AppendJSON(nil, nil)
	err = m.shelf.put(wallsFile, w.Append(nil))
	if err == nil {
		err = m.shelf.put(narrowingFile, n.node().AppendJSON(nil, nil))
	}
	if err == nil && (n.Attended || !n.NoNetwork) {
		err = m.shelf.free(m.Inner)
	}
	if err == nil {
		err = m.shelf.replace(configFile, m.config)
	}
	if err != nil || m.supervisor == nil {
		return err
	}
	return m.attended(s, &run.Container{Of: contained, Held: held})
}

// handed is the descriptor by which sbx-init comes to the supervisor.
func (c *Call) handed(n *Narrowing) int {
	if !n.Attended {
		return 0
	}
	return c.Kept(c.Environ)
}

// hooks refuses what could fill the new network of a container that `run` starts at once:
// of others Start takes away what is in it.
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
