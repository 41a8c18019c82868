package oci

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sbx/internal/doc"
	"sbx/internal/oci/walls"
	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/defaults"
)

// Edit replaces one member of a document, with the reason.
type Edit struct {
	At    string // "process.capabilities"
	Value *doc.Node
	Why   string
}

// apply returns n with the edits made.
func apply(n *doc.Node, edits []Edit) *doc.Node {
	for _, e := range edits {
		n = with(n, strings.Split(e.At, "."), e.Value)
	}
	return n
}

func with(n *doc.Node, path []string, v *doc.Node) *doc.Node {
	if len(path) > 1 {
		v = with(n.Get(path[0]), path[1:], v)
	}
	return n.With(path[0], v)
}

// at returns the member at a dotted path; nil for none.
func at(n *doc.Node, path string) *doc.Node {
	for key := range strings.SplitSeq(path, ".") {
		n = n.Get(key)
	}
	return n
}

// editor makes the edits of a container's config.json.
type editor struct {
	c     *Container
	s     *Seen
	plan  *wrap.Plan
	nodes []wrap.Node
	// hold returns a path for rest under base that the runtime can safely bind, and the kind of
	// file that is there; see shelf.hold.
	hold   func(base, rest string, seen int) (path string, as source, err error)
	looked looked // what the runtime binds by the engine's own paths

	// root creates a root directory with mount points for nodes; see shelf.root.
	root func(nodes []wrap.Node) (string, error)

	programs map[string]string // sbx's own files to bind-mount, by their path in the container
	// groups says whether the runtime can use cgroups. If it cannot, and best_effort accepts that,
	// limits are left out: with a limit, the runtime would fail to create the container.
	groups bool

	edits []Edit
}

// all returns the edits that the plan makes to config.json.
func (e *editor) all(n *Narrowing, supervisor int) ([]Edit, error) {
	for _, edit := range n.edits(e.c.Config.Get("process"), supervisor) {
		edit.At = "process." + edit.At
		e.edits = append(e.edits, edit)
	}
	env := e.plan.Env
	if n.Init {
		env = walls.Carry(env)
	}
	e.set("process.env", doc.Strs(env), "environment")
	if start := e.s.Resolved.Start(); start != e.c.Cwd {
		e.set("process.cwd", doc.Str(start), "working_dir")
	}
	e.limits()
	e.network()
	e.devices()
	err := e.proc()
	if err == nil {
		err = e.files(n.Init)
	}
	return slices.DeleteFunc(e.edits, func(edit Edit) bool { return same(at(e.c.Config, edit.At), edit.Value) }), err
}

func (e *editor) set(path string, v *doc.Node, why string) {
	e.edits = append(e.edits, Edit{path, v, why})
}

func same(a, b *doc.Node) bool {
	return a != nil && b != nil && string(a.AppendCanonical(nil)) == string(b.AppendCanonical(nil))
}

// limits lowers the container's resource limits to the spec's.
func (e *editor) limits() {
	if !e.groups {
		return
	}
	l := &e.s.Resolved.Spec.Limits.Value
	if l.Memory.Set {
		e.lower("linux.resources.memory.limit", int64(l.Memory.Value), "limits.memory")
		e.lower("linux.resources.memory.swap", int64(l.Memory.Value), "limits.memory, of which swap is a part")
	}
	if l.PIDs.Set {
		e.lower("linux.resources.pids.limit", int64(l.PIDs.Value), "limits.pids")
	}
	if l.CPUs.Set {
		us, of := wrap.Quota(l.CPUs.Value)
		quota, period := whole(at(e.c.Config, "linux.resources.cpu.quota")), whole(at(e.c.Config, "linux.resources.cpu.period"))
		if period == 0 {
			period = 100_000 // the kernel's default, in microseconds
		}
		if quota <= 0 || us*period < quota*of {
			e.set("linux.resources.cpu.quota", doc.Int(us), "limits.cpus")
			e.set("linux.resources.cpu.period", doc.Int(of), "limits.cpus")
		}
	}
	e.unified()
}

