#include "textflag.h"

// The program's entry point, by the linker flag -E sbx_entry. The Go runtime
// installs a handler for most signals and raises RLIMIT_NOFILE before any Go
// code runs; what they were is the command's due, so they are noted here.
// Written to: ·entry, see entry_linux.go. And a runtime that fails would end the
// program with 2, the status of a bad command line: see fatal_unsafe.go.

GLOBL ·entry(SB), NOPTR, $64

TEXT sbx_entry(SB), NOSPLIT|NOFRAME, $0
	MOVQ	SP, ·entry+48(SB) // argc, then argv
	SUBQ	$64, SP

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

	// argc, argv, environment and auxiliary vector once more, with a variable in front
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
	SUBQ	$8, SP
	ANDQ	$~15, SP
	MOVQ	SP, DI
	CLD
	MOVQ	BX, CX
	REP; MOVSQ
	MOVQ	·traceback(SB), AX
	MOVQ	AX, (DI)
	ADDQ	$8, DI
	MOVQ	DX, CX
	REP; MOVSQ
	JMP	_rt0_amd64_linux(SB)

// abandon is the handler of SIGABRT, see fatal_unsafe.go.
TEXT ·abandon(SB), NOSPLIT|NOFRAME, $0
	CMPQ	·started(SB), $0
	JNE	ends
	MOVQ	$2, DI
	MOVQ	·abandoned+0(SB), SI
	MOVQ	·abandoned+8(SB), DX
	MOVQ	$1, AX // write
	SYSCALL
	MOVQ	$125, DI
	MOVQ	$231, AX // exit_group
	SYSCALL
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
	MOVQ	$62, AX // kill: it comes when this one returns
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
