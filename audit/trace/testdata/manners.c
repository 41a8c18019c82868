// manners looks at what a traced process could tell from an untraced one. Its
// output is the same in both.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile long *beats;

static void rest(int ms) {
	struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
	while (nanosleep(&t, &t) && errno == EINTR) ;
}
static void *beat(void *at) {
	for (;; rest(1)) ++*(volatile long *)at;
	return 0;
}
// moves tells whether the child's threads do something: all of them, and soon or,
// on a busy machine, late. Where none is to, a tenth of a second has to do.
static int moves(int threads, int expected) {
	long before[4], n = 0;
	memcpy(before, (void *)beats, sizeof before);
	for (int i = 0; i < (expected ? 4000 : 20) && n < threads; i++) {
		rest(5);
		n = 0;
		for (int k = 0; k < threads; k++) n += beats[k] != before[k];
	}
	return n == threads ? 1 : n ? -1 : 0;
}

// start begins a child that beats, in a group or a session of its own. What a
// terminal stops a process with is ignored in an orphaned group, where nobody has
// a parent in another group of the session (signal(7), setpgid(2)), and this
// program's group may be one: under setsid or a service manager, or where the
// shell has ended that began it. The child's group is not, since this program is
// its parent; a session of its own is.
static pid_t start(int threads, int session) {
	pid_t p = fork();
	if (!p) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); // who ends this program's group must end it too
		if (session) setsid();
		for (int k = 1; k < threads; k++) {
			pthread_t t;
			pthread_create(&t, 0, beat, (void *)(beats + k));
		}
		beat((void *)beats);
	}
	if (!session) setpgid(p, p);
	return p;
}

static void stopping(int threads, int signal) {
	for (int k = 0; k < 4; k++) beats[k] = 0;
	pid_t p = start(threads, 0);
	int s;
	printf("%d threads, signal %d: runs %d", threads, signal, moves(threads, 1));
	kill(p, signal);
	waitpid(p, &s, WUNTRACED);
	printf(", stopped %d by %d, runs %d", WIFSTOPPED(s), WSTOPSIG(s), moves(threads, 0));
	kill(p, SIGUSR2); // default: ends it, once it runs
	printf(", a signal meanwhile: runs %d", moves(threads, 0));
	sigset_t set;
	sigemptyset(&set);
	kill(p, SIGCONT);
	waitpid(p, &s, 0);
	printf(", ended by %d\n", WTERMSIG(s));
	p = start(1, 0);
	kill(p, signal);
	waitpid(p, &s, WUNTRACED);
	kill(p, SIGCONT);
	waitpid(p, &s, WCONTINUED);
	printf("continued %d, runs %d", WIFCONTINUED(s) != 0, moves(1, 1));
	kill(p, signal);
	waitpid(p, &s, WUNTRACED);
	kill(p, SIGKILL);
	waitpid(p, &s, 0);
	printf(", killed while stopped: %d\n", WTERMSIG(s));
}

// orphaned looks at a process that a terminal cannot stop, and SIGSTOP can.
static void orphaned(int threads, int signal) {
	int s;
	pid_t p = start(threads, 1);
	printf("orphaned, %d threads: runs %d", threads, moves(threads, 1));
	kill(p, signal);
	printf(", signal %d: runs %d", signal, moves(threads, 1));
	printf(", stopped %d", waitpid(p, &s, WUNTRACED | WNOHANG) != 0);
	kill(p, SIGSTOP);
	waitpid(p, &s, WUNTRACED);
	printf(", then %d by %d, runs %d", WIFSTOPPED(s), WSTOPSIG(s), moves(threads, 0));
	kill(p, SIGKILL);
	waitpid(p, &s, 0);
	printf(", killed %d\n", WTERMSIG(s));
}

static volatile int seen, value, from_self, traps;
static void note(int s, siginfo_t *i, void *c) {
	(void)c;
	if (s == SIGTRAP) traps++;
	else seen++, value = i->si_value.sival_int, from_self = i->si_pid == getpid();
}

static void *later(void *out) {
	rest(50);
	printf("the first thread is gone, pid %d is ours: %d\n", 1, kill(getpid(), 0));
	execl("/bin/echo", "echo", "executed after the first thread ended", (char *)0);
	return out;
}

int main(void) {
	setbuf(stdout, 0); // one that hangs has said where
	beats = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct sigaction sa = {.sa_sigaction = note, .sa_flags = SA_SIGINFO | SA_RESTART};
	sigaction(SIGUSR1, &sa, 0);
	sigaction(SIGTRAP, &sa, 0);
	for (int i = 0; i < 500; i++) sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = i});
	printf("signals %d, the last value %d, from itself %d\n", seen, value, from_self);
	raise(SIGTRAP);
	kill(getpid(), SIGTRAP);
	printf("traps %d\n", traps);
	sigset_t set, old;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, &old);
	sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 4711});
	siginfo_t info;
	printf("waited for signal %d", sigwaitinfo(&set, &info));
	printf(" with %d\n", info.si_value.sival_int);
	sigprocmask(SIG_SETMASK, &old, 0);

	stopping(1, SIGSTOP);
	stopping(4, SIGSTOP);
	stopping(1, SIGTSTP);
	stopping(4, SIGTTIN);
	orphaned(1, SIGTSTP);
	orphaned(4, SIGTTOU);

	pid_t p = fork();
	if (!p) {
		raise(SIGABRT);
		_exit(9);
	}
	int s;
	waitpid(p, &s, 0);
	printf("aborted %d\n", WTERMSIG(s));
	pthread_t t;
	pthread_create(&t, 0, later, 0);
	pthread_exit(0);
}
