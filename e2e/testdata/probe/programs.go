package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// become turns into another program, in one of many ways, with the argument
// "ran"; it prints the errno where it cannot. A third argument is the directory in
// which it does so.
func become(a []string) {
	runtime.LockOSThread()
	if len(a) > 2 {
		if err := unix.Chdir(a[2]); err != nil {
			fmt.Println(errnoName(err))
			return
		}
	}
	fmt.Println(errnoName(ways[a[0]](a[1])))
}

var ways = map[string]func(path string) error{
	"plain": func(path string) error { return unix.Exec(path, argv(path), os.Environ()) },
	"self":  func(string) error { return unix.Exec("/proc/self/exe", []string{"probe", "say", "ran"}, os.Environ()) },

	"fd":           opened(named, execFD),
	"proc":         opened(named, execIn("/proc/self/fd/")),
	"devfd":        opened(named, execIn("/dev/fd/")),
	"thread":       opened(named, execIn("/proc/thread-self/fd/")),
	"process":      opened(named, execIn("/proc/"+strconv.Itoa(os.Getpid())+"/fd/")),
	"round":        opened(named, execIn("/proc/self/task/../../thread-self/../../fd/")),
	"memory":       opened(inMemory(unix.MFD_CLOEXEC), execFD),
	"execmemory":   opened(inMemory(unix.MFD_CLOEXEC|unix.MFD_EXEC), execFD),
	"memoryproc":   opened(inMemory(unix.MFD_CLOEXEC), execIn("/proc/self/fd/")),
	"nameless":     opened(nameless, execFD),
	"namelessproc": opened(nameless, execIn("/proc/self/fd/")),
	"removed":      opened(removed, execFD),
	"removedproc":  opened(removed, execIn("/proc/self/fd/")),
	"chmodmemory": opened(inMemory(unix.MFD_CLOEXEC), func(fd int, path string) error {
		if err := unix.Fchmod(fd, 0o755); err != nil {
			return err
		}
		return execFD(fd, path)
	}),

	"root": func(path string) error { return unix.Exec("/proc/self/root"+path, argv(path), os.Environ()) },
	"cwd": func(path string) error {
		if err := unix.Chdir(filepath.Dir(path)); err != nil {
			return err
		}
		return unix.Exec("/proc/self/cwd/"+filepath.Base(path), argv(path), os.Environ())
	},
	"link": func(path string) error {
		os.Remove("way")
		if err := os.Symlink("/proc/self/root"+path, "way"); err != nil {
			return err
		}
		return unix.Exec("./way", argv(path), os.Environ())
	},
	"loader": func(path string) error {
		loader := os.Getenv("LOADER")
		return unix.Exec(loader, append([]string{loader}, path, "ran"), os.Environ())
	},
	"copy": func(path string) error {
		if _, err := copied("fresh", path); err != nil {
			return err
		}
		return unix.Exec("./fresh", argv(path), os.Environ())
	},
}

// opened is a way that opens a program, or a copy of it, and executes the descriptor.
func opened(open func(path string) (int, error), start func(fd int, path string) error) func(string) error {
	return func(path string) error {
		fd, err := open(path)
		if err != nil {
			return err
		}
		return start(fd, path)
	}
}

func named(path string) (int, error) { return unix.Open(path, unix.O_PATH, 0) }

func inMemory(flags int) func(string) (int, error) {
	return func(path string) (int, error) {
		fd, err := unix.MemfdCreate("program", flags)
		if err == nil {
			err = fill0(fd, path)
		}
		return fd, err
	}
}

func nameless(path string) (int, error) {
	fd, err := unix.Open(".", unix.O_TMPFILE|unix.O_RDWR, 0o755)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fd)
	if err := fill0(fd, path); err != nil {
		return -1, err
	}
	return unix.Open("/proc/self/fd/"+strconv.Itoa(fd), unix.O_RDONLY|unix.O_CLOEXEC, 0)
}

func removed(path string) (int, error) {
	if _, err := copied("brief", path); err != nil {
		return -1, err
	}
	fd, err := named("brief")
	os.Remove("brief")
	return fd, err
}

func execIn(dir string) func(int, string) error {
	return func(fd int, path string) error {
		return unix.Exec(dir+strconv.Itoa(fd), argv(path), os.Environ())
	}
}

func argv(path string) []string { return []string{path[strings.LastIndexByte(path, '/')+1:], "ran"} }

func execFD(fd int, path string) error {
	empty, _ := unix.BytePtrFromString("")
	args, env := pointers(argv(path)), pointers(os.Environ())
	_, _, e := unix.RawSyscall6(unix.SYS_EXECVEAT, uintptr(fd), uintptr(unsafe.Pointer(empty)), uintptr(unsafe.Pointer(&args[0])),
		uintptr(unsafe.Pointer(&env[0])), unix.AT_EMPTY_PATH, 0)
	return e
}

func pointers(list []string) []*byte {
	var all []*byte
	for _, s := range list {
		p, _ := unix.BytePtrFromString(s)
		all = append(all, p)
	}
	return append(all, nil)
}

func fill0(fd int, path string) error {
	b, err := os.ReadFile(path)
	if err == nil {
		_, err = unix.Write(fd, b)
	}
	return err
}

// copied makes a program of the same content.
func copied(to, from string) (string, error) {
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o755)
	}
	return "", err
}

// memory uses a file in memory for data: written, sealed, mapped, read.
func memory(a []string) (string, error) {
	fd, err := unix.MemfdCreate("data", number(a[0]))
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	if _, err := unix.Write(fd, []byte("words")); err != nil {
		return "", err
	}
	m, err := unix.Mmap(fd, 0, 5, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_SHARED)
	if err != nil {
		return "", err
	}
	seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil {
		return "", err
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	link, _ := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	return fmt.Sprintf("%s closes:%d seal:%d %s", m, flags, seals&unix.F_SEAL_SEAL, strings.TrimSuffix(link, " (deleted)")), err
}

// swap runs one path a number of times while it is swapped between two
// programs, and counts what each run said.
func swap(a []string) {
	var over atomic.Bool
	done := make(chan bool)
	go func() {
		for i := 0; !over.Load(); i++ {
			os.Symlink(a[i&1], "swap.new")
			os.Rename("swap.new", "swap")
		}
		close(done)
	}()
	said := map[string]int{}
	for range number(a[2]) {
		out, _ := exec.Command("./swap", "ran").Output()
		said[strings.TrimSpace(string(out))]++
	}
	over.Store(true)
	<-done
	for word, n := range said {
		fmt.Printf("%q\t%d\n", word, n)
	}
	fmt.Println("end")
}

// say is the least of programs.
func say(a []string) { io.WriteString(os.Stdout, strings.Join(a, " ")+"\n") }

// becomes has a child become a program.
func becomes(a []string) (string, error) {
	out, err := exec.Command(os.Args[0], append([]string{"become"}, a...)...).CombinedOutput()
	if err != nil {
		return strings.TrimSpace(string(out)) + " " + err.Error(), nil
	}
	return strings.TrimSpace(string(out)), nil
}
