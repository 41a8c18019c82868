package launch

import (
	"sbx/spec"
)

// Slot numbers a place that keeps the result of a step, mostly a descriptor, for later
// steps. Slot 0 means none.
type Slot uint8

// Arg is one argument of a system call.
type Arg struct {
	Kind ArgKind
	Num  uintptr
	Text string // ArgText: a NUL is appended for the kernel; ArgData: unchanged
}

// ArgKind is the kind of an Arg.
type ArgKind uint8

// The kinds of arguments.
const (
	ArgNum    ArgKind = iota // Num
	ArgSlot                  // the value in slot Num
	ArgText                  // pointer to Text and a NUL
	ArgData                  // pointer to the bytes of Text
	ArgVector                // pointer to pointers to the NUL-terminated strings in Text, ending with NULL
	ArgFilter                // pointer to a sock_fprog over the instructions in Text
	ArgBuffer                // pointer to Num zero bytes
)

// Do is the kind of a step. All but DoCall do more than one system call.
type Do uint8

// The kinds of steps.
const (
	DoCall    Do = iota
	DoMapped     // wait until the supervisor has written the id maps
	DoNext       // wait until the supervisor has the next program, and continue with it
	DoSpawn      // start the command's program; pid 1 continues with the next step
	DoStarted    // report that the command has been executed
	DoDefault    // set every signal except those in Args[0] to its default
	DoReady      // report that the setup is complete, and wait for the supervisor
	DoParent     // fail if the supervisor is gone
	DoReap       // pid 1: reap until the command has ended, report, exit
	DoEach       // the mount at slot Args[0] gets the flags Args[1]; with Args[2] so do all mounts under it
	DoOne        // the mount at slot Args[0], whose path is Args[1], gets the flags Args[2]
)

// Step is one system call of the child, as data.
type Step struct {
	Do       Do
	Call     uintptr // number of the system call
	Name     string  // name of the system call
	Args     [6]Arg
	Save     Slot  // slot for the result
	Patch    Slot  // the slot whose value is written, as int32, into Args[At]'s
	At       uint8 // data at offset Off before the call
	Off      uint8
	Expected Errno // this errno is no failure; the next Skip steps are skipped
	Skip     uint8
	Tolerant bool // any other errno is reported only; the next Skip steps are skipped
	On       string
	For      spec.Field
}
