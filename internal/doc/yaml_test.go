package doc

import (
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

var yamlGood = []struct{ in, want string }{
	// These are block collections.
	{"a: 1", `{"a":1}`},
	{"a: 1\r\nb: 2\r\n", `{"a":1,"b":2}`},
	{"a:\n  b:\n    c: d\n  e: f\ng: h\n", `{"a":{"b":{"c":"d"},"e":"f"},"g":"h"}`},
	{"a:\n- 1\n- 2\nb: 3", `{"a":[1,2],"b":3}`},
	{"a:\n  - 1\n  - 2\nb: 3", `{"a":[1,2],"b":3}`},
	{"- - 1\n  - 2\n-\n  - 3", `[[1,2],[3]]`},
	{"- a: 1\n  b: 2\n-   c: 3\n    d: 4\n", `[{"a":1,"b":2},{"c":3,"d":4}]`},
	{"  a: 1\n  b: 2", `{"a":1,"b":2}`},
	{"a:\nb:\n  - \n  - x", `{"a":null,"b":[null,"x"]}`},
	{"a : 1", `{"a":1}`},
	{"a:\t1", `{"a":1}`},
	{"\"a b\": 1\n'c''d' : 2", `{"a b":1,"c'd":2}`},
	{"a:b: 1", `{"a:b":1}`},
	{"a#b: c#d", `{"a#b":"c#d"}`},
	// These are comments and markers.
	{"# one\n\na: 1 # two\n  # three\n\t# four\nb: 2\n#five", `{"a":1,"b":2}`},
	{"---\na: 1\n", `{"a":1}`},
	{"--- # c\na: 1\n...\n# end\n", `{"a":1}`},
	{"--- {a: 1}\n...\n", `{"a":1}`},
	{"a: ---", `{"a":"---"}`},
	{"a:\n  ---b\n", `{"a":"---b"}`},
	// These are flow collections.
	{"[]", `[]`},
	{"{}", `{}`},
	{"a: [1, 'b', \"c\", d e, [f], {g: h}]", `{"a":[1,"b","c","d e",["f"],{"g":"h"}]}`},
	{"a: [1, 2,]\nb: {c: 1,}", `{"a":[1,2],"b":{"c":1}}`},
	{"read: [\n  a, # c\n  b\n]\nwrite: []", `{"read":["a","b"],"write":[]}`},
	{"{\"a\":1,\"b\":{\"c\":[true,null]},\n\"d\"\n:\n2}", `{"a":1,"b":{"c":[true,null]},"d":2}`},
	{"{a: , b: c:d}", `{"a":null,"b":"c:d"}`},
	{"[a\n b, -1, -x]", `["a b",-1,"-x"]`},
	{"a: [1] # c\nb: {} \t# d\nc:\n- []\t# e\n", `{"a":[1],"b":{},"c":[[]]}`},
	// These are plain scalars.
	{"a: b c  # d", `{"a":"b c"}`},
	{"a: b\n  c\n\n  d\nz: 1", `{"a":"b c\nd","z":1}`},
	{"a: -b\nc: ?d\ne: :f\ng: a,b[c]{d}", `{"a":"-b","c":"?d","e":":f","g":"a,b[c]{d}"}`},
	{"a: é 😀", `{"a":"é 😀"}`},
	{"a: http://x:80/y#z", `{"a":"http://x:80/y#z"}`},
	{"a: 12:30\nb: 2001-01-01\nc: 1_000\nd: 0b1\ne: 1.2.3\nf: 1e\ng: -x\nh: 0x\ni: 0o8\nj: 0xG", ""},
	{"a: yes\nb: no\nc: on\nd: off\ne: y\nf: tRUE", `{"a":"yes","b":"no","c":"on","d":"off","e":"y","f":"tRUE"}`},
	{"a: true\nb: True\nc: TRUE\nd: false\ne: False\nf: FALSE", `{"a":true,"b":true,"c":true,"d":false,"e":false,"f":false}`},
	{"- null\n- Null\n- NULL\n- ~\n- nULL", `[null,null,null,null,"nULL"]`},
	{"[0, -0, +1, 12, 0x1F, 0o17, .5, 1., -1.5, +.5, 1.5e3, 1E-2]", `[0,-0,1,12,31,15,0.5,1,-1.5,0.5,1.5e3,1E-2]`},
	{"[.inf, -.Inf, +.INF, .nan, .NaN]", `[.inf,-.inf,.inf,.nan,.nan]`},
	{"[0xFFFFFFFFFFFFFFFF, 0XFF, .e1, +, -.]", `[18446744073709551615,"0XFF",".e1","+","-."]`},
	// These are quoted scalars.
	{`a: "\0\a\b\t\n\v\f\r\e\ \"\/\\\N\_\L\P\x41\u00e9\U0001F600"`, `{"a":"\x00\a\b\t\n\v\f\r\x1b \"/\\\u0085\u00a0\u2028\u2029Aé😀"}`},
	{`a: "\ud83d\ude00"`, `{"a":"😀"}`},
	{"a: \"\\\t\"", `{"a":"\t"}`},
	{"a: \"x\n  y\\\n   z  \n\n  w\"\n", `{"a":"x yz\nw"}`},
	{"a: 'x ''y''\n\n  z'", `{"a":"x 'y'\nz"}`},
	{"a: 'b\\n'", `{"a":"b\\n"}`},
	{"a: ''\nb: \"\"", `{"a":"","b":""}`},
	{"a: \" x \"\nb: ' y '", `{"a":" x ","b":" y "}`},
	{"a: \"x \\\n  \\  y\"", `{"a":"x   y"}`},
	{"\"x\n\ty\"", `"x y"`},
	// These are block scalars.
	{"a: |\n  x\n   y\n\n  z\nb: 1", `{"a":"x\n y\n\nz\n","b":1}`},
	{"a: |-\n  x\n\nb: |+\n  y\n\nc: |\n  z", `{"a":"x","b":"y\n\n","c":"z"}`},
	{"a: >\n  x\n  y\n\n  z\n    i\n  w\n", `{"a":"x y\nz\n  i\nw\n"}`},
	{"a: >-\n\n  x\n\n\n  y\n", `{"a":"\nx\n\ny"}`},
	{"a: |2\n   x\n  y\n", `{"a":" x\ny\n"}`},
	{"a: |1-\n  x\n", `{"a":" x"}`},
	{"a: |+1 # c\n x\n", `{"a":"x\n"}`},
	{"- |\n x\n- >\n  y\n", `["x\n","y\n"]`},
	{"a: |\nb: 1", `{"a":"","b":1}`},
	{"a: |\n  # no comment\n# a comment\nb: 1", `{"a":"# no comment\n","b":1}`},
	{"a: |\n  \tx\n", `{"a":"\tx\n"}`},
	{"|\n x", `"x"`},
	// This is the maximum depth.
	{strings.Repeat("[", 32) + strings.Repeat("]", 32), strings.Repeat("[", 32) + strings.Repeat("]", 32)},
}

func TestParseYAML(t *testing.T) {
	for _, test := range yamlGood {
		n, err := ParseYAML("in", []byte(test.in))
		if err != nil {
			t.Errorf("%q: %v", test.in, err)
			continue
		}
		want := test.want
		if want == "" { // every scalar is a string, as written
			want = stringsOf(test.in)
		}
		if got := show(n); got != want {
			t.Errorf("%q:\n got %s\nwant %s", test.in, got, want)
		}
	}
}

func stringsOf(in string) string {
	var pairs []string
	for line := range strings.SplitSeq(in, "\n") {
		key, value, _ := strings.Cut(line, ": ")
		pairs = append(pairs, `"`+key+`":"`+value+`"`)
	}
	return "{" + strings.Join(pairs, ",") + "}"
}

func TestParseYAMLErrors(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"", "in: empty document"},
		{"# c\n", "in: empty document"},
		{"---\n", "in: empty document"},
		{"\xEF\xBB\xBFa: 1", "in:1:1: begins with a byte order mark"},
		{"a: \xff", "in:1:4: not valid UTF-8"},
		{"a: \x01", "in:1:4: a control character; in double quotes it can be written as an escape"},
		{"a: \u2028", "in:1:4: an invisible character; in double quotes it can be written as an escape"},
		{"a: \uFEFF", "in:1:4: an invisible character; in double quotes it can be written as an escape"},
		// These are the parts of YAML that are not supported.
		{"a: &x 1", "in:1:4: anchors are not supported"},
		{"&x a: 1", "in:1:1: anchors are not supported"},
		{"a: *x", "in:1:4: aliases are not supported"},
		{"<<: {a: 1}", "in:1:1: merge keys are not supported"},
		{"{<<: {a: 1}}", "in:1:2: merge keys are not supported"},
		{"a: !!str 1", "in:1:4: tags are not supported"},
		{"%YAML 1.2\n---\na: 1", "in:1:1: directives are not supported"},
		{"? a\n: b", "in:1:1: keys with ? are not supported"},
		{"[a]: b", "in:1:1: a list or an object cannot be a key"},
		{"{[a]: b}", "in:1:2: a list or an object cannot be a key"},
		{"a: 1\n---\nb: 2", "in:2:1: more than one document"},
		{"a: 1\n...\nb: 2", "in:3:1: more than one document"},
		{"a: 1\n---\n", "in:2:1: more than one document"},
		// These are errors about keys.
		{"a: 1\na: 2", `in:2:1: the key "a" is there twice`},
		{"{a: 1, \"a\": 2}", `in:1:8: the key "a" is there twice`},
		{"a:\n  b: 1\n  'b': 1", `in:3:3: the key "b" is there twice`},
		{"1: a", "in:1:1: a key must be a string, got a number"},
		{"true: a", "in:1:1: a key must be a string, got true or false"},
		{"~: a", "in:1:1: a key must be a string, got null"},
		{": a", "in:1:1: a key is missing before the colon"},
		{"a: 1\nb", `in:2:1: want a key, a colon and a blank, as in "key: value"`},
		{"a: 1\n- b", "in:2:1: want a key, got an item of a list"},
		{"a: 1\n[b]: c", `in:2:1: want a key, got "["`},
		{"a: 1\n\"b\nc\": d", "in:3:1: this line of a string must be indented more, or the string is not closed"},
		{"\"b\n c\": d", "in:1:1: a key must stand on one line"},
		{"a: 1\n\"b\n c\": d", "in:2:1: a key must stand on one line"},
		{"{b\n c: d}", "in:1:2: a key must stand on one line"},
		{"{\"b\n c\": d}", "in:1:2: a key must stand on one line"},
		{strings.Repeat("k", 1025) + ": 1", "in:1:1: a key of more than 1024 characters"},
		// These are errors about indentation.
		{"a:\n\tb: 1", "in:2:1: a tab in the indentation"},
		{"a:\n  \tb: 1", "in:2:3: a tab in the indentation"},
		{"-\t- a", "in:1:2: a tab in the indentation"},
		{"-\ta: 1", "in:1:2: a tab in the indentation"},
		{"a: |\n\tx", "in:2:1: a tab in the indentation"},
		{"a: b\n\tc", "in:2:1: a tab in the indentation"},
		{"a: 'b\n\tc'", "in:2:1: a tab in the indentation"},
		{"a:\n  - 1\n b: 2", "in:3:2: the indentation fits nothing above"},
		{"  a: 1\nb: 2", "in:2:1: the indentation fits nothing above"},
		{"a:\n    b: 1\n  c: 2", "in:3:3: the indentation fits nothing above"},
		{"a: 'b'\n  c: 1", "in:2:3: the indentation fits nothing above"},
		{"a: [1,\n2]", `in:2:1: a line inside "[" must be indented more than its key`},
		{"a: |\n   \n  x", "in:2:1: this blank line is indented more than the text that follows"},
		// These are errors about places.
		{"a: b: c", "in:1:4: an object cannot begin on the line of its key"},
		{"a: - b", "in:1:4: a list cannot begin on the line of its key"},
		{"--- a: b", "in:1:5: an object cannot begin on the line of ---"},
		{"--- - b", "in:1:5: a list cannot begin on the line of ---"},
		{"a: 1\n  b: 2", "in:2:3: a key inside a value of several lines"},
		{"a: b\n  - c", "in:2:3: an item of a list inside a value of several lines"},
		{"a: 'b' c", `in:1:8: want the end of the line, got "c"`},
		{"a: [b] c", `in:1:8: want the end of the line, got "c"`},
		{"a: 'b'#c", `in:1:7: want the end of the line, got "#"`},
		{"a: |x\n b", `in:1:5: want the end of the line, got "x"`},
		{"|1\n b", "in:1:2: an indentation cannot be given here"},
		{"a: @system", "in:1:4: a value that begins with @ must be put in quotes"},
		{"a: `b`", "in:1:4: a value that begins with ` must be put in quotes"},
		{"a: %b", "in:1:4: a value that begins with % must be put in quotes"},
		{"a: ]", `in:1:4: want a value, got "]"`},
		{"a: ,", `in:1:4: want a value, got ","`},
		// These are errors in flow collections.
		{"[a: b]", "in:1:3: an object inside a list needs braces"},
		{"[a", `in:1:1: this "[" is not closed`},
		{"[", `in:1:1: this "[" is not closed`},
		{"{a: 1", `in:1:1: this "{" is not closed`},
		{"{a: [1}", `in:1:7: want , or ], got "}"`},
		{"[a\n---\n]", `in:1:1: this "[" is not closed`},
		{"['a' b]", `in:1:6: want , or ], got "b"`},
		{"[,]", `in:1:2: want a value, got ","`},
		{"{a: 'b' c}", `in:1:9: want , or }, got "c"`},
		{"{a}", `in:1:3: want a colon and a blank after the key "a", got "}"`},
		{"{a:1}", `in:1:5: want a colon and a blank after the key "a:1", got "}"`},
		{"[- a]", "in:1:2: an item of a list cannot stand here"},
		{"[-]", "in:1:2: an item of a list cannot stand here"},
		{"[|]", "in:1:2: a block of text cannot stand inside [ ] or { }, nor be a key"},
		{"[?a]", "in:1:2: a value that begins with ? must be put in quotes here"},
		{"[#a]", `in:1:2: want a value, got "#"`},
		{"[a\n : b]", "in:2:2: a key must stand on one line"},
		// These are errors in scalars.
		{"a: 'b", "in:1:4: the string is not closed"},
		{"a: \"b", "in:1:4: the string is not closed"},
		{"a: \"b\\", "in:1:4: the string is not closed"},
		{"a: \"b\nc\"", "in:2:1: this line of a string must be indented more, or the string is not closed"},
		{"a: \"b\n---\n\"", "in:1:4: the string is not closed"},
		{"a: \"b\\\n", "in:1:4: the string is not closed"},
		{`a: "\q"`, "in:1:5: unknown escape in a string"},
		{`a: "\x4"`, "in:1:5: want hexadecimal digits in the escape"},
		{`a: "\u12"`, `in:1:5: want four hexadecimal digits after \u`},
		{`a: "\ud800"`, "in:1:5: half of a surrogate pair"},
		{`a: "\U00110000"`, "in:1:5: the escape names no character"},
		{`a: "\UFFFFFFFF"`, "in:1:5: the escape names no character"},
		{`a: "\U0000D800"`, "in:1:5: the escape names no character"},
		{"a: 0644", "in:1:4: a number cannot begin with 0: some readers take 0644 as octal"},
		{"a: 0x10000000000000000", "in:1:4: the number 0x10000000000000000 is too large"},
		{strings.Repeat("[", 33), "in:1:33: nested more than 32 deep"},
		{strings.Repeat("- ", 33) + "a", "in:1:65: nested more than 32 deep"},
		{strings.Repeat(" ", 1<<20) + "a: 1", "in: larger than 1 MiB"},
		{"[" + strings.Repeat("0,", 1<<16), "in:1:131072: more than 65536 values"},
		{strings.Repeat("-\n", 1<<16), "in:65536:2: more than 65536 values"},
	} {
		n, err := ParseYAML("in", []byte(test.in))
		switch {
		case err == nil:
			t.Errorf("%.60q: taken as %s, want %s", test.in, show(n), test.want)
		case err.Error() != test.want:
			t.Errorf("%.60q:\n got %v\nwant %s", test.in, err, test.want)
		}
	}
}

