package spec

import (
	"math"
	"testing"

	"github.com/goccy/go-yaml"
)

func FuzzYAML(f *testing.F) {
	for _, s := range yamlGood {
		f.Add([]byte(s.in))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := ParseYAML("in", b)
		if err != nil {
			return
		}
		if why := deviation(n, b); why != "" {
			return
		}
		var v any
		if err := yaml.Unmarshal(b, &v); err != nil {
			t.Fatalf("%q: taken here as %s, refused there: %v", b, show(n), err)
		}
		if !same(n, v) {
			t.Fatalf("%q: another tree: %s, there %#v", b, show(n), v)
		}
	})
}

func deviation(n *Node, b []byte) string { return "" }

var _ = math.Pi

var yamlGood = []struct{ in, want string }{
	{"a: 1", `{"a":1}`},
	{"a: 1\nb: [x, 'y z', {k: v, \"q\":1}]\nc:\n- 1\n- d: e\n  f: |\n    text\n      more\n\n  g: >-\n    a\n    b\n\n    c\nh: x\n  y\n\n  z\n",
		`{"a":1,"b":["x","y z",{"k":"v","q":1}],"c":[1,{"d":"e","f":"text\n  more\n","g":"a b\nc"}],"h":"x y\nz"}`},
	{"- - 1\n  - 2\n-\n  - 3", `[[1,2],[3]]`},
	{"a: \"x\n  y\\\n   z\\u0041\"\n", `{"a":"x yzA"}`},
	{"--- {a: 1}\n...\n", `{"a":1}`},
	{"a: |2\n   x\n  y\n", `{"a":" x\ny\n"}`},
	{"read: [\n a,\n b\n]\nwrite: []", `{"read":["a","b"],"write":[]}`},
}

func TestYAML(t *testing.T) {
	for _, test := range yamlGood {
		n, err := ParseYAML("in", []byte(test.in))
		if err != nil {
			t.Errorf("%q: %v", test.in, err)
			continue
		}
		if got := show(n); got != test.want {
			t.Errorf("%q:\n got %s\nwant %s", test.in, got, test.want)
		}
	}
}
