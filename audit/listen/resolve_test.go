package listen

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// self resolves paths for the test's own thread, as if that were the caller.
func self(t testing.TB, root bool) *paths {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	l := &paths{caller: &caller{fd: -1}, root: -1}
	l.n.TID = uint32(unix.Gettid())
	if root {
		fd, err := unix.Open("/", unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(fd) })
		l.root = fd
	}
	return l
}

// grounds makes a directory with all kinds of files that a path may meet, and makes it the current
// one.
func grounds(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sbx-listen.")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	was, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chdir(dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chdir(was) })
	for _, d := range []string{"d", "d/e", "d/e/f"} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"file", "d/file", "d/e/file"} {
		if err := os.WriteFile(f, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{
		"up": "..", "d/up": "../file", "link": "d/e", "dangling": "nowhere", "far": "/no/where", "loop": "loop", "loop1": "loop2", "loop2": "loop1",
		"chain": "link", "root": "/", "through": "file/x", "d/absolute": dir + "/file", "d/gone": dir + "/nothing/there", "dot": ".", "slash": "d/",
	} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// agree compares the listener's result for a path with the kernel's.
func agree(t *testing.T, l *paths, path string, nofollow bool) {
	t.Helper()
	if strings.ContainsRune(path, 0) || path == "" || len(path) >= pathMax || strings.Contains(path, "proc") {
		return
	}
	flags := unix.O_PATH | unix.O_CLOEXEC
	if nofollow {
		flags |= unix.O_NOFOLLOW
	}
	want, err := unix.Open(path, flags, 0)
	if err == nil {
		defer unix.Close(want)
	}
	l.tries = 0
	got := l.resolve(unix.AT_FDCWD, append([]byte(path), 0), nofollow)
	defer got.close()
	switch {
	case got.fd >= 0 && err != nil:
		t.Errorf("%q: found, and the kernel says %v", path, err)
	case got.fd >= 0:
		var a, b unix.Stat_t
		if unix.Fstat(got.fd, &a) != nil || unix.Fstat(want, &b) != nil || a.Dev != b.Dev || a.Ino != b.Ino {
			t.Errorf("%q leads elsewhere", path)
		}
	case got.certain && err != got.errno:
		t.Errorf("%q: certain of %v, and the kernel says %v", path, got.errno, err)
	case !got.certain && err == unix.ENOENT && !strings.Contains(path, "/dev/"):
		t.Errorf("%q: not certain that it is missing", path)
	}
}

var samplePaths = []string{
	"file", "./file", "d/file", "d//e///file", "d/../file", "../", "..", ".", "/", "//", "/..", "up", "d/up", "link/file", "chain/f", "root/etc",
	"nothing", "d/nothing", "nothing/at/all", "link/nothing", "link/nothing/more", "chain/../nothing", "dangling", "dangling/x", "far", "far/x",
	"loop", "loop/x", "loop1", "d/loop", "file/", "file/x", "file/..", "through", "through/y", "d/absolute", "d/gone", "d/gone/", "d/absolute/x",
	"/bin/sh", "/bin/nothing", "/bin/nothing/x", "/usr/../bin/sh", "/etc/passwd/", "/no/such", "dot/dot/dot/file", "slash/file", "slashfile",
	strings.Repeat("n", 255), strings.Repeat("n", 256), "d/" + strings.Repeat("n", 256), strings.Repeat("./", 2000) + "file", "/dev/null", "link/../file",
}

func TestPathsAreTheKernels(t *testing.T) {
	for _, root := range []bool{false, true} {
		l := self(t, root)
		dir := grounds(t)
		for _, p := range samplePaths {
			for _, nofollow := range []bool{false, true} {
				agree(t, l, p, nofollow)
				if p[0] != '/' {
					agree(t, l, dir+"/"+p, nofollow)
				}
			}
		}
	}
}

func FuzzPaths(f *testing.F) {
	for _, p := range samplePaths {
		f.Add(p, false)
	}
	l := self(f, true)
	grounds(f)
	f.Fuzz(func(t *testing.T, path string, nofollow bool) {
		if strings.Contains(path, "..") && strings.Contains(path, "dev") { // other processes create and remove files there meanwhile
			return
		}
		agree(t, l, path, nofollow)
	})
}

// TestAddressesAreTheKernels: the listener returns the kernel's error for an unreadable address and
// for a path that is too long.
func TestAddressesAreTheKernels(t *testing.T) {
	l := self(t, false)
	mem, err := unix.Mmap(-1, 0, 4*pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mem)
	if err := unix.Mprotect(mem[3*pageSize:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	start := uint64(uintptr(unsafe.Pointer(&mem[0])))
	end := start + 3*pageSize
	for i := range mem[:3*pageSize] {
		mem[i] = '/'
	}
	check := func(what string, addr uint64) {
		t.Helper()
		_, want := openAddress(addr)
		path, got := l.readInto(addr, l.path[:])
		if (want == unix.EFAULT || want == unix.ENAMETOOLONG) != (got != 0) || got != 0 && got != want {
			t.Errorf("%s: %v, and the kernel says %v", what, got, want)
		}
		if got == 0 && (len(path) == 0 || path[len(path)-1] != 0) {
			t.Errorf("%s: the path has no end", what)
		}
	}
	check("no end before what is not mapped", end-10)
	check("longer than a path", start)
	mem[3*pageSize-1] = 0
	for _, n := range []uint64{1, 2, 100, pageSize - 1, pageSize, pageSize + 1, pathMax - 1, pathMax, pathMax + 1, pathMax + 2} {
		check("an end", end-n)
	}
	for _, addr := range []uint64{0, 1, end, end + 5, 1 << 47, 1 << 63, ^uint64(0), ^uint64(0) - 4095, uint64(uintptr(unsafe.Pointer(&l.path[0])))} {
		check("an address", addr)
	}
}

func TestInterpreters(t *testing.T) {
	for head, want := range map[string]string{
		"#!/bin/sh\n": "/bin/sh", "#! /bin/sh -e\nx": "/bin/sh", "#!\t /bin/sh\t-e -x\n": "/bin/sh", "#!/bin/sh": "/bin/sh", "#!sh\n": "sh",
		"#!/bin/sh\x00\n": "/bin/sh", "#!\n": "", "#! \t \n": "", "#!": "",
		"#!" + strings.Repeat("x", 254): "", "#!" + strings.Repeat("x", 253) + "\n": strings.Repeat("x", 253), "#!" + strings.Repeat("x", 200) + " " + strings.Repeat("y", 53): strings.Repeat("x", 200),
	} {
		got := interpreter([]byte(head))
		if want == "" && got != nil || want != "" && string(got) != want+"\x00" {
			t.Errorf("%q: %q, want %q", head, got, want)
		}
	}
}
