package doc

import "testing"

func TestShown(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "abc": "abc", "é😀 a\\b": "é😀 a\\b", "\x1b[0m": `\x1b[0m`, "a\nb\tc\r": `a\nb\tc\r`, "\x7f": `\x7f`,
		"\u009b": `\u009b`, "\u202e": `\u202e`, "\xff": `\xff`, "\u2028": `\u2028`, "a\u00adb": `a\u00adb`, "\u200d": `\u200d`,
		"\u200b\u2060\ufeff": `\u200b\u2060\ufeff`, "\U000e0041": `\U000e0041`, "\ufe0f\U000e0100": `\ufe0f\U000e0100`,
		"\u2066\u061c": `\u2066\u061c`, "\u115f\u3164\u2800\u034f": `\u115f\u3164\u2800\u034f`, "\u00a0": `\u00a0`, "a\u0301": "a\u0301", "\ufffd": "\ufffd",
	} {
		if got := Shown(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// No two names are shown alike: a quoted one has escapes, a bare one has none.
func TestName(t *testing.T) {
	seen := map[string]string{}
	for in, want := range map[string]string{
		`a\b`: `a\b`, `a\u00adb`: `a\u00adb`, "a\u00adb": `"a\u00adb"`, "a\u00ad\\b": `"a\u00ad\\b"`, "a\xffb": `"a\xffb"`, `a\xffb`: `a\xffb`,
		`"a\u00adb"`: `"\"a\\u00adb\""`, "a b": "a b", "x\ufe0f": `"x\ufe0f"`, "a\nb": `"a\nb"`,
	} {
		got := Name(in)
		if got != want || seen[got] != "" {
			t.Errorf("%q: got %s, want %s; %q", in, got, want, seen[got])
		}
		seen[got] = in
	}
}
