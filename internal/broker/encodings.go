package broker

import (
	"encoding/base64"
	"strings"
	"unicode/utf16"
)

// encoding is a way in which tools write a secret. It is recognized unit by unit: next
// reads any spelling of the next unit of a text, so one row covers all mixtures of
// spellings.
type encoding struct {
	name, why string
	units     func(secret string) []string // alternatives: the units that a text must have in a row
	next      next
	gaps      string // the bytes that may stand between two units
}

// next reads the first unit of b, which is not empty, and returns its length there: 0 if b
// does not begin with a unit, more if b ends too early to tell.
type next func(b []byte) (unit string, n int)

const more = -1

// encodings are the recognized encodings. A secret in any other one is not redacted.
var encodings = []encoding{
	{"plain", "most tools write what they were given", whole, oneByteUnit, ""},
	{"escaped", `JSON, and what quotes a text as C does: \/, \u0041, \x41 or \101 for any character`, whole, backslash, ""},
	{"percent", "URLs: %41 or %4a for any byte, in either case", whole, percent, ""},
	{"form", "forms and queries: as URLs, a space as +", whole, form, ""},
	{"hex", "dumps: in either case, bytes apart by spaces, colons or lines", whole, hexByte, " \t\r\n:-,"},
	{"base64", "headers, files in JSON, PEM: both alphabets, at each of the three places that a byte can have in it, wrapped at any column", threeWays, base64Char, " \t\r\n"},
}

// maxGap is how many bytes may stand between two units: a line end and an indentation.
const maxGap = 64

func whole(secret string) []string { return []string{secret} }

// threeWays returns, for a secret behind 0, 1 and 2 other bytes, the base64 characters
// that depend on the secret alone, without those that it shares with its neighbours.
func threeWays(secret string) (all []string) {
	for before := range 3 {
		text := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", before) + secret))
		all = append(all, text[(before*8+5)/6:(before+len(secret))*8/6])
	}
	return all
}

// oneByte has the text of each byte, to avoid an allocation for each.
var oneByte = func() (all [256]string) {
	for i := range all {
		all[i] = string([]byte{byte(i)})
	}
	return all
}()

func oneByteUnit(b []byte) (string, int) { return oneByte[b[0]], 1 }

// digits reads n digits of a base up to 16; length is more if b ends before them.
func digits(b []byte, n int, base uint32) (v uint32, length int) {
	for i := range n {
		if i == len(b) {
			return 0, more
		}
		d := uint32(strings.IndexByte("0123456789abcdef", b[i]|0x20)) // of a digit, 0x20 is set
		if b[i] < '0' || d >= base {
			return 0, 0
		}
		v = v*base + d
	}
	return v, n
}

// escapes are the characters that a backslash and another letter stand for.
var escapes = map[byte]string{'a': "\a", 'b': "\b", 'e': "\x1b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v"}

func backslash(b []byte) (string, int) {
	switch {
	case b[0] != '\\':
		return oneByteUnit(b)
	case len(b) == 1:
		return "", more
	case b[1] == 'u':
		return unicode(b)
	case b[1] == 'U': // of Go and Python
		v, n := digits(b[2:], 8, 16)
		return suffixUnit(2, n, string(rune(v)))
	case b[1] == 'x':
		v, n := digits(b[2:], 2, 16)
		return suffixUnit(2, n, oneByte[v])
	case b[1] >= '0' && b[1] <= '3':
		v, n := digits(b[1:], 3, 8)
		return suffixUnit(1, n, oneByte[v&0xff])
	case escapes[b[1]] != "":
		return escapes[b[1]], 2
	}
	return oneByte[b[1]], 2 // \/ \" \\ and their like
}

// suffixUnit is a unit whose n digits follow some other characters.
func suffixUnit(before, n int, unit string) (string, int) {
	if n <= 0 {
		return "", n
	}
	return unit, before + n
}

// unicode reads \u0041, and two of them that form one character.
func unicode(b []byte) (string, int) {
	v, n := digits(b[2:], 4, 16)
	if n <= 0 || !utf16.IsSurrogate(rune(v)) {
		return suffixUnit(2, n, string(rune(v)))
	}
	rest := b[6:]
	if len(rest) < 2 {
		return "", more
	}
	if rest[0] != '\\' || rest[1] != 'u' {
		return "", 0
	}
	low, n := digits(rest[2:], 4, 16)
	return suffixUnit(8, n, string(utf16.DecodeRune(rune(v), rune(low))))
}

func percent(b []byte) (string, int) {
	if b[0] != '%' {
		return oneByteUnit(b)
	}
	v, n := digits(b[1:], 2, 16)
	if n == 0 {
		return "%", 1
	}
	return suffixUnit(1, n, oneByte[v&0xff])
}

func form(b []byte) (string, int) {
	if b[0] == '+' {
		return " ", 1
	}
	return percent(b)
}

func hexByte(b []byte) (string, int) {
	v, n := digits(b, 2, 16)
	return suffixUnit(0, n, oneByte[v&0xff])
}

func base64Char(b []byte) (string, int) {
	switch c := b[0]; {
	case c == '-':
		return "+", 1
	case c == '_':
		return "/", 1
	case c == '+' || c == '/' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
		return oneByte[c], 1
	}
	return "", 0
}

// gap returns the length of the gap at the front of b; a line end may be escaped as in
// JSON.
func gap(b []byte, of string) (n int) {
	for of != "" && n < len(b) && n < maxGap {
		switch {
		case strings.IndexByte(of, b[n]) >= 0:
			n++
		case b[n] == '\\' && n+1 < len(b) && (b[n+1] == 'n' || b[n+1] == 'r' || b[n+1] == 't'):
			n += 2
		case b[n] == '\\' && n+1 == len(b):
			return len(b) // more is needed to tell
		default:
			return n
		}
	}
	return n
}
