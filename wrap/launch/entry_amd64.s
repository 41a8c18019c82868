#include "textflag.h"
#include "room.h"

// The program's entry point, by the linker flag -E sbx_entry. The Go runtime
// installs a handler for most signals and raises RLIMIT_NOFILE before any Go
// code runs. The command must inherit the original values, so the entry point
// records them in ·entry, see entry_linux.go. It also changes how a failing
// runtime ends the program (status 2 would mean a bad command line), see
// fatal_unsafe.go.

GLOBL ·entry(SB), NOPTR, $64

TEXT sbx_entry(SB), NOSPLIT|NOFRAME, $0
	MOVQ	SP, ·entry+48(SB) // argc, then argv
	SUBQ	$128, SP

	// ignored signals: rt_sigaction(n, NULL, &old, 8) for each
	XORQ	R13, R13
	MOVQ	$1, R12
loop:
	MOVQ	R12, DI
	XORQ	SI, SI
	MOVQ	SP, DX
	MOVQ	$8, R10
	MOVQ	$13, AX
	SYSCALL
	TESTQ	AX, AX
	JNZ	next
	CMPQ	0(SP), $1 // SIG_IGN
	JNE	next
	MOVQ	R12, CX
	DECQ	CX
	MOVQ	$1, AX
	SHLQ	CX, AX
	ORQ	AX, R13
next:
	INCQ	R12
	CMPQ	R12, $64
	JLE	loop
	MOVQ	R13, ·entry+8(SB)

	// rt_sigprocmask(SIG_BLOCK, NULL, &old, 8)
	MOVQ	$0, DI
	XORQ	SI, SI
	LEAQ	·entry+16(SB), DX
	MOVQ	$8, R10
	MOVQ	$14, AX
	SYSCALL

	// prlimit64(0, RLIMIT_NOFILE, NULL, &old)
	MOVQ	$0, DI
	MOVQ	$7, SI
	XORQ	DX, DX
	LEAQ	·entry+24(SB), R10
	MOVQ	$302, AX
	SYSCALL
	MOVQ	AX, ·entry+40(SB)

	// prctl(PR_GET_TIMERSLACK), then prctl(PR_SET_TIMERSLACK, 4 ms): see Slack
	MOVQ	$30, DI
	XORQ	SI, SI
	XORQ	DX, DX
	XORQ	R10, R10
	XORQ	R8, R8
	MOVQ	$157, AX
	SYSCALL
	MOVQ	AX, ·entry+56(SB)
	MOVQ	$29, DI
	MOVQ	$4000000, SI
	MOVQ	$157, AX
	SYSCALL

	MOVQ	$1, ·entry+0(SB)

	// as much memory as the runtime takes at its start, see room_unsafe.go: mmap, then munmap
	MOVQ	$0, DX // PROT_NONE
	MOVQ	$ROOM, R12
	JMP	map
data:
	MOVQ	$3, DX // PROT_READ | PROT_WRITE
	MOVQ	$DATA, R12
map:
	XORQ	DI, DI
	MOVQ	R12, SI
	MOVQ	$0x4022, R10 // MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
	MOVQ	$-1, R8
	XORQ	R9, R9
	MOVQ	$9, AX
	SYSCALL
	MOVQ	·noMemory+0(SB), SI
	MOVQ	·noMemory+8(SB), DX
	CMPQ	AX, $-4095
	JCC	small
	MOVQ	AX, DI
	MOVQ	R12, SI
	MOVQ	$11, AX
	SYSCALL
	CMPQ	R12, $ROOM
	JEQ	data

	// prlimit64(0, RLIMIT_NPROC, NULL, &old) and sysinfo: might processes run out?
	MOVQ	$0, DI
	MOVQ	$6, SI
	XORQ	DX, DX
	LEAQ	112(SP), R10
	MOVQ	$302, AX
	SYSCALL
	MOVQ	SP, DI
	MOVQ	$99, AX
	SYSCALL
	MOVWLZX	80(SP), AX // procs
	MOVQ	$PROCESSES, R12
	ADDQ	R12, AX
	CMPQ	AX, 112(SP)
	JLS	enough

	// a chain of children, each of which waits for its own child
	XORQ	R13, R13 // 1 in a child
	MOVQ	$0, 0(SP)
another:
	MOVQ	$0x4100, DI // CLONE_VM | CLONE_VFORK
	XORQ	SI, SI
	XORQ	DX, DX
	XORQ	R10, R10
	XORQ	R8, R8
	MOVQ	$56, AX // clone
	SYSCALL
	CMPQ	AX, $-11 // EAGAIN
	JEQ	none
	TESTQ	AX, AX
	JLT	last
	JEQ	child
	MOVQ	AX, DI
	MOVQ	SP, SI
	MOVQ	$0x40000000, DX // __WALL
	XORQ	R10, R10
	MOVQ	$61, AX // wait4
	SYSCALL
	MOVBLZX	1(SP), DI // how it ended
	JMP	told
child:
	MOVQ	$1, R13
	DECQ	R12
	JNE	another
last:
	MOVQ	$0, DI
	JMP	told
none:
	MOVQ	$1, DI
told:
	MOVQ	$231, AX // exit_group
	TESTQ	R13, R13
	JEQ	asked
	SYSCALL
asked:
	MOVQ	·noProcesses+0(SB), SI
	MOVQ	·noProcesses+8(SB), DX
	TESTQ	DI, DI
	JEQ	enough
