package relay

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"sbx/landlock"
	"sbx/seccomp"
)

// built are the programs that the tests run.
var built struct {
	mu  sync.Mutex
	dir string
}

func TestMain(m *testing.M) {
	status := m.Run()
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(status)
}

// build builds a program without cgo, since with cgo no call can be applied to all threads.
func build(t testing.TB, pkg string) string {
	t.Helper()
	if dir := os.Getenv("SBX_TEST_BUILT"); dir != "" { // scripts/test.sh has built it for both users
		return filepath.Join(dir, filepath.Base(pkg))
	}
	built.mu.Lock()
	defer built.mu.Unlock()
	if built.dir == "" {
		dir, err := os.MkdirTemp("", "sbx-relay.")
		must(t, err)
		built.dir = dir
	}
	path := filepath.Join(built.dir, filepath.Base(pkg))
	if _, err := os.Stat(path); err == nil {
		return path
	}
	cmd := exec.Command("go", "build", "-trimpath", "-o", path, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// A relay under an attacker's control could not read, start or reach anything that a relay does not
// need.
func TestConfined(t *testing.T) {
	program := build(t, "./testdata/confined")
	before := attempts(t, program)
	if os.Getuid() != 0 && before["delete a route"] == "EPERM" {
		before["delete a route"] = "ESRCH"
	}
	after := attempts(t, program, "confined")
	abi := landlock.Probe().ABI
	for name, c := range map[string]struct {
		open, shut string
		abi        int // the ABI from which Landlock denies it
	}{
		"read a file":              {"ok", "EACCES", 1},
		"read a program":           {"ok", "EACCES", 1},
		"write a file":             {"ok", "EACCES", 1},
		"list a directory":         {"ok", "EACCES", 1},
		"start a program":          {"ENOENT", "EPERM", 0},
		"signal another process":   {"ok", "EPERM", 0},
		"change a limit of others": {"ok", "EPERM", 0},
		"talk to programs":         {"ok", "EPERM", 0},
		"talk to the kernel":       {"ok", "EPERM", 0},
		"listen":                   {"ok", "EACCES", 4},
		"execute memory":           {"ok", "EPERM", 0},
		"trace":                    {"ESRCH", "EPERM", 0},
		"look names up":            {"ok", "ok", 0},
		"connect":                  {"ok", "ok", 0},
		"make a pipe":              {"ok", "ok", 0},
		"ask for a route":          {"ok", "ok", 0},
		"delete a route":           {"ESRCH", "EPERM", 0}, // there is no route
	} {
		if before[name] != c.open {
			t.Errorf("%s, as it is started: %s, want %s", name, before[name], c.open)
		}
		if abi >= c.abi && after[name] != c.shut {
			t.Errorf("%s, confined: %s, want %s", name, after[name], c.shut)
		}
	}
	if len(before) != 17 || len(after) != 17 {
		t.Errorf("%d attempts, confined %d", len(before), len(after))
	}
}

func attempts(t *testing.T, program string, args ...string) map[string]string {
	t.Helper()
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, said, _ := strings.Cut(strings.TrimSpace(line), ": ")
		all[name] = said
	}
	return all
}

// process starts the program itself, with a supervisor's end.
func process(t testing.TB, environ []string, rules ...string) (*bench, *exec.Cmd) {
	t.Helper()
	ours, theirs := pair(t)
	cmd := exec.Command(build(t, "../../cmd/sbx-egress"))
	cmd.ExtraFiles, cmd.Env, cmd.Stderr = []*os.File{theirs}, environ, os.Stderr
	must(t, cmd.Start())
	theirs.Close()
	b := &bench{t: t, control: ours, over: make(chan error, 1), more: make(chan struct{})}
	go func() { b.over <- cmd.Wait() }()
	b.begin(rules)
	t.Cleanup(b.end)
	return b, cmd
}

// The program is confined on each of its threads, survives a terminal's signals, and still carries
// connections.
func TestProgram(t *testing.T) {
	s := server(t, echo)
	b, cmd := process(t, nil, everywhere)
	b.ask("udp4", "localhost", dnsmessage.TypeA) // so that it has begun
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		cmd.Process.Signal(signal)
	}
	c, n := b.connect(to(s))
	io.WriteString(c, "hello")
	must(t, c.CloseWrite())
	if got, err := io.ReadAll(c); string(got) != "hello" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	b.ended(n)
	proc := "/proc/" + strconv.Itoa(cmd.Process.Pid)
	threads, err := filepath.Glob(proc + "/task/*/status")
	if err != nil || len(threads) == 0 {
		t.Fatalf("%d threads, %v", len(threads), err)
	}
	for _, thread := range threads {
		status, err := os.ReadFile(thread)
		must(t, err)
		for _, want := range []string{"NoNewPrivs:\t1\n", "Seccomp:\t2\n", "CapEff:\t0000000000000000\n", "CapPrm:\t0000000000000000\n", "CapInh:\t0000000000000000\n"} {
			if !strings.Contains(string(status), want) {
				t.Errorf("%s has not %q", thread, want)
			}
		}
	}
	if info, err := os.Stat(proc + "/fd"); err != nil || info.Sys().(*syscall.Stat_t).Uid != 0 {
		t.Errorf("it can be looked into: %v, %v", info, err)
	}
}

// Started by hand the program says what it is, and starts nothing.
func TestProgramByHand(t *testing.T) {
	program := build(t, "../../cmd/sbx-egress")
	out, err := exec.Command(program).CombinedOutput()
	if e, ok := err.(*exec.ExitError); !ok || e.ExitCode() != 2 || !strings.Contains(string(out), "it is started by sbx") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := exec.Command(program, "--version").CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "sbx-egress ") {
		t.Errorf("%v\n%s", err, out)
	}
}

// The filter compiles on each architecture, and has no rule that never matches.
func TestFilter(t *testing.T) {
	for _, a := range []seccomp.Arch{seccomp.AMD64, seccomp.ARM64} {
		if _, err := seccomp.Program(filter(), a); err != nil {
			t.Errorf("%v: %v", a, err)
		}
		for _, r := range filter().Rules {
			for _, call := range r.Calls {
				if _, ok := a.Number(call); !ok && a == seccomp.AMD64 {
					t.Errorf("%s is no call", call)
				}
			}
		}
	}
}
