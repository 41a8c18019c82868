package seccomp

import (
	"slices"

	"golang.org/x/sys/unix"
)

// These are the instructions of which programs are made (linux/bpf_common.h).
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

// label is a place in a program that is being assembled: the number of instructions from there to
// the end, its own included.
type label int

// assembler builds a program from its end to its start. BPF only jumps forward, so the target of a
// jump exists already when the jump is added, and the distance is known.
type assembler struct {
	rev  []unix.SockFilter // the last instruction first
	rets []label           // the returns so far, for reuse
}

// maxReach is the greatest distance of a conditional jump. Its eight bits hold up to 255; the two
// below that are for the jumps that reach may have to insert.
const maxReach = 253

// nearRet is the distance up to which a return is used again. For a greater distance, a new return
// is no longer than a jump to the old one.
const nearRet = 120

func (p *assembler) add(in unix.SockFilter) label {
	p.rev = append(p.rev, in)
	return label(len(p.rev))
}

// distance returns the offset that a jump added now would need to land on l.
func (p *assembler) distance(l label) int { return len(p.rev) - int(l) }

// program returns the assembled program from its start. It leaves out instructions that nothing
// leads to: loads that every jump skips.
func (p *assembler) program() []unix.SockFilter {
	all := slices.Clone(p.rev)
	slices.Reverse(all)
	place := make([]int, len(all)+1) // first 1 for each instruction that is reached, then its new place
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

// ret returns a place that returns a.
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

// load reads the word at that offset and continues with next, which must be the place that was
// added last.
func (p *assembler) load(at uint32, next label) label {
	p.reach(next, 0)
	return p.add(unix.SockFilter{Code: opLoad, K: at})
}

// reach returns a place at most limit away that leads to l: l itself, or a jump to it.
func (p *assembler) reach(l label, limit int) label {
	if p.distance(l) <= limit {
		return l
	}
	return p.add(unix.SockFilter{Code: opJump, K: uint32(p.distance(l))})
}

// branch continues with yes if the accumulator compares like this with k, else with no.
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

// past returns the place after l if l only loads the word at that offset, for jumps that still have
// that word in the accumulator.
func (p *assembler) past(l label, at uint32) label {
	if in := p.rev[l-1]; in.Code == opLoad && in.K == at {
		return l - 1
	}
	return l
}
