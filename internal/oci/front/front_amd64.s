#include "textflag.h"

// The program's entry point, by the linker flag -E sbx_oci_entry.

GLOBL ·local(SB), NOPTR, $16

TEXT sbx_oci_entry(SB), NOSPLIT|NOFRAME, $0
	MOVQ	SP, BX // argc, then argv
	// arch_prctl(ARCH_SET_FS): what is called loads its g, which is none, from below FS
	MOVQ	$0x1002, DI
	LEAQ	·local+16(SB), SI
	MOVQ	$158, AX
	SYSCALL
	SUBQ	$32, SP
	ANDQ	$~15, SP
	MOVQ	BX, 0(SP)
	MOVQ	BX, 16(SP)
	CALL	·front(SB)
	MOVQ	16(SP), SP
	JMP	_rt0_amd64_linux(SB)

// See Swallow. A handler is called as a C function, and has no g.
TEXT sbx_oci_noop(SB), NOSPLIT|NOFRAME, $0
	RET

TEXT sbx_oci_sigreturn(SB), NOSPLIT|NOFRAME, $0
	MOVQ	$15, AX // rt_sigreturn
	SYSCALL
	INT	$3

DATA ·handler(SB)/8, $sbx_oci_noop(SB)
GLOBL ·handler(SB), NOPTR, $8
DATA ·restorer(SB)/8, $sbx_oci_sigreturn(SB)
GLOBL ·restorer(SB), NOPTR, $8
