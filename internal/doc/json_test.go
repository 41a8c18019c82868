package doc

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
)

func TestParseJSON(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{`{}`, `{}`},
		{" \t\r\n[ ] ", `[]`},
		{`[1,-0,0.5,1e3,1E+3,2.5e-7]`, `[1,-0,0.5,1e3,1E+3,2.5e-7]`},
		{`[true,false,null]`, `[true,false,null]`},
		{`"\"\\\/\b\f\n\r\t"`, `"\"\\/\b\f\n\r\t"`},
		{`"\u00e9\u20AC\ud83d\ude00"`, `"é€😀"`},
		{`{"b":1,"a":{"c":[{}]}}`, `{"b":1,"a":{"c":[{}]}}`},
		{`"` + "\x7f" + `"`, `"\x7f"`},
		{strings.Repeat("[", 32) + strings.Repeat("]", 32), strings.Repeat("[", 32) + strings.Repeat("]", 32)},
	} {
		n, err := ParseJSON("in", []byte(test.in))
		if err != nil {
			t.Errorf("%q: %v", test.in, err)
			continue
		}
		if got := show(n); got != test.want {
			t.Errorf("%q: got %s, want %s", test.in, got, test.want)
		}
	}
}

func TestParseJSONErrors(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"", "in: empty document"},
		{" \n ", "in: empty document"},
		{"\xEF\xBB\xBF{}", "in:1:1: begins with a byte order mark"},
		{"{\n \"a\xff\":1}", "in:2:4: not valid UTF-8"},
		{`{} {}`, "in:1:4: more text after the end of the document"},
		{`[1 2]`, `in:1:4: want , or ], got "2"`},
		{`[1,]`, "in:1:4: no comma may stand before ]"},
		{`{"a":1,}`, "in:1:8: no comma may stand before }"},
		{`[`, "in:1:2: the document ends where a value is expected"},
		{`[1`, "in:1:1: the document ends before this is closed by ]"},
		{`{"a":1`, "in:1:1: the document ends before this is closed by }"},
		{`{"a"}`, `in:1:5: want : after the key "a", got "}"`},
		{`{a:1}`, `in:1:2: want a key in double quotes, got "a"`},
		{`{`, "in:1:2: want a key in double quotes, got the end of the document"},
		{"{\"a\":1,\n\"\\u0061\":2}", `in:2:1: the key "a" is there twice`},
		{`["é", tru]`, `in:1:7: want a value, got "tru"`},
		{`[+1]`, `in:1:2: want a value, got "+"`},
		{`[01]`, "in:1:2: a number cannot begin with 0"},
		{`[1.]`, "in:1:2: want a digit after the decimal point"},
		{`[1e]`, "in:1:2: want a digit in the exponent"},
		{`[-]`, "in:1:2: want a digit after -"},
		{`["abc`, "in:1:2: the string is not closed"},
		{`["a\`, "in:1:2: the string is not closed"},
		{`["a\u00`, "in:1:2: the string is not closed"},
		{`[nullx]`, `in:1:2: want a value, got "nullx"`},
		{`true_`, `in:1:1: want a value, got "true_"`},
		{`01`, "in:1:1: a number cannot begin with 0"},
		{`{"a":1 "b":2}`, `in:1:8: want , or }, got "\""`},
		{`["\x41"]`, "in:1:3: unknown escape in a string"},
		{"[\"a\n\"]", "in:1:4: a control character in a string must be written as an escape"},
		{"[\"\\t\n\"]", "in:1:5: a control character in a string must be written as an escape"},
		{`["\u12"]`, `in:1:3: want four hexadecimal digits after \u`},
		{`["\ud800"]`, "in:1:3: half of a surrogate pair"},
		{`["\ud800\u0041"]`, "in:1:3: half of a surrogate pair"},
		{`["\udc00"]`, "in:1:3: half of a surrogate pair"},
		{"[1,\r2,\r\n3,\n x]", `in:4:2: want a value, got "x"`},
		{strings.Repeat("[", 33) + strings.Repeat("]", 33), "in:1:33: nested more than 32 deep"},
		{strings.Repeat(" ", 1<<20) + "{}", "in: larger than 1 MiB"},
		{"[" + strings.Repeat("0,", 1<<16), "in:1:131072: more than 65536 values"},
	} {
		_, err := ParseJSON("in", []byte(test.in))
		if err == nil || err.Error() != test.want {
			t.Errorf("%.60q:\n got %v\nwant %s", test.in, err, test.want)
		}
	}
}

