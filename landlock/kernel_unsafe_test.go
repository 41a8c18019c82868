package landlock

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// childEnv makes the test binary the child of TestKernel: its value is the directory to work in, or
// "free:" and the directory for the control.
const childEnv = "SBX_TEST_LANDLOCK_CHILD"

func TestMain(m *testing.M) {
	if where := os.Getenv(childEnv); where != "" {
		child(where)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestProbe(t *testing.T) {
	for _, row := range []struct {
		version uintptr
		errno   unix.Errno
		want    State
	}{
		{7, 0, Available}, {0, unix.ENOSYS, NotBuilt}, {0, unix.EOPNOTSUPP, Disabled}, {0, unix.EPERM, Unknown}, {0, 0, Unknown},
	} {
		s := answer(row.version, row.errno)
		if s.State != row.want || s.ABI != int(row.version) || s.State.String() == "not asked" {
			t.Errorf("%d, %v: %+v", row.version, row.errno, s)
		}
	}
	if State(0).String() != "not asked" || State(9).String() != "not asked" {
		t.Error("what is no answer has a reason")
	}
	s := Probe()
	t.Logf("Landlock ABI %d: %v", s.ABI, s.State)
	if (s.ABI > 0) != (s.State == Available) {
		t.Errorf("%+v contradicts itself", s)
	}
}

// The kernel accepts the layouts and enforces the ruleset: each operation is tried inside and, as a
// control, by the same program unrestricted.
func TestKernel(t *testing.T) {
	s := Probe()
	if s.State != Available {
		if os.Getenv("SBX_TEST_MUST_RUN") == "1" {
			t.Fatal(s.State)
		}
		t.Skip(s.State)
	}
	want := []struct {
		name         string
		inside, free string
		abi          int
	}{
		{"write inside", "ok", "ok", 1},
		{"write outside", "permission denied", "ok", 1},
		{"read outside", "permission denied", "ok", 1},
		{"list outside", "permission denied", "ok", 1},
		{"read the one file", "ok", "ok", 1},
		{"write the one file", "permission denied", "ok", 1},
		{"make a directory outside", "permission denied", "ok", 1},
		{"move outside", "permission denied", "ok", 1},
		{"truncate outside", "permission denied", "ok", 3},
		{"bind a port", "permission denied", "ok", 4},
		{"signal the parent", "operation not permitted", "ok", 6},
	}
	inside, free := runChild(t, ""), runChild(t, "free:")
	for _, row := range want {
		if free[row.name] != row.free {
			t.Errorf("%s, unrestricted: %q, want %q", row.name, free[row.name], row.free)
		}
		if s.ABI < row.abi {
			continue
		}
		if inside[row.name] != row.inside {
			t.Errorf("%s, restricted: %q, want %q", row.name, inside[row.name], row.inside)
		}
	}
}

// runChild makes a fresh directory and returns the child's results for it.
func runChild(t *testing.T, mode string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	for _, sub := range []string{"in", "out"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"in/file", "out/file", "out/one"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+mode+dir)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), "\nend\n") {
		t.Fatalf("the child ended early: %v\n%s", err, out)
	}
	answers := map[string]string{}
	for line := range strings.SplitSeq(string(out), "\n") {
		if name, answer, ok := strings.Cut(line, ": "); ok {
			answers[name] = answer
		}
	}
	return answers
}

// child restricts its thread, tries operations and prints the results.
func child(where string) {
	runtime.LockOSThread()
	dir, free := strings.CutPrefix(where, "free:")
	port := freePort()
	if !free {
		restrict(dir)
	}
	say := func(name string, err error) {
		text := "ok"
		if e, isErrno := err.(unix.Errno); isErrno {
			text = e.Error()
		} else if err != nil {
			text = "odd: " + err.Error()
		}
		fmt.Printf("%s: %s\n", name, text)
	}
	open := func(name string, flags int) error {
		fd, err := unix.Open(filepath.Join(dir, name), flags|unix.O_CLOEXEC, 0o644)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}
	say("write inside", open("in/new", unix.O_WRONLY|unix.O_CREAT))
	say("write outside", open("out/file", unix.O_WRONLY))
	say("read outside", open("out/file", unix.O_RDONLY))
	say("list outside", open("out", unix.O_RDONLY|unix.O_DIRECTORY))
	say("read the one file", open("out/one", unix.O_RDONLY))
	say("write the one file", open("out/one", unix.O_WRONLY))
	say("make a directory outside", unix.Mkdir(filepath.Join(dir, "out/dir"), 0o755))
	say("move outside", unix.Rename(filepath.Join(dir, "in/file"), filepath.Join(dir, "out/moved")))
	say("truncate outside", unix.Truncate(filepath.Join(dir, "out/file"), 0))
	say("bind a port", bind(port))
	say("signal the parent", unix.Kill(os.Getppid(), 0))
	fmt.Println("end")
}

// restrict makes the system calls as a launcher would.
func restrict(dir string) {
	abi := Probe().ABI
	r, _ := Ruleset{
		FS: FSAll &^ ResolveUnix, Net: BindTCP, Scope: ScopeAll,
		Rules: []Rule{
			{Path: dir + "/in", Allow: FSReadExec | FSWrite},
			{Path: dir + "/out/one", Allow: FSRead, File: true},
		},
	}.Downgrade(abi)
	must := func(name string, n uintptr, e unix.Errno) int {
		if e != 0 {
			fmt.Println(name, e)
			os.Exit(1)
		}
		return int(n)
	}
	attr := r.Attr()
	n, _, e := unix.RawSyscall(CreateRuleset, uintptr(attr.Pointer()), AttrSize(abi), 0)
	ruleset := must("create", n, e)
	for _, rule := range r.Rules {
		fd, err := unix.Open(rule.Path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			fmt.Println("open", err)
			os.Exit(1)
		}
		a := rule.Attr(fd)
		n, _, e = unix.RawSyscall6(AddRule, uintptr(ruleset), PathBeneath, uintptr(a.Pointer()), 0, 0, 0)
		must("add "+rule.Path, n, e)
	}
	n, _, e = unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0)
	must("no_new_privs", n, e)
	n, _, e = unix.RawSyscall(RestrictSelf, uintptr(ruleset), 0, 0)
	must("restrict", n, e)
}

// bind binds a TCP socket of this thread to the port on loopback.
func bind(port int) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
}

// freePort returns a port that nothing used a moment ago.
func freePort() int {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 47011
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
