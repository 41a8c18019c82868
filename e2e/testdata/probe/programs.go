package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// become turns into another program, in one of many ways, with the argument
// "ran"; it prints the errno where it cannot.
func become(a []string) {
	runtime.LockOSThread()
	fmt.Println(errnoName(ways[a[0]](a[1])))
}

var ways = map[string]func(path string) error{
	"plain": func(path string) error { return unix.Exec(path, argv(path), os.Environ()) },
	"self":  func(string) error { return unix.Exec("/proc/self/exe", []string{"probe", "say", "ran"}, os.Environ()) },
	"fd": func(path string) error {
		fd, err := unix.Open(path, unix.O_PATH, 0)
		if err != nil {
			return err
		}
		return execFD(fd, path)
	},
	"proc": func(path string) error {
		fd, err := unix.Open(path, unix.O_PATH, 0)
		if err != nil {
			return err
		}
		return unix.Exec("/proc/self/fd/"+strconv.Itoa(fd), argv(path), os.Environ())
	},
	"memory": func(path string) error { return fromMemory(path, unix.MFD_CLOEXEC, false) },
	"execmemory": func(path string) error {
		return fromMemory(path, unix.MFD_CLOEXEC|unix.MFD_EXEC, false)
	},
	"chmodmemory": func(path string) error { return fromMemory(path, unix.MFD_CLOEXEC, true) },
	"nameless": func(path string) error {
		fd, err := unix.Open(".", unix.O_TMPFILE|unix.O_RDWR, 0o755)
		if err != nil {
			return err
		}
		if err := fill0(fd, path); err != nil {
			return err
		}
		own, err := unix.Open("/proc/self/fd/"+strconv.Itoa(fd), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		unix.Close(fd)
		return execFD(own, path)
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

func fromMemory(path string, flags int, chmod bool) error {
	fd, err := unix.MemfdCreate("program", flags)
	if err != nil {
		return err
	}
	if err := fill0(fd, path); err != nil {
		return err
	}
	if chmod {
		if err := unix.Fchmod(fd, 0o755); err != nil {
			return err
		}
	}
	return execFD(fd, path)
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
