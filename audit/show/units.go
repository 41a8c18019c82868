package show

import (
	"strconv"
	"time"
)

// size formats a number of bytes: 12 B, 3.4 MiB, 120 GiB.
func size(n int64) string {
	units := [...]string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	v, u := float64(n), 0
	for v >= 1023.5 && u < len(units)-1 {
		v /= 1024
		u++
	}
	return short(v, u > 0) + " " + units[u]
}

// short formats a number, with one decimal digit if fractions is set and the number is below 10.
func short(v float64, fractions bool) string {
	if fractions && v < 9.95 {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// span formats milliseconds in at most two units: 12 ms, 3.4 s, 2 min 5 s, 3 h.
func span(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case d < time.Second:
		return strconv.FormatInt(ms, 10) + " ms"
	case d < 59500*time.Millisecond:
		return short(d.Seconds(), true) + " s"
	case d < time.Hour:
		return pair(d.Round(time.Second), time.Minute, "min", time.Second, "s")
	case d < 24*time.Hour:
		return pair(d.Round(time.Minute), time.Hour, "h", time.Minute, "min")
	}
	return pair(d.Round(time.Hour), 24*time.Hour, "d", time.Hour, "h")
}

func pair(d, large time.Duration, largeName string, small time.Duration, smallName string) string {
	out := strconv.FormatInt(int64(d/large), 10) + " " + largeName
	if rest := int64(d % large / small); rest > 0 {
		out += " " + strconv.FormatInt(rest, 10) + " " + smallName
	}
	return out
}
