package spec

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkDecodeResolve measures what a start of a sandbox spends on its document: a few tens of
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
				_, _ = Resolve(s, inputs()) // most of the paths that it names do not exist
				_ = s.AppendCanonical(nil)
			}
		})
	}
}

// BenchmarkNarrow narrows one document by another, with the paths of both resolved: a pair may take
// 0.1 ms at most.
func BenchmarkNarrow(b *testing.B) {
	rng := rand.New(rand.NewPCG(9, 9))
	in := listed()
	var pairs [][]*SandboxSpec
	for len(pairs) < 100 {
		var docs []*SandboxSpec
		for _, name := range []string{"p.json", "c.json"} {
			s, err := Decode(name, []byte(document(rng, groups)))
			if err != nil {
				b.Fatal(err)
			}
			s.Source.Dir = "/p"
			docs = append(docs, s)
		}
		if _, err := Chain(docs, in); err == nil {
			pairs = append(pairs, docs)
		}
	}
	b.ResetTimer()
	for i := range b.N {
		if _, err := Chain(pairs[i%len(pairs)], in); err != nil {
			b.Fatal(err)
		}
	}
}
