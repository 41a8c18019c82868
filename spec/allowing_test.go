package spec

import (
	"slices"
	"testing"
)

func TestAllowing(t *testing.T) {
	for _, c := range []struct {
		doc   string
		want  []string
		place string // of the last item
	}{
		{`{}`, []string{"@npm", "a.b:1"}, "--allow"},
		{`{"access_mode":"read-only","network":{"listen":[80]}}`, []string{"@npm", "a.b:1"}, "--allow"},
		{`{"network":{"mode":"allow","allow":["c.d:2"]}}`, []string{"c.d:2", "@npm", "a.b:1"}, "--allow"},
	} {
		s, err := Decode("s.json", []byte(c.doc))
		if err != nil {
			t.Fatal(err)
		}
		before := string(s.Node().AppendJSON(nil, nil))
		more := s.Allowing([]string{"@npm", "a.b:1"}, "--allow")
		again, err := DecodeNode("s.json", more.Node())
		if err != nil || !slices.Equal(again.Network.Value.Allow.Value, c.want) || !slices.Equal(more.Network.Value.Allow.Value, c.want) {
			t.Errorf("%s: %v, %v", c.doc, more.Network.Value.Allow.Value, err)
		}
		if again.AccessMode != s.AccessMode || len(again.Network.Value.Listen.Value) != len(s.Network.Value.Listen.Value) {
			t.Errorf("%s: something else is lost: %s", c.doc, more.Node().AppendJSON(nil, nil))
		}
		if at := more.At(item("network.allow", len(c.want)-1)); at != c.place {
			t.Errorf("%s: the last item stands in %q", c.doc, at)
		}
		if after := string(s.Node().AppendJSON(nil, nil)); after != before || len(s.Network.Value.Allow.Value) != len(c.want)-2 {
			t.Errorf("the document became %s", after)
		}
	}
}

// An agent reaches what it says its model's hosts are, where no document says anything of
// the network; what it is told of its environment is what it gets.
func TestAgentReach(t *testing.T) {
	in := inputs()
	in.Environ = []string{"BASE=caller:1"}
	in.Agent = &AgentNeeds{Agent: Claude, Hosts: func(get func(string) string) []string { return []string{"@pypi", get("BASE"), "bad"} }}
	for doc, want := range map[string]string{
		`{"access_mode":"read-only"}`:                                        "pypi.org:443 files.pythonhosted.org:443 caller:1",
		`{"access_mode":"read-only","environment":{"set":{"BASE":"set:2"}}}`: "pypi.org:443 files.pythonhosted.org:443 set:2",
		`{"access_mode":"read-only","network":{"allow":["a.b:1"]}}`:          "a.b:1",
		`{"access_mode":"read-only","network":{"mode":"none"}}`:              "",
		`{"access_mode":"read-only","agent":"none"}`:                         "",
		`{}`: "",
	} {
		r, err := Resolve(decodeAt(t, doc), in)
		got := ""
		for _, rule := range r.Reach {
			got += rule.Text + " "
		}
		if got = trimmed(got); err != nil || got != want || r.AgentNetwork != (len(r.Reach) > 0 && !r.Spec.Network.Set) {
			t.Errorf("%s: %q, %v, want %q", doc, got, err, want)
		}
	}
}

func trimmed(s string) string {
	if s == "" {
		return s
	}
	return s[:len(s)-1]
}
