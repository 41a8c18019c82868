package wrap

import (
	"testing"

	"sbx/internal/doc"
	"sbx/internal/view"
	"sbx/spec"
)

// An sbx inside learns what access it has to each path, and reads back the same view.
func TestParentTellsItsView(t *testing.T) {
	tree := view.New(0)
	for _, l := range []view.Layer{
		{Path: "/", Grant: view.Grant{Access: view.Read, Source: "/"}},
		{Path: "/home/me/w", Grant: view.Grant{Access: view.Write, Source: "/home/me/w"}},
		{Path: "/home/me/w/.git/hooks", Kind: view.Close, Grant: view.Grant{Protected: true}},
		{Path: "/home/me/.copied", Grant: view.Grant{Access: view.Write, Source: "/home/me/.copied", Copied: true}},
		{Path: "/home/me/.ssh", Grant: view.Grant{Access: view.Hidden}},
		{Path: "/srv", Grant: view.Grant{}},
		{Path: "/tmp", Grant: view.Grant{Access: view.Write}},
	} {
		tree = tree.With(l)
	}
	p := placesOf(&draft{h: &Host{}, r: &spec.Resolved{Spec: &spec.SandboxSpec{}}})
	p.view, p.writable = tree, []spec.Path{}
	told := (&reporter{p}).parentOf()
	told.Writable, told.Allowed = []string{"/home/me/w"}, []string{"**/.vscode"}
	n, err := doc.ParseJSON("", told.AppendJSON(nil))
	held, ok := ParseParent(n)
	if err != nil || !ok {
		t.Fatalf("%v: %s", err, told.AppendJSON(nil))
	}
	n2 := nesting{rules{placesOf(&draft{h: &Host{}, r: &spec.Resolved{Spec: &spec.SandboxSpec{}}})}}
	has := n2.outerView(held)
	for path, want := range map[string]view.Grant{
		"/etc":                    {Access: view.Read, Source: "/etc"},
		"/home/me/w/src":          {Access: view.Write, Source: "/home/me/w/src"},
		"/home/me/w/.git/hooks/x": {Access: view.Read, Source: "/home/me/w/.git/hooks/x", Protected: true},
		"/home/me/w/.vscode":      {Access: view.Write, Source: "/home/me/w/.vscode"}, // which the spec opens
		"/home/me/.copied":        {Access: view.Write},
		"/home/me/.ssh":           {Access: view.Hidden},
		"/srv/data":               {},
		"/tmp/x":                  {Access: view.Write},
	} {
		got := has.At(path)
		if got.Because.Field != outerSandbox {
			t.Errorf("%s is because of %+v", path, got.Because)
		}
		if got.Because = (view.Cause{}); got != want {
			t.Errorf("At(%s) is %+v, not %+v", path, got, want)
		}
	}
	if g := has.At("/home/me/w/.envrc"); g.Access != view.Read || !g.Protected || g.Because.Why == "" {
		t.Errorf("a protected name that is not there is %+v", g)
	}
}
