package spec

import "testing"

// What one start of a sandbox pays for its document: a few tens of
// microseconds.
func BenchmarkDecodeResolve(b *testing.B) {
	for _, name := range []string{"good/tier1.json", "good/workshop.yaml", "good/everything.json"} {
		text := read(b, examples+"/"+name)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s, err := Decode(name, text)
				if err != nil {
					b.Fatal(err)
				}
				_, _ = Resolve(s, inputs()) // most of what they name is not there
				_ = s.AppendCanonical(nil)
			}
		})
	}
}