func TestYAMLPositions(t *testing.T) {
	n, err := ParseYAML("in", []byte("# c\né: [1,\n  😀, {k: true}]\nl:\n- a\n- b: |\n    text\n"))
	if err != nil {
		t.Fatal(err)
	}
	list, l := n.Get("é"), n.Get("l")
	for _, test := range []struct {
		what string
		got  Pos
		want Pos
	}{
		{"the object", n.Pos, Pos{2, 1}},
		{"the list", list.Pos, Pos{2, 4}},
		{"its string", list.Items[1].Pos, Pos{3, 3}},
		{"its object", list.Items[2].Pos, Pos{3, 6}},
		{"a bool", list.Items[2].Get("k").Pos, Pos{3, 10}},
		{"the second key", n.Members[1].KeyPos, Pos{4, 1}},
		{"the second list", l.Pos, Pos{5, 1}},
		{"its item", l.Items[0].Pos, Pos{5, 3}},
		{"the compact object", l.Items[1].Pos, Pos{6, 3}},
		{"the text", l.Items[1].Get("b").Pos, Pos{6, 6}},
	} {
		if test.got != test.want {
			t.Errorf("%s: at %v, want %v", test.what, test.got, test.want)
		}
	}
}

// deviations are texts for which goccy/go-yaml deviates from YAML 1.2 and its core schema, or which
// are not an object. libyaml agrees with our reader on them.
var deviations = []struct {
	what string
	re   *regexp.Regexp
}{
	{"a tab in plain text is dropped, one on a blank line refused", regexp.MustCompile(`\t`)},
	{"CR LF in a quoted scalar is two line breaks", regexp.MustCompile(`\r`)},
	{"blocks of text that are empty, or end in blanks, or begin with blank lines", regexp.MustCompile(`[|>]`)},
	{"1e3 is a string", regexp.MustCompile(`[0-9][eE]`)},
	{"-0x1F is a number, 0b1, 1_0 and +-0 too", regexp.MustCompile(`[-+]0[xob]|0b|[0-9]_|\+-`)},
	{"blank lines that hold blanks are lost", regexp.MustCompile(`\n +\n`)},
	{"a line of plain text that begins with - begins a new token", regexp.MustCompile(`\n *-[^ \n]`)},
	{"a colon inside a key of a flow mapping ends it", regexp.MustCompile(`[{,][^{}\[\],]*:[^ \n,}\]]`)},
	{"an empty item takes what follows", regexp.MustCompile(`- *(#.*)?(\n|$)`)},
	{"a doubled quote at the start of a line", regexp.MustCompile(`\n *''`)},
	{"an escaped blank at the end of a line is lost", regexp.MustCompile(`\\ *\n`)},
}

