package workshop

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"sbx/internal/doc"
	"sbx/spec"
)

func TestAgentFile(t *testing.T) {
	none := spec.Opt[[]string]{}
	some := func(tools ...string) spec.Opt[[]string] { return spec.Some(append([]string{}, tools...)) }
	for _, c := range []struct {
		what, text string
		name       string
		tools      spec.Opt[[]string]
		warning    string
	}{
		{"nothing", "", "", none, ""},
		{"no front matter", "# Reviewer\n\nRead the code.\n", "", none, ""},
		{"a rule of dashes", "-----\ntools: Read\n", "", none, ""},
		{"a rule further down", "# Reviewer\n\n---\ntools: Read\n---\n", "", none, ""},
		{"empty front matter", "---\n---\nRead the code.\n", "", none, ""},
		{"comments alone", "---\n# tools: Read\n\n---\n", "", none, ""},
		{"no tools", "---\nname: reviewer\n---\n", "reviewer", none, ""},
		{"a line", "---\nname: reviewer\ntools: Read, Grep,Glob\n---\ntools: Write\n", "reviewer", some("Read", "Grep", "Glob"), ""},
		{"a line with blanks alone", "---\ntools: Read Grep\n---\n", "", some("Read", "Grep"), ""},
		{"commas in parentheses", "---\ntools: Read, Bash(git add:*, git commit:*), Task(a, b)\n---\n", "", some("Read", "Bash(git add:*, git commit:*)", "Task(a, b)"), ""},
		{"a list", "---\ntools:\n  - Read\n  - Bash(git add:*)\n---\n", "", some("Read", "Bash(git add:*)"), ""},
		{"a list as far left as its key", "---\ntools:\n- Read\n- Grep\nname: a\n---\n", "a", some("Read", "Grep"), ""},
		{"a list in brackets", "---\ntools: [Read, \"Bash(a, b)\"]\n---\n", "", some("Read", "Bash(a, b)"), ""},
		{"a line as an item", "---\ntools:\n  - Read, Grep\n---\n", "", some("Read", "Grep"), ""},
		{"several lines", "---\ntools: Read,\n  Grep\n---\n", "", some("Read", "Grep"), ""},
		{"servers' tools", "---\ntools: mcp__github__get_issue, mcp__docs-server__*\n---\n", "", some("mcp__github__get_issue", "mcp__docs-server__*"), ""},
		{"an empty list", "---\ntools: []\n---\n", "", some(), ""},
		{"no value", "---\ntools:\nname: a\n---\n", "a", some(), ""},
		{"an empty line", "---\ntools: \"\"\n---\n", "", some(), ""},
		{"all", "---\ntools: \"*\"\n---\n", "", some("*"), ""},
		{"all, without quotes", "---\nname: a\ntools: *\nmodel: sonnet\n---\n", "a", some("*"), ""},
		{"all, without quotes, and CRLF", "---\r\ntools: *\r\n---\r\n", "", some("*"), ""},
		{"CRLF", "---\r\nname: a\r\ntools: Read, Grep\r\n---\r\nText\r\n", "a", some("Read", "Grep"), ""},
		{"blanks behind the markers", "--- \ntools: Read\n---\t\n", "", some("Read"), ""},
		{"no line break at the end", "---\ntools: Read\n---", "", some("Read"), ""},
		{"others' keys", "---\nmodel: &m 007\nhooks:\n  PreToolUse: !x [a]\ntools: Read\n---\n", "", some("Read"), ""},

		// What descriptions do to YAML.
		{"a colon", "---\nname: a\ndescription: Use this agent when: it rains\ntools: Read\n---\n", "a", some("Read"), ""},
		{"lines that are not indented", "---\nname: a\ndescription: Use it. Examples:\n<example>\nContext: a change was made\nuser: \"Look at it\"\nassistant: \"I will: now\"\n</example>\ntools: Read, Grep\ncolor: blue\n---\n", "a", some("Read", "Grep"), ""},
		{"a quote that is not closed", "---\ndescription: \"Use\ntools: Read\n---\n", "", some("Read"), ""},
		{"a bare star", "---\ndescription: *everything*\ntools: Read\n---\n", "", some("Read"), ""},
		{"a key that is there twice", "---\ncolor: a\ncolor: b\ntools: Read\n---\n", "", some("Read"), ""},
		{"a tab", "---\ndescription: a: b\n\tand more\ntools: Read\n---\n", "", some("Read"), ""},
		{"a list and prose", "---\ndescription: a: b\n- one\n- two\ntools:\n- Read\n- Grep\n---\n", "", some("Read", "Grep"), ""},
		{"quoted keys", "---\ndescription: a: b\n\"tools\": Read\n'name' : a\n---\n", "a", some("Read"), ""},
		{"all indented", "---\n  description: a: b\n  tools: Read\n---\n", "", some("Read"), ""},
		{"a name further in", "---\ndescription: a: b\n  name: c\n---\n", "", none, ""},

		{"another's key", "---\nallowedTools: [Read]\n---\n", "", none, `a.md:2:1: the key "allowedTools" is not read: sbx reads "tools"`},
		{"another's key, and no YAML", "---\ndescription: a: b\nallowed-tools: Read\n---\n", "", none, `a.md:3:1: the key "allowed-tools" is not read: sbx reads "tools"`},
		{"another case", "---\nTools: Read\n---\n", "", none, `a.md:2:1: the key "Tools" is not read: sbx reads "tools"`},
	} {
		a, err := DecodeAgentFile("a.md", []byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		warning := ""
		for _, w := range a.Warnings {
			warning += w.String()
		}
		if a.Name != c.name || !reflect.DeepEqual(a.Tools, c.tools) || warning != c.warning {
			t.Errorf("%s: got %q, %+v, %q", c.what, a.Name, a.Tools, warning)
		}
	}
}

func TestAgentFileRefused(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"\xEF\xBB\xBF---\n---\n", "a.md:1:1: begins with a byte order mark"},
		{"---\nname: \xff\n---\n", "a.md:2:7: not valid UTF-8"},
		{strings.Repeat("a", doc.MaxBytes+1), "a.md: larger than 1 MiB"},
		{"---\nname: a\n", "a.md:1:1: the front matter that begins here has no end"},
		{"---\nname: a\n--- # end\n", "a.md:1:1: the front matter that begins here has no end"},
		{"\n---\nname: a\n---\n", "a.md:2:1: front matter begins on the first line of a file"},
		{"name: a\ntools: Read\n---\n", "a.md:1:1: want a line --- above the front matter"},
		{"---yaml\ntools: Read\n---\n", `a.md:1:1: want a line of --- alone, got "---yaml"`},
		{"---\nSome prose.\n---\n", "a.md:2:1: want keys and values, got a string"},
		{"---\n- tools: Read\n---\n", "a.md:2:1: want keys and values, got a list"},
		{"---\nname: a\ntools:\n  write: false\n---\n", "a.md:4:3: tools: want a list of tools, or a line of them with commas, got an object"},
		{"---\ntools: 7\n---\n", "a.md:2:8: tools: want a list of tools, or a line of them with commas, got a number"},
		{"---\ntools: [1]\n---\n", "a.md:2:9: tools[0]: want a string, got a number"},
		{"---\ntools: [Read, Bash(a, b)]\n---\n", `a.md:2:15: tools[1]: a parenthesis that is not closed in "Bash(a"`},
		{"---\ntools: Read; Grep\n---\n", `a.md:2:8: tools: want a tool as Name or Name(rule), got "Read;"`},
		{"---\ntools: Bash (git:*)\n---\n", `a.md:2:8: tools: want a tool as Name or Name(rule), got "(git:*)"`},
		{"---\nname: 7\n---\n", "a.md:2:7: name: want a string, got a number"},
		{"---\nsandbox: {restrict: /src}\n---\n", "a.md:2:10: sandbox: an agent's file has no sandbox"},
		{"---\ntools: Read\ntools: Write\n---\n", `a.md:3:1: the key "tools" is there twice`},
		{"---\ndescription: a: b\n\"tools\": Read\ntools: Write\n---\n", `a.md:4:1: the key "tools" is there twice`},

		// What is no YAML may not hide a key of sbx's.
		{"---\ntools: *x\n---\n", "a.md:2:8: aliases are not supported"},
		{"---\ntools: *, Read\n---\n", "a.md:2:8: aliases are not supported"},
		{"---\ntools: *\n  Read\n---\n", "a.md:2:8: aliases are not supported"},
		{"---\ntools: *\ntools: Read\n---\n", `a.md:3:1: the key "tools" is there twice`},
		{"---\ntools:Read\n---\n", "a.md:2:1: want keys and values, got a string"},
		{"---\nname: a\ntools:Read\n---\n", "a.md:3:1: want tools: and its value"},
		{"---\ndescription: a\n  tools: Read\n---\n", "a.md:3:3: a key inside a value of several lines"},
		{"---\n? tools\n: Read\n---\n", "a.md:2:1: keys with ? are not supported"},
		{"---\ndescription: a: b\n!!str tools: Read\n---\n", "a.md:2:14: an object cannot begin on the line of its key"},
		{"---\ndescription: a: b\n&t tools: Read\n---\n", "a.md:2:14: an object cannot begin on the line of its key"},
		{"---\ndescription: a: b\n\"to\\u006fls\": Read\n---\n", "a.md:2:14: an object cannot begin on the line of its key"},
		{"---\ndescription: a: b\n<<: {tools: Read}\n---\n", "a.md:2:14: an object cannot begin on the line of its key"},
		{"---\n  description: a: b\ntools: Read\n---\n", "a.md:2:16: an object cannot begin on the line of its key"},
		{"---\n{tools: Read: b}\n---\n", "a.md:2:13: "},
	} {
		a, err := DecodeAgentFile("a.md", []byte(c.text))
		if err == nil {
			t.Errorf("%.60q: got %+v", c.text, a)
		} else if !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.60q: got %v\nwant %s", c.text, err, c.want)
		}
	}
}

