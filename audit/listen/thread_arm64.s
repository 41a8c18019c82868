#include "textflag.h"

// func cloneThread(flags, stack uintptr, h *helpers) (tid uintptr)
//
// See thread_amd64.s; on arm64 the last two arguments are (tls, child_tid).
TEXT ·cloneThread(SB), NOSPLIT|NOFRAME, $0-32
	MOVD	flags+0(FP), R0
	MOVD	stack+8(FP), R1
	MOVD	h+16(FP), R19
	MOVD	$0, R2
	MOVD	$0, R3
	MOVD	$0, R4
	MOVD	$220, R8
	SVC
	CBZ	R0, thread
	MOVD	R0, tid+24(FP)
	RET
thread:
	MOVD	$0, R29
	SUB	$64, RSP
	MOVD	R19, 8(RSP)
	CALL	·threadMain(SB)
	BRK
