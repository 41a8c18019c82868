package seccomp

import "golang.org/x/sys/unix"

// allowed returns the calls that ordinary programs make. A test checks that each call of the tables
// is named here, by refused, or by the side doors.
func allowed() []Rule {
	allow := Action{Kind: Allow}
	return []Rule{
		{Do: allow, Why: "files and directories: mounts and Landlock say which", Calls: []string{
			"access", "chdir", "chmod", "chown", "close", "close_range", "copy_file_range",
			"creat", "dup", "dup2", "dup3", "faccessat", "faccessat2", "fadvise64", "fallocate",
			"fchdir", "fchmod", "fchmodat", "fchmodat2", "fchown", "fchownat", "fcntl",
			"fdatasync", "file_getattr", "file_setattr", "flock", "fstat", "fstatfs", "fsync",
			"ftruncate", "futimesat", "getcwd", "getdents", "getdents64", "ioctl", "lchown",
			"link", "linkat", "listmount", "lseek", "lstat", "mkdir", "mkdirat", "mknod",
			"mknodat", "name_to_handle_at", "newfstatat", "open", "openat", "openat2",
			"pread64", "preadv", "preadv2", "pwrite64", "pwritev", "pwritev2", "read",
			"readahead", "readlink", "readlinkat", "readv", "rename", "renameat", "renameat2",
			"rmdir", "sendfile", "splice", "stat", "statfs", "statmount", "statx", "symlink",
			"symlinkat", "sync", "sync_file_range", "syncfs", "tee", "truncate", "umask",
			"unlink", "unlinkat", "utime", "utimensat", "utimes", "vmsplice", "write", "writev",
		}},
		{Do: allow, Why: "extended attributes, under the same rules as their files", Calls: []string{
			"fgetxattr", "flistxattr", "fremovexattr", "fsetxattr", "getxattr", "getxattrat",
			"lgetxattr", "listxattr", "listxattrat", "llistxattr", "lremovexattr", "lsetxattr",
			"removexattr", "removexattrat", "setxattr", "setxattrat",
		}},
		{Do: allow, Why: "waiting for files and events", Calls: []string{
			"epoll_create", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_pwait2",
			"epoll_wait", "eventfd", "eventfd2", "inotify_add_watch", "inotify_init",
			"inotify_init1", "inotify_rm_watch", "io_cancel", "io_destroy", "io_getevents",
			"io_pgetevents", "io_setup", "io_submit", "pipe", "pipe2", "poll", "ppoll",
			"pselect6", "select", "signalfd", "signalfd4",
		}},
		{Do: allow, Why: "the process's own memory", Calls: []string{
			"brk", "cachestat", "madvise", "map_shadow_stack", "membarrier", "memfd_create",
			"memfd_secret", "mincore", "mlock", "mlock2", "mlockall", "mmap", "mprotect",
			"mremap", "mseal", "msync", "munlock", "munlockall", "munmap", "pkey_alloc",
			"pkey_free", "pkey_mprotect", "remap_file_pages",
		}},
		{Do: allow, Why: "processes and threads; namespaces are the syscall filter's", Calls: []string{
			"arch_prctl", "clone", "execve", "execveat", "exit", "exit_group", "fork", "futex",
			"futex_requeue", "futex_wait", "futex_waitv", "futex_wake", "get_robust_list",
			"get_thread_area", "getpgid", "getpgrp", "getpid", "getppid", "getsid", "gettid",
			"modify_ldt", "personality", "pidfd_open", "pidfd_send_signal", "prctl",
			"process_mrelease", "restart_syscall", "rseq", "rseq_slice_yield",
			"set_robust_list", "set_thread_area", "set_tid_address", "setpgid", "setsid",
			"uprobe", "uretprobe", "vfork", "wait4", "waitid",
		}},
		{Do: allow, Why: "debuggers: the kernel asks whether the caller may trace the process", Calls: []string{
			"kcmp", "pidfd_getfd", "process_madvise", "process_vm_readv", "process_vm_writev",
			"ptrace",
		}},
		{Do: allow, Why: "signals", Calls: []string{
			"kill", "pause", "rt_sigaction", "rt_sigpending", "rt_sigprocmask",
			"rt_sigqueueinfo", "rt_sigreturn", "rt_sigsuspend", "rt_sigtimedwait",
			"rt_tgsigqueueinfo", "sigaltstack", "tgkill", "tkill",
		}},
		{Do: allow, Why: "users, groups and capabilities: the kernel asks for a capability to change them", Calls: []string{
			"capget", "capset", "getegid", "geteuid", "getgid", "getgroups", "getresgid",
			"getresuid", "getuid", "setfsgid", "setfsuid", "setgid", "setgroups", "setregid",
			"setresgid", "setresuid", "setreuid", "setuid",
		}},
		{Do: allow, Why: "scheduling and limits of the caller's own processes", Calls: []string{
			"getcpu", "getpriority", "getrlimit", "getrusage", "ioprio_get", "ioprio_set",
			"prlimit64", "sched_get_priority_max", "sched_get_priority_min",
			"sched_getaffinity", "sched_getattr", "sched_getparam", "sched_getscheduler",
			"sched_rr_get_interval", "sched_setaffinity", "sched_setattr", "sched_setparam",
			"sched_setscheduler", "sched_yield", "setpriority", "setrlimit",
		}},
		{Do: allow, Why: "time: without CAP_SYS_TIME the adjusting calls read only", Calls: []string{
			"adjtimex", "alarm", "clock_adjtime", "clock_getres", "clock_gettime",
			"clock_nanosleep", "getitimer", "gettimeofday", "nanosleep", "setitimer", "time",
			"timer_create", "timer_delete", "timer_getoverrun", "timer_gettime",
			"timer_settime", "timerfd_create", "timerfd_gettime", "timerfd_settime", "times",
		}},
		{Do: allow, Why: "sockets: families that reach further are the syscall filter's", Calls: []string{
			"accept", "accept4", "bind", "connect", "getpeername", "getsockname", "getsockopt",
			"listen", "recvfrom", "recvmmsg", "recvmsg", "sendmmsg", "sendmsg", "sendto",
			"setsockopt", "shutdown", "socket", "socketpair",
		}},
		{Do: allow, Why: "messages and shared memory, in the sandbox's own IPC namespace", Calls: []string{
			"mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive", "mq_timedsend",
			"mq_unlink", "msgctl", "msgget", "msgrcv", "msgsnd", "semctl", "semget", "semop",
			"semtimedop", "shmat", "shmctl", "shmdt", "shmget",
		}},
		{Do: allow, Why: "facts about the machine", Calls: []string{
			"getrandom", "sysinfo", "uname",
		}},
		{Do: allow, Why: "a program may restrict itself further", Calls: []string{
			"landlock_add_rule", "landlock_create_ruleset", "landlock_restrict_self",
			"lsm_get_self_attr", "lsm_list_modules", "seccomp",
		}},
	}
}

// refused returns the calls that ordinary programs do not need and that are not side doors: a
// profile may allow them.
func refused() []Rule {
	eperm := Fail(unix.EPERM)
	return []Rule{
		{Do: eperm, Why: "which memory node a page is on is for whoever has CAP_SYS_NICE", Calls: []string{
			"get_mempolicy", "mbind", "migrate_pages", "move_pages", "set_mempolicy",
			"set_mempolicy_home_node",
		}},
		{Do: eperm, Why: "old, and used by no program of today", Calls: []string{
			"sysfs", "ustat",
		}},
		{Do: noSuchCall, Why: "it shows namespaces; tools fall back to /proc", Calls: []string{
			"listns",
		}},
		{Do: noSuchCall, Why: "the kernel has it no more, or never had", Calls: []string{
			"_sysctl", "afs_syscall", "create_module", "epoll_ctl_old", "epoll_wait_old",
			"get_kernel_syms", "getpmsg", "nfsservctl", "putpmsg", "query_module", "security",
			"tuxcall", "uselib", "vserver",
		}},
	}
}
