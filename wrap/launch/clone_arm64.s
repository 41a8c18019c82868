#include "textflag.h"

// func cloneChild(flags, stack uintptr, pidfd *int32, p *program) (pid uintptr)
//
// See clone_amd64.s; on arm64 the last two arguments are (tls, child_tid).
TEXT ·cloneChild(SB), NOSPLIT|NOFRAME, $0-40
	MOVD	flags+0(FP), R0
	MOVD	stack+8(FP), R1
	MOVD	pidfd+16(FP), R2
	MOVD	p+24(FP), R19
	MOVD	$0, R3
	MOVD	$0, R4
	MOVD	$220, R8
	SVC
	CBZ	R0, child
	MOVD	R0, pid+32(FP)
	RET
child:
	MOVD	$0, R29
	SUB	$64, RSP
	MOVD	R19, 8(RSP)
	MOVD	$·childMain(SB), R1 // see clone_amd64.s
	CALL	(R1)
	BRK
