package launch

import (
	"strings"
	"unsafe"
)

// op is a Step whose arguments are machine words.
type op struct {
	nr       uintptr
	a        [6]uintptr
	patchAt  *int32
	expected uintptr
	do       Do
	ref      uint8 // bit k is set if a[k] is the number of a slot
	save     uint8
	patch    uint8
	skip     uint8
	tolerant bool
}

// report is one packet from the child to the supervisor.
type report struct {
	kind   int32
	index  int32 // the failed step; the command's pidfd with reportReady; reportAllGone
	value  int64 // errno, wait status, or the descriptor of a mount tree
	user   int64 // microseconds, or the errno of a mount that was not changed
	system int64
	maxrss int64 // KiB
	read   int64 // blocks of 512 bytes
	wrote  int64
}

const (
	reportFailedOpening = iota + 1
	reportFailedSetup
	reportFailedCommand
	reportReady
	reportStarted // the command was executed, or a renewal is complete
	reportExited
	reportFailedRenewal
	reportStopped // the command was stopped; value is its wait status
	reportEach    // a DoEach step asks which mounts to change
)

// reportAllGone is the index in the report of the command's end if only pid 1 is left in the
// sandbox.
const reportAllGone = 1

const reportSize = unsafe.Sizeof(report{})

// program is a list of steps for the interpreter. All memory that its words point to is
// referenced from it, and not from any goroutine's stack, until the command has been executed.
type program struct {
	ops       []op
	failed    int32 // the report's kind for a failed step
	slots     *[64]uintptr
	sock      uintptr  // the child's end of the socket
	parent    int32    // a pidfd of the supervisor; -1 for none
	next      *program // where DoNext continues
	pidfdFrom *int32   // the pidfd that ready reports, written by the program that spawned this one
	each      *program // the next calls of a DoEach; nil at its end
	verdict   uintptr  // the errno of a DoEach at its end
	spawnArgs
	reportBuffers
	memory
}

// spawnArgs are the arguments of DoSpawn.
type spawnArgs struct {
	spawn *program // the program to start
	flags uintptr  // clone flags
	stack uintptr  // the top of the new stack
	pidfd int32    // clone stores the pidfd here; -1 before
}

// reportBuffers are the memory in which reports are prepared.
type reportBuffers struct {
	rep    report
	rusage [18]int64
	status int32
}

// memory is what the words of a program point to.
type memory struct {
	arena []byte // the block for arguments that is being filled
	keep  []any
}

const stackSize = 32 << 10

// emptySlot is the value of a slot without a descriptor: a step that uses it fails with EBADF.
const emptySlot = ^uintptr(0)

// newProgram translates steps.
func newProgram(steps []Step, failed int32) *program {
	p := makeProgram(len(steps), failed)
	p.add(steps)
	return p
}

// makeProgram returns an empty program with room for n steps.
func makeProgram(n int, failed int32) *program {
	p := &program{ops: make([]op, 0, n), failed: failed, parent: -1, spawnArgs: spawnArgs{pidfd: -1}, slots: new([64]uintptr)}
	for s := range p.slots {
		p.slots[s] = emptySlot
	}
	return p
}

// arenaSize is the size of one block for arguments.
const arenaSize = 8 << 10

// put copies s into the program's own memory, followed by zeroes up to n bytes.
func (p *memory) put(s string, n int) unsafe.Pointer {
	at := (len(p.arena) + 7) &^ 7
	if at+n >= cap(p.arena) {
		p.arena, at = make([]byte, 0, max(arenaSize, n+1)), 0
		p.keep = append(p.keep, p.arena)
	}
	p.arena = p.arena[:at+n+1] // still zero
	copy(p.arena[at:], s)
	return unsafe.Pointer(&p.arena[at])
}

// add appends steps and keeps no reference to them.
func (p *program) add(steps []Step) {
	for i := range steps {
		s := &steps[i]
		p.ops = append(p.ops, op{nr: s.Call, do: s.Do, save: uint8(s.Save), patch: uint8(s.Patch), expected: uintptr(s.Expected), skip: s.Skip, tolerant: s.Tolerant})
		o := &p.ops[len(p.ops)-1]
		for k := range s.Args {
			a := &s.Args[k]
			switch a.Kind {
			case ArgNum:
				o.a[k] = a.Num
			case ArgSlot:
				o.a[k], o.ref = a.Num, o.ref|1<<k
			case ArgText:
				o.a[k] = uintptr(p.put(a.Text, len(a.Text)+1))
			case ArgData:
				at := p.put(a.Text, len(a.Text))
				o.a[k] = uintptr(at)
				if s.Patch != 0 && int(s.At) == k {
					o.patchAt = (*int32)(unsafe.Add(at, s.Off))
				}
			case ArgBuffer:
				o.a[k] = uintptr(p.put("", int(a.Num)))
			case ArgVector:
				o.a[k] = p.vector(a.Text)
			case ArgFilter:
				f := &sockFprog{n: uint16(len(a.Text) / 8), insns: uintptr(p.put(a.Text, len(a.Text)))}
				p.keep = append(p.keep, f)
				o.a[k] = uintptr(unsafe.Pointer(f))
			}
		}
	}
}

// vector stores pointers to the strings in text, and NULL at the end, and returns their
// address.
func (p *memory) vector(text string) uintptr {
	at := p.put(text, len(text))
	v := make([]uintptr, 0, strings.Count(text, "\x00")+1)
	for from := 0; from < len(text); {
		v = append(v, uintptr(at)+uintptr(from))
		from += strings.IndexByte(text[from:], 0) + 1
	}
	v = append(v, 0)
	p.keep = append(p.keep, v)
	return uintptr(unsafe.Pointer(&v[0]))
}

// sockFprog is struct sock_fprog of <linux/filter.h>.
type sockFprog struct {
	n     uint16
	insns uintptr
}

// newStack allocates a stack for a cloned child and returns its top.
func (p *memory) newStack() uintptr {
	st := make([]byte, stackSize)
	p.keep = append(p.keep, st)
	return (uintptr(unsafe.Pointer(&st[0])) + stackSize - 64) &^ 15
}
