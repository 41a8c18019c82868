package spec

import (
	"math"
	"strconv"
	"strings"
	"time"

	"sbx/internal/doc"
	"sbx/internal/doc/decode"
)

// The bounds of numbers.
const (
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

// String returns the size as specs write it, in the largest unit that divides it.
func (b Bytes) String() string {
	for _, u := range []unit{units[3], units[2], units[1], units[0]} {
		if b != 0 && int64(b)%u.bytes == 0 {
			return strconv.FormatInt(int64(b)/u.bytes, 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(b), 10) + "B"
}

func readSize(d *decoder, n *Node) Bytes {
	const what = `a size such as "2GiB" or "100MB", or a whole number of bytes ≥ 1`
	switch n.Kind {
	case Number:
		v, ok := decode.WholeNumber(n.Text)
		if !ok || v < 1 || v > decode.MaxWhole {
			d.Fail(n.Pos, "want "+what+", got "+cut(n.Text))
		}
		return Bytes(v)
	case String:
		v, ok := ParseBytes(n.Text)
		if !ok {
			d.FailMeant(n.Pos, "want "+what+", got "+quote(cut(n.Text)), sizeMeant(n.Text), "")
		}
		return v
	}
	d.Want(n, String, what)
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

func readDuration(d *decoder, n *Node) time.Duration {
	const what = `a duration such as "30m", "1h30m" or "250ms", or a number of seconds ≥ 0.001`
	switch n.Kind {
	case Number:
		v := d.Number(n, minSeconds, maxSeconds, what)
		return time.Duration(math.Round(v * float64(time.Second)))
	case String:
		v, ok := ParseDuration(n.Text)
		if !ok {
			d.Fail(n.Pos, "want "+what+", got "+quote(cut(n.Text)))
		}
		return v
	}
	d.Want(n, String, what)
	return 0
}
