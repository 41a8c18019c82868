package spec

import (
	"reflect"
	"strings"
	"testing"
)

// amend reads a flag.
func amend(t *testing.T, field, text string) []Amendment {
	t.Helper()
	a, err := ReadAmendment(Field(field), "--flag", text, "/srv/w")
	if err != nil {
		t.Fatalf("%s %q: %v", field, text, err)
	}
	return []Amendment{a}
}

// A flag's addition comes after the entries of the document, in its own field and in no other. The
// original document is not changed.
func TestAmended(t *testing.T) {
	for _, c := range []struct {
		doc, field, text, want string
		job                    bool
	}{
		{doc: `{}`, field: "network.allow", text: "@npm", want: `{"network":{"allow":["@npm"]}}`},
		{doc: `{"network":{"listen":[80],"mode":"allow","allow":["c.d:2"]}}`, field: "network.allow", text: "a.b:1", want: `{"network":{"listen":[80],"mode":"allow","allow":["c.d:2","a.b:1"]}}`},
		{doc: `{"network":{"allow":[]},"agent":"none"}`, field: "network.allow", text: "a.b:1", want: `{"network":{"allow":["a.b:1"]},"agent":"none"}`},
		{doc: `{"access_mode":"read-only"}`, field: "filesystem.write", text: "../out", want: `{"access_mode":"read-only","filesystem":{"write":["/srv/out"]}}`},
		{doc: `{"filesystem":{"hide":["x"],"write":["~/a"]}}`, field: "filesystem.write", text: "**/.git", want: `{"filesystem":{"hide":["x"],"write":["~/a","**/.git"]}}`},
		{doc: `{"filesystem":{"write":[]}}`, field: "filesystem.hide", text: "~/b", want: `{"filesystem":{"write":[],"hide":["~/b"]}}`},
		// A list by itself would take the rest of the host out of view.
		{doc: `{"access_mode":"read-only"}`, field: "filesystem.read", text: "~/.netrc", want: `{"access_mode":"read-only","filesystem":{"read":["/","~/.netrc"]}}`},
		{doc: `{"filesystem":{"read":["@system"]}}`, field: "filesystem.read", text: "d", want: `{"filesystem":{"read":["@system","/srv/w/d"]}}`},
		{doc: `{"filesystem":{"read":[]}}`, field: "filesystem.read", text: "@system", want: `{"filesystem":{"read":["@system"]}}`},
		{doc: `{"access_mode":"read-only"}`, job: true, field: "filesystem.read", text: "/d", want: `{"access_mode":"read-only","filesystem":{"read":["/d"]}}`},
		{doc: `{"sandbox":{"root":"."}}`, field: "filesystem.read", text: "/d", want: `{"sandbox":{"root":"."},"filesystem":{"read":["/d"]}}`},
		{doc: `{"environment":{"pass":["PATH"],"set":{"A":"1"}}}`, field: "environment.set", text: "B=x=y", want: `{"environment":{"pass":["PATH"],"set":{"A":"1","B":"x=y"}}}`},
		{doc: `{}`, field: "environment.set", text: "B=", want: `{"environment":{"set":{"B":""}}}`},
		{doc: `{}`, field: "max_commands", text: "007", want: `{"max_commands":7}`},
		{doc: `{"max_commands":9}`, field: "max_commands", text: "0", want: `{"max_commands":0}`},
		{doc: `{"max_commands":9}`, field: "max_commands", text: "9", want: `{"max_commands":9}`},
		{doc: `{"limits":{"pids":5,"timeout":"1h"}}`, field: "limits.timeout", text: "90", want: `{"limits":{"pids":5,"timeout":"90s"}}`},
		{doc: `{}`, field: "limits.timeout", text: "0.5", want: `{"limits":{"timeout":"500ms"}}`},
	} {
		s, err := Decode("s.json", []byte(c.doc))
		if err != nil {
			t.Fatal(err)
		}
		before := string(s.Node().AppendJSON(nil, nil))
		more, err := Amended(s, amend(t, c.field, c.text), c.job)
		if err != nil {
			t.Errorf("%s, %s: %v", c.doc, c.text, err)
			continue
		}
		if got := string(more.Node().AppendJSON(nil, nil)); got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.doc, c.text, got, c.want)
		}
		again, err := DecodeNode("s.json", more.Node())
		if err != nil {
			t.Errorf("%s: %v", c.want, err)
		} else if again.Source = more.Source; !reflect.DeepEqual(again, more) {
			t.Errorf("%s: the values are %+v, and those of the text %+v", c.want, more, again)
		}
		n := lookUp(more.Node(), Field(c.field))
		at := more.At(Field(c.field))
		switch n.Kind {
		case List:
			at = more.At(item(Field(c.field), len(n.Items)-1))
		case Object:
			at = more.Source.place(n.Members[len(n.Members)-1].Value)
		}
		if at != "--flag" {
			t.Errorf("%s, %s: it stands in %q", c.doc, c.text, at)
		}
		if after := string(s.Node().AppendJSON(nil, nil)); after != before {
			t.Errorf("the document became %s", after)
		}
	}
}

