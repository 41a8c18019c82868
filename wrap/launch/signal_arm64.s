#include "textflag.h"

// See signal_amd64.s.
TEXT ·noteSignal(SB), NOSPLIT|NOFRAME, $0
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

// func handlerAddresses() (handler, restorer uintptr)
TEXT ·handlerAddresses(SB), NOSPLIT, $0-16
	MOVD	$·noteSignal(SB), R0
	MOVD	R0, handler+0(FP)
	MOVD	$·signalReturn(SB), R0
	MOVD	R0, restorer+8(FP)
	RET

// func childHandler() uintptr
TEXT ·childHandler(SB), NOSPLIT, $0-8
	MOVD	$·noteChild(SB), R0
	MOVD	R0, ret+0(FP)
	RET
