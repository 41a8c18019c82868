package spec

import (
	"testing"

	"time"
)

func TestBytes(t *testing.T) {
	for _, test := range []struct {
		in   string
		want Bytes
		text string
	}{
		{"1B", 1, "1B"},
		{"2GiB", 2 << 30, "2GiB"},
		{"100MiB", 100 << 20, "100MiB"},
		{"512KiB", 512 << 10, "512KiB"},
		{"1024KiB", 1 << 20, "1MiB"},
		{"3TiB", 3 << 40, "3TiB"},
		{"1GB", 1e9, "1000000000B"},
		{"5KB", 5000, "5000B"},
		{"7MB", 7e6, "7000000B"},
		{"1TB", 1e12, "976562500KiB"},
		{"999999999999999999B", 999999999999999999, "999999999999999999B"},
		{"999999TiB", 999999 << 40, "999999TiB"},
	} {
		got, ok := ParseBytes(test.in)
		if !ok || got != test.want || got.String() != test.text {
			t.Errorf("%s: %d (%s), %v, want %d (%s)", test.in, got, got, ok, test.want, test.text)
		}
		if again, ok := ParseBytes(got.String()); !ok || again != got {
			t.Errorf("%s reads as %d, %v, want %d", got, again, ok, got)
		}
	}
	for _, in := range []string{"", "B", "0B", "01B", "1", "1.5GiB", "-1B", "1 GiB", "1gib", "1000000TiB", "1000000000000000000B", "1PiB", "+1B"} {
		if got, ok := ParseBytes(in); ok {
			t.Errorf("%q is %d", in, got)
		}
	}
	if got := Bytes(0).String(); got != "0B" {
		t.Errorf("0 is %s", got)
	}
}

func TestDuration(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"30m": 30 * time.Minute, "1h30m": 90 * time.Minute, "45s": 45 * time.Second, "250ms": 250 * time.Millisecond,
		"1h2m3s4ms": time.Hour + 2*time.Minute + 3*time.Second + 4*time.Millisecond, "1h1ms": time.Hour + time.Millisecond,
		"0h1s": time.Second, "007s": 7 * time.Second, "90m": 90 * time.Minute, "99999999999ms": 99999999999 * time.Millisecond,
	} {
		if got, ok := ParseDuration(in); !ok || got != want {
			t.Errorf("%s: %v, %v, want %v", in, got, ok, want)
		}
	}
	for _, in := range []string{"", "0s", "0h0m", "1", "1.5h", "1m1h", "1s1s", "-1s", "1d", "1 m", "m", "1us", "100000h", "100000000000ms"} {
		if got, ok := ParseDuration(in); ok {
			t.Errorf("%q is %v", in, got)
		}
	}
	longest, ok := ParseDuration("99999h999999m99999999s99999999999ms")
	if !ok || longest.Seconds() > maxSeconds {
		t.Errorf("the longest is %v, %v", longest, ok)
	}
}
