package cgroup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// fake is an imitated version 2 hierarchy in a directory, with the files that the kernel would
// create in each group.
type fake struct {
	t    *testing.T
	root string
	own  string
	ours map[int]bool
}

func newFake(t *testing.T, own string) *fake {
	f := &fake{t: t, root: t.TempDir(), own: top + own, ours: map[int]bool{}}
	f.group("", "cgroup.controllers=memory cpu pids io", "cgroup.subtree_control=", "cgroup.procs=")
	os.Remove(f.root + top + "/cgroup.events") // the root of all has none
	return f
}

// group makes a group under the top, with files over those of a new one.
func (f *fake) group(path string, files ...string) {
	f.t.Helper()
	dir := f.root + top + path
	if err := os.MkdirAll(dir, 0o755); err != nil {
		f.t.Fatal(err)
	}
	populate(f.t, dir)
	for _, file := range files {
		name, text, _ := strings.Cut(file, "=")
		put(f.t, dir+"/"+name, text)
	}
}

func populate(t *testing.T, dir string) {
	for name, text := range map[string]string{"cgroup.procs": "", "cgroup.events": "populated 0\n", "cgroup.type": "domain\n",
		"cgroup.controllers": "memory cpu pids\n", "cgroup.subtree_control": "\n", "memory.max": "max\n", "memory.high": "max\n",
		"memory.swap.max": "max\n", "pids.max": "max\n", "cpu.max": "max 100000\n"} {
		put(t, dir+"/"+name, text)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (f *fake) find(want Want) [wrap.Controllers]wrap.GroupHost {
	g := finder{want: want, root: f.root, ours: func(pid int) bool { return f.ours[pid] }}
	g.layout.v2 = hierarchy{2, top, f.own}
	return g.find()
}

// directories create and remove groups like the kernel: with their files, and only if nothing
// but files is in them.
func (f *fake) dirs() dirCalls {
	return dirCalls{
		mkdir: func(path string) error {
			if err := unix.Mkdir(path, 0o755); err != nil {
				return err
			}
			populate(f.t, path)
			return nil
		},
		rmdir: func(path string) error {
			if len(entries(path)) > 0 {
				return unix.EBUSY
			}
			if _, err := os.Stat(path); err != nil {
				return unix.ENOENT
			}
			return os.RemoveAll(path)
		},
	}
}

func TestFindV2(t *testing.T) {
	all := Want{wrap.Memory: true, wrap.CPU: true, wrap.PIDs: true}
	for name, c := range map[string]struct {
		own    string
		set    func(f *fake)
		want   Want
		dir    string // where memory's group goes, "" for nowhere
		enable bool
		leaf   bool
		why    string // of memory, where it goes nowhere
	}{
		"a slice above hands all down": {"/a.slice/t.scope", func(f *fake) {
			f.group("/a.slice", "cgroup.subtree_control=memory cpu pids")
			f.group("/a.slice/t.scope", "cgroup.procs=1\n2\n")
		}, all, "/a.slice", false, false, ""},
		"alone in a delegated scope": {"/a.slice/t.scope", func(f *fake) {
			f.group("/a.slice", "cgroup.subtree_control=memory cpu pids")
			f.group("/a.slice/t.scope", "cgroup.procs=7\n8\n")
			f.ours = map[int]bool{7: true, 8: true}
		}, all, "/a.slice/t.scope", true, true, ""},
		"with others in the own group": {"/a.slice/t.scope", func(f *fake) {
			f.group("/a.slice")
			f.group("/a.slice/t.scope", "cgroup.procs=7\n9\n")
			f.ours = map[int]bool{7: true}
		}, all, "", true, false, ""}, // the top, which this caller may write
		"the slice gives some, the top all": {"/a.slice/t.scope", func(f *fake) {
			f.group("/a.slice", "cgroup.subtree_control=memory pids")
			f.group("/a.slice/t.scope", "cgroup.procs=1\n")
		}, Want{wrap.Memory: true, wrap.PIDs: true}, "/a.slice", false, false, ""},
		"a limit is not left": {"/a.slice/t.service", func(f *fake) {
			f.group("/a.slice", "cgroup.subtree_control=memory cpu pids")
			f.group("/a.slice/t.service", "cgroup.procs=1\n", "pids.max=4915\n")
		}, all, "none", false, false, "t.service has a limit of its own (pids.max)"},
		"nor one of cpu": {"/t.service", func(f *fake) {
			f.group("/t.service", "cgroup.procs=1\n", "cpu.max=50000 100000\n")
		}, all, "none", false, false, "(cpu.max)"},
		"the own limit counts inside": {"/t.service", func(f *fake) {
			f.group("/t.service", "cgroup.procs=7\n", "memory.max=1000000\n")
			f.ours = map[int]bool{7: true}
		}, all, "/t.service", true, true, ""},
		"a threaded group": {"/t", func(f *fake) {
			f.group("/t", "cgroup.procs=7\n", "cgroup.type=threaded\n", "memory.max=5\n")
			f.ours = map[int]bool{7: true}
		}, all, "none", false, false, "is a threaded group"},
		"no such controller": {"/t", func(f *fake) {
			f.group("/t", "cgroup.procs=7\n", "cgroup.controllers=pids\n", "pids.max=5\n")
			f.ours = map[int]bool{7: true}
		}, all, "none", false, false, "does not have the memory controller"},
		"at the top": {"", func(f *fake) {
			f.group("", "cgroup.procs=1\n2\n3\n", "cgroup.controllers=memory cpu pids")
			os.Remove(f.root + top + "/cgroup.events")
		}, all, "", true, false, ""},
		"cannot be written": {"/t", func(f *fake) {
			f.group("/t", "memory.max=5\n")
			os.Remove(f.root + top + "/t/cgroup.procs")
		}, all, "none", false, false, "cannot write /sys/fs/cgroup/t/cgroup.procs: no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, c.own)
			c.set(f)
			h := f.find(c.want)[wrap.Memory]
			if c.dir == "none" {
				if h.State != wrap.No || !strings.Contains(h.Why, c.why) {
					t.Errorf("%+v, want no, for %q", h, c.why)
				}
				return
			}
			if h.State != wrap.Yes || h.Dir != f.root+top+c.dir || h.Enable != c.enable || h.Leaf != c.leaf || h.Version != 2 {
				t.Errorf("%+v, want it in %q, enable %v, leaf %v", h, c.dir, c.enable, c.leaf)
			}
		})
	}
}

// A limit that nobody asked for stays in the caller's own group.
func TestFindStays(t *testing.T) {
	f := newFake(t, "/a.slice/t.scope")
	f.group("/a.slice", "cgroup.subtree_control=pids")
	f.group("/a.slice/t.scope", "cgroup.procs=7\n8\n")
	find := func(stays bool) wrap.GroupHost {
		g := finder{want: Want{wrap.PIDs: true}, ownGroupOnly: stays, root: f.root, ours: func(pid int) bool { return f.ours[pid] }}
		g.layout.v2 = hierarchy{2, top, f.own}
		return g.find()[wrap.PIDs]
	}
	if h := find(false); h.Dir != f.root+top+"/a.slice" {
		t.Errorf("control: %+v", h)
	}
	if h := find(true); h.State != wrap.Yes || h.Dir != f.root+f.own || !h.Threaded {
		t.Errorf("%+v", h)
	}
	f.ours = map[int]bool{7: true, 8: true}
	if h := find(true); h.State != wrap.Yes || h.Dir != f.root+f.own || !h.Leaf {
		t.Errorf("%+v", h)
	}
}

// Controllers that one group lacks are not taken from a second one: the processes can be in
// only one group of version 2.
func TestFindGivesOneGroup(t *testing.T) {
	f := newFake(t, "/a.slice/t.scope")
	f.group("", "cgroup.controllers=memory pids")
	os.Remove(f.root + top + "/cgroup.events")
	f.group("/a.slice", "cgroup.subtree_control=memory pids", "cgroup.controllers=memory pids")
	f.group("/a.slice/t.scope", "cgroup.controllers=memory pids", "cgroup.procs=1\n")
	h := f.find(Want{wrap.Memory: true, wrap.CPU: true, wrap.PIDs: true})
	if h[wrap.CPU].State != wrap.No || h[wrap.Memory].Dir != f.root+top+"/a.slice" || h[wrap.PIDs].Dir != h[wrap.Memory].Dir {
		t.Errorf("%+v", h)
	}
}

// A launch in a group that contains only sbx: the supervisor moves out, the group is created
// and filled, and at the end everything is as before.
func TestLeafAndBack(t *testing.T) {
	f := newFake(t, "/run.scope")
	self := itoa(os.Getpid())
	f.group("/run.scope", "cgroup.procs="+self+"\n")
	dir := f.root + f.own
	g := []wrap.Group{{Version: 2, Dir: dir, Controllers: []wrap.Controller{wrap.Memory, wrap.PIDs}, Leaf: true,
		Enable: []wrap.Controller{wrap.Memory, wrap.PIDs}, Write: []wrap.Setting{{File: "memory.max", Value: "4096"}, {File: "pids.max", Value: "5"}}}}
	moved := f.dirs()
	plain := moved.mkdir
	moved.mkdir = func(path string) error {
		if strings.HasSuffix(path, "-supervisor") { // where the supervisor goes, it is gone from
			put(t, dir+"/cgroup.procs", "")
		}
		return plain(path)
	}
	before := names(t, dir)
	s, err := moved.make(g)
	if err != nil {
		t.Fatal(err)
	}
	m := &s.made[0]
	if firstLine(m.dir+"/memory.max") != "4096" || firstLine(m.dir+"/pids.max") != "5" || firstLine(dir+"/cgroup.subtree_control") != "+pids" {
		t.Errorf("%q, %q, %q", firstLine(m.dir+"/memory.max"), firstLine(m.dir+"/pids.max"), firstLine(dir+"/cgroup.subtree_control"))
	}
	if err := s.Place(4242); err != nil || firstLine(m.dir+"/cgroup.procs") != "4242" {
		t.Errorf("%v, %q", err, firstLine(m.dir+"/cgroup.procs"))
	}
	if c := s.Changed(); c != "" {
		t.Errorf("%s is told as changed", c)
	}
	put(t, m.dir+"/memory.max", "max\n")
	if c := s.Changed(); c != m.dir+"/memory.max" {
		t.Errorf("%q is told as changed", c)
	}
	s.Remove()
	if after := names(t, dir); !slices.Equal(before, after) {
		t.Errorf("left: %v", after)
	}
	if firstLine(dir+"/cgroup.subtree_control") != "-pids" || firstLine(dir+"/cgroup.procs") != "0" {
		t.Errorf("%q, %q", firstLine(dir+"/cgroup.subtree_control"), firstLine(dir+"/cgroup.procs"))
	}
}

// A denied setting leaves no group behind.
func TestMakeLeavesNothing(t *testing.T) {
	f := newFake(t, "/x")
	f.group("/x")
	f.group("/y")
	x, y := f.root+top+"/x", f.root+top+"/y"
	before := append(names(t, x), names(t, y)...)
	_, err := f.dirs().make([]wrap.Group{{Version: 2, Dir: x, Write: []wrap.Setting{{File: "pids.max", Value: "5"}}},
		{Version: 2, Dir: y, Write: []wrap.Setting{{File: "no.such", Value: "5"}}}})
	e, ok := err.(*Error)
	if !ok || e.Err != unix.ENOENT || !strings.HasSuffix(e.On, "/no.such") {
		t.Errorf("%v", err)
	}
	if after := append(names(t, x), names(t, y)...); !slices.Equal(before, after) {
		t.Errorf("left: %v", after)
	}
	// A group that only counts is left out instead.
	s, err := f.dirs().make([]wrap.Group{{Version: 1, Dir: y + "/absent", Soft: true}})
	if err != nil || len(s.made) != 0 {
		t.Errorf("%v, %v", err, s)
	}
}

// Of the groups next to its own, a supervisor removes those of dead supervisors.
func TestSweep(t *testing.T) {
	f := newFake(t, "/x")
	f.group("/x")
	x := f.root + top + "/x"
	mine, ns, pid := name(), namespace(), itoa(os.Getpid())
	gone := []string{prefix + ns + "-" + pid + "-1-0", prefix + ns + "-4194305-77-0", prefix + ns + "-4194305-77-supervisor"}
	stay := []string{mine + "-5", prefix + "1-4194305-77-0", prefix + "odd", "other-" + ns + "-4194305-77-0", prefix + ns + "-x-77-0"}
	for _, g := range append(slices.Clone(gone), stay...) {
		f.group("/x/" + g)
	}
	f.group("/x/" + gone[1] + "/inner/deeper")
	f.dirs().sweep(x)
	left := entries(x)
	slices.Sort(left)
	slices.Sort(stay)
	if !slices.Equal(left, stay) {
		t.Errorf("left: %v, want %v", left, stay)
	}
}

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		list = append(list, filepath.Join(dir, e.Name()))
	}
	return list
}
