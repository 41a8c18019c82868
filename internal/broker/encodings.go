package broker

import (
	"encoding/base64"
	"strings"
	"unicode/utf16"
)

// encoding is a way in which tools write a secret. It is looked for unit by unit: what
// reads the next unit of a text takes each of the spellings that there are for it, so
// that one row is for all their mixtures.
type encoding struct {
	name, why string
	units     func(secret string) []string // what a text must have, one after the other; any of these
	next      next
	gaps      string // what may stand between two units
}

// next reads the first unit of b, which is not empty, and how long it is there: 0 where b
// begins with none, more where b ends too soon to tell.
type next func(b []byte) (unit string, n int)

const more = -1

// encodings are those that are known: what is none of them passes.
var encodings = []encoding{
	{"plain", "most tools write what they were given", whole, plain, ""},
	{"escaped", `JSON, and what quotes a text as C does: \/, \u0041, \x41 or \101 for any character`, whole, backslash, ""},
	{"percent", "URLs: %41 or %4a for any byte, in either case", whole, percent, ""},
	{"form", "forms and queries: as URLs, a space as +", whole, form, ""},
	{"hex", "dumps: in either case, bytes apart by spaces, colons or lines", whole, hexByte, " \t\r\n:-,"},
	{"base64", "headers, files in JSON, PEM: both alphabets, at each of the three places that a byte can have in it, wrapped at any column", threeWays, base64Char, " \t\r\n"},
}

// maxGap is how much may stand between two units: a line's end and an indentation.
const maxGap = 64

func whole(secret string) []string { return []string{secret} }

// threeWays are the characters that a secret alone decides, behind no, one and two other
// bytes: those it shares with its neighbours are left out.
func threeWays(secret string) (all []string) {
	for before := range 3 {
		text := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", before) + secret))
		all = append(all, text[(before*8+5)/6:(before+len(secret))*8/6])
	}
	return all
}

// oneByte are the texts of one byte, without an allocation for each.
var oneByte = func() (all [256]string) {
	for i := range all {
		all[i] = string([]byte{byte(i)})
	}
	return all
}()

func plain(b []byte) (string, int) { return oneByte[b[0]], 1 }

// digits reads n digits of base 16 or less; more where b ends before them.
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

// escapes are the characters that a backslash before another letter stands for.
var escapes = map[byte]string{'a': "\a", 'b': "\b", 'e': "\x1b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v"}

func backslash(b []byte) (string, int) {
	switch {
	case b[0] != '\\':
		return plain(b)
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

// suffixUnit is a unit whose digits stand behind some characters.
func suffixUnit(before, n int, unit string) (string, int) {
	if n <= 0 {
		return "", n
	}
	return unit, before + n
}

// unicode reads \u0041, and two of them that are one character.
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
		return plain(b)
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

// gap is how long what stands between two units is at the front of b: a line's end may be
// escaped for JSON.
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