// Every node and key has its position, in characters.
func TestPositions(t *testing.T) {
	n, err := ParseJSON("in", []byte("{\"é\": [1,\n  \"😀\", {\"k\": true}]}"))
	if err != nil {
		t.Fatal(err)
	}
	list := n.Get("é")
	for _, test := range []struct {
		what string
		got  Pos
		want Pos
	}{
		{"the object", n.Pos, Pos{1, 1}},
		{"the key", n.Members[0].KeyPos, Pos{1, 2}},
		{"the list", list.Pos, Pos{1, 7}},
		{"its number", list.Items[0].Pos, Pos{1, 8}},
		{"its string", list.Items[1].Pos, Pos{2, 3}},
		{"its object", list.Items[2].Pos, Pos{2, 8}},
		{"the key inside", list.Items[2].Members[0].KeyPos, Pos{2, 9}},
		{"the bool", list.Items[2].Get("k").Pos, Pos{2, 14}},
	} {
		if test.got != test.want {
			t.Errorf("%s: at %v, want %v", test.what, test.got, test.want)
		}
	}
	if n.Get("nothing") != nil || (*Node)(nil).Get("x") != nil {
		t.Error("Get found what is not there")
	}
}

// A document of 1 MiB takes at most 100 ms of processor time, whatever it contains. The test uses
// the thread's own clock, so that other load does not count.
func TestHostileSizes(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	fill := func(head, body, tail string) string {
		n := (MaxBytes - len(head) - len(tail)) / len(body)
		return head + strings.Repeat(body, n) + tail
	}
	var keys strings.Builder
	for i := 0; keys.Len() < MaxBytes-40; i++ {
		keys.WriteString(`"` + strconv.Itoa(i) + `":0,`)
	}
	var lines strings.Builder
	for i := 0; lines.Len() < MaxBytes-40; i++ {
		lines.WriteString("k" + strconv.Itoa(i) + ":\n")
	}
	for name, in := range map[string]string{
		"numbers":         fill("[", "0,", "0]"),
		"lists":           fill("[", "[],", "[]]"),
		"opening":         fill("", "[", ""),
		"objects":         fill("[", "{},", "{}]"),
		"keys":            "{" + keys.String() + `"x":0}`,
		"escapes":         fill(`["`, `\u0041`, `"]`),
		"quotes":          fill("", `"`, ""),
		"backslashes":     fill(`"`, `\`, ""),
		"digits":          fill("[", "1", "]"),
		"lines":           lines.String(),
		"dashes":          fill("", "- ", ""),
		"dash lines":      fill("", "-\n", ""),
		"dash tabs":       fill("", "-\t", ""),
		"colons":          fill("", "a: ", ""),
		"questions":       fill("", "? ", ""),
		"words":           fill("", "a ", ""),
		"words in lines":  fill("", "a\n", ""),
		"words in a key":  fill("k: ", "a\n  ", ""),
		"blank lines":     fill("k: a\n", "\n", "b: c"),
		"blank text":      fill("k: |\n", " \n", "b: c"),
		"texts":           fill("", "- |\n", ""),
		"texts and blank": fill("", "- |\n\n", ""),
		"comments":        fill("a:\n", "# x\n", "b: c"),
		"spaces":          fill("a:", " ", "b"),
		"hashes":          fill("a: ", " #", ""),
		"single quotes":   fill("a: ", "'", ""),
		"quoted lines":    fill("a: '", "b\n ", "'"),
		"quoted blanks":   fill("a: \"", "\n", "\""),
		"flow":            fill("", "{a: [", ""),
		"flow words":      fill("[", "a,", "a]"),
		"flow lines":      fill("[", "a\n ", "a]"),
		"indents":         fill("", "a:\n ", ""),
		"non-ASCII":       fill("a: ", "é", ""),
		"invalid":         fill("a: ", "\xff", ""),
	} {
		for kind, parse := range parsers {
			best := time.Hour // of several, since the collector may run during one
			for range 5 {
				start := threadTime(t)
				_, _ = parse("in", []byte(in))
				best = min(best, threadTime(t)-start)
			}
			if limit := 100 * time.Millisecond * slowdown; best > limit {
				t.Errorf("%s as %s took %v", name, kind, best)
			}
			if testing.Verbose() {
				t.Logf("%-16s %s %v", name, kind, best)
			}
		}
	}
}

// threadTime returns the processor time of the calling thread.
func threadTime(t *testing.T) time.Duration {
	t.Helper()
	const ofThread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(ofThread, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

var parsers = map[string]func(string, []byte) (*Node, error){"JSON": ParseJSON, "YAML": ParseYAML}

// show prints a tree for a person.
func show(n *Node) string {
	var s strings.Builder
	switch n.Kind {
	case Null:
		s.WriteString("null")
	case Bool, Number:
		s.WriteString(n.Text)
	case String:
		s.WriteString(strconv.Quote(n.Text))
	case List:
		s.WriteByte('[')
		for i, item := range n.Items {
			if i > 0 {
				s.WriteByte(',')
			}
			s.WriteString(show(item))
		}
		s.WriteByte(']')
	case Object:
		s.WriteByte('{')
		for i, m := range n.Members {
			if i > 0 {
				s.WriteByte(',')
			}
			s.WriteString(strconv.Quote(m.Key) + ":" + show(m.Value))
		}
		s.WriteByte('}')
	}
	return s.String()
}

// same reports whether n is the tree that encoding/json makes with UseNumber.
func same(n *Node, v any) bool {
	switch v := v.(type) {
	case nil:
		return n.Kind == Null
	case bool:
		return n.Kind == Bool && n.Text == strconv.FormatBool(v)
	case json.Number:
		return n.Kind == Number && n.Text == v.String()
	case float64:
		f, _ := strconv.ParseFloat(n.Text, 64)
		return n.Kind == Number && (f == v || math.IsNaN(v) && n.Text == ".nan")
	case int64:
		return n.Kind == Number && wholeText(n.Text) == strconv.FormatInt(v, 10)
	case uint64:
		return n.Kind == Number && wholeText(n.Text) == strconv.FormatUint(v, 10)
	case string:
		return n.Kind == String && n.Text == v
	case []any:
		if n.Kind != List || len(n.Items) != len(v) {
			return false
		}
		for i := range v {
			if !same(n.Items[i], v[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		if n.Kind != Object || len(n.Members) != len(v) {
			return false
		}
		for _, m := range n.Members {
			value, ok := v[m.Key]
			if !ok || !same(m.Value, value) {
				return false
			}
		}
		return true
	}
	return false
}

// wholeText removes an empty fraction from a number: YAML libraries make an int of "-0" or "1.0".
func wholeText(s string) string {
	if s == "-0" {
		return "0"
	}
	return s
}

// FuzzJSON compares the reader with encoding/json, which is more lenient in a few ways.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`{"access_mode":"read-only","max_turns":3}`, `[1,2.5e3,"\ud83d\ude00",null,true]`, `{"a":1,"a":2}`,
		`"\u0000"`, `[[[[]]]]`, `{"a":{"b":[{}]}}`, `1e999`, `-0`, "\"\xff\"", `"\ud800"`, ` {} x`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := ParseJSON("in", b)
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		var v any
		theirs := d.Decode(&v)
		if theirs == nil {
			if _, err := d.Token(); !errors.Is(err, io.EOF) {
				theirs = errors.New("trailing data")
			}
		}
		switch {
		case err == nil && theirs != nil:
			t.Fatalf("%q: taken here, refused there: %v", b, theirs)
		case err == nil && !same(n, v):
			t.Fatalf("%q: another tree: %s", b, show(n))
		case err != nil && theirs == nil && !strictness(err, b):
			t.Fatalf("%q: refused here, taken there: %v", b, err)
		}
	})
}

// strictness reports whether err is an error that encoding/json does not report.
func strictness(err error, b []byte) bool {
	why := err.Error()
	for _, more := range []string{"there twice", "32 deep", "1 MiB", "surrogate", "byte order mark", tooMany} {
		if strings.Contains(why, more) {
			return true
		}
	}
	return strings.Contains(why, "UTF-8") && !utf8.Valid(b)
}
