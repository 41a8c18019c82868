package show

import "testing"

func TestUnits(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1: "1 B", 1023: "1023 B", 1024: "1.0 KiB", 6756 << 10: "6.6 MiB", 10 << 10: "10 KiB",
		1<<20 - 1: "1.0 MiB", 1288490189: "1.2 GiB", 1 << 40: "1.0 TiB", 1<<63 - 1: "8.0 EiB"} {
		if got := size(n); got != want {
			t.Errorf("size %d: got %s, want %s", n, got, want)
		}
	}
	for ms, want := range map[int64]string{0: "0 ms", 999: "999 ms", 1000: "1.0 s", 3400: "3.4 s", 34_400: "34 s", 59_499: "59 s", 59_500: "1 min",
		120_000: "2 min", 125_400: "2 min 5 s", 3_600_000: "1 h", 3_659_000: "1 h 1 min", 86_400_000: "1 d", 93_600_000: "1 d 2 h"} {
		if got := span(ms); got != want {
			t.Errorf("span %d: got %s, want %s", ms, got, want)
		}
	}
}
