#include "textflag.h"

// func cloneChild(flags, stack uintptr, pidfd *int32, p *program) (pid uintptr)
//
// clone(2) onto a stack of the child's own. The child never returns: it runs
// childMain(p) there. With CLONE_VM the parent's stack is shared, so nothing
// of the parent's frame may be touched after the call.
TEXT ·cloneChild(SB), NOSPLIT|NOFRAME, $0-40
	MOVQ	flags+0(FP), DI
	MOVQ	stack+8(FP), SI
	MOVQ	pidfd+16(FP), DX
	MOVQ	p+24(FP), R12
	XORQ	R10, R10
	XORQ	R8, R8
	MOVQ	$56, AX // clone(flags, stack, parent_tid, child_tid, tls)
	SYSCALL
	TESTQ	AX, AX
	JZ	child
	MOVQ	AX, pid+32(FP)
	RET
child:
	XORL	BP, BP
	SUBQ	$64, SP
	MOVQ	R12, 0(SP)
	MOVQ	$·childMain(SB), AX // not a direct call: childMain calls this function, on another stack
	CALL	AX
	INT	$3
