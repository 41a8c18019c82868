package audit

import "math/bits"

// hash is SHA-256 (FIPS 180-4). The standard library's comes with its whole
// FIPS 140 module, whose start costs every sandbox a tenth of a millisecond; a
// test holds this one to it.
type hash struct {
	state [8]uint32
	block [64]byte
	used  int
	size  uint64
}

// round holds the constants of FIPS 180-4, section 4.2.2.
var round = [64]uint32{
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
}

func newHash() *hash {
	return &hash{state: [8]uint32{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}}
}

// write takes more of the message.
func (h *hash) write(b []byte) {
	h.size += uint64(len(b))
	if h.used > 0 {
		n := copy(h.block[h.used:], b)
		h.used += n
		b = b[n:]
		if h.used < len(h.block) {
			return
		}
		h.mix(h.block[:])
		h.used = 0
	}
	for len(b) >= len(h.block) {
		h.mix(b[:len(h.block)])
		b = b[len(h.block):]
	}
	h.used = copy(h.block[:], b)
}

// sum is the digest in hex; the hash is spent.
func (h *hash) sum() string {
	n := h.size * 8
	pad := make([]byte, 1, 72)
	pad[0] = 0x80
	for (h.used+len(pad))%64 != 56 {
		pad = append(pad, 0)
	}
	for i := 56; i >= 0; i -= 8 {
		pad = append(pad, byte(n>>i))
	}
	h.write(pad)
	const digits = "0123456789abcdef"
	out := make([]byte, 0, 64)
	for _, w := range h.state {
		for i := 28; i >= 0; i -= 4 {
			out = append(out, digits[w>>i&15])
		}
	}
	return string(out)
}

// mix is the compression function, section 6.2.2.
func (h *hash) mix(block []byte) {
	var w [64]uint32
	for i := range 16 {
		w[i] = uint32(block[4*i])<<24 | uint32(block[4*i+1])<<16 | uint32(block[4*i+2])<<8 | uint32(block[4*i+3])
	}
	for i := 16; i < 64; i++ {
		x, y := w[i-2], w[i-15]
		w[i] = (bits.RotateLeft32(x, -17) ^ bits.RotateLeft32(x, -19) ^ x>>10) + w[i-7] +
			(bits.RotateLeft32(y, -7) ^ bits.RotateLeft32(y, -18) ^ y>>3) + w[i-16]
	}
	a, b, c, d, e, f, g, k := h.state[0], h.state[1], h.state[2], h.state[3], h.state[4], h.state[5], h.state[6], h.state[7]
	for i := range 64 {
		t1 := k + (bits.RotateLeft32(e, -6) ^ bits.RotateLeft32(e, -11) ^ bits.RotateLeft32(e, -25)) + (e&f ^ ^e&g) + round[i] + w[i]
		t2 := (bits.RotateLeft32(a, -2) ^ bits.RotateLeft32(a, -13) ^ bits.RotateLeft32(a, -22)) + (a&b ^ a&c ^ b&c)
		k, g, f, e, d, c, b, a = g, f, e, d+t1, c, b, a, t1+t2
	}
	for i, v := range [8]uint32{a, b, c, d, e, f, g, k} {
		h.state[i] += v
	}
}
