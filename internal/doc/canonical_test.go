package doc

import (
	"math"
	"strconv"
	"testing"
)

// These are the vectors of RFC 8785: appendix B for numbers, sections 3.2.2 to 3.2.3 for the rest.
func TestCanonicalNumbers(t *testing.T) {
	for _, test := range []struct {
		bits uint64
		want string
	}{
		{0x0000000000000000, "0"},
		{0x8000000000000000, "0"},
		{0x0000000000000001, "5e-324"},
		{0x8000000000000001, "-5e-324"},
		{0x7fefffffffffffff, "1.7976931348623157e+308"},
		{0xffefffffffffffff, "-1.7976931348623157e+308"},
		{0x4340000000000000, "9007199254740992"},
		{0xc340000000000000, "-9007199254740992"},
		{0x4430000000000000, "295147905179352830000"},
		{0x44b52d02c7e14af5, "9.999999999999997e+22"},
		{0x44b52d02c7e14af6, "1e+23"},
		{0x44b52d02c7e14af7, "1.0000000000000001e+23"},
		{0x444b1ae4d6e2ef4e, "999999999999999700000"},
		{0x444b1ae4d6e2ef4f, "999999999999999900000"},
		{0x444b1ae4d6e2ef50, "1e+21"},
		{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
		{0x3eb0c6f7a0b5ed8d, "0.000001"},
		{0x41b3de4355555553, "333333333.3333332"},
		{0x41b3de4355555554, "333333333.33333325"},
		{0x41b3de4355555555, "333333333.3333333"},
		{0x41b3de4355555556, "333333333.3333334"},
		{0x41b3de4355555557, "333333333.33333343"},
		{0xbecbf647612f3696, "-0.0000033333333333333333"},
		{0x43143ff3c1cb0959, "1424953923781206.2"},
	} {
		f := math.Float64frombits(test.bits)
		if got := string(AppendNumber(nil, f)); got != test.want {
			t.Errorf("%016x: %s, want %s", test.bits, got, test.want)
		}
		n := &Node{Kind: Number, Text: strconv.FormatFloat(f, 'e', -1, 64)}
		if got := string(n.AppendCanonical(nil)); got != test.want {
			t.Errorf("%s: %s, want %s", n.Text, got, test.want)
		}
	}
}

func TestCanonical(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{ // section 3.2.2
			`{
  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
  "literals": [null, true, false]
}`,
			`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		},
		{ // section 3.2.3
			`{
  "\u20ac": "Euro Sign",
  "\r": "Carriage Return",
  "\ufb33": "Hebrew Letter Dalet With Dagesh",
  "1": "One",
  "\ud83d\ude00": "Emoji: Grinning Face",
  "\u0080": "Control",
  "\u00f6": "Latin Small Letter O With Diaeresis"
}`,
			"{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\"," +
				"\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}",
		},
		{`{"a": {"c": 1, "b": [{"z": 0, "y": 0}]}, "A": "\b\t\n\f\r\u0000\u001f\u007f\u2028"}`,
			`{"A":"\b\t\n\f\r\u0000\u001f` + "\u007f\u2028" + `","a":{"b":[{"y":0,"z":0}],"c":1}}`},
		{`{"aa": 1, "a": 2, "": 3}`, `{"":3,"a":2,"aa":1}`},
		{`[1e400]`, `[1.7976931348623157e+308]`}, // too large for a double; no spec has one
	} {
		n, err := ParseJSON("in", []byte(test.in))
		if err != nil {
			t.Error(err)
			continue
		}
		if got := string(n.AppendCanonical([]byte("x"))); got != "x"+test.want {
			t.Errorf("got  x%s\nwant %s", test.want, got)
		}
	}
}

// A number that JSON cannot express becomes null.
func TestAppendOddNumbers(t *testing.T) {
	odd := &Node{Kind: List, Items: []*Node{{Kind: Number, Text: ".inf"}, {Kind: Number, Text: ".nan"}, {Kind: Null}, {Kind: Bool, Text: "true"}}}
	if got := string(odd.AppendJSON(nil, nil)); got != "[null,null,null,true]" {
		t.Errorf("got %s", got)
	}
}

// FuzzCanonical checks that canonical text is JSON with the same values, and canonical itself.
func FuzzCanonical(f *testing.F) {
	f.Add([]byte(`{"b":[1.50,"\u00e9"],"a":{"\ud83d\ude00":1,"\ufb33":2}}`))
	f.Add([]byte(`[1e-7,123456789012345680000,-0]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := ParseJSON("in", b)
		if err != nil {
			return
		}
		once := n.AppendCanonical(nil)
		again, err := ParseJSON("again", once)
		if err != nil {
			t.Fatalf("%q: %q: %v", b, once, err)
		}
		if twice := again.AppendCanonical(nil); string(twice) != string(once) {
			t.Fatalf("%q: %q, then %q", b, once, twice)
		}
		plain, err := ParseJSON("plain", n.AppendJSON(nil, nil))
		if err != nil || show(plain) != show(n) {
			t.Fatalf("%q: written as %q: %v", b, n.AppendJSON(nil, nil), err)
		}
	})
}