small:
	JMP	·refuse(SB)
enough:

	// rt_sigaction(SIGABRT, {abandon, SA_ONSTACK | SA_RESTORER}, NULL, 8)
	LEAQ	·abandon(SB), AX
	MOVQ	AX, 0(SP)
	MOVQ	$0x0c000000, 8(SP)
	LEAQ	·signalReturn(SB), AX
	MOVQ	AX, 16(SP)
	MOVQ	$0, 24(SP)
	MOVQ	$6, DI
	MOVQ	SP, SI
	XORQ	DX, DX
	MOVQ	$8, R10
	MOVQ	$13, AX
	SYSCALL

	// sched_getaffinity(0, 128, mask): is there more than one processor?
	XORQ	R13, R13 // 1 if the variable processors is added
	XORQ	DI, DI
	MOVQ	$128, SI
	MOVQ	SP, DX
	MOVQ	$204, AX
	SYSCALL
	TESTQ	AX, AX
	JLE	several // more than 1024
	XORQ	CX, CX
word:
	MOVQ	(DX), BX
	ADDQ	$8, DX
	TESTQ	BX, BX
	JEQ	empty
	LEAQ	-1(BX), R8
	TESTQ	BX, R8
	JNE	several
	TESTQ	CX, CX
	JNE	several
	INCQ	CX
empty:
	SUBQ	$8, AX
	JGT	word
	JMP	copy
several:
	MOVQ	$1, R13
	// the caller's own GOMAXPROCS=1 stays
	MOVQ	·entry+48(SB), SI
	MOVQ	0(SI), BX
	LEAQ	16(SI)(BX*8), DI
	MOVQ	$0x4f525058414d4f47, R8 // GOMAXPRO
variable:
	MOVQ	(DI), BX
	ADDQ	$8, DI
	TESTQ	BX, BX
	JEQ	copy
	CMPQ	(BX), R8
	JNE	variable
	CMPL	8(BX), $0x313d5343 // CS=1
	JNE	variable
	CMPB	12(BX), $0
	JNE	variable
	XORQ	R13, R13
copy:

	// a copy of argc, argv, environment and auxiliary vector, with the added variables first
	MOVQ	·entry+48(SB), SI
	MOVQ	0(SI), BX
	ADDQ	$2, BX // words up to the environment
	LEAQ	(SI)(BX*8), DI
environment:
	ADDQ	$8, DI
	CMPQ	-8(DI), $0
	JNE	environment
auxiliary:
	ADDQ	$16, DI
	CMPQ	-16(DI), $0
	JNE	auxiliary
	SUBQ	SI, DI // bytes
	MOVQ	DI, DX
	SHRQ	$3, DX
	SUBQ	BX, DX // words from the environment on
	MOVQ	SI, SP
	SUBQ	DI, SP
	SUBQ	$16, SP
	ANDQ	$~15, SP
	MOVQ	SP, DI
	CLD
	MOVQ	BX, CX
	REP; MOVSQ
	MOVQ	·traceback(SB), AX
	MOVQ	AX, (DI)
	ADDQ	$8, DI
	TESTQ	R13, R13
	JEQ	rest
	MOVQ	·processors(SB), AX
	MOVQ	AX, (DI)
	ADDQ	$8, DI
rest:
	MOVQ	DX, CX
	REP; MOVSQ
	JMP	_rt0_amd64_linux(SB)

// refuse prints DX bytes at SI and ends the program.
TEXT ·refuse(SB), NOSPLIT|NOFRAME, $0
	MOVQ	$2, DI
	MOVQ	$1, AX // write
	SYSCALL
	MOVQ	$125, DI
	MOVQ	$231, AX // exit_group
	SYSCALL

// abandon is the handler of SIGABRT, see fatal_unsafe.go.
TEXT ·abandon(SB), NOSPLIT|NOFRAME, $0
	CMPQ	·started(SB), $0
	JNE	ends
	MOVQ	·abandoned+0(SB), SI
	MOVQ	·abandoned+8(SB), DX
	JMP	·refuse(SB)
ends:
	MOVQ	$4, DI // PR_SET_DUMPABLE: no core
	XORQ	SI, SI
	MOVQ	$157, AX // prctl
	SYSCALL
	MOVQ	$6, DI
	LEAQ	·byDefaultAction(SB), SI
	XORQ	DX, DX
	MOVQ	$8, R10
	MOVQ	$13, AX // rt_sigaction
	SYSCALL
	MOVQ	$39, AX // getpid
	SYSCALL
	MOVQ	AX, DI
	MOVQ	$6, SI
	MOVQ	$62, AX // kill: SIGABRT arrives when this handler returns
	SYSCALL
	RET

// func abandonHandler() uintptr
TEXT ·abandonHandler(SB), NOSPLIT, $0-8
	LEAQ	·abandon(SB), AX
	MOVQ	AX, ret+0(FP)
	RET

// func entryWord(i int) uint64
TEXT ·entryWord(SB), NOSPLIT, $0-16
	MOVQ	i+0(FP), AX
	LEAQ	·entry(SB), BX
	MOVQ	(BX)(AX*8), AX
	MOVQ	AX, ret+8(FP)
	RET

// func Room(), see entry_linux.go: its frame is what counts
TEXT ·Room(SB), 0, $18432-0
	RET
