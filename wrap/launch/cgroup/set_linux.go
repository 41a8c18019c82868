package cgroup

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/wrap"
)

// Set is the groups of one launch.
type Set struct {
	made []group
}

// dirCalls create and remove groups. They are the kernel's calls except in tests, whose
// directories need files that the kernel would create.
type dirCalls struct{ mkdir, rmdir func(path string) error }

var kernel = dirCalls{func(path string) error { return unix.Mkdir(path, 0o755) }, unix.Rmdir}

// group is a group that was created.
type group struct {
	dirCalls
	group *wrap.Group
	dir   string
	leaf  string // the group to which the supervisor moved; "" for none
}

// Make creates the groups and sets their limits. After an error none is left.
func Make(groups []wrap.Group) (*Set, error) { return kernel.make(groups) }

func (f dirCalls) make(groups []wrap.Group) (*Set, error) {
	s := &Set{}
	for i := range groups {
		m := group{dirCalls: f, group: &groups[i]}
		err := m.create(name())
		if err != nil {
			m.remove()
			if groups[i].Soft {
				continue
			}
			s.Remove()
			return nil, err
		}
		s.made = append(s.made, m)
	}
	return s, nil
}

// tries bounds how many groups one process may have in the same directory.
const tries = 64

func (m *group) create(name string) error {
	g := m.group
	if name == "" {
		return newError("mkdir", g.Dir+"/"+prefix, unix.ENOENT) // no /proc
	}
	if g.Leaf {
		if err := m.moveOut(g.Dir + "/" + name + "-supervisor"); err != nil {
			return err
		}
	}
	if !g.Threaded {
		if err := m.handDown("+", g.Dir); err != nil {
			return err
		}
	}
	err := unix.EEXIST
	for i := 0; i < tries && err == unix.EEXIST; i++ {
		dir := g.Dir + "/" + name + "-" + strconv.Itoa(i)
		e := m.mkdir(dir)
		if e == nil {
			m.dir = dir
			if err := m.makeThreaded(); err != nil {
				return err
			}
			return m.writeLimits()
		}
		if err, _ = e.(unix.Errno); err != unix.EEXIST {
			return newError("mkdir", dir, err)
		}
	}
	return newError("mkdir", g.Dir+"/"+name, err)
}

// handDown enables ("+") or disables ("-") the controllers of this group for the children of
// dir.
func (m *group) handDown(sign, dir string) error {
	for _, c := range m.group.Enable {
		if err := write(dir+"/cgroup.subtree_control", sign+c.String()); err != nil {
			return err
		}
	}
	return nil
}

// makeThreaded makes the group threaded, if its parent contains processes. It then enables
// the controllers for its own children, too: the kernel then lets nobody disable them in
// the parent (EBUSY). Another run that ends may disable them before that; then it tries again.
func (m *group) makeThreaded() (err error) {
	if !m.group.Threaded {
		return nil
	}
	if err := write(m.dir+"/cgroup.type", "threaded"); err != nil {
		return err
	}
	for range tries {
		if err := m.handDown("+", m.group.Dir); err != nil {
			return err
		}
		if err = m.handDown("+", m.dir); err == nil || err.(*Error).Err != unix.ENOENT {
			break
		}
	}
	return err
}

func (m *group) writeLimits() error {
	for _, s := range m.group.Write {
		err := write(m.dir+"/"+s.File, s.Value)
		if e, ok := err.(*Error); ok && e.Err == unix.ENOENT && s.File == "memory.swap.max" {
			continue // the kernel was started without counting swap
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// moveOut moves all processes of the group's parent into a group of their own: the
// supervisor and pid 1 of the sandbox.
func (m *group) moveOut(leaf string) error {
	if err := m.mkdir(leaf); err != nil && err != unix.EEXIST {
		return newError("mkdir", leaf, err)
	}
	m.leaf = leaf
	for range 16 {
		pids := strings.Fields(readText(m.group.Dir + "/cgroup.procs"))
		if len(pids) == 0 {
			return nil
		}
		for _, pid := range pids {
			if n, err := strconv.Atoi(pid); err != nil || !ours(n) {
				return newError("leave", m.group.Dir, unix.EBUSY)
			}
			if err := write(leaf+"/cgroup.procs", pid); err != nil {
				return err
			}
		}
	}
	return newError("leave", m.group.Dir, unix.EBUSY)
}

// Place moves a process into the groups and checks that it is there.
func (s *Set) Place(pid int) error {
	id := strconv.Itoa(pid)
	for i := range s.made {
		m := &s.made[i]
		procs := m.dir + "/cgroup.procs"
		in := procs
		if m.group.Threaded { // only the parent lists the processes of a threaded group
			in = m.dir + "/cgroup.threads"
		}
		err := write(procs, id)
		if err == nil && !slices.Contains(strings.Fields(readText(in)), id) {
			err = newError("write", procs, unix.ESRCH)
		}
		if err != nil && !m.group.Soft {
			return err
		}
	}
	return nil
}

// Changed returns the file of a limit whose value is no longer the one that was written; ""
// if none changed. A manager of control groups may disable a controller at any time.
func (s *Set) Changed() string {
	for i := range s.made {
		m := &s.made[i]
		for _, set := range m.group.Write {
			b, ok := read.Proc(m.dir+"/"+set.File, 1<<20)
			if !ok && set.File == "memory.swap.max" {
				continue
			}
			if now := strings.TrimSuffix(string(b), "\n"); !ok || now != set.Value && !rounded(now, set.Value) {
				return m.dir + "/" + set.File
			}
		}
	}
	return ""
}

// rounded reports whether now is was, rounded down to whole pages as the kernel does with
// sizes.
func rounded(now, was string) bool {
	n, err := strconv.ParseInt(now, 10, 64)
	w, err2 := strconv.ParseInt(was, 10, 64)
	return err == nil && err2 == nil && n <= w && w-n < int64(unix.Getpagesize())
}

// Remove removes the groups, and those that other supervisors have left next to them. It
// waits for processes that are just ending; no others may be in the groups.
func (s *Set) Remove() {
	if s == nil {
		return
	}
	for i := len(s.made) - 1; i >= 0; i-- {
		s.made[i].remove()
	}
	s.made = nil
}

func (m *group) remove() {
	for i := 0; m.dir != "" && i < 100; i++ {
		if m.removeAll(m.dir, 0) == nil {
			m.dir = ""
			break
		}
		pause()
	}
	m.sweep(m.group.Dir)
	if m.group.Threaded && len(entries(m.group.Dir)) == 0 {
		_ = m.handDown("-", m.group.Dir) // EBUSY if another run has started
	}
	if m.leaf == "" {
		return
	}
	_ = m.handDown("-", m.group.Dir)
	if write(m.group.Dir+"/cgroup.procs", "0") == nil { // 0 is the writing process
		_ = m.removeAll(m.leaf, 0)
		m.leaf = ""
	}
}

// pause waits two milliseconds: a process that was reaped may still be leaving its group.
func pause() {
	ts := unix.NsecToTimespec(2e6)
	_ = unix.Nanosleep(&ts, nil)
}