// As a spec it says the same, and where.
func TestAgentFileSpec(t *testing.T) {
	a, err := DecodeAgentFile("a.md", []byte("---\nname: a\ntools: Read, Bash(a, b)\n---\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := a.Spec()
	again, err := spec.Decode("again.json", s.Node().AppendJSON(nil, nil))
	if err != nil || !reflect.DeepEqual(withoutSource(again), withoutSource(s)) {
		t.Fatal(err, again)
	}
	if at := s.At("tools_allowed"); at != "a.md:3:8" {
		t.Error(at)
	}
	if len(s.Asked()) != 1 || s.Asked()[0] != "tools_allowed" {
		t.Error(s.Asked())
	}
	if a, err = DecodeAgentFile("a.md", nil); err != nil || len(a.Spec().Asked()) != 0 {
		t.Error(a, err)
	}
}

// The largest file is answered in time, whatever way it is bad.
func TestFrontMatterInTime(t *testing.T) {
	for _, line := range []string{"a: b: c\n", "tool: b: c\n", "\"a\": b: c\n", "prose\n", "\n", "- [a\n", "\"\n"} {
		text := []byte("---\nx: y: z\n" + strings.Repeat(line, (doc.MaxBytes-100)/len(line)) + "tools: Read\n---\n")
		best := time.Hour
		for range 3 {
			start := time.Now()
			if a, err := DecodeAgentFile("a.md", text); err == nil && !a.Tools.Set {
				t.Errorf("%q: the tools were not seen", line)
			}
			best = min(best, time.Since(start))
		}
		if limit := time.Second * slowdown; best > limit {
			t.Errorf("%q: %v", line, best)
		}
	}
}

func FuzzAgentFile(f *testing.F) {
	for _, s := range []string{
		"", "---\nname: a\ntools: Read, Bash(a, b)\n---\ntext\n", "---\r\ntools: [Read]\r\n---",
		"---\ndescription: a: b\nuser: \"c\ntools:\n- Read\n---\n", "---\n  a: b: c\n  tools: Read\n---\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := DecodeAgentFile("in", b)
		if err != nil {
			var d *spec.DecodeError
			if !errors.As(err, &d) || d.Why == "" || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q: %v", b, err)
			}
			return
		}
		again, err := spec.Decode("again.json", a.Spec().Node().AppendJSON(nil, nil))
		if err != nil || !reflect.DeepEqual(again.ToolsAllowed, a.Tools) {
			t.Fatalf("%q: %v, %+v", b, err, a)
		}
		// Another reader that sees tools in what is YAML is never alone.
		_, text, _ := strings.Cut(string(b), "\n")
		text, _, ended := strings.Cut(text, "\n---")
		var theirs map[string]any
		if !strings.HasPrefix(string(b), "---\n") || !ended || yaml.Unmarshal([]byte(text), &theirs) != nil {
			return
		}
		if _, has := theirs["tools"]; has && !a.Tools.Set {
			t.Fatalf("%q: tools were not seen", b)
		}
	})
}
