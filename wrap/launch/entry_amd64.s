#include "textflag.h"

// The program's entry point, by the linker flag -E sbx_entry. The Go runtime
// installs a handler for most signals and raises RLIMIT_NOFILE before any Go
// code runs; what they were is the command's due, so they are noted here.
// Written to: ·entry, see entry_linux.go.

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
	ADDQ	$64, SP
	JMP	_rt0_amd64_linux(SB)

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