// unified lowers the limits that the engine gives as files of a version 2 control group, which
// runtimes write last.
func (e *editor) unified() {
	own := at(e.c.Config, "linux.resources.unified")
	l := &e.s.Resolved.Spec.Limits.Value
	us, of := wrap.Quota(l.CPUs.Value)
	cpu := func(v string) bool { // "QUOTA PERIOD" in microseconds
		quota, period := int64(0), int64(0)
		n, _ := fmt.Sscan(v, &quota, &period)
		return n == 2 && quota*of <= us*period
	}
	upTo := func(most int64) func(string) bool {
		return func(v string) bool {
			n, err := strconv.ParseInt(v, 10, 64)
			return err == nil && n <= most
		}
	}
	for _, f := range []struct {
		file, value string
		set         bool
		isLower     func(string) bool
		why         string
	}{
		{"memory.max", strconv.FormatUint(uint64(l.Memory.Value), 10), l.Memory.Set, upTo(int64(l.Memory.Value)), "limits.memory"},
		{"memory.swap.max", "0", l.Memory.Set, upTo(0), "limits.memory"},
		{"pids.max", strconv.FormatUint(uint64(l.PIDs.Value), 10), l.PIDs.Set, upTo(int64(l.PIDs.Value)), "limits.pids"},
		{"cpu.max", strconv.FormatInt(us, 10) + " " + strconv.FormatInt(of, 10), l.CPUs.Set, cpu, "limits.cpus"},
		{"cpu.max.burst", "0", l.CPUs.Set, upTo(0), "limits.cpus"},
	} {
		if v := own.Get(f.file); f.set && v != nil && !f.isLower(doc.Text(v)) {
			own = own.With(f.file, doc.Str(f.value))
			e.set("linux.resources.unified", own, f.why)
		}
	}
	if l.CPUs.Set && at(e.c.Config, "linux.resources.cpu.burst") != nil {
		e.set("linux.resources.cpu.burst", doc.Int(0), "limits.cpus")
	}
}

// lower sets the limit at path to v unless the limit is at most v already; 0 and -1 mean no limit.
func (e *editor) lower(path string, v int64, why string) {
	if has := whole(at(e.c.Config, path)); has <= 0 || v < has {
		e.set(path, doc.Int(v), why)
	}
}

// network gives the container a new, empty network namespace if the spec allows no network.
func (e *editor) network() {
	if e.s.Resolved.Network != spec.NetworkNone {
		return
	}
	all := doc.ListOf(object("type", doc.Str("network")))
	for _, n := range doc.Items(at(e.c.Config, "linux.namespaces")) {
		if doc.Text(n.Get("type")) != "network" {
			all.Items = append(all.Items, n)
		}
	}
	e.set("linux.namespaces", all, "network: none")
}

// devices leaves the container only the default devices if the spec confines files.
func (e *editor) devices() {
	if !e.s.Resolved.Confined {
		return
	}
	if len(doc.Items(at(e.c.Config, "linux.devices"))) > 0 {
		e.set("linux.devices", doc.ListOf(), "devices of the host stay out")
	}
	e.set("linux.resources.devices", doc.ListOf(object("allow", doc.Truth(false), "access", doc.Str("rwm"))), "the devices that every container has, and no other")
}

// proc masks files of /proc that show or change the host's state, or makes them read-only. It also
// masks the paths that filesystem.hide names in mounts which only the runtime makes.
func (e *editor) proc() error {
	if e.plan.Base == wrap.BaseHost {
		return nil
	}
	var masked []string
	for _, l := range []struct {
		at    string
		table []defaults.Row
	}{{"linux.maskedPaths", defaults.ProcMasked()}, {"linux.readonlyPaths", defaults.ProcReadOnly()}} {
		paths := doc.Texts(at(e.c.Config, l.at))
		for i := range l.table {
			path := "/proc/" + l.table[i].Path
			if path != "/proc/1" && !slices.Contains(paths, path) && !slices.Contains(masked, path) { // the row for /proc/1 is for sbx exec only
				paths = append(paths, path)
			}
		}
		if masked == nil { // in the first pass; a masked path need not be read-only too
			for _, p := range e.s.hidden() {
				if p.Abs == "/proc" || p.Abs == "/dev" {
					return &spec.Problem{Field: p.Field, On: p.Abs, Do: "hide it from the container", Why: "the runtime needs it to start a process", Help: "hide files in it"}
				}
				paths = append(paths, p.Abs)
			}
			masked = paths
		}
		e.set(l.at, doc.Strs(paths), "the kernel's settings are the host's")
	}
	return nil
}

// hidden returns the paths of filesystem.hide that the runtime masks.
func (s *Seen) hidden() (paths []spec.Path) {
	for _, p := range s.Resolved.Hide {
		if over := s.files.over(p.Abs); (kernels(p.Abs) || view.Within(p.Abs, sysfs)) && (over == nil || !over.binds()) {
			paths = append(paths, p)
		}
	}
	return paths
}
