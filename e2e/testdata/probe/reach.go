package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// fence makes a tree the only place of the host that can be written, and turns
// into another program: whatever leaks out of what that program sets up harms
// nothing. It expects a mount namespace of its own.
func fence(a []string) {
	tree, argv := a[0], a[1:]
	cwd, err := os.Getwd()
	ok := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "probe: no fence:", err)
			os.Exit(99)
		}
	}
	ok(err)
	attr := func(path string, flags uint, set, clr uint64) {
		ok(unix.MountSetattr(unix.AT_FDCWD, path, flags, &unix.MountAttr{Attr_set: set, Attr_clr: clr}))
	}
	ok(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	ok(unix.Mount(tree, tree, "", unix.MS_BIND, ""))
	attr("/", unix.AT_RECURSIVE, unix.MOUNT_ATTR_RDONLY, 0)
	attr(tree, 0, 0, unix.MOUNT_ATTR_RDONLY)
	attr("/proc", 0, 0, unix.MOUNT_ATTR_RDONLY) // for the maps of a user namespace
	ok(os.Chdir(cwd))
	if os.Getuid() != 0 { // the capabilities that made the fence end here
		ok(unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
	}
	ok(syscall.Exec(argv[0], argv, os.Environ()))
}

// reach prints what can be done: the paths, listed in a file, that can be read
// (with what they hold), opened for writing, changed in mode, connected to; the
// directories in which files and repositories can be made. Nothing remains of it.
func reach(a []string) {
	list, name, port := a[0], a[1], a[2]
	f, err := os.Open(list)
	if err != nil {
		fmt.Println("list\t" + errnoName(err))
		os.Exit(65)
	}
	for in := bufio.NewScanner(f); in.Scan(); {
		reachPath(in.Text(), name)
	}
	f.Close()
	if fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0); err == nil {
		n, _ := strconv.Atoi(port)
		if unix.Connect(fd, &unix.SockaddrInet4{Port: n, Addr: [4]byte{127, 0, 0, 1}}) == nil {
			fmt.Println("net\tconnect")
		}
		unix.Close(fd)
	}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		fmt.Println("env\t" + name)
	}
	var files unix.Rlimit
	unix.Getrlimit(unix.RLIMIT_NOFILE, &files)
	fmt.Println("files\t" + strconv.FormatUint(files.Max, 10))
	for _, program := range a[3:] {
		started := 0
		for range 4 {
			if exec.Command(program, "exit", "0").Run() == nil {
				started++
			}
		}
		fmt.Printf("starts\t%s\t%d\n", program, started)
	}
	fmt.Println("end")
}

func reachPath(path, name string) {
	say := func(what, where string) { fmt.Println(what + "\t" + path + "\t" + where) }
	info, err := os.Stat(path)
	if err != nil {
		return
	}
	st := info.Sys().(*syscall.Stat_t)
	id := fmt.Sprintf("%d:%d", st.Dev, st.Ino)
	if os.Chmod(path, info.Mode().Perm()) == nil {
		say("mode", id)
	}
	if info.Mode()&os.ModeSocket != 0 {
		if fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); err == nil {
			if unix.Connect(fd, &unix.SockaddrUnix{Name: path}) == nil {
				say("talk", id)
			}
			unix.Close(fd)
		}
		return
	}
	if !info.IsDir() {
		if text, err := os.ReadFile(path); err == nil {
			say("read", strings.TrimSpace(string(text)))
		}
		if f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0); err == nil {
			say("write", id)
			f.Close()
		}
		return
	}
	made := path + "/" + name
	if f, err := os.OpenFile(made, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		say("make", id)
		f.Close()
		os.Remove(made)
	}
	if os.Mkdir(path+"/.git", 0o755) == nil {
		say("repository", id)
		os.Remove(path + "/.git")
	}
}

// nest runs an sbx with a record in the first of some directories where a file can
// be made, and prints that record behind a word.
func nest(a []string) {
	record := ""
	for i, dir := range a {
		if dir == "--" {
			a = a[i+1:]
			break
		}
		if record == "" {
			if f, err := os.CreateTemp(dir, "nest-*.json"); err == nil {
				record = f.Name()
				f.Close()
			}
		}
	}
	if record == "" {
		fmt.Println("no record")
		os.Exit(66)
	}
	cmd := exec.Command(a[0], append([]string{a[1], "--effective", record}, a[2:]...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Run()
	text, _ := os.ReadFile(record)
	os.Remove(record)
	fmt.Printf("--- the inner record\n%s", text)
	os.Exit(cmd.ProcessState.ExitCode())
}
