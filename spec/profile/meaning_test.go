package profile

import (
	"testing"

	"sbx/internal/view"
	machine "sbx/wrap/world"
)

// TestMeaning holds the profiles to what they show and let be written at a project. That the
// kernel does it is for e2e's tests.
func TestMeaning(t *testing.T) {
	w := world{"/p/main.go": "", "/p/README.md": "", "/p/sub/deep.md": "", "/p/docs": folder, "/p/design": folder}
	const facts = "cwd /p\nfile /usr/bin/make\nfile /beside\nfile /home/u/note\n" +
		"file /p/main.go\nfile /p/README.md\nfile /p/sub/deep.md\ndir /p/docs\ndir /p/design"
	const absent, read, write = view.Absent, view.Read, view.Write
	for _, c := range []struct {
		path                    string
		readOnly, write, design view.Access
	}{
		{"/beside", absent, absent, absent},
		{"/home/u/note", absent, absent, absent},
		{"/p/main.go", read, write, read},
		{"/p/new.go", read, write, read},
		{"/p/new.md", read, write, read},
		{"/p/sub/new.md", read, write, read},
		{"/p/README.md", read, write, write},
		{"/p/sub/deep.md", read, write, write},
		{"/p/docs/plan.md", read, write, write},
		{"/p/design/logo.svg", read, write, write},
	} {
		for name, want := range map[string]view.Access{"read-only": c.readOnly, "write": c.write, "verification": c.write, "design": c.design} {
			row := Builtin().row(name)
			found, err := row.Prepare("/p", w, w, LeaveOut)
			if err != nil {
				t.Fatal(err)
			}
			s := row.SpecsAt("/p", found)[0]
			s.ToolsAllowed.Set = false // what it says of tools is for the agent's command line
			_, plan, err := machine.New(t, facts).Build(string(s.Node().AppendJSON(nil, nil)))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			g := plan.View.At(c.path)
			if g.Source != c.path {
				g.Access = absent // or the sandbox's own
			}
			if g.Access != want {
				t.Errorf("%s: %s is %v, want %v", name, c.path, g.Access, want)
			}
		}
	}
}
