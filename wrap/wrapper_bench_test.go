package wrap

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkWrap is one call for a command with a dozen arguments, audit included.
func BenchmarkWrap(b *testing.B) {
	text, err := os.ReadFile(filepath.Join(plans, "world.txt"))
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range Wrappers() {
		b.Run(name, func(b *testing.B) {
			on := "root"
			if name == nameNone {
				on = "root+" // which holds nothing
			}
			w, err := made(b, string(text), on, name, `{"access_mode": "workspace-write"}`, "", nil)
			if err != nil {
				b.Fatal(err)
			}
			inv := invocation(nil)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := w.Wrap(inv); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
