//go:build oracle

package doc

import (
	"bytes"
	"encoding/json"
	"math/rand"
	"os/exec"
	"strings"
	"testing"
)

// compare reads lines of {"in": text, "tree": ours} and prints those that libyaml reads
// differently. Of scalars that are not strings it only compares whether they exist, since libyaml's
// resolver is that of YAML 1.1.
const compare = `
import json, sys, yaml
loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
def same(ours, theirs):
    if ours == {"scalar": True}: return isinstance(theirs, str)
    if isinstance(ours, list): return isinstance(theirs, list) and len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, dict): return isinstance(theirs, dict) and ours.keys() == theirs.keys() and all(same(ours[k], theirs[k]) for k in ours)
    return ours == theirs
for line in sys.stdin:
    case = json.loads(line)
    try: theirs = yaml.load(case["in"], Loader=loader)
    except yaml.YAMLError as e: theirs = "error: %s" % e.problem
    if not same(case["tree"], theirs): print(json.dumps([case["in"], case["tree"], theirs]))
`

// plainTree returns n with equal placeholders for scalars that are not strings.
func plainTree(n *Node) any {
	switch n.Kind {
	case String:
		return n.Text
	case List:
		all := []any{}
		for _, item := range n.Items {
			all = append(all, plainTree(item))
		}
		return all
	case Object:
		all := map[string]any{}
		for _, m := range n.Members {
			all[m.Key] = plainTree(m.Value)
		}
		return all
	}
	return map[string]any{"scalar": true}
}

// libyaml reads random documents as our reader does. The documents avoid the known deviations of
// libyaml from YAML 1.2: tabs, and a "?" or ":" inside plain text of a flow collection.
func TestYAMLAgainstLibyaml(t *testing.T) {
	if out, err := exec.Command("python3", "-c", "import yaml").CombinedOutput(); err != nil {
		t.Fatalf("python3 with yaml is needed: %v: %s", err, out)
	}
	pieces := []string{
		"a", "b: ", "c:", "- ", "-", "\n", "\n  ", "\n ", "  ", "'", "''", "\"", "x y", "[", "]", "{", "}", ", ", ",", ": ", ":", "# c", " # c",
		"|\n", "|-\n", ">\n", ">+\n", "|2\n", "1", "1.5", "~", "true", "---\n", "...\n", "\\n", "\\\n", "\n\n", "0x1F", "1e3", "yes", "12:30", "é",
		"\r\n", "|", "> ", "\n   ", "\n    - ", "\"a\"", "'b'", "k2: ", "- k3: ",
	}
	starts := []string{"", "k: ", "k:\n  ", "k: ["}
	r := rand.New(rand.NewSource(1))
	var cases bytes.Buffer
	write := json.NewEncoder(&cases)
	taken := 0
	for range 250000 {
		in := starts[r.Intn(len(starts))]
		for range r.Intn(9) + 1 {
			in += pieces[r.Intn(len(pieces))]
		}
		n, err := ParseYAML("in", []byte(in))
		if err != nil || n.Kind != Object || strings.ContainsAny(in, "[{") && strings.Contains(in, "c:") {
			continue
		}
		taken++
		if err := write.Encode(map[string]any{"in": in, "tree": plainTree(n)}); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("python3", "-c", compare)
	cmd.Stdin = &cases
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if len(out) > 0 {
		t.Errorf("libyaml reads otherwise:\n%.4000s", out)
	}
	if taken < 10000 {
		t.Errorf("only %d documents were taken", taken)
	}
}
