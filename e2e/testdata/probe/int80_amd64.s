#include "textflag.h"

// func int80getpid() uintptr: getpid by the 32-bit entry, where it is call 20.
TEXT ·int80getpid(SB), NOSPLIT, $0-8
	MOVL	$20, AX
	INT	$0x80
	MOVQ	AX, ret+0(FP)
	RET
