#include "textflag.h"

// func cloneThread(flags, stack uintptr, h *helpers) (tid uintptr)
//
// clone(2) of a thread onto a stack of its own. The thread never returns: it runs
// threadMain(h) there.
TEXT ·cloneThread(SB), NOSPLIT|NOFRAME, $0-32
	MOVQ	flags+0(FP), DI
	MOVQ	stack+8(FP), SI
	MOVQ	h+16(FP), R12
	XORQ	DX, DX
	XORQ	R10, R10
	XORQ	R8, R8
	MOVQ	$56, AX // clone(flags, stack, parent_tid, child_tid, tls)
	SYSCALL
	TESTQ	AX, AX
	JZ	thread
	MOVQ	AX, tid+24(FP)
	RET
thread:
	XORL	BP, BP
	SUBQ	$64, SP
	MOVQ	R12, 0(SP)
	CALL	·threadMain(SB)
	INT	$3
