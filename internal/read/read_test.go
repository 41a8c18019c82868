package read

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

func TestRegularOpensNothingElse(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mkfifo(dir+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	ten := dir + "/ten"
	if err := os.WriteFile(ten, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir + "/fifo", dir, "/dev/zero", dir + "/none"} {
		if b, ok := Regular(path, 100); ok {
			t.Errorf("%s was read: %q", path, b)
		}
	}
	if _, ok := Regular(ten, 9); ok {
		t.Error("ten bytes were read where nine are the bound")
	}
	if b, ok := Regular(ten, 10); !ok || string(b) != "0123456789" {
		t.Errorf("%q %v", b, ok)
	}
}

// The names are those that package os gives, of more than fits into one part.
func TestDirIsWhatOsReads(t *testing.T) {
	dir := t.TempDir()
	for n := range 1000 {
		if err := os.WriteFile(filepath.Join(dir, "name "+strconv.Itoa(n)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(dir+"/folder", 0o700); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, e := range entries {
		want = append(want, e.Name())
	}
	var d Dir
	read := func(most int) (names []string) {
		fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		if err := d.Each(fd, func(name []byte, dtype byte) bool {
			if (dtype == unix.DT_DIR) != (string(name) == "folder") && dtype != unix.DT_UNKNOWN {
				t.Errorf("%s is of type %d", name, dtype)
			}
			names = append(names, string(name))
			return len(names) < most
		}); err != nil {
			t.Error(err)
		}
		return names
	}
	if got := read(7); len(got) != 7 {
		t.Errorf("%d names, want the 7 that were asked for", len(got))
	}
	got := read(1 << 20)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%d names, want the %d that package os reads", len(got), len(want))
	}
	file, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := d.Each(int(file.Fd()), func([]byte, byte) bool { return true }); err != unix.ENOTDIR {
		t.Errorf("a file's names: %v, want ENOTDIR", err)
	}
}

// record is one of getdents64's with a name, whose length is given as size.
func record(name string, size int) []byte {
	b := make([]byte, 19, 64)
	b[16], b[17], b[18] = byte(size), byte(size>>8), unix.DT_REG
	return append(b, name+"\x00"...)
}

func TestNextOfABrokenPart(t *testing.T) {
	whole := record("ab", 22)
	for _, c := range []struct {
		name string
		part []byte
		want string
		left int // bytes
	}{
		{"one", whole, "ab", 0},
		{"two", append(slices.Clone(whole), whole...), "ab", 22},
		{"itself and its parent", slices.Concat(record(".", 21), record("..", 22), whole), "ab", 0},
		{"none", nil, "", 0},
		{"cut in its head", whole[:19], "", 19},
		{"cut in its name", whole[:20], "", 20},
		{"longer than the part", record("ab", 23), "", 22},
		{"as long as its head", record("ab", 19), "", 22},
		{"of no length", record("ab", 0), "", 22},
		{"without a null", whole[:21:21], "", 21},
	} {
		name, _, rest := Next(c.part)
		if string(name) != c.want || (name == nil) != (c.want == "") || len(rest) != c.left {
			t.Errorf("%s: %q and %d bytes left, want %q and %d", c.name, name, len(rest), c.want, c.left)
		}
	}
}

// A program's name may look like the rest of its stat line.
func TestStatOfANameWithBrackets(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	odd := t.TempDir() + "/a) Z 1 1 (b"
	text, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(odd, text, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(odd, "60")
	cmd.Args[0] = "sleep"
	if err := cmd.Start(); err != nil {
		t.Skipf("no program of %s can be started: %v", filepath.Dir(odd), err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if got := Parent(cmd.Process.Pid); got != os.Getpid() {
		t.Errorf("its parent is %d, want %d", got, os.Getpid())
	}
	if !slices.Contains(Children("self"), cmd.Process.Pid) {
		t.Errorf("%d is not among the children of this process: %v", cmd.Process.Pid, Children("self"))
	}
	if got := StatusLine(Status(strconv.Itoa(cmd.Process.Pid)), "PPid:"); got != strconv.Itoa(os.Getpid()) {
		t.Errorf("its status has the parent %q", got)
	}
	if Parent(1<<30) != 0 || Stat("self", 1000) != "" {
		t.Error("there is a process that cannot be, or a field")
	}
}

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{
		"/plain": "/plain", `/a\040b\011c\012d\134e`: "/a b\tc\nd\\e", `\04`: `\04`, `\08x`: `\08x`, `\\040`: `\ `, "": "",
	} {
		if got := Unescape(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestMounts(t *testing.T) {
	for line, want := range map[string]Mount{
		"36 35 98:0 /r /mnt/a\\040b\\134c rw,noatime shared:1 master:2 - ext3 /dev/root rw,errors=continue\n": {36, 35, "98:0", "/r", "/mnt/a b\\c", "rw,noatime", "ext3", "rw,errors=continue"},
		"36 35 0:5 / /p ro - tmpfs tmpfs rw\n":     {36, 35, "0:5", "/", "/p", "ro", "tmpfs", "rw"},
		"36 35 0:5 / /p rw - fuse.x my - dev ro\n": {36, 35, "0:5", "/", "/p", "rw", "fuse.x", "- dev ro"},
	} {
		if got := Mounts("broken\n" + line); !slices.Equal(got, []Mount{want}) {
			t.Errorf("%q is %+v", line, got)
		}
	}
	for _, line := range []string{"", "\n", "1 2 3", "36 35 0:5 / /p rw tmpfs tmpfs rw\n", "36 x 0:5 / /p rw - tmpfs tmpfs rw\n"} {
		if got := Mounts(line); len(got) > 0 {
			t.Errorf("%q is a mount", line)
		}
	}
}

func TestLinesOfAllLengths(t *testing.T) {
	path := t.TempDir() + "/lines"
	long := make([]byte, 50<<10)
	for i := range long {
		long[i] = 'x'
	}
	if err := os.WriteFile(path, slices.Concat([]byte("a\n\n"), long, []byte("\nlast, not ended")), 0o600); err != nil {
		t.Fatal(err)
	}
	var sizes []int
	Lines(path, 1<<20, func(line []byte) { sizes = append(sizes, len(line)) })
	if !slices.Equal(sizes, []int{1, 0, len(long)}) {
		t.Errorf("lines of %v bytes", sizes)
	}
	sizes = nil
	Lines(path, 3, func(line []byte) { sizes = append(sizes, len(line)) })
	if len(sizes) > 2 {
		t.Errorf("after 3 bytes come lines of %v", sizes)
	}
}
