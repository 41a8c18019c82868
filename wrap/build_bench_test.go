package wrap

import (
	"os"
	"path/filepath"
	"testing"
)

// Build is part of every start.
func BenchmarkBuild(b *testing.B) {
	text, err := os.ReadFile(filepath.Join(plans, "world.txt"))
	if err != nil {
		b.Fatal(err)
	}
	t := &testing.T{}
	w := newWorld(t, string(text))
	r, err := w.resolve(`{"access_mode": "workspace-write"}`)
	if err != nil {
		b.Fatal(err)
	}
	h := w.probed(r)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Build(r, h, w.req); err != nil {
			b.Fatal(err)
		}
	}
}
