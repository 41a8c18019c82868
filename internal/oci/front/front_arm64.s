#include "textflag.h"

// See front_amd64.s. There a g is in a register, which is 0 at the start.

TEXT sbx_oci_entry(SB), NOSPLIT|NOFRAME, $0
	MOVD	RSP, R4 // argc, then argv
	SUB	$32, RSP
	MOVD	R4, 8(RSP)
	MOVD	R4, 24(RSP)
	BL	·front(SB)
	MOVD	24(RSP), R4
	MOVD	R4, RSP
	JMP	_rt0_arm64_linux(SB)

// See Swallow.
TEXT sbx_oci_noop(SB), NOSPLIT|NOFRAME, $0
	RET

DATA ·handler(SB)/8, $sbx_oci_noop(SB)
GLOBL ·handler(SB), NOPTR, $8
DATA ·restorer(SB)/8, $0
GLOBL ·restorer(SB), NOPTR, $8
