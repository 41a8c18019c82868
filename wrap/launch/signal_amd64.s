#include "textflag.h"

// noteSignal is the handler of every signal that a supervisor forwards: it
// writes the siginfo_t, 128 bytes, to a pipe. It runs on whatever thread the
// kernel chose, on that thread's signal stack, and does not use the Go runtime.
// rt_sigreturn(2) restores every register. SIGQUIT from this process itself means
// that the Go runtime has failed, see fatal_unsafe.go.
TEXT ·noteSignal(SB), NOSPLIT|NOFRAME, $0
	CMPL	DI, $3 // SIGQUIT
	JNE	note
	CMPL	8(SI), $0 // si_code: by kill(2)
	JNE	note
	MOVQ	$39, AX // getpid
	SYSCALL
	CMPL	AX, 16(SI) // si_pid
	JNE	note
	JMP	·abandon(SB)
note:
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

// ignoreSignal is the handler of a signal that only interrupts a system call.
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
