package launch

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"sbx/spec"
	"sbx/wrap"
)

// list collects a program's steps.
type list struct {
	steps []Step
	used  uint64 // slots in use
	last  Slot   // slot hands out only slots below last; 0 for all
	on    string // the object of the steps that follow
	field spec.Field
	out   *program // flush moves steps there; nil to keep them
}

// mountList is a list with steps for mounts.
type mountList struct {
	list
	remount bool  // set flags for each mount by mount(2)
	masks   []int // the Plan's slots whose descriptors stay open for the supervisor
	own     []int // numbers of the masks' own directories that exist
}

// flush makes the steps so far final.
func (l *list) flush() {
	if l.out != nil {
		l.out.add(l.steps)
		l.steps = l.steps[:0]
	}
}

// The slots with a fixed meaning.
const (
	slotUmask    Slot = 1
	slotCommand  Slot = 2
	slotListener Slot = 3  // of seccomp, for the supervisor
	slotRoot     Slot = 4  // the sandbox's root, for the supervisor
	slotUser     Slot = 5  // the sandbox's user namespace, for the supervisor
	slotMounts   Slot = 6  // its mount namespace, the same
	slotMask     Slot = 7  // the empty file or directory that masks, the same; two of them
	slotStream   Slot = 9  // what takes the place of 0, 1 and 2; three of them
	slotFirst    Slot = 12 // the first that is handed out
	slotBroker   Slot = 51 // the broker's socket, for the supervisor, if there is a broker: wrap.heldByBroker
	slotScratch  Slot = 52 // the scratch tmpfs, for the supervisor, where the Plan opens it: wrap.SlotScratch
	slotDoors    Slot = 53 // the relay's doors, for the supervisor, two sockets for each of IPv4 and IPv6, if it has doors: wrap.heldByDoors
	slotEgress   Slot = 57 // the relay's sockets, for the supervisor, six of them, if there is a relay: wrap.heldByRelay
	slotLookups  Slot = 62 // the socket to which DNS queries come, for the supervisor, if there is no relay
	slotTerminal Slot = 63 // what keeps the caller's terminal its name, for the supervisor
)

func num(v int) Arg     { return Arg{Num: uintptr(v)} }
func word(v uint64) Arg { return Arg{Num: uintptr(v)} }
func text(s string) Arg { return Arg{Kind: ArgText, Text: s} }
func data(s string) Arg { return Arg{Kind: ArgData, Text: s} }
func kept(s Slot) Arg   { return Arg{Kind: ArgSlot, Num: uintptr(s)} }

// vector returns a list of strings without NULs (execve(2)).
func vector(l []string) Arg {
	n := 0
	for _, s := range l {
		n += len(s) + 1
	}
	b := make([]byte, 0, n)
	for _, s := range l {
		b = append(append(b, s...), 0)
	}
	return Arg{Kind: ArgVector, Text: string(b)}
}

// fdcwd is AT_FDCWD as an argument.
var fdcwd = num(unix.AT_FDCWD)

// add writes a system call.
func (l *list) add(nr uintptr, name string, args ...Arg) *Step {
	s := Step{Call: nr, Name: name, On: l.on, For: l.field}
	copy(s.Args[:], args)
	l.steps = append(l.steps, s)
	return &l.steps[len(l.steps)-1]
}

// slot returns a free slot.
func (l *list) slot() Slot {
	for s := slotFirst; s < slotLookups && s != l.last; s++ {
		if l.used&(1<<s) == 0 && s != slotScratch {
			l.used |= 1 << s
			return s
		}
	}
	panic("launch: a plan holds more than 50 descriptors at once") // see wrap.maxHeld
}

// reserveSlots keeps slot from returning the slots of the relay's and the broker's sockets.
func (l *list) reserveSlots(o *wrap.Opening) {
	switch {
	case o.Broker:
		l.last = slotBroker
	case o.Doors:
		l.last = slotDoors
	case o.Egress:
		l.last = slotEgress
	}
}

func (l *list) close(s Slot) {
	l.add(unix.SYS_CLOSE, "close", kept(s))
	l.used &^= 1 << s
}

// words encodes 64-bit numbers like the kernel's structures on amd64 and arm64:
// little-endian.
func words(v ...uint64) string {
	b := make([]byte, 0, 8*len(v))
	for _, w := range v {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return string(b)
}

func (l *list) special(do Do, name string) *Step {
	s := l.add(0, name)
	s.Do = do
	return s
}

func (l *list) write(path, content string) {
	l.on = path
	fd := l.slot()
	l.add(unix.SYS_OPENAT, "openat", fdcwd, text(path), num(unix.O_WRONLY|unix.O_CLOEXEC)).Save = fd
	l.add(unix.SYS_WRITE, "write", kept(fd), data(content), num(len(content)))
	l.close(fd)
	l.on = ""
}

// noLinks makes openat2(2) follow no symlink.
const noLinks = unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS

// open opens path without following any symlink; the result is an O_PATH descriptor.
func (l *list) open(path string) Slot {
	s := l.slot()
	l.openAt(s, path)
	return s
}

// openAt opens like open, into a given slot.
func (l *list) openAt(s Slot, path string) {
	// No O_NOFOLLOW: with it, openat2 would return a descriptor of a symlink at the end.
	how := words(unix.O_PATH|unix.O_CLOEXEC, 0, noLinks)
	l.add(unix.SYS_OPENAT2, "openat2", fdcwd, text(path), data(how), num(unix.SizeofOpenHow)).Save = s
}
