// refuse runs a command behind a filter that makes a host out of this one on
// which something is refused: `refuse userns mount -- command args`. The tests
// of the ladder start sbx with it.
package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"sbx/seccomp"
)

// refusals are what a container's filter or an old kernel says.
var refusals = map[string][]seccomp.Rule{
	"userns": {
		{Calls: []string{"clone"}, Args: []seccomp.Arg{{Index: 0, Op: seccomp.AnyBits, Mask: unix.CLONE_NEWUSER}}, Do: seccomp.Fail(unix.EPERM)},
		{Calls: []string{"unshare"}, Args: []seccomp.Arg{{Index: 0, Op: seccomp.AnyBits, Mask: unix.CLONE_NEWUSER}}, Do: seccomp.Fail(unix.EPERM)},
		{Calls: []string{"clone3"}, Do: seccomp.Fail(unix.ENOSYS)},
	},
	"mount":    {{Calls: []string{"mount"}, Do: seccomp.Fail(unix.EPERM)}},
	"setattr":  {{Calls: []string{"mount_setattr", "open_tree_attr"}, Do: seccomp.Fail(unix.ENOSYS)}},
	"landlock": {{Calls: []string{"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"}, Do: seccomp.Fail(unix.ENOSYS)}},
	"restrict": {{Calls: []string{"landlock_restrict_self"}, Do: seccomp.Fail(unix.EPERM)}},
	"seccomp":  {{Calls: []string{"seccomp"}, Args: []seccomp.Arg{{Index: 0, Op: seccomp.Equal, Value: unix.SECCOMP_SET_MODE_FILTER}}, Do: seccomp.Fail(unix.EPERM)}},
	"listener": {{Calls: []string{"seccomp"}, Args: []seccomp.Arg{{Index: 1, Op: seccomp.AnyBits, Mask: unix.SECCOMP_FILTER_FLAG_NEW_LISTENER}}, Do: seccomp.Fail(unix.EBUSY)}},
	"whiteout": {{Calls: []string{"mknodat"}, Args: []seccomp.Arg{{Index: 2, Op: seccomp.AnyBits, Mask: unix.S_IFCHR}}, Do: seccomp.Fail(unix.EPERM)}},
	"inotify":  {{Calls: []string{"inotify_init", "inotify_init1"}, Do: seccomp.Fail(unix.EMFILE)}},
	"readv":    {{Calls: []string{"process_vm_readv"}, Do: seccomp.Fail(unix.EPERM)}},
	"noreadv":  {{Calls: []string{"process_vm_readv"}, Do: seccomp.Fail(unix.ENOSYS)}},
	"ptrace":   {{Calls: []string{"ptrace"}, Do: seccomp.Fail(unix.EPERM)}},
	"nothing":  {}, // the control
}

func main() {
	end := slices.Index(os.Args, "--")
	if end < 2 || end+1 >= len(os.Args) {
		die("usage: refuse WHAT… -- command args")
	}
	f := seccomp.Filter{Name: "refuse", Default: seccomp.Action{Kind: seccomp.Allow}}
	for _, what := range os.Args[1:end] {
		rules, ok := refusals[what]
		if !ok {
			die("no such refusal: " + what)
		}
		f.Rules = append(f.Rules, rules...)
	}
	prog, err := seccomp.Program(f, seccomp.Native)
	if err != nil {
		die(err.Error())
	}
	runtime.LockOSThread() // the thread that loads the filter is the one that goes on
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		die(err.Error())
	}
	header := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	if _, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(seccomp.Pointer(&header))); e != 0 {
		die("seccomp: " + e.Error())
	}
	runtime.KeepAlive(prog)
	argv := os.Args[end+1:]
	die(syscall.Exec(argv[0], argv, os.Environ()).Error())
}

func die(why string) {
	fmt.Fprintln(os.Stderr, "refuse:", why)
	os.Exit(99)
}
