package outer

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"sbx/spec"
	"sbx/wrap"
)

// asks is what the document asks of a tool on the made-up machine.
func asks(t *testing.T, doc string) Ask {
	t.Helper()
	a, err := asked(t, doc, "file /srv/profile.json", "file /srv/broker.yaml")
	if err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	return a
}

// A document that asks of a container what neither its configuration nor sbx-init holds is
// refused, with what could hold it instead.
func TestContainerCannot(t *testing.T) {
	const agent, engine = "have sbx exec in the image start the agent", "allows seccomp"
	for _, c := range []struct{ doc, field, help string }{
		{`{"network":{"mode":"allow","allow":["h:1"]}}`, "network.allow", "have the engine's network keep to the list"},
		{`{"network":{"mode":"none","listen":[3000]}}`, "network.listen", "have the engine publish the ports"},
		{`{"broker":{"file":"/srv/broker.yaml"}}`, "broker.file", "use sbx exec --backend docker"},
		{`{"agent":"claude"}`, "agent", agent},
		{`{"profile":"read-only"}`, "profile", agent},
		{`{"tools_allowed":["Read"]}`, "tools_allowed", agent},
		{`{"access_mode":"read-only","syscalls":"/srv/profile.json"}`, "syscalls", "give the list to the engine"},
		{`{"max_commands":3}`, "max_commands", engine},
		{`{"limits":{"timeout":"1m"}}`, "limits.timeout", engine},
		{`{"sandbox":{"root":"/srv"}}`, "sandbox.root", "list paths of the container in filesystem.read"},
	} {
		_, err := Contain(asks(t, c.doc), wrap.Program{})
		if err == nil {
			t.Errorf("%s is held", c.doc)
			continue
		}
		if p := spec.AsProblems(err)[0]; string(p.Field) != c.field || !strings.Contains(p.Help, c.help) {
			t.Errorf("%s: %+v", c.doc, p)
		}
	}
}

// A budget, which no tool counts for, is refused by each, or is unavailable where the document
// accepts that.
func TestBackendCannot(t *testing.T) {
	for _, name := range []string{"bwrap", "nsjail", "docker", "podman", "runsc"} {
		_, err := NewBackendPlan(name, asks(t, `{"max_commands":5}`), invocation(nil))
		if err == nil || !strings.Contains(err.Error(), "max_commands") || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		b, err := NewBackendPlan(name, asks(t, `{"access_mode":"read-only","max_commands":5,"best_effort":["max_commands"]}`), invocation(nil))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		i := slices.IndexFunc(b.Plan.Enforcement, func(e wrap.Enforcement) bool { return e.Field == "max_commands" })
		if e := b.Plan.Enforcement[i]; e.Status != wrap.Unavailable || !strings.Contains(e.Reason, name) {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// A backend is started by the line that a wrapper has for the same document, so that e2e's
// tests of wrapped lines hold for both.
func TestBackendLine(t *testing.T) {
	for _, doc := range []string{
		`{"access_mode":"read-only","filesystem":{"hide":["/srv/data/set.csv"]}}`,
		`{"access_mode":"workspace-write","filesystem":{"write":["/srv/data",".git"],"hide":["/srv/data/set.csv"]}}`,
		`{"access_mode":"workspace-write","filesystem":{"read":["@system","/srv/data"]}}`,
		`{"access_mode":"workspace-write","network":{"mode":"host"}}`,
	} {
		for _, name := range []string{"bwrap", "nsjail", "docker", "podman", "runsc"} {
			w, err := NewWrapper(name, asks(t, doc))
			if err != nil {
				t.Fatal(err)
			}
			line, _, err := w.Wrap(invocation(nil))
			if err != nil {
				t.Fatal(err)
			}
			b, err := NewBackendPlan(name, asks(t, doc), invocation(nil))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(b.Line, line) {
				t.Errorf("%s: %s:\n%q\nwrapped\n%q", name, doc, b.Line, line)
			}
		}
	}
}
