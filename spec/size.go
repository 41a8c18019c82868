package spec

import (
	"math"
	"strconv"
	"strings"
	"time"

	"sbx/internal/doc"
)

// The bounds of numbers. Beyond 2^53-1 JSON readers no longer agree.
const (
	maxWhole = 1<<53 - 1

	minCPUs, maxCPUs       = 0.001, 1e6
	minSeconds, maxSeconds = 0.001, 1e9
)

// unit is a size's suffix. Digits bounds what may stand before it, so that no
// size overflows.
type unit struct {
	suffix string
	bytes  int64
	digits int
}

// units are tried in this order: the longest suffix first.
var units = []unit{
	{"KiB", 1 << 10, 15},
	{"MiB", 1 << 20, 12},
	{"GiB", 1 << 30, 9},
	{"TiB", 1 << 40, 6},
	{"KB", 1e3, 15},
	{"MB", 1e6, 12},
	{"GB", 1e9, 9},
	{"TB", 1e12, 6},
	{"B", 1, 18},
}

// ParseBytes reads a size such as "2GiB", "512KiB" or "1GB" (10^9).
func ParseBytes(s string) (Bytes, bool) {
	for _, u := range units {
		digits, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		if doc.LeadingDigits(digits) != digits || digits == "" || digits[0] == '0' || len(digits) > u.digits {
			return 0, false
		}
		v, err := strconv.ParseInt(digits, 10, 64)
		return Bytes(v * u.bytes), err == nil
	}
	return 0, false
}

// String is the size as specs write it, by the largest unit that divides it.
func (b Bytes) String() string {
	for _, u := range []unit{units[3], units[2], units[1], units[0]} {
		if b != 0 && int64(b)%u.bytes == 0 {
			return strconv.FormatInt(int64(b)/u.bytes, 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(b), 10) + "B"
}

func (d *decoder) size(n *Node) Bytes {
	const what = `a size such as "2GiB" or "100MB", or a whole number of bytes ≥ 1`
	switch n.Kind {
	case Number:
		v, ok := wholeNumber(n.Text)
		if !ok || v < 1 || v > maxWhole {
			d.fail(n.Pos, "want "+what+", got "+cut(n.Text))
		}
		return Bytes(v)
	case String:
		v, ok := ParseBytes(n.Text)
		if !ok {
			d.failMeant(n.Pos, "want "+what+", got "+quote(cut(n.Text)), sizeMeant(n.Text), "")
		}
		return v
	}
	d.want(n, String, what)
	return 0
}

// sizeMeant turns "2g", "2 GiB" and "2Gi" into "2GiB".
func sizeMeant(s string) string {
	digits := doc.LeadingDigits(s)
	rest := strings.ToLower(strings.TrimSpace(s[len(digits):]))
	for _, u := range units {
		for _, written := range []string{u.suffix, strings.TrimSuffix(u.suffix, "B"), u.suffix[:1]} {
			if rest != strings.ToLower(written) {
				continue
			}
			if _, ok := ParseBytes(digits + u.suffix); ok {
				return digits + u.suffix
			}
		}
	}
	return ""
}

// clock is a duration's suffix, in the order in which they are written. Digits
// bounds what may stand before it: together they stay below maxSeconds.
type clock struct {
	suffix string
	length time.Duration
	digits int
}

var clocks = []clock{
	{"h", time.Hour, 5},
	{"m", time.Minute, 6},
	{"s", time.Second, 8},
	{"ms", time.Millisecond, 11},
}

// ParseDuration reads a duration such as "30m", "1h30m" or "250ms": whole
// numbers of h, m, s and ms in this order, not all of them 0.
func ParseDuration(s string) (time.Duration, bool) {
	var total time.Duration
	rest := s
	for _, c := range clocks {
		digits := doc.LeadingDigits(rest)
		after, ok := strings.CutPrefix(rest[len(digits):], c.suffix)
		if !ok || digits == "" || c.suffix == "m" && strings.HasPrefix(after, "s") {
			continue
		}
		if len(digits) > c.digits {
			return 0, false
		}
		v, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return 0, false
		}
		total += time.Duration(v) * c.length
		rest = after
	}
	return total, rest == "" && total > 0
}

func (d *decoder) duration(n *Node) time.Duration {
	const what = `a duration such as "30m", "1h30m" or "250ms", or a number of seconds ≥ 0.001`
	switch n.Kind {
	case Number:
		v := d.number(n, minSeconds, maxSeconds, what)
		return time.Duration(math.Round(v * float64(time.Second)))
	case String:
		v, ok := ParseDuration(n.Text)
		if !ok {
			d.fail(n.Pos, "want "+what+", got "+quote(cut(n.Text)))
		}
		return v
	}
	d.want(n, String, what)
	return 0
}

// wholeNumber reads a JSON number that is whole, however it is written: 3,
// 3.0 and 30e-1 are. Numbers too large for an int64 are the largest.
func wholeNumber(text string) (v int64, ok bool) {
	const largest = 1<<63 - 1
	digits, negative := strings.CutPrefix(text, "-")
	exponent := 0
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		e, err := strconv.Atoi(digits[i+1:])
		if err != nil { // out of the range of int, or .inf
			e = 1 << 40
			if strings.HasPrefix(digits[i+1:], "-") {
				e = -e
			}
		}
		digits, exponent = digits[:i], e
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	digits = whole + fraction
	if doc.LeadingDigits(digits) != digits {
		return 0, false // .inf, .nan
	}
	exponent -= len(fraction)
	trimmed := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(trimmed)
	trimmed = strings.TrimLeft(trimmed, "0")
	switch {
	case trimmed == "":
		return 0, true
	case exponent < 0:
		return 0, false
	case exponent+len(trimmed) > 18:
		v = largest
	default:
		v, _ = strconv.ParseInt(trimmed+strings.Repeat("0", exponent), 10, 64)
	}
	if negative {
		v = -v
	}
	return v, true
}