// A flag does not undo a document's own decision.
func TestAmendedRefuses(t *testing.T) {
	for _, c := range []struct{ doc, field, text, want string }{
		{`{"network":{"mode":"none"}}`, "network.allow", "@npm", "network.mode (s.json:1:20): cannot let the command reach @npm (--flag): the spec has network.mode none"},
		{`{"network":{"mode":"host"}}`, "network.allow", "@npm", "network.mode (s.json:1:20): cannot let the command reach @npm (--flag): the spec has network.mode host"},
		{`{"max_commands":3}`, "max_commands", "4", "max_commands (s.json:1:17): cannot have 4 (--flag): the spec has 3"},
		{`{"limits":{"timeout":"1m"}}`, "limits.timeout", "61", "limits.timeout (s.json:1:22): cannot have 61 (--flag): the spec has 1m"},
		{`{"environment":{"set":{"A":"1"}}}`, "environment.set", "A=s3cret", "environment.set (s.json:1:28): cannot set A (--flag): the spec sets it itself"},
	} {
		s, err := Decode("s.json", []byte(c.doc))
		if err != nil {
			t.Fatal(err)
		}
		more, err := Amended(s, amend(t, c.field, c.text), false)
		if err == nil || err.Error() != c.want || more != nil {
			t.Errorf("%s, %s: %v, want %s", c.doc, c.text, err, c.want)
		}
	}
}

// A flag's text must follow the rule of its field.
func TestAmendReads(t *testing.T) {
	for _, c := range []struct{ field, text, want string }{
		{"filesystem.write", "*.c", "globs are not supported here"},
		{"filesystem.write", "@system", "@system can be read, never written"},
		{"filesystem.read", "$HOME/x", "variables are not expanded in paths (did you mean ~/x?)"},
		{"filesystem.hide", "a\xff", "want UTF-8, as in every document"},
		{"network.allow", "@nmp", `unknown set of hosts "@nmp" (did you mean @npm?)`},
		{"environment.set", "=x", "want the name of a variable, got an empty string"},
		{"max_commands", "", `want a whole number ≥ 0, got ""`},
		{"max_commands", "-", `want a whole number ≥ 0, got "-"`},
		{"max_commands", "1e3", `want a whole number ≥ 0, got "1e3"`},
		{"max_commands", "9007199254740992", "want a whole number of at most 9007199254740991, got 9007199254740992"},
		{"limits.timeout", "soon", `want a duration such as "30m", "1h30m" or "250ms", or a number of seconds ≥ 0.001, got "soon"`},
		{"limits.timeout", "0", `want a duration such as "30m", "1h30m" or "250ms", or a number of seconds ≥ 0.001, got 0`},
		{"limits.timeout", "1.", `want a duration such as "30m", "1h30m" or "250ms", or a number of seconds ≥ 0.001, got "1."`},
	} {
		if _, err := ReadAmendment(Field(c.field), "--flag", c.text, "/srv/w"); err == nil || err.Reason() != c.want {
			t.Errorf("%s %q: %v, want %s", c.field, c.text, err, c.want)
		}
	}
}

// A relative path cannot be used in a directory whose name no document can express.
func TestAmendReadsFromAnyDir(t *testing.T) {
	for _, dir := range []string{"/srv/a*", "/srv/a\xff"} {
		if _, err := ReadAmendment("filesystem.write", "--flag", "x", dir); err == nil || !strings.HasPrefix(err.Why, `no spec can name "/srv/a`) {
			t.Errorf("%q: %v", dir, err)
		}
		for _, text := range []string{"/x", "~/x", "**/.git"} {
			if a, err := ReadAmendment("filesystem.write", "--flag", text, dir); err != nil || a.value.Items[0].Text != text {
				t.Errorf("%q, %s: %+v, %v", dir, text, a, err)
			}
		}
	}
}

func TestFromDir(t *testing.T) {
	for in, want := range map[string]string{
		"a": "/srv/w/a", "./a": "/srv/w/a", ".//a/": "/srv/w/a/", ".": "/srv/w", "./": "/srv/w", "..": "/srv", "../..": "/", "../../../a": "/a",
		"../a/../b": "/srv/a/../b", // a may be a link
		"./~":       "/srv/w/~", "./@a": "/srv/w/@a", "...": "/srv/w/...",
		"/a/..": "/a/..", "~": "~", "~/a": "~/a", "@system": "@system", "**/.git": "**/.git",
	} {
		if got := fromDir("/srv/w", in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// If no document says anything about the network, an agent can reach the hosts that it reports for
// its model. The environment that it is asked with is the one that it gets.
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
