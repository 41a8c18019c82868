package wrap_test

import (
	"slices"
	"testing"

	"sbx/internal/view"
	"sbx/landlock"
	"sbx/wrap"
	"sbx/wrap/world"
)

// The View agrees with the mounts: each file of the host that can be reached is where the View has
// it, and can be written if the View says so; there are no others.
func TestViewIsWhatTheMountsShow(t *testing.T) {
	eachPlan(t, 5, func(t *testing.T, c *planned) {
		if c.err != nil {
			return
		}
		c.checkRules(t)
		if c.plan.Base == wrap.BaseHost {
			return
		}
		tr := newTree(c.w)
		if err := tr.play(c.plan.Mounts); err != nil {
			t.Fatal(err)
		}
		reached := map[string]string{}
		for _, s := range tr.walk() {
			reached[s.path] = s.identity
			g := c.plan.View.At(s.path)
			if s.kind == wrap.Symlink {
				continue
			}
			c.checkLandlock(t, s, g)
			if g.Access < view.Read || g.Source != s.identity {
				t.Errorf("%s is %s, and the view says %+v", s.path, s.identity, g)
			} else if writable := g.Access == view.Write && !g.Copied; writable == s.readOnly && (s.readOnly || !g.Protected) { // the listener may deny a protected name
				t.Errorf("%s is read-only: %v; the view says %+v", s.path, s.readOnly, g)
			}
		}
		for path, n := range c.w.Nodes {
			for _, at := range append(c.plan.View.Images(path), path) {
				_, there := tr.lookUp(at) // a directory of an overlay's layer is merged with the host's
				if g := c.plan.View.At(at); g.Access >= view.Read && !g.Copied && g.Source == path && reached[at] != path && n.Kind != wrap.Symlink && !(there && n.Kind == wrap.Dir) {
					t.Errorf("%s cannot be reached at %s, and the view says %+v", path, at, g)
				}
			}
		}
	})
}

// checkLandlock fails if Landlock denies an access that the mounts allow.
func (c *planned) checkLandlock(t *testing.T, s seen, g view.Grant) {
	r := &c.plan.Landlock
	var allowed landlock.FSSet
	for _, rule := range r.Rules {
		if rule.Path == s.path || !rule.Exact && view.Within(s.path, rule.Path) {
			allowed |= rule.Allow
		}
	}
	want := landlock.FSSet(0)
	switch {
	case g.Access == view.Write && s.kind == wrap.Dir:
		want = landlock.MakeReg | landlock.RemoveFile | landlock.ReadDir
	case g.Access == view.Write:
		want = landlock.WriteFile | landlock.ReadFile
	case s.kind == wrap.Dir:
		want = landlock.ReadDir
	case s.kind == wrap.File:
		want = landlock.ReadFile
	}
	if lacks := want & r.FS &^ allowed; lacks != 0 {
		t.Errorf("Landlock takes %v at %s, and the view says %+v", lacks, s.path, g)
	}
}

// checkRules fails unless Landlock allows writes exactly where the View does.
func (c *planned) checkRules(t *testing.T) {
	r, tree := &c.plan.Landlock, c.plan.View
	if r.FS&landlock.WriteFile == 0 || c.plan.Rung == wrap.RungParent { // else the View is the outer sandbox's
		return
	}
	for _, rule := range r.Rules {
		if g := tree.At(rule.Path); rule.Allow&landlock.WriteFile != 0 && g.Access != view.Write && !g.Protected {
			t.Errorf("Landlock allows %v at %s, and the view says %+v", rule.Allow, rule.Path, g)
		}
	}
	for _, path := range tree.Places() {
		writes := func(rule landlock.Rule) bool {
			return rule.Allow&landlock.WriteFile != 0 && view.Within(path, rule.Path)
		}
		if g := tree.At(path); g.Access == view.Write && !slices.ContainsFunc(r.Rules, writes) {
			t.Errorf("Landlock lets nothing be written at %s, and the view says %+v", path, g)
		}
	}
}