func deviation(n *Node, b []byte) bool {
	for i := range deviations {
		if deviations[i].re.Match(b) {
			return true
		}
	}
	return n.Kind != Object
}

// Each deviation still exists; one that does not can be removed from the list.
func TestDeviations(t *testing.T) {
	for i, in := range []string{
		"a: b\tc", "a: 'b\r\n  c'", "a: >+\n", "a: 1e3", "a: -0x1F", "a: b\n \n \n  c",
		"a: b\n  -c # d", "{a:b: c}", "a:\n- \nb: c", "a: '\n  ''\n   1'", "a: \"\\ \n \"",
	} {
		if !deviations[i].re.MatchString(in) {
			t.Errorf("%q does not show: %s", in, deviations[i].what)
		}
		n, err := ParseYAML("in", []byte(in))
		if err != nil {
			t.Errorf("%q: %v", in, err)
			continue
		}
		var v any
		if err := yaml.Unmarshal([]byte(in), &v); err == nil && same(n, v) {
			t.Errorf("%q: goccy/go-yaml reads it as it is meant; take out: %s", in, deviations[i].what)
		}
	}
}

// FuzzYAML compares the reader with goccy/go-yaml: a document that ours accepts is accepted there,
// too, as the same tree.
func FuzzYAML(f *testing.F) {
	for _, test := range yamlGood {
		f.Add([]byte(test.in))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := ParseYAML("in", b)
		if err != nil || deviation(n, b) {
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

// A JSON text means the same as YAML, if the YAML reader accepts it.
func FuzzYAMLOfJSON(f *testing.F) {
	f.Add([]byte(`{"a":[1,2.5e3,"\ud83d\ude00",null,true],"b":{"c":{}}}`))
	f.Add([]byte("{\"a\"\n:\n1}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := ParseJSON("in", b)
		if err != nil {
			return
		}
		y, err := ParseYAML("in", b)
		if err == nil && show(y) != show(n) {
			t.Fatalf("%q: %s as JSON, %s as YAML", b, show(n), show(y))
		}
	})
}
