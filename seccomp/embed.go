package seccomp

import (
	_ "embed" // the default filter's programs

	"golang.org/x/sys/unix"
)

//go:generate go run ./gen tables
//go:generate go run ./gen bpf

// These are the default filter's programs, each file as gen/bpf.go writes it.
var (
	//go:embed bpf/default-amd64.bpf
	defaultAMD64 string
	//go:embed bpf/default-arm64.bpf
	defaultARM64 string
)

// insnSize is the size of the kernel's struct sock_filter.
const insnSize = 8

// Shipped returns the program of Default(o) in the kernel's form: eight bytes for each instruction,
// little-endian. Most programs are embedded; those with Uncounted, NotifyConnect, NoFastOpen,
// NotifyReads or a Seal are compiled when needed, in a third of a millisecond. It returns "" for an
// architecture without a filter.
func Shipped(o Options, a Arch) string {
	if o.Uncounted || o.NotifyConnect || o.NoFastOpen || o.NotifyReads || o.Seal != SealNone {
		prog, err := Program(Default(o), a)
		if err != nil {
			return ""
		}
		return string(Encode(prog))
	}
	var blob string
	switch a {
	case AMD64:
		blob = defaultAMD64
	case ARM64:
		blob = defaultARM64
	default:
		return ""
	}
	for range o.index() {
		blob = blob[4+insnSize*word32(blob):]
	}
	return blob[4:][:insnSize*word32(blob)]
}

// Encode returns instructions in the form of Shipped.
func Encode(prog []unix.SockFilter) []byte {
	b := make([]byte, 0, insnSize*len(prog))
	for _, in := range prog {
		b = append(b, byte(in.Code), byte(in.Code>>8), in.Jt, in.Jf, byte(in.K), byte(in.K>>8), byte(in.K>>16), byte(in.K>>24))
	}
	return b
}

// word32 returns the little-endian word at the start of s.
func word32(s string) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}
