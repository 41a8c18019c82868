package launch

import (
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// Args returns the program's name and arguments without package os, whose start costs every
// sandbox fifty microseconds.
func Args() []string {
	if entryWord(0) != 1 {
		return arguments()
	}
	argc, argv := argumentVector()
	args := texts(argv, argc)
	for i := range args {
		args[i] = strings.Clone(args[i]) // Forget writes over them
	}
	return args
}

// Environ returns the caller's environment. If a name occurs twice, only its first value
// counts, as in os.Environ.
func Environ() []string {
	if entryWord(0) != 1 {
		return unix.Environ()
	}
	argc, argv := argumentVector()
	envp, n := unsafe.Add(argv, 8*(argc+1)), 0
	for *(*unsafe.Pointer)(unsafe.Add(envp, 8*n)) != nil {
		n++
	}
	seen := make(map[string]bool, n)
	return slices.DeleteFunc(texts(envp, n), func(kv string) bool {
		name, _, ok := strings.Cut(kv, "=")
		twice := ok && seen[name]
		seen[name] = true
		return twice || kv == ""
	})
}

// argumentVector returns where the arguments are on the process's first stack, which stays
// mapped.
func argumentVector() (argc int, argv unsafe.Pointer) {
	word := entryWord(6)
	at := *(*unsafe.Pointer)(unsafe.Pointer(&word))
	return *(*int)(at), unsafe.Add(at, 8)
}

func texts(at unsafe.Pointer, n int) []string {
	list := make([]string, n)
	for i := range list {
		p, length := *(**byte)(unsafe.Add(at, 8*i)), 0
		for *(*byte)(unsafe.Add(unsafe.Pointer(p), length)) != 0 {
			length++
		}
		list[i] = unsafe.String(p, length)
	}
	return list
}

// ownWords returns the program's argument vector on the process's first stack, which stays
// mapped.
func ownWords() []*byte {
	argc, argv := argumentVector()
	return unsafe.Slice((**byte)(argv), argc)
}

// Forget removes all arguments except the first two and the command's from the view of other
// processes: pid 1 of a sandbox shares this process's memory, so its /proc/1/cmdline would
// show the documents' paths inside. Args returns copies, which stay valid.
func Forget(command []string) {
	if entryWord(0) != 1 {
		return
	}
	words := ownWords()
	if len(words) < 3 {
		return
	}
	last := words[len(words)-1]
	end := uintptr(unsafe.Pointer(last)) + uintptr(len(unix.BytePtrToString(last))) + 1 // the kernel stores the arguments one after another
	room := unsafe.Slice(words[2], end-uintptr(unsafe.Pointer(words[2])))
	n := 0
	for _, w := range append([]string{"--"}, command...) {
		if n+len(w) >= len(room) {
			break
		}
		n += copy(room[n:], w)
		room[n] = 0
		n++
	}
	clear(room[n:])
}

// arguments returns this process's arguments from /proc.
func arguments() []string {
	b, _ := read.Proc("/proc/self/cmdline", 1<<21)
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}
