package launch

import (
	"strconv"
	"strings"

	"sbx/spec"
)

// Slot numbers a place for the result of a step (a descriptor, mostly), for
// later steps to use. Slot 0 is no slot.
type Slot uint8

// Arg is one argument of a system call.
type Arg struct {
	Kind ArgKind
	Num  uintptr
	Text string // ArgText: NUL-terminated for the kernel; ArgData: as it is
}

// ArgKind is what an Arg is.
type ArgKind uint8

// The kinds of arguments.
const (
	ArgNum    ArgKind = iota // Num
	ArgSlot                  // the value kept in slot Num
	ArgText                  // pointer to Text and a NUL
	ArgData                  // pointer to the bytes of Text
	ArgVector                // pointer to pointers to the strings in Text, each with a NUL behind; NULL at the end
	ArgFilter                // pointer to a sock_fprog over the instructions in Text
	ArgBuffer                // pointer to Num zero bytes
)

// Do is what a step does where it is more than a system call.
type Do uint8

// The kinds of steps.
const (
	DoCall    Do = iota
	DoMapped     // wait until the supervisor has written the id maps
	DoNext       // wait until the supervisor has the rest of the steps, and go on there
	DoSpawn      // start the command's program; the rest is pid 1's
	DoStarted    // tell that the command has been executed
	DoDefault    // set every signal but those in Args[0] to its default
	DoReady      // tell that all is set up, and wait for the supervisor's word
	DoParent     // fail where the supervisor is gone
	DoReap       // pid 1: reap until the command is gone, report, end
	DoEach       // the tree of mounts at slot Args[0] gets the flags Args[1], those under too with Args[2]
	DoOne        // the mount at slot Args[0], also called Args[1], gets the flags Args[2]
)

// Step is one system call of the child, as data.
type Step struct {
	Do    Do
	Call  uintptr // the system call's number
	Name  string  // its name
	Args  [6]Arg
	Save  Slot  // where the result goes
	Patch Slot  // the slot whose value is written, as int32, into Args[At]'s
	At    uint8 // data at offset Off before the call
	Off   uint8
	Pass  Errno // with this errno: no failure, and Skip further steps are left out
	Skip  uint8
	Bear  bool // with any other errno: it is told, and Skip further steps are left out
	On    string
	For   spec.Field
}

// String is the step in the manner of strace.
func (s Step) String() string {
	var b strings.Builder
	b.WriteString(s.Name)
	if s.Do == DoCall || s.Do == DoEach || s.Do == DoOne {
		b.WriteByte('(')
		last := 5
		for last >= 0 && s.Args[last].Kind == ArgNum && s.Args[last].Num == 0 {
			last--
		}
		for i := 0; i <= last; i++ {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(s.Args[i].String())
		}
		b.WriteByte(')')
	}
	if s.Save != 0 {
		b.WriteString(" = $" + strconv.Itoa(int(s.Save)))
	}
	if s.Pass != 0 {
		b.WriteString(" or " + s.Pass.Error() + ": skip " + strconv.Itoa(int(s.Skip)))
	}
	if s.Bear {
		b.WriteString(" or told: skip " + strconv.Itoa(int(s.Skip)))
	}
	if s.On != "" {
		b.WriteString("  # " + strconv.Quote(s.On))
	}
	return b.String()
}

func (a Arg) String() string {
	switch a.Kind {
	case ArgSlot:
		return "$" + strconv.Itoa(int(a.Num))
	case ArgText:
		return strconv.Quote(a.Text)
	case ArgData:
		return "[" + strconv.Itoa(len(a.Text)) + "]byte"
	case ArgVector:
		return "[" + strconv.Itoa(strings.Count(a.Text, "\x00")) + "]string"
	case ArgFilter:
		return "[" + strconv.Itoa(len(a.Text)/8) + "]insn"
	case ArgBuffer:
		return "buf[" + strconv.Itoa(int(a.Num)) + "]"
	}
	if n := int64(a.Num); n < 0 && n > -4096 {
		return strconv.FormatInt(n, 10)
	}
	return "0x" + strconv.FormatUint(uint64(a.Num), 16)
}
