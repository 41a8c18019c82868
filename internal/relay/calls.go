package relay

import (
	"golang.org/x/sys/unix"

	"sbx/seccomp"
)

// filter is the system call filter of a relay. Other calls fail with EPERM: a relay starts
// no program, touches no other process, opens files only for reading and sockets only of
// the internet families.
func filter() seccomp.Filter {
	allow, deny := seccomp.Action{Kind: seccomp.Allow}, seccomp.Fail(unix.EPERM)
	return seccomp.Filter{
		Name: "sbx-egress", Default: deny,
		Rules: []seccomp.Rule{
			{Do: allow, Why: "connections and their bytes", Calls: []string{
				"accept4", "bind", "connect", "getpeername", "getsockname", "getsockopt", "pipe2", "read", "readv", "recvfrom", "recvmsg",
				"sendmsg", "sendto", "setsockopt", "shutdown", "splice", "write", "writev", "close", "fcntl", "dup3",
			}},
			{Do: allow, Why: "sockets of the internet", Calls: []string{"socket"}, Args: []seccomp.Arg{{Op: seccomp.Equal, Value: unix.AF_INET}}},
			{Do: allow, Why: "sockets of the internet", Calls: []string{"socket"}, Args: []seccomp.Arg{{Op: seccomp.Equal, Value: unix.AF_INET6}}},
			{Do: allow, Why: "the host's files on names, as far as Landlock lets it", Calls: []string{
				"fstat", "fstatfs", "getcwd", "getdents64", "lseek", "newfstatat", "openat", "pread64", "readlinkat", "statx", "uname",
			}},
			{Do: allow, Why: "Go's runtime", Calls: []string{
				"brk", "clock_gettime", "clock_nanosleep", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_wait", "eventfd2", "exit", "exit_group",
				"futex", "getpid", "getrandom", "getrlimit", "gettid", "gettimeofday", "madvise", "membarrier", "mincore", "mmap", "mprotect", "munmap",
				"nanosleep", "prlimit64", "restart_syscall", "rseq", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sched_getaffinity", "sched_yield",
				"set_robust_list", "sigaltstack", "tgkill", "timer_create", "timer_delete", "timer_settime",
			}},
			{Do: allow, Why: "threads of its own", Calls: []string{"clone"}, Args: []seccomp.Arg{{
				Op: seccomp.MaskedEqual, Value: unix.CLONE_THREAD | unix.CLONE_VM, Mask: unix.CLONE_THREAD | unix.CLONE_VM,
			}}},
			{Do: seccomp.Fail(unix.ENOSYS), Why: "its arguments are out of a filter's sight; clone is there", Calls: []string{"clone3"}},
			{Do: seccomp.Fail(unix.EPERM), Why: "memory is written or executed", Calls: []string{"mmap", "mprotect"}, Args: []seccomp.Arg{
				{Index: 2, Op: seccomp.AnyBits, Mask: unix.PROT_EXEC},
			}},
		},
	}
}
