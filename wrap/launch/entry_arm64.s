#include "textflag.h"
#include "room.h"

// See entry_amd64.s; this is the same code with the system calls of arm64.

GLOBL ·entry(SB), NOPTR, $64

TEXT sbx_entry(SB), NOSPLIT|NOFRAME, $0
	MOVD	$·entry(SB), R21
	MOVD	RSP, R4 // argc, then argv
	MOVD	R4, 48(R21)
	SUB	$128, RSP

	MOVD	$0, R20
	MOVD	$1, R19
loop:
	MOVD	R19, R0
	MOVD	$0, R1
	MOVD	RSP, R2
	MOVD	$8, R3
	MOVD	$134, R8 // rt_sigaction
	SVC
	CBNZ	R0, next
	MOVD	0(RSP), R4
	CMP	$1, R4 // SIG_IGN
	BNE	next
	SUB	$1, R19, R5
	MOVD	$1, R6
	LSL	R5, R6, R6
	ORR	R6, R20, R20
next:
	ADD	$1, R19, R19
	CMP	$64, R19
	BLE	loop
	MOVD	$·entry(SB), R21
	MOVD	R20, 8(R21)

	MOVD	$0, R0
	MOVD	$0, R1
	ADD	$16, R21, R2
	MOVD	$8, R3
	MOVD	$135, R8 // rt_sigprocmask
	SVC

	MOVD	$0, R0
	MOVD	$7, R1
	MOVD	$0, R2
	ADD	$24, R21, R3
	MOVD	$261, R8 // prlimit64
	SVC
	MOVD	R0, 40(R21)

	MOVD	$30, R0
	MOVD	$0, R1
	MOVD	$0, R2
	MOVD	$0, R3
	MOVD	$0, R4
	MOVD	$167, R8 // prctl: PR_GET_TIMERSLACK
	SVC
	MOVD	R0, 56(R21)
	MOVD	$29, R0 // PR_SET_TIMERSLACK
	MOVD	$4000000, R1
	MOVD	$167, R8
	SVC

	MOVD	$1, R4
	MOVD	R4, 0(R21)

	// as much memory as the runtime takes at its start: mmap, then munmap
	MOVD	$0, R2 // PROT_NONE
	MOVD	$ROOM, R19
	B	map
data:
	MOVD	$3, R2 // PROT_READ | PROT_WRITE
	MOVD	$DATA, R19
map:
	MOVD	$0, R0
	MOVD	R19, R1
	MOVD	$0x4022, R3 // MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
	MOVD	$-1, R4
	MOVD	$0, R5
	MOVD	$222, R8 // mmap
	SVC
	MOVD	·noMemory+0(SB), R1
	MOVD	·noMemory+8(SB), R2
	CMN	$4095, R0
	BCS	small
	MOVD	R19, R1
	MOVD	$215, R8 // munmap
	SVC
	MOVD	$ROOM, R4
	CMP	R4, R19
	BEQ	data

	MOVD	$0, R0
	MOVD	$6, R1 // RLIMIT_NPROC
	MOVD	$0, R2
	ADD	$112, RSP, R3
	MOVD	$261, R8 // prlimit64
	SVC
	MOVD	RSP, R0
	MOVD	$179, R8 // sysinfo
	SVC
	MOVHU	80(RSP), R4 // procs
	MOVD	$PROCESSES, R19
	ADD	R19, R4
	MOVD	112(RSP), R5
	CMP	R5, R4
	BLS	enough

	MOVD	$0, R20 // 1 in a child
	MOVD	$0, R4
	MOVD	R4, 0(RSP)
another:
	MOVD	$0x4100, R0 // CLONE_VM | CLONE_VFORK
	MOVD	$0, R1
	MOVD	$0, R2
	MOVD	$0, R3
	MOVD	$0, R4
	MOVD	$220, R8 // clone
	SVC
	CMN	$11, R0 // EAGAIN
	BEQ	none
	CMP	$0, R0
	BLT	last
	BEQ	child
	MOVD	RSP, R1
	MOVD	$0x40000000, R2 // __WALL
	MOVD	$0, R3
	MOVD	$260, R8 // wait4
	SVC
	MOVBU	1(RSP), R0 // how it ended
	B	told
child:
	MOVD	$1, R20
	SUB	$1, R19
	CBNZ	R19, another
last:
	MOVD	$0, R0
	B	told
none:
	MOVD	$1, R0
told:
	MOVD	$94, R8 // exit_group
	CBZ	R20, asked
	SVC
asked:
	MOVD	·noProcesses+0(SB), R1
	MOVD	·noProcesses+8(SB), R2
	CBZ	R0, enough
small:
	B	·refuse(SB)
