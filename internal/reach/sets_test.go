package reach

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Each host of each set is an endpoint that Parse reads, there once, with what it is
// for and no name that stands for several.
func TestSets(t *testing.T) {
	names := Sets()
	if len(names) != 9 || !slices.Contains(names, "@npm") {
		t.Fatalf("the sets are %v", names)
	}
	for _, name := range names {
		r, err := Expand(name, "network.allow[1]")
		if err != nil || len(r) == 0 {
			t.Errorf("%s: %v, %v", name, r, err)
		}
		seen := map[string]bool{}
		for _, rule := range r {
			if rule.Cause != "network.allow[1]: "+name || rule.Why == "" || rule.Name == "" || strings.Contains(rule.Name, "*") || rule.Port == 0 || seen[rule.Text] {
				t.Errorf("%s: %+v", name, rule)
			}
			seen[rule.Text] = true
		}
	}
	npm, _ := Expand("@npm", "")
	if _, ok := npm.Name("registry.npmjs.org", 443); !ok || npm.Asks("registry.npmjs.org.example.com") {
		t.Errorf("@npm is %v", npm)
	}
	one, err := Expand("Example.com:443", "network.allow[0]")
	if err != nil || len(one) != 1 || one[0].Name != "example.com" || one[0].Text != "Example.com:443" || one[0].Cause != "network.allow[0]" {
		t.Errorf("%+v, %v", one, err)
	}
}

func TestUnknownSets(t *testing.T) {
	for in, want := range map[string]string{
		"@nmp":     `unknown set of hosts "@nmp" (did you mean @npm?)`,
		"@NPM":     `unknown set of hosts "@NPM" (did you mean @npm?)`,
		"@google":  `unknown set of hosts "@google"`,
		"@":        `unknown set of hosts "@"`,
		"@npm:443": `unknown set of hosts "@npm:443" (did you mean @npm?)`,
		"@npm\x00": "unknown set of hosts \"@npm\\x00\" (did you mean @npm?)",
	} {
		if r, err := Expand(in, ""); err == nil || err.Error() != want || !strings.Contains(err.Help, "@anthropic, ") {
			t.Errorf("%q: %v, %v; want %s", in, r, err, want)
		}
	}
}

// A set's name is a host's too, but for its "@".
func TestSetsWithoutTheirSign(t *testing.T) {
	for in, want := range map[string]string{
		"npm":     `want host:port, got "npm" (did you mean @npm?)`,
		"npms":    `want host:port, got "npms" (did you mean npms:443?)`,
		"npm:443": "",
	} {
		got := ""
		if _, err := Expand(in, ""); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s; want %s", in, got, want)
		}
	}
}

func TestWider(t *testing.T) {
	reach := func(items string) (r Reach) {
		for item := range strings.FieldsSeq(items) {
			more, err := Expand(item, item)
			if err != nil {
				t.Fatal(err)
			}
			r = append(r, more...)
		}
		return r
	}
	for _, c := range []struct{ parent, child, more string }{
		{"a.example:443", "a.example:443", ""},
		{"a.example:443", "A.Example:443", ""},
		{"a.example:*", "a.example:443", ""},
		{"a.example:443", "a.example:*", "a.example:*"},
		{"a.example:443", "b.example:443", "b.example:443"},
		{"*.example:443", "a.example:443 b.a.example:443 *.a.example:443 *.example:443", ""},
		{"*.example:443", "example:443", "example:443"},
		{"a.example:443", "*.a.example:443", "*.a.example:443"},
		{"@npm", "registry.npmjs.org:443", ""},
		{"registry.npmjs.org:443", "@npm", "registry.yarnpkg.com:443"},
		{"*.npmjs.org:443 *.yarnpkg.com:*", "@npm", ""},
		{"@npm @pypi", "@pypi", ""},
		{"10.0.0.0/8:*", "10.1.0.0/16:22 10.0.0.1:80", ""},
		{"10.0.0.0/8:*", "11.0.0.1:80 0.0.0.0/0:80 [::]:80", "11.0.0.1:80 0.0.0.0/0:80 [::]:80"},
		{"0.0.0.0/0:* [::/0]:*", "10.0.0.1:80 [fd00::1]:80", ""},
		{"0.0.0.0/0:* [::/0]:*", "127.0.0.1:80 [::1]:80", "127.0.0.1:80 [::1]:80"}, // the sandbox's own stay that
		{"127.0.0.0/8:*", "127.0.0.1:80", ""},
		{"0.0.0.0/0:* [::/0]:*", "a.example:80 localhost:80", "a.example:80 localhost:80"}, // what a name resolves to is not known
		{"localhost:3000", "localhost:3000 127.0.0.1:3000 [::1]:3000", ""},
		{"localhost:3000", "127.0.0.2:3000 127.0.0.0/8:3000", "127.0.0.2:3000 127.0.0.0/8:3000"},
		{"127.0.0.1:3000", "localhost:3000", "localhost:3000"},
		{"", "@pypi", "pypi.org:443 files.pythonhosted.org:443"},
		{"@pypi", "", ""},
	} {
		var more []string
		for _, r := range Wider(reach(c.parent), reach(c.child)) {
			more = append(more, r.Text)
		}
		if got := strings.Join(more, " "); got != c.more {
			t.Errorf("%q under %q: %q, want %q", c.child, c.parent, got, c.more)
		}
	}
}

// The table of docs/reference/spec.md has each host of each set; the port is 443 where none is
// shown.
func TestSetsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/spec.md")
	if err != nil {
		t.Fatal(err)
	}
	for i := range sets {
		var hosts []string
		for _, h := range sets[i].hosts {
			hosts = append(hosts, "`"+strings.TrimSuffix(h.endpoint, ":443")+"`")
		}
		if row := "| `" + sets[i].name + "` | " + strings.Join(hosts, ", ") + " |\n"; !strings.Contains(string(page), row) {
			t.Errorf("docs/reference/spec.md lacks the row\n%s", row)
		}
	}
}
