package audit

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"sbx/internal/doc"
	"sbx/spec"
)

// appendString appends a string as a record contains it.
func appendString(dst []byte, s string) []byte {
	w := recordWriter(dst)
	w.Str(s)
	return w.B
}

func TestAppendString(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", `""`},
		{"plain", `"plain"`},
		{`a"b\c`, `"a\"b\\c"`},
		{"a\nb\tc\rd", `"a\nb\tc\rd"`},
		{"\x00\x1b[31m\x7f", `"\u0000\u001b[31m\u007f"`},
		{"\u0085\u009b", `"\u0085\u009b"`},
		{"a\u202eb\u2066c\u2028", `"a\u202eb\u2066c\u2028"`},
		{"\xff\xfe", `"\\xff\\xfe"`},
		{`\xff`, `"\\x5cxff"`},
		{`\x5c\x41`, `"\\x5cx5c\\x41"`},
		{"a\u00adb\u200d\ufe0f\U000e0041", `"a\u00adb\u200d\ufe0f\udb40\udc41"`},
		{"a\xc3", `"a\\xc3"`},
		{"\ufffd", "\"\ufffd\""}, // the replacement character itself is a character
		{"größe €😀", `"größe €😀"`},
	} {
		if got := string(appendString(nil, c.in)); got != c.want {
			t.Errorf("%q: got %s, want %s", c.in, got, c.want)
		}
	}
}

func TestStringsAreCutAtACharacter(t *testing.T) {
	for pad := range 8 {
		s := strings.Repeat("x", pad) + strings.Repeat("€", maxString)
		var got string
		if err := json.Unmarshal(appendString(nil, s), &got); err != nil {
			t.Fatal(err)
		}
		if len(got) > maxString || len(got) < maxString-8 || !strings.HasSuffix(got, "…") || !utf8.ValidString(got) {
			t.Errorf("pad %d: %d bytes, end %q", pad, len(got), got[len(got)-6:])
		}
	}
	exact := strings.Repeat("x", maxString)
	if got := string(appendString(nil, exact)); got != `"`+exact+`"` {
		t.Error("a string of just the bound was cut")
	}
	// These bytes begin no character, so that there is no boundary to cut at.
	if got := appendString(nil, strings.Repeat("\x80", 2*maxString)); !json.Valid(got) {
		t.Error("not JSON")
	}
}

func FuzzString(f *testing.F) {
	for _, s := range []string{"", "a", "\x00", "\xff", "\u202e", "\"\\", `\xff\x5c\xfg`, `\x5c`, strings.Repeat("é", maxString)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b := appendString(nil, s)
		var std string
		if err := json.Unmarshal(b, &std); err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		if back := readBack(std); len(s) <= maxString && back != s {
			t.Fatalf("%q came back as %q", s, back)
		}
		for _, r := range string(b) {
			if doc.Hidden(r, 3) {
				t.Fatalf("%q holds %U as it is", b, r)
			}
		}
		n, err := doc.ParseLaxJSON("", b, maxNested)
		if err != nil || n.Text != std {
			t.Fatalf("own reader: %q, %v; encoding/json: %q", n.Text, err, std)
		}
		if v := spec.Shown(s); strings.ContainsFunc(v, func(r rune) bool { return r != utf8.RuneError && doc.Hidden(r, 3) }) {
			t.Fatalf("Shown(%q) = %q", s, v)
		}
	})
}

func TestWriterLayout(t *testing.T) {
	w := recordWriter(nil)
	w.Open('{')
	w.KeyStr("a", "x")
	w.Key("empty")
	w.Open('[')
	w.Close(']')
	w.Key("list")
	w.Open('[')
	for range 2 {
		w.Row()
		w.Open('{')
		w.KeyInt("n", 1)
		w.KeyList("l", []string{"p", "q"})
		w.Close('}')
	}
	w.Close(']')
	w.Key("object")
	w.Open('{')
	w.Close('}')
	w.Key("yes")
	w.Bool(true)
	w.Close('}')
	const want = `{
  "a": "x",
  "empty": [],
  "list": [
    {"n": 1, "l": ["p", "q"]},
    {"n": 1, "l": ["p", "q"]}],
  "object": {},
  "yes": true
}`
	if string(w.B) != want {
		t.Errorf("got\n%s\nwant\n%s", w.B, want)
	}
}
