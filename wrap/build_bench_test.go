package wrap_test

import (
	"testing"

	"sbx/wrap"
	"sbx/wrap/world"
)

// Every start calls Build.
func BenchmarkBuild(b *testing.B) {
	t := &testing.T{}
	w := world.Workstation(t)
	r, err := w.Resolve(`{"access_mode": "workspace-write"}`)
	if err != nil {
		b.Fatal(err)
	}
	h := w.Probed(r)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := wrap.Build(r, h, w.Req); err != nil {
			b.Fatal(err)
		}
	}
}
