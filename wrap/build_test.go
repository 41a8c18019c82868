package wrap_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/world"
)

// random makes documents and machines.
type random struct{ *rand.Rand }

func (r random) one(of ...string) string { return of[r.IntN(len(of))] }

func (r random) some(of ...string) []string {
	list := []string{}
	for _, s := range of {
		if r.IntN(len(of)) < 2 {
			list = append(list, s)
		}
	}
	return list
}

// spec returns a random document. It may make no sense: then Resolve or Build refuses it.
func (r random) spec() string {
	m := map[string]any{}
	maybe := func(odds int, f func()) {
		if r.IntN(odds) == 0 {
			f()
		}
	}
	if r.IntN(5) > 0 {
		m["access_mode"] = r.one("read-only", "workspace-write", "workspace-write", "danger-full-access")
	}
	maybe(6, func() { m["working_dir"] = r.one("/home/u/w", "/srv/data", "/home/u", "/home/u/w/out") })
	maybe(8, func() { m["readonly"] = r.IntN(2) == 0 })
	fs := map[string]any{}
	maybe(3, func() {
		fs["read"] = append(r.some(".", "~", "~/lib", "~/.ssh", "~/.ssh/known_hosts", "/srv/data", "/etc/shadow", "/tmp/x"), "@system")
	})
	maybe(3, func() {
		fs["write"] = r.some("~/lib", "out", ".git", "**/.git", "~/.ssh/known_hosts", "~/.docker", "~/.netrc", "~", "/srv/data", "/tmp/x", "/srv/data/set.csv")
	})
	maybe(4, func() {
		fs["hide"] = r.some("/srv/data", "~/lib", "~/lib/util.go", "main.go", "/srv/data/set.csv", "/opt/absent", "/top", "~/w/out", "/tmp/x")
	})
	maybe(3, func() {
		var mounts []any
		for range 1 + r.IntN(2) {
			mode := r.one("ro", "rw", "tmpfs")
			mount := map[string]any{"label": "l", "mode": mode,
				"target": r.one("/opt/data", "/data", "/usr/share/new", "/srv/data", "/home/u/w/new", "/home/u/lib", "/home/u/new", "/home/u", "/tmp/new", "/home/u/w/out", "/run/new")}
			if mode != "tmpfs" {
				mount["source"] = r.one("/srv/data", "/home/u/lib", "/home/u", "/home/u/w/out", "/srv/data/set.csv", "/tmp/x")
			}
			mounts = append(mounts, mount)
		}
		fs["mounts"] = mounts
	})
	if len(fs) > 0 {
		m["filesystem"] = fs
	}
	maybe(4, func() { m["network"] = map[string]any{"mode": r.one("none", "host", "allow")} })
	maybe(6, func() { m["environment"] = map[string]any{"pass": []string{"PATH"}} })
	maybe(4, func() {
		limits := map[string]any{}
		values := map[string]any{"memory": "64MiB", "cpus": 0.5, "pids": 5, "open_files": 9, "file_size": 7, "timeout": "1s"}
		for _, k := range r.some("memory", "cpus", "pids", "open_files", "file_size", "timeout") {
			limits[k] = values[k]
		}
		m["limits"] = limits
	})
	maybe(8, func() { m["max_commands"] = 3 })
	maybe(6, func() { m["sandbox"] = map[string]any{"root": r.one("/home/u/w", "/srv/data")} })
	maybe(10, func() { m["restrict"] = "/out" })
	maybe(3, func() {
		m["best_effort"] = []string{r.one("*", "*", "access_mode", "network", "filesystem", "limits")}
	})
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// facts returns those of a random machine.
func (r random) facts() string {
	lines := []string{"file /top", "dir /opt/data", "file /tmp/x/file", "file /tmp/x/.git/config"}
	add := func(odds int, line string) {
		if r.IntN(odds) == 0 {
			lines = append(lines, line)
		}
	}
	add(3, "root")
	add(5, world.Hosts["no-userns"])
	add(10, "rung namespaces-as-root no it cannot mount")
	add(2, fmt.Sprintf("landlock %d", r.IntN(11)))
	add(10, "seccomp no there is none")
	add(4, "overlay no there is none")
	add(4, world.Hosts["no-setattr"])
	add(6, "mounted /home/u/lib ext4")
	add(6, "mounted /home/u/.local ext4")
	add(8, "mounted /home/u/.ssh ext4")
	add(8, "mounted /etc/ssl ext4")
	add(6, "file /srv/data/jail/proc/sys\nmounted /srv/data/jail/proc proc")
	add(6, "file /home/u/w/jail/stat\nfile /home/u/w/out/tty\nmounted /home/u/w/jail sysfs\nmounted /home/u/w/out/tty devtmpfs")
	add(2, r.one(world.Hosts["groups-v2"], world.Hosts["no-groups"], strings.ReplaceAll(world.Hosts["groups-v1"], " swap", ""), world.Hosts["groups-leaf"]))
	add(8, "file /media/stick/key\nremovable /media")
	add(8, "cwd /tmp/x")
	if r.IntN(3) == 0 {
		for _, own := range r.some("write /home/u/.codex", "locked /home/u/.codex/config.toml", "read /home/u/.claude", "write /home/u/.claude/projects", "read /home/u/.bashrc",
			"read /home/u/lib", "write /tmp/x/state", "read /tmp/x/file", "write /home/u/w/out", "write /srv/data", "read /home/u/.ssh", "read /home/u/.docker/config.json", "locked /home/u/lib/util.go") {
			lines = append(lines, "own "+own)
		}
		lines = append(lines, "file /home/u/.codex/config.toml", "file /home/u/.codex/log", "dir /home/u/.claude/projects", "dir /tmp/x/state")
		add(8, "cwd /home/u")
		add(8, "cwd /srv/data\nown write /srv")
		add(8, "home /tmp/x")
	}
	if r.IntN(3) == 0 {
		lines = append(lines, "root")
		for _, home := range []string{"/home/o1", "/home/o2", "/home/o3", "/var/lib/db", "/home/o4", "/home/o5", "/home/o6"}[:2+5*r.IntN(2)] {
			lines = append(lines, "other "+home)
		}
		add(4, "mounted /home/o2 ext4")
		add(6, "mounted /home ext4")
		add(4, "cwd /home/o3")
	}
	add(6, "layer no it cannot be written")
	add(8, "job /srv/data /home/u/w/out")
	add(4, "record "+r.one("/home/u/w/r.json", "/home/u/w/out/r.json", "/srv/data/r.json", "/home/u/lib/r.json"))
	return strings.Join(lines, "\n")
}

// eachPlan builds random plans and calls f with each that could be built.
func eachPlan(t *testing.T, seed uint64, f func(t *testing.T, c *planned)) {
	t.Helper()
	n, built := 1500, 0
	if testing.Short() {
		n = 600
	}
	r := random{rand.New(rand.NewPCG(seed, 1))}
	for i := 0; i < n && !t.Failed(); i++ {
		c := &planned{doc: r.spec(), facts: r.facts()}
		c.w = world.Workstation(t, c.facts)
		if rec := c.w.Req.Record; c.w.Nodes[rec].Kind == wrap.Absent {
			c.w.Add(rec, world.Node{Kind: wrap.File}) // a masked record is written before the launch
		}
		if c.r, c.err = c.w.Resolve(c.doc); c.err != nil {
			continue
		}
		c.own = wrap.WithOwn(c.r)
		c.h = c.w.Probed(c.r)
		c.plan, c.err = wrap.Build(c.r, c.h, c.w.Req)
		if c.err == nil {
			built++
		}
		f(t, c)
		if t.Failed() {
			t.Logf("the document: %s\nthe machine:\n%s", c.doc, c.facts)
			if c.err != nil {
				t.Logf("problems: %v", c.err)
			} else if testing.Verbose() {
				t.Logf("the plan: %s", c.plan.AppendJSON(nil))
			}
		}
	}
	if built < n/10 {
		t.Errorf("of %d documents only %d gave a plan", n, built)
	}
}

// planned is a document, a machine, and the plan that Build made of them.
type planned struct {
	doc, facts string
	w          *world.World
	r          *spec.Resolved
	own        *spec.Resolved // r with the paths that the agent itself needs
	h          *wrap.Host
	plan       *wrap.Plan
	err        error
}

// lineOf returns the name of the line that reports a field.
func lineOf(f spec.Field) spec.Field {
	if f == "network.mode" {
		return "network"
	}
	return f
}

func (c *planned) lines(f spec.Field) (found []wrap.Enforcement) {
	for _, e := range c.plan.Enforcement {
		if e.Field == f {
			found = append(found, e)
		}
	}
	return found
}

func TestBuildIsAFunction(t *testing.T) {
	eachPlan(t, 1, func(t *testing.T, c *planned) {
		again, err := wrap.Build(c.r, c.h, c.w.Req)
		if (err == nil) != (c.err == nil) || err != nil && err.Error() != c.err.Error() {
			t.Fatalf("%v, and again %v", c.err, err)
		}
		if err == nil && !bytes.Equal(c.plan.AppendJSON(nil), again.AppendJSON(nil)) {
			t.Fatal("two plans of the same differ")
		}
	})
}

// Every field that a document sets is reported once, and is enforced unless the document accepts
// less.
func TestEveryAskedFieldHasItsLine(t *testing.T) {
	eachPlan(t, 2, func(t *testing.T, c *planned) {
		if c.err != nil {
			var all spec.Problems
			if !errors.As(c.err, &all) || len(all) == 0 {
				t.Fatalf("%T is not Problems", c.err)
			}
			for _, p := range all {
				if p.Do == "" || p.Why == "" || p.Field == "" {
					t.Errorf("a problem lacks something: %+v", p)
				}
				if c.r.AllowsLess(p.Field) && p.Do != "start the command" && !strings.HasPrefix(p.Do, "mount at") && !strings.HasPrefix(p.Do, "open /") {
					t.Errorf("refused, and best_effort has it: %v", p)
				}
			}
			return
		}
		for _, f := range c.r.Spec.Asked() {
			if n := len(c.lines(lineOf(f))); n != 1 {
				t.Errorf("%s has %d lines", f, n)
			}
			for _, e := range c.lines(lineOf(f)) {
				// A hidden program that has to be masked is reported like a secret that has to be.
				masked := e.Field == "filesystem.hide" && strings.Contains(e.Reason, "is masked")
				// Without a sandbox the command may do to its supervisor whatever its caller may.
				exposed := c.plan.Rung == wrap.RungFree && (f == "limits.timeout" || f == "max_commands")
				apart := e.Field == "limits.memory" && strings.Contains(e.Reason, wrap.SocketsApart) // nothing better is possible there
				// Paths of hide beat those of mounts.
				hidden := e.Field == "filesystem.mounts" && strings.HasSuffix(e.Reason, "it lies in what is hidden")
				if e.Status != wrap.Enforced && !masked && !exposed && !apart && !hidden && !c.r.AllowsLess(f) && !c.r.AllowsLess(e.Field) && !c.r.AllowsLess("access_mode") {
					t.Errorf("%s is %v and was not refused: %s", f, e.Status, e.Reason)
				}
			}
		}
		for _, e := range c.plan.Enforcement {
			switch {
			case e.Status != wrap.Enforced && e.Reason == "":
				t.Errorf("%s is %v without a reason", e.Field, e.Status)
			case e.Status == wrap.Unavailable && e.By != "", e.Status != wrap.Unavailable && e.By == "":
				t.Errorf("%s is %v by %q", e.Field, e.Status, e.By)
			case e.Asked == "":
				t.Errorf("%s does not say what was asked", e.Field)
			}
			if len(c.lines(e.Field)) != 1 {
				t.Errorf("%s has several lines", e.Field)
			}
		}
	})
}

// Each slot that is opened is used once, and each that is used was opened.
func TestSlotsPair(t *testing.T) {
	eachPlan(t, 3, func(t *testing.T, c *planned) {
		if c.err != nil {
			return
		}
		open := map[int]wrap.Op{}
		for i, m := range c.plan.Mounts {
			switch m.Op {
			case wrap.OpClone, wrap.OpOpen:
				if _, taken := open[m.Slot]; taken || m.Slot == 0 {
					t.Errorf("operation %d: slot %d is in use", i, m.Slot)
				}
				open[m.Slot] = m.Op
			case wrap.OpAttach:
				if open[m.Slot] != wrap.OpClone {
					t.Errorf("operation %d attaches slot %d, which holds no clone", i, m.Slot)
				}
				delete(open, m.Slot)
			case wrap.OpPlace:
				if open[m.Slot] != wrap.OpOpen {
					t.Errorf("operation %d places slot %d, which is not open", i, m.Slot)
				}
			}
		}
		for slot, op := range open {
			if op == wrap.OpClone {
				t.Errorf("the clone in slot %d is never attached", slot)
			}
		}
	})
}

// The tree that a Plan makes is what the document requests: nothing else can be written, and
// nothing hidden can be reached by any name.
func TestTreeHoldsWhatIsAsked(t *testing.T) {
	eachPlan(t, 4, func(t *testing.T, c *planned) {
		if c.err != nil || c.plan.Base == wrap.BaseHost {
			return
		}
		tr := newTree(c.w)
		if err := tr.play(c.plan.Mounts); err != nil {
			t.Errorf("the launch would fail: %v", err)
			return
		}
		all := tr.walk()
		for _, s := range all {
			c.checkHidden(t, s)
			c.checkWritable(t, s)
			c.checkInView(t, s)
		}
		c.checkOpen(t, tr)
	})
}

// checkHidden fails if secrets, paths that the spec hides, sockets or the record can be reached.
func (c *planned) checkHidden(t *testing.T, s seen) {
	for _, secret := range c.h.Secrets {
		if view.Within(s.identity, secret.Real) && !c.leadsToNamed(s.identity, secret.Real) {
			if s.identity == secret.Real && secret.Kind == wrap.Dir {
				continue // the name of a masked directory may be seen, but it is another directory
			}
			t.Errorf("the secret %s can be reached at %s", s.identity, s.path)
		}
	}
	for _, m := range c.h.Mounts {
		if m.Kernels() && view.Within(s.identity, m.Path) && (s.identity != m.Path || c.h.Kind(m.Path) != wrap.Dir) {
			t.Errorf("the kernel's %s can be reached at %s", s.identity, s.path)
		}
	}
	for _, p := range c.r.Hide {
		if p.Exists && view.Within(s.identity, p.Real) {
			t.Errorf("%s is hidden and can be reached at %s", s.identity, s.path)
		}
	}
	if s.identity == c.w.Req.Record {
		t.Errorf("the record can be reached at %s", s.path)
	}
	if c.r.Network == spec.NetworkNone && s.kind == wrap.Socket && !world.Named(c.own, s.identity, s.identity) {
		t.Errorf("the socket %s can be reached at %s", s.identity, s.path)
	}
}

// leadsToNamed reports whether the spec names id, or a path under it, in a secret directory.
func (c *planned) leadsToNamed(id, secret string) bool {
	for _, l := range [][]spec.Path{c.own.Read, c.own.Write} {
		for _, n := range l {
			if n.Field != "" && view.Within(n.Real, secret) && (view.Within(id, n.Real) || view.Within(n.Real, id)) {
				return true
			}
		}
	}
	return false
}

// checkWritable fails if a path can be written that the spec does not list, or that is a protected
// name in one of these.
func (c *planned) checkWritable(t *testing.T, s seen) {
	if s.readOnly || s.kind == wrap.Device || !c.r.Confined {
		return
	}
	may := slices.ContainsFunc(c.own.Write, func(p spec.Path) bool { return p.Exists && view.Within(s.identity, p.Real) })
	for _, m := range c.r.Mounts {
		may = may || m.Mode == spec.MountRW && view.Within(s.identity, m.Source.Real)
	}
	if j := c.r.Job; j != nil && j.Output.Real != "" {
		may = may || view.Within(s.identity, j.Output.Real)
	}
	if wd := c.r.WorkingDir.Real; c.r.AccessMode == spec.ReadOnly && s.path == s.identity && view.Within(s.identity, wd) { // wherever it lies
		may = slices.ContainsFunc(c.own.Write, func(p spec.Path) bool {
			return p.Exists && view.Within(s.identity, p.Real) && (p.Field != wrap.FieldAgent || view.Within(p.Real, wd))
		}) || c.byMount(s.path)
	}
	if !may {
		t.Errorf("%s can be written at %s", s.identity, s.path)
	}
	for _, p := range c.h.Protected {
		if !p.Shared && !p.Link && s.path == s.identity && view.Within(s.identity, p.Path) && !c.opensProtected(p.Path) && !c.byMount(s.path) {
			t.Errorf("%s is protected and can be written", s.path)
		}
	}
}

func (c *planned) opensProtected(p string) bool {
	for _, w := range c.own.Write {
		if w.Field != "" && view.Within(p, w.Real) && strings.Contains(w.Real, "/.git") {
			return true
		}
	}
	return len(c.r.Globs) > 0 && strings.Contains(p, "/.git")
}

// byMount reports whether a mount of the spec shows at a path.
func (c *planned) byMount(p string) bool {
	return slices.ContainsFunc(c.r.Mounts, func(m spec.MountAt) bool { return view.Within(p, m.Target) })
}

// checkInView fails if a path is in view that a list of readable paths does not name.
func (c *planned) checkInView(t *testing.T, s seen) {
	if !c.r.Visible || s.kind == wrap.Device {
		return
	}
	ok := false
	for _, l := range [][]spec.Path{c.own.Read, c.own.Write, {c.r.Restricted}} {
		ok = ok || slices.ContainsFunc(l, func(p spec.Path) bool { return p.Real != "" && view.Within(s.identity, p.Real) })
	}
	for _, l := range [][]wrap.Found{c.h.System, c.h.Keep} {
		ok = ok || slices.ContainsFunc(l, func(f wrap.Found) bool { return view.Within(s.identity, f.Real) })
	}
	ok = ok || slices.ContainsFunc(c.r.Mounts, func(m spec.MountAt) bool { return view.Within(s.identity, m.Source.Real) && m.Source.Real != "" })
	if j := c.r.Job; j != nil {
		ok = ok || view.Within(s.identity, j.Input.Real) && j.Input.Real != "" || view.Within(s.identity, j.Output.Real) && j.Output.Real != ""
	}
	if !ok {
		t.Errorf("%s is in view at %s, and nothing names it", s.identity, s.path)
	}
}

// checkOpen fails if a path that the spec names is missing, or is not as writable as the spec says.
func (c *planned) checkOpen(t *testing.T, tr *tree) {
	beaten := func(p string) bool {
		return c.byMount(p) || slices.ContainsFunc(c.r.Hide, func(h spec.Path) bool { return view.Within(p, h.Real) })
	}
	look := func(p, id, field string, write bool) {
		at, ok := tr.lookUp(p)
		rebuilt := ok && at.m.fs.identity(at.name) == "" && at.m.fs.kind(at.name) == wrap.Dir && c.hidesIn(p)
		if !ok || at.m.fs.identity(at.name) != id && !rebuilt {
			t.Errorf("%s of %s is not in view", p, field)
		} else if write && at.m.readOnly {
			t.Errorf("%s of %s cannot be written", p, field)
		}
	}
	for _, p := range c.own.Read {
		copied := p.Field == wrap.FieldAgent && slices.ContainsFunc(c.plan.Mounts, func(m wrap.Mount) bool { return m.Op == wrap.OpCopy && m.Source == p.Real })
		if p.Exists && !beaten(p.Real) && !copied {
			look(p.Real, p.Real, "filesystem.read", false)
		}
	}
	for _, p := range c.own.Write {
		if p.Exists && !beaten(p.Real) {
			look(p.Real, p.Real, "filesystem.write", true)
		}
	}
	for _, m := range c.r.Mounts {
		if m.Source.Real == "" || slices.ContainsFunc(c.r.Hide, func(h spec.Path) bool { return view.Within(m.Target, h.Real) || view.Within(m.Source.Real, h.Real) }) ||
			slices.ContainsFunc(c.r.Mounts, func(o spec.MountAt) bool { return o.Target != m.Target && view.Within(m.Target, o.Target) }) {
			continue
		}
		look(m.Target, m.Source.Real, "filesystem.mounts", m.Mode == spec.MountRW)
	}
}

// hidesIn reports whether a name is hidden or made in dir, or dir is an agent's home, which is then
// a directory of the sandbox's own.
func (c *planned) hidesIn(dir string) bool {
	return dir == c.h.HomeReal || slices.ContainsFunc(c.h.Secrets, func(f wrap.Found) bool { return view.Parent(f.Real) == dir }) ||
		slices.ContainsFunc(c.r.Hide, func(p spec.Path) bool { return view.Parent(p.Real) == dir }) ||
		slices.ContainsFunc(c.r.Mounts, func(m spec.MountAt) bool { return view.Parent(m.Target) == dir && c.h.Kind(m.Target) == wrap.Absent })
}
