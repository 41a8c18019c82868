// doors tries the ways past a counting tracer. Each line is a way and what the
// kernel said: 0 for yes, an errno, "signal N".
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char *argv_true[] = {"true", 0};

static void say(const char *what, long r) { printf("%s %d\n", what, r < 0 ? errno : 0); fflush(stdout); }

static void finish(const char *what, pid_t p) {
	int s = 0;
	if (p < 0) { printf("%s no child: %d\n", what, errno); return; }
	if (waitpid(p, &s, __WALL) != p) printf("%s lost\n", what);
	else if (WIFSIGNALED(s)) printf("%s signal %d\n", what, WTERMSIG(s));
	else printf("%s %d\n", what, WEXITSTATUS(s));
	fflush(stdout);
}

int main(void) {
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

	// A tracer of a child that nobody else traces could wave its exec through.
	int go[2];
	if (pipe(go)) return 1;
	p = syscall(SYS_clone3, &a, sizeof a);
	if (!p) {
		char c;
		if (read(go[0], &c, 1) != 1) _exit(98);
		execve("/bin/true", argv_true, environ);
		_exit(errno);
	}
	say("seize", ptrace(PTRACE_SEIZE, p, 0, PTRACE_O_TRACESECCOMP));
	if (write(go[1], "x", 1) != 1) return 1;
	int s;
	while (waitpid(p, &s, __WALL) == p && WIFSTOPPED(s)) ptrace(PTRACE_CONT, p, 0, 0);
	printf("seized child %d\n", WIFEXITED(s) ? WEXITSTATUS(s) : 1000 + WTERMSIG(s));

	p = fork();
	if (!p) { execve("/bin/true", argv_true, environ); _exit(errno); }
	finish("plain", p);
	puts("end");
	return 0;
}
