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
// moves tells whether the child's threads do something.
static int moves(int threads) {
	long before[4], n = 0;
	memcpy(before, (void *)beats, sizeof before);
	for (int i = 0; i < 400; i++, n = 0) {
		rest(5);
		for (int k = 0; k < threads; k++) n += beats[k] != before[k];
		if (n == threads) return 1;
		if (i > 20 && n == 0) return 0;
	}
	return -1;
}

static void stopping(int threads, int signal) {
	for (int k = 0; k < 4; k++) beats[k] = 0;
	pid_t p = fork();
	if (!p) {
		for (int k = 1; k < threads; k++) {
			pthread_t t;
			pthread_create(&t, 0, beat, (void *)(beats + k));
		}
		beat((void *)beats);
	}
	int s;
	printf("%d threads, signal %d: runs %d", threads, signal, moves(threads));
	kill(p, signal);
	waitpid(p, &s, WUNTRACED);
	printf(", stopped %d by %d, runs %d", WIFSTOPPED(s), WSTOPSIG(s), moves(threads));
	kill(p, SIGUSR2); // default: ends it, once it runs
	printf(", a signal meanwhile: runs %d", moves(threads));
	sigset_t set;
	sigemptyset(&set);
	kill(p, SIGCONT);
	waitpid(p, &s, 0);
	printf(", ended by %d\n", WTERMSIG(s));
	p = fork();
	if (!p) beat((void *)beats);
	kill(p, signal);
	waitpid(p, &s, WUNTRACED);
	kill(p, SIGCONT);
	waitpid(p, &s, WCONTINUED);
	printf("continued %d, runs %d", WIFCONTINUED(s) != 0, moves(1));
	kill(p, signal);
	waitpid(p, &s, WUNTRACED);
	kill(p, SIGKILL);
	waitpid(p, &s, 0);
	printf(", killed while stopped: %d\n", WTERMSIG(s));
	fflush(stdout);
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
	fflush(stdout);
	execl("/bin/echo", "echo", "executed after the first thread ended", (char *)0);
	return out;
}

int main(void) {
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
	fflush(stdout);

	stopping(1, SIGSTOP);
	stopping(4, SIGSTOP);
	stopping(1, SIGTSTP);
	stopping(4, SIGTTIN);

	pid_t p = fork();
	if (!p) {
		raise(SIGABRT);
		_exit(9);
	}
	int s;
	waitpid(p, &s, 0);
	printf("aborted %d\n", WTERMSIG(s));
	fflush(stdout);
	pthread_t t;
	pthread_create(&t, 0, later, 0);
	pthread_exit(0);
}
