package relay

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"

	"golang.org/x/sys/unix"

	"sbx/landlock"
	"sbx/seccomp"
)

// resolverFiles are the files that Go's resolver reads.
var resolverFiles = []string{"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf"}

// maxFiles is the descriptor limit that a relay wants: a connection takes two sockets, and
// two pipes while bytes are in transit.
const maxFiles = 1 << 15

const (
	maxConnections = 4096
	otherFiles     = 128 // sockets, names that are looked up
)

// Prepare sets the limits and signals of the process, and returns how many connections may
// be open at once.
func Prepare() (connections int) {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	debug.SetGCPercent(25) // few objects live long, and memory is more precious here than time
	_ = unix.Setpgid(0, 0) // a terminal's signals are for the command only
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	limit := unix.Rlimit{}
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil {
		limit.Cur = max(limit.Cur, min(limit.Max, maxFiles))
		_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
	}
	return int(min((max(limit.Cur, otherFiles)-otherFiles)/6, maxConnections))
}

// Confine drops what the process does not need. If the kernel lacks a mechanism
// (Landlock), it is left out: it only matters if the relay itself is exploited.
func Confine() error {
	if _, _, e := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); e != 0 {
		return fmt.Errorf("no_new_privs: %w", e)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("not dumpable: %w", err)
	}
	if err := restrict(landlock.Ruleset{FS: landlock.FSAll, Net: landlock.BindTCP, Rules: readable()}); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	program, err := seccomp.Program(filter(), seccomp.Native)
	if err == nil {
		err = load(program)
	}
	if err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	return nil
}

// readable returns the rules for the resolver's files: for the directory to which a link
// leads, since programs that write such files replace them, and for the file itself in
// /etc.
func readable() (rules []landlock.Rule) {
	for _, name := range resolverFiles {
		target, err := filepath.EvalSymlinks(name)
		if err != nil {
			continue
		}
		rule := landlock.Rule{Path: target, Allow: landlock.ReadFile, File: true}
		if dir := filepath.Dir(target); dir == "/run/systemd/resolve" || dir == "/run/NetworkManager" || dir == "/run/resolvconf" {
			rule.Path, rule.File = dir, false
		}
		rules = append(rules, rule)
	}
	return rules
}

// restrict applies a Landlock ruleset to all threads.
func restrict(r landlock.Ruleset) error {
	s := landlock.Probe()
	if s.State != landlock.Available {
		return nil
	}
	r, _ = r.Downgrade(s.ABI)
	fd, err := createRuleset(r, s.ABI)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for _, rule := range r.Rules {
		file, err := unix.Open(rule.Path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		err = addRule(fd, rule, file)
		unix.Close(file)
		if err != nil {
			return &os.PathError{Op: "allow", Path: rule.Path, Err: err}
		}
	}
	if _, _, e := syscall.AllThreadsSyscall(landlock.RestrictSelf, uintptr(fd), 0, 0); e != 0 {
		return e
	}
	return nil
}
