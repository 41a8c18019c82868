package doc

import (
	"strings"
	"testing"
)

// A tree that is written as YAML is read as the same tree, whatever its strings are.
func TestAppendYAML(t *testing.T) {
	for _, text := range []string{
		`{}`,
		`{"access_mode":"workspace-write","filesystem":{"write":["/srv/a","~/b","@npm","a b","#x","- y","k: v","it's","\u00e4","\n\u001b\u2028","","true","NO","null","1","1.5","0x1f",".5","-","/a:","~"]}}`,
		`{"max_commands":3,"readonly":false,"limits":{"cpus":0.5},"filesystem":{"mounts":[{"label":"x y","mode":"ro"}],"hide":[],"read":[["a"],{}]},"environment":{"set":{"A B":"#","no":"x"}}}`,
	} {
		n, err := ParseJSON("in", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		yaml := n.AppendYAML(nil, func(field, value string) string { return "for: " + field })
		if text == `{}` {
			yaml = []byte("{}")
		}
		back, err := ParseYAML("out", yaml)
		if err != nil {
			t.Fatalf("%s: %v", yaml, err)
		}
		if got, want := string(back.AppendCanonical(nil)), string(n.AppendCanonical(nil)); got != want {
			t.Errorf("%s: %s, want %s", yaml, got, want)
		}
		if strings.Count(string(yaml), "\n") > 0 && !strings.Contains(string(yaml), "  # for: ") {
			t.Errorf("no notes: %s", yaml)
		}
	}
}
