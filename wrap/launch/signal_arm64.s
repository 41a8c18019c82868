#include "textflag.h"

// See signal_amd64.s.
TEXT ·noteSignal(SB), NOSPLIT|NOFRAME, $0
	CMPW	$3, R0 // SIGQUIT
	BNE	note
	MOVW	8(R1), R2 // si_code: by kill(2)
	CBNZW	R2, note
	MOVD	$172, R8 // getpid
	SVC
	MOVW	16(R1), R2 // si_pid
	CMPW	R2, R0
	BNE	note
	B	·abandon(SB)
note:
	MOVD	·signalPipe(SB), R0
	MOVD	$128, R2 // R1 holds the siginfo_t
	MOVD	$64, R8  // write
	SVC
	RET

TEXT ·noteChild(SB), NOSPLIT|NOFRAME, $0
	MOVD	·childEvent(SB), R0
	MOVD	$·oneEvent(SB), R1
	MOVD	$8, R2
	MOVD	$64, R8 // write
	SVC
	RET

TEXT ·signalReturn(SB), NOSPLIT|NOFRAME, $0
	MOVD	$139, R8 // rt_sigreturn
	SVC
	BRK

TEXT ·ignoreSignal(SB), NOSPLIT|NOFRAME, $0
	RET

// func handlerAddresses() (note, ignore, restorer uintptr)
TEXT ·handlerAddresses(SB), NOSPLIT, $0-24
	MOVD	$·noteSignal(SB), R0
	MOVD	R0, note+0(FP)
	MOVD	$·ignoreSignal(SB), R0
	MOVD	R0, ignore+8(FP)
	MOVD	$·signalReturn(SB), R0
	MOVD	R0, restorer+16(FP)
	RET

// func childHandler() uintptr
TEXT ·childHandler(SB), NOSPLIT, $0-8
	MOVD	$·noteChild(SB), R0
	MOVD	R0, ret+0(FP)
	RET
