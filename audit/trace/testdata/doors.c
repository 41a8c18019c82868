// doors tries the ways past a counting tracer. Each line is a way and what the
// kernel said: 0 for yes, an errno, "signal N".
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char *argv_true[] = {"true", 0};

// sharing_child makes a child that shares the descriptors, takes the filter on,
// says where its listener is, and executes.
static pid_t sharing_child(struct sock_fprog *prog, int tell) {
	pid_t p = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	if (!p) {
		int fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, prog);
		if (write(tell, &fd, sizeof fd) != sizeof fd) _exit(98);
		execve("/bin/true", argv_true, environ);
		_exit(errno);
	}
	return p;
}

static void say(const char *what, long r) { printf("%s %d\n", what, r < 0 ? errno : 0); fflush(stdout); }

static void finish(const char *what, pid_t p) {
	int s = 0;
	if (p < 0) { printf("%s no child: %d\n", what, errno); return; }
	if (waitpid(p, &s, __WALL) != p) printf("%s lost\n", what);
	else if (WIFSIGNALED(s)) printf("%s signal %d\n", what, WTERMSIG(s));
	else printf("%s %d\n", what, WEXITSTATUS(s));
	fflush(stdout);
}

#define ON(call, what) \
	{BPF_LD | BPF_W | BPF_ABS, 0, 0, 0}, {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, call}, \
	{BPF_RET | BPF_K, 0, 0, what}, {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}

// A filter of one's own may hand execs to a supervisor of one's own, whose word
// goes before a tracer's.
static void listened(const char *what) {
	int s[2];
	if (pipe(s)) exit(1);
	struct sock_filter f[] = {ON(SYS_execve, SECCOMP_RET_USER_NOTIF)};
	struct sock_fprog prog = {4, f};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	pid_t p = sharing_child(&prog, s[1]);
	int fd;
	if (read(s[0], &fd, sizeof fd) != sizeof fd) exit(1);
	struct seccomp_notif n = {0};
	if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &n)) { printf("%s no notification: %d\n", what, errno); return; }
	struct seccomp_notif_resp r = {.id = n.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
	ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &r);
	finish(what, p);
	close(fd);
}

static void own_trace(const char *what) {
	pid_t p = fork();
	if (!p) {
		struct sock_filter f[] = {ON(SYS_getppid, SECCOMP_RET_TRACE)};
		struct sock_fprog prog = {4, f};
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog)) _exit(98);
		_exit(syscall(SYS_getppid) < 0 ? errno : 0);
	}
	finish(what, p);
}

int main(int argc, char **argv) {
	if (argc > 1) return listened("listened"), puts("end"), 0;
	pid_t p = syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0);
	if (!p) { execve("/bin/true", argv_true, environ); _exit(errno); }
	finish("clone untraced", p);

	struct clone_args a = {.flags = CLONE_UNTRACED, .exit_signal = SIGCHLD};
	p = syscall(SYS_clone3, &a, sizeof a);
	if (!p) { execve("/bin/true", argv_true, environ); _exit(errno); }
	finish("clone3 untraced", p);

	p = fork();
	if (!p) { if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0) _exit(errno); _exit(0); }
	finish("traceme", p);

	int go[2];
	if (pipe(go)) return 1;
	p = fork();
	if (!p) {
		char c;
		if (read(go[0], &c, 1) != 1) _exit(98);
		execve("/bin/true", argv_true, environ);
		_exit(errno);
	}
	say("seize", ptrace(PTRACE_SEIZE, p, 0, PTRACE_O_TRACESECCOMP));
	if (write(go[1], "x", 1) != 1) return 1;
	finish("seized child", p);

	// AT_EXECVE_CHECK starts nothing, and kernels before 6.14 do not know it.
	say("check", syscall(SYS_execveat, AT_FDCWD, "/bin/true", argv_true, environ, 0x10000));

	listened("listened");
	own_trace("a filter that wants a tracer");

	p = fork();
	if (!p) { execve("/bin/true", argv_true, environ); _exit(errno); }
	finish("plain", p);
	puts("end");
	return 0;
}
