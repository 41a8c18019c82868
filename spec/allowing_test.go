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
