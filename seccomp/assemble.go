package seccomp

import (
	"slices"

	"golang.org/x/sys/unix"
)

// The instructions that programs here are made of (linux/bpf_common.h).
const (
	opLoad         = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	opAnd          = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
	opJump         = unix.BPF_JMP | unix.BPF_JA
	opEqual        = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	opGreater      = unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K
	opGreaterEqual = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	opAnyBits      = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	opRet          = unix.BPF_RET | unix.BPF_K
)

// label is a place in a program that is being assembled: the number of
// instructions from it to the end, itself included.
type label int

// assembler builds a program from its end to its start. BPF jumps forward
// only, so whatever an instruction jumps to is there already when it is
// added, and its distance is known.
type assembler struct {
	rev  []unix.SockFilter // the last instruction first
	rets []label           // the returns so far, for reuse
}

// maxReach is how far a conditional jump may go. It holds 255 in eight bits;
// the two below are for the jumps that reach may have to put in between.
const maxReach = 253

// nearRet is how far away a return is used again; past it, a new one is no
// longer than the jump to the old one would be.
const nearRet = 120

func (p *assembler) add(in unix.SockFilter) label {
	p.rev = append(p.rev, in)
	return label(len(p.rev))
}

// distance is what a jump added now would have to hold to land on l.
func (p *assembler) distance(l label) int { return len(p.rev) - int(l) }

// program is what was assembled, from its start, without what nothing leads
// to: loads that every jump to them has gone past.
func (p *assembler) program() []unix.SockFilter {
	all := slices.Clone(p.rev)
	slices.Reverse(all)
	place := make([]int, len(all)+1) // where each instruction goes; before that, 1 for what is reached
	place[0] = 1
	for i, in := range all {
		if place[i] == 0 {
			continue
		}
		switch in.Code {
		case opRet:
		case opJump:
			place[i+1+int(in.K)] = 1
		case opLoad, opAnd:
			place[i+1] = 1
		default:
			place[i+1+int(in.Jt)], place[i+1+int(in.Jf)] = 1, 1
		}
	}
	kept := 0
	for i, reached := range place {
		if place[i] = -1; reached == 1 {
			place[i] = kept
			kept++
		}
	}
	out := all[:0]
	for i, in := range all {
		if place[i] < 0 {
			continue
		}
		switch in.Code {
		case opJump:
			in.K = uint32(place[i+1+int(in.K)] - place[i] - 1)
		case opRet, opLoad, opAnd:
		default:
			in.Jt = uint8(place[i+1+int(in.Jt)] - place[i] - 1)
			in.Jf = uint8(place[i+1+int(in.Jf)] - place[i] - 1)
		}
		out = append(out, in)
	}
	return out
}

// ret is a place that returns a.
func (p *assembler) ret(a Action) label {
	for _, l := range slices.Backward(p.rets) {
		if p.rev[l-1].K == a.ret() && p.distance(l) < nearRet {
			return l
		}
	}
	l := p.add(unix.SockFilter{Code: opRet, K: a.ret()})
	p.rets = append(p.rets, l)
	return l
}

// load reads the word at that offset and goes on to next, which must be the
// place that was added last.
func (p *assembler) load(at uint32, next label) label {
	p.reach(next, 0)
	return p.add(unix.SockFilter{Code: opLoad, K: at})
}

// reach returns a place no further away than max that leads to l: l itself, or
// a jump to it.
func (p *assembler) reach(l label, limit int) label {
	if p.distance(l) <= limit {
		return l
	}
	return p.add(unix.SockFilter{Code: opJump, K: uint32(p.distance(l))})
}

// branch goes to yes where the accumulator compares so with k, else to no.
func (p *assembler) branch(code uint16, k uint32, yes, no label) label {
	if yes == no {
		return yes
	}
	yes = p.reach(yes, maxReach)
	no = p.reach(no, maxReach)
	return p.add(unix.SockFilter{
		Code: code, K: k,
		Jt: uint8(p.distance(yes)), Jf: uint8(p.distance(no)),
	})
}

// past is the place after l where l only loads the word at that offset, for
// jumps that still have it in the accumulator.
func (p *assembler) past(l label, at uint32) label {
	if in := p.rev[l-1]; in.Code == opLoad && in.K == at {
		return l - 1
	}
	return l
}
