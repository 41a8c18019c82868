package cgroup

import (
	"strings"
	"testing"

	"sbx/wrap"
)

// A session's scope has other processes, so that it hands no controller of memory down:
// one of threads it does, and the group is made in it, as under every other kind of
// group that a caller can be in.
func TestBeneathASession(t *testing.T) {
	const scope = "/user.slice/session-3.scope"
	for name, c := range map[string]struct {
		files []string
		leaf  bool
		why   string // "": a group can be made
	}{
		"with others":            {files: []string{"cgroup.procs=7\n9\n"}},
		"another run is there":   {files: []string{"cgroup.procs=7\n9\n", "cgroup.type=domain threaded\n", "cgroup.subtree_control=pids\n"}},
		"in another run":         {files: []string{"cgroup.procs=", "cgroup.type=threaded\n", "cgroup.controllers=cpu pids\n"}},
		"alone":                  {files: []string{"cgroup.procs=7\n"}, leaf: true},
		"where nothing can be":   {files: []string{"cgroup.procs=7\n9\n", "cgroup.type=domain invalid\n"}, why: "is a domain invalid group"},
		"without the controller": {files: []string{"cgroup.procs=7\n9\n", "cgroup.controllers=cpu memory\n"}, why: "does not have the pids controller"},
	} {
		f := newFake(t, scope)
		f.ours[7] = true
		f.group("/user.slice", "cgroup.subtree_control=memory pids")
		f.group(scope, c.files...)
		g := finder{want: wantOnly(wrap.PIDs), ownGroupOnly: true, root: f.root, ours: func(pid int) bool { return f.ours[pid] }}
		g.layout.v2 = hierarchy{2, top, f.own}
		h := g.find()[wrap.PIDs]
		switch {
		case c.why != "":
			if h.State != wrap.No || !strings.Contains(h.Why, c.why) {
				t.Errorf("%s: %+v, want no, for %q", name, h, c.why)
			}
		case h.State != wrap.Yes || h.Dir != f.root+f.own || !h.Enable || h.Leaf != c.leaf || h.Threaded == c.leaf:
			t.Errorf("%s: %+v", name, h)
		}
	}
}

// The group of a requested limit also limits the number of processes if it can.
func TestInTheGroupOfOtherLimits(t *testing.T) {
	f := newFake(t, "/a.slice/t.scope")
	f.group("/a.slice", "cgroup.subtree_control=memory pids")
	f.group("/b.slice", "cgroup.subtree_control=memory")
	if h := FindIn(f.root+top+"/a.slice", wrap.PIDs); h.State != wrap.Yes || h.Dir != f.root+top+"/a.slice" || h.Enable || h.Threaded {
		t.Errorf("%+v", h)
	}
	if h := FindIn(f.root+top+"/b.slice", wrap.PIDs); h.State != wrap.No || !strings.Contains(h.Why, "does not hand the pids controller down") {
		t.Errorf("%+v", h)
	}
}

// A threaded group keeps the controller enabled in its parent while it exists; removing the
// last one disables it again.
func TestThreadedAndBack(t *testing.T) {
	f := newFake(t, "/t.scope")
	f.group("/t.scope", "cgroup.procs=1\n2\n")
	dir := f.root + f.own
	g := []wrap.Group{{Version: 2, Dir: dir, Controllers: []wrap.Controller{wrap.PIDs}, Threaded: true,
		Enable: []wrap.Controller{wrap.PIDs}, Write: []wrap.Setting{{File: "pids.max", Value: "5"}}}}
	var runs [2]*Set
	for i := range runs {
		s, err := f.dirs().make(g)
		if err != nil {
			t.Fatal(err)
		}
		at := s.made[0].dir
		for file, want := range map[string]string{"cgroup.type": "threaded", "cgroup.subtree_control": "+pids", "pids.max": "5"} {
			if got := firstLine(at + "/" + file); got != want {
				t.Errorf("%s: %q, want %q", file, got, want)
			}
		}
		runs[i] = s
	}
	at := runs[0].made[0].dir
	if err := runs[0].Place(4242); err == nil || firstLine(at+"/cgroup.procs") != "4242" {
		t.Errorf("control, who has not come is taken to be there: %v", err)
	}
	put(t, at+"/cgroup.threads", "4242\n")
	if err := runs[0].Place(4242); err != nil {
		t.Error(err)
	}
	for i, want := range []string{"+pids", "-pids"} {
		if runs[i].Remove(); firstLine(dir+"/cgroup.subtree_control") != want {
			t.Errorf("after run %d: %q, want %q", i, firstLine(dir+"/cgroup.subtree_control"), want)
		}
	}
	if left := entries(dir); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}
