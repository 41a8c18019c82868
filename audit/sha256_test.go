package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"testing"
)

// TestHash holds the digests to the standard library's, for every length up to
// four blocks and for messages that come in pieces.
func TestHash(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	message := make([]byte, 100_000)
	for i := range message {
		message[i] = byte(random.Uint32())
	}
	check := func(pieces ...[]byte) {
		t.Helper()
		h, want := newHash(), sha256.New()
		for _, p := range pieces {
			h.write(p)
			want.Write(p)
		}
		if got := h.sum(); got != hex.EncodeToString(want.Sum(nil)) {
			t.Fatalf("%d pieces, first of %d bytes: %s", len(pieces), len(pieces[0]), got)
		}
	}
	for n := range 257 {
		check(message[:n])
	}
	for range 300 {
		a, b := random.IntN(len(message)), random.IntN(len(message))
		a, b = min(a, b), max(a, b)
		check(message[:a], message[a:b], message[b:])
	}
}

func BenchmarkHash(b *testing.B) {
	block := make([]byte, 1<<20)
	b.SetBytes(int64(len(block)))
	for b.Loop() {
		h := newHash()
		h.write(block)
		h.sum()
	}
}
