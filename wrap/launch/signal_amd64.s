#include "textflag.h"

// noteSignal is the handler of every signal that a supervisor forwards: it
// writes the siginfo_t, 128 bytes, to a pipe. It runs on whatever thread the
// kernel chose, on that thread's signal stack, and knows nothing of Go.
// rt_sigreturn(2) restores every register.
TEXT ·noteSignal(SB), NOSPLIT|NOFRAME, $0
	MOVQ	·signalPipe(SB), DI
	MOVQ	$128, DX // SI holds the siginfo_t
	MOVQ	$1, AX   // write
	SYSCALL
	RET

// noteChild is the handler of SIGCHLD: it makes an eventfd readable.
TEXT ·noteChild(SB), NOSPLIT|NOFRAME, $0
	MOVQ	·childEvent(SB), DI
	LEAQ	·oneEvent(SB), SI
	MOVQ	$8, DX
	MOVQ	$1, AX // write
	SYSCALL
	RET

TEXT ·signalReturn(SB), NOSPLIT|NOFRAME, $0
	MOVQ	$15, AX // rt_sigreturn
	SYSCALL
	INT	$3

// ignoreSignal is the handler of a signal that is only to interrupt a call.
TEXT ·ignoreSignal(SB), NOSPLIT|NOFRAME, $0
	RET

// func handlerAddresses() (note, ignore, restorer uintptr)
TEXT ·handlerAddresses(SB), NOSPLIT, $0-24
	LEAQ	·noteSignal(SB), AX
	MOVQ	AX, note+0(FP)
	LEAQ	·ignoreSignal(SB), AX
	MOVQ	AX, ignore+8(FP)
	LEAQ	·signalReturn(SB), AX
	MOVQ	AX, restorer+16(FP)
	RET

// func childHandler() uintptr
TEXT ·childHandler(SB), NOSPLIT, $0-8
	LEAQ	·noteChild(SB), AX
	MOVQ	AX, ret+0(FP)
	RET