// The steps for other tools show the same files as the mounts of the Plan, and make none writable
// that the mounts keep read-only.
func TestOtherToolsAreToldTheMounts(t *testing.T) {
	held := 0
	eachPlan(t, 6, func(t *testing.T, c *planned) {
		h := *c.h
		h.Overlay = wrap.Answer{State: wrap.No, Why: "a tool lays none"}
		for _, newRoot := range []bool{false, true} {
			plan, err := wrap.Build(c.r, &h, wrap.Request{NewRoot: newRoot, Argv: []string{""}, Record: c.w.Req.Record, Describe: wrap.DescribeNone})
			if err != nil || plan.Base == wrap.BaseHost {
				continue
			}
			nodes, copied := plan.Nodes()
			if len(copied) > 0 {
				continue
			}
			tr := newTree(c.w)
			if err := tr.play(plan.Mounts); err != nil {
				t.Fatal(err)
			}
			held++
			told, played := told(nodes), map[string]seen{}
			for _, s := range tr.walk() {
				played[s.path] = s
				if o := told.At(s.path); s.kind != wrap.Symlink && (o.Source != s.identity || o.Access < view.Read || o.Access == view.Write && s.readOnly) {
					t.Errorf("tools are told %+v of %s, and the mounts show %+v", o, s.path, s)
				}
			}
			for path, n := range c.w.Nodes {
				for _, at := range told.Images(path) {
					if o := told.At(at); n.Kind != wrap.Symlink && played[at].identity != path {
						t.Errorf("tools are told %+v of %s, and the mounts show %+v", o, at, played[at])
					}
				}
			}
		}
	})
	if held == 0 {
		t.Error("no Plan was told")
	}
}

// A directory becomes read-only with everything mounted in it, also for a tool that makes it
// read-only before it mounts there.
func TestToolsCloseWhatIsMountedInAClosedFolder(t *testing.T) {
	_, plan, err := world.Workstation(t, "overlay no none", "dir /home/u/w/.git/hooks/t", "dir /home/u/w/.git/hooks/s").Build(`{"access_mode": "workspace-write", "filesystem": {"mounts": [
		{"label": "t", "target": "/home/u/w/.git/hooks/t", "mode": "tmpfs"}, {"label": "s", "source": "/srv/data", "target": "/home/u/w/.git/hooks/s", "mode": "rw"}]}}`)
	if err != nil {
		t.Fatal(err)
	}
	nodes, _ := plan.Nodes()
	tree := told(nodes)
	for path, want := range map[string]view.Access{"/home/u/w": view.Write, "/home/u/w/.git/hooks": view.Read, "/home/u/w/.git/hooks/t": view.Read, "/home/u/w/.git/hooks/s": view.Read} {
		if got := tree.At(path); got.Access != want {
			t.Errorf("tools are told %+v of %s, want %v", got, path, want)
		}
	}
}

// A mount beats other rules that make the working directory read-only.
func TestMountOnTheWorkingDirectory(t *testing.T) {
	for mounts, want := range map[string]view.Access{
		``: view.Read,
		`{"source": "/srv/data", "target": "/srv/data", "mode": "rw"}`: view.Write,
	} {
		_, plan, err := world.Workstation(t, "own write /srv\ncwd /srv/data").Build(`{"access_mode": "read-only", "filesystem": {"mounts": [` + mounts + `]}}`)
		if err != nil {
			t.Fatal(err)
		}
		if g := plan.View.At("/srv/data"); g.Access != want {
			t.Errorf("mounts %s: %+v, want %v", mounts, g, want)
		}
	}
}

// told returns the access in the tree that the nodes make.
func told(nodes []wrap.Node) view.Tree {
	tree := view.New(0)
	for _, n := range nodes {
		l := view.Layer{Path: n.Path}
		switch n.Kind {
		case wrap.NodeBind:
			l.Access, l.Source = view.Write, n.Source
			if have := tree.At(n.Path); n.Mode == wrap.ModeRO || n.Mode == wrap.ModeKeep && have.Source == n.Source && have.Access == view.Read {
				l.Access = view.Read
			}
		case wrap.NodeTmpfs, wrap.NodeProc, wrap.NodeDevpts:
			l.Access = view.Write
		case wrap.NodeEmptyDir, wrap.NodeEmptyFile:
			l.Access = view.Hidden
		case wrap.NodeReadOnly:
			l.Kind = view.Close
		default:
			continue
		}
		tree = tree.With(l)
	}
	return tree
}