enough:
	MOVD	$·abandon(SB), R4
	MOVD	R4, 0(RSP)
	MOVD	$0x08000000, R4 // SA_ONSTACK
	MOVD	R4, 8(RSP)
	MOVD	ZR, 16(RSP) // the mask: there is no restorer here
	MOVD	$6, R0      // SIGABRT
	MOVD	RSP, R1
	MOVD	$0, R2
	MOVD	$8, R3
	MOVD	$134, R8 // rt_sigaction
	SVC

	// sched_getaffinity(0, 128, mask): is there more than one processor?
	MOVD	$0, R20 // 1 if the variable processors is added
	MOVD	$0, R0
	MOVD	$128, R1
	MOVD	RSP, R2
	MOVD	$123, R8
	SVC
	CMP	$0, R0
	BLE	several // more than 1024
	MOVD	RSP, R2
	MOVD	$0, R3
word:
	MOVD.P	8(R2), R4
	CBZ	R4, empty
	SUB	$1, R4, R5
	TST	R4, R5
	BNE	several
	CBNZ	R3, several
	MOVD	$1, R3
empty:
	SUBS	$8, R0
	BGT	word
	B	copy
several:
	MOVD	$1, R20
	// the caller's own GOMAXPROCS=1 stays
	MOVD	48(R21), R1
	MOVD	0(R1), R2
	ADD	$2, R2
	ADD	R2<<3, R1, R3
	MOVD	$0x4f525058414d4f47, R5 // GOMAXPRO
	MOVD	$0x313d5343, R6         // CS=1
variable:
	MOVD.P	8(R3), R4
	CBZ	R4, copy
	MOVD	(R4), R7
	CMP	R5, R7
	BNE	variable
	MOVWU	8(R4), R7
	CMP	R6, R7
	BNE	variable
	MOVBU	12(R4), R7
	CBNZ	R7, variable
	MOVD	$0, R20
copy:
	MOVD	48(R21), R1
	MOVD	0(R1), R2
	ADD	$2, R2 // words up to the environment
	ADD	R2<<3, R1, R3
environment:
	ADD	$8, R3
	MOVD	-8(R3), R4
	CBNZ	R4, environment
auxiliary:
	ADD	$16, R3
	MOVD	-16(R3), R4
	CBNZ	R4, auxiliary
	SUB	R1, R3, R3 // bytes
	LSR	$3, R3, R5
	SUB	R2, R5, R5 // words from the environment on
	SUB	R3, R1, R6
	SUB	$16, R6
	AND	$~15, R6
	MOVD	R6, RSP
head:
	MOVD.P	8(R1), R4
	MOVD.P	R4, 8(R6)
	SUB	$1, R2
	CBNZ	R2, head
	MOVD	·traceback(SB), R4
	MOVD.P	R4, 8(R6)
	CBZ	R20, rest
	MOVD	·processors(SB), R4
	MOVD.P	R4, 8(R6)
rest:
	MOVD.P	8(R1), R4
	MOVD.P	R4, 8(R6)
	SUB	$1, R5
	CBNZ	R5, rest
	JMP	_rt0_arm64_linux(SB)

// refuse and abandon: see entry_amd64.s.
TEXT ·refuse(SB), NOSPLIT|NOFRAME, $0
	MOVD	$2, R0
	MOVD	$64, R8 // write
	SVC
	MOVD	$125, R0
	MOVD	$94, R8 // exit_group
	SVC

TEXT ·abandon(SB), NOSPLIT|NOFRAME, $0
	MOVD	·started(SB), R0
	CBNZ	R0, ends
	MOVD	·abandoned+0(SB), R1
	MOVD	·abandoned+8(SB), R2
	B	·refuse(SB)
ends:
	MOVD	$4, R0 // PR_SET_DUMPABLE: no core
	MOVD	$0, R1
	MOVD	$167, R8 // prctl
	SVC
	MOVD	$6, R0
	MOVD	$·byDefaultAction(SB), R1
	MOVD	$0, R2
	MOVD	$8, R3
	MOVD	$134, R8 // rt_sigaction
	SVC
	MOVD	$172, R8 // getpid
	SVC
	MOVD	$6, R1
	MOVD	$129, R8 // kill: SIGABRT arrives when this handler returns
	SVC
	RET

// func abandonHandler() uintptr
TEXT ·abandonHandler(SB), NOSPLIT, $0-8
	MOVD	$·abandon(SB), R0
	MOVD	R0, ret+0(FP)
	RET

// func entryWord(i int) uint64
TEXT ·entryWord(SB), NOSPLIT, $0-16
	MOVD	i+0(FP), R0
	MOVD	$·entry(SB), R1
	LSL	$3, R0, R0
	ADD	R0, R1, R1
	MOVD	(R1), R2
	MOVD	R2, ret+8(FP)
	RET

// func Room(), see entry_linux.go: its frame is what counts
TEXT ·Room(SB), 0, $18432-0
	RET
