// exercise starts programs in the ways that its first argument names. Where
// strace miscounts it prints how many were started, as "ran N".
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char *argv_true[] = {"true", 0};
static char *self;

// report prints how an attempt in a child of its own ended: 0, or its errno.
#define TRY(name, ...)                                            \
	do {                                                          \
		fflush(stdout);                                           \
		pid_t p_ = fork();                                        \
		if (!p_) {                                                \
			__VA_ARGS__;                                            \
			_exit(errno);                                         \
		}                                                         \
		int s_;                                                   \
		waitpid(p_, &s_, 0);                                      \
		printf("%s %d\n", name, WIFEXITED(s_) ? WEXITSTATUS(s_) : 1000 + WTERMSIG(s_)); \
	} while (0)

static void by_descriptor(void) {
	TRY("execveat descriptor", syscall(SYS_execveat, open("/bin/true", O_RDONLY | O_CLOEXEC), "", argv_true, environ, AT_EMPTY_PATH));
	TRY("execveat folder", syscall(SYS_execveat, open("/bin", O_PATH), "true", argv_true, environ, 0));
	TRY("execveat relative", if (chdir("/bin")) _exit(99); syscall(SYS_execveat, AT_FDCWD, "./true", argv_true, environ, 0));
	TRY("execveat bad descriptor", syscall(SYS_execveat, 77, "", argv_true, environ, AT_EMPTY_PATH));
	TRY("execveat bad folder", syscall(SYS_execveat, 77, "true", argv_true, environ, 0));
	TRY("execveat empty", syscall(SYS_execveat, AT_FDCWD, "", argv_true, environ, 0));
	TRY("fexecve", fexecve(open("/bin/true", O_PATH), argv_true, environ));
	TRY("memfd", {
		int m = memfd_create("made", MFD_CLOEXEC), f = open("/bin/true", O_RDONLY), n;
		char b[65536];
		while ((n = read(f, b, sizeof b)) > 0)
			if (write(m, b, n) != n) _exit(99);
		fexecve(m, argv_true, environ);
	});
	TRY("own file", execl("/proc/self/exe", "exercise", "nothing", (char *)0));
}

static void by_path(void) {
	TRY("empty", execve("", argv_true, environ));
	TRY("folder", execve("/bin", argv_true, environ));
	TRY("missing", execve("/nonexistent/true", argv_true, environ));
	TRY("below a file", execve("/bin/true/x", argv_true, environ));
	TRY("bad pointer", execve((char *)1, argv_true, environ));
	TRY("bad arguments", execve("/bin/true", (char **)1, environ));
	TRY("no execute bit", execve("./data", argv_true, environ));
	TRY("dangling", execve("./dangling", argv_true, environ));
	TRY("loop", execve("./loop", argv_true, environ));
	TRY("no shebang", execve("./plain", argv_true, environ));
	TRY("shebang to nothing", execve("./badint", argv_true, environ));
	TRY("deleted while it runs", {
		if (link(self, "./gone") && errno != EEXIST) _exit(99);
		execl("./gone", "gone", "unlink", (char *)0);
	});
	char *p = mmap(0, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(p + 2 * 4096, 4096);
	strcpy(p + 4096 - 5, "/bin/true");
	TRY("across pages", execve(p + 4096 - 5, argv_true, environ));
	strcpy(p + 2 * 4096 - 10, "/bin/true");
	TRY("to the end of what is mapped", execve(p + 2 * 4096 - 10, argv_true, environ));
	memcpy(p + 2 * 4096 - 9, "/bin/true", 9);
	TRY("past the end of what is mapped", execve(p + 2 * 4096 - 9, argv_true, environ));
	static char longest[5000];
	memset(longest, '/', sizeof longest);
	strcpy(longest + 4095 - 8, "bin/true");
	TRY("4095 bytes", execve(longest, argv_true, environ));
	TRY("4095 bytes, not there", longest[4094] = 'x'; execve(longest, argv_true, environ));
	memset(longest, '/', sizeof longest);
	strcpy(longest + 4096 - 8, "bin/true");
	TRY("4096 bytes", execve(longest, argv_true, environ));
}

static void storm(int n) {
	for (int i = 0; i < n; i++) {
		pid_t p;
		switch (i % 3) {
		case 0:
			if (posix_spawn(&p, "/bin/true", 0, 0, argv_true, environ)) exit(1);
			break;
		case 1:
			if (!(p = vfork())) {
				execve("/bin/true", argv_true, environ);
				_exit(1);
			}
			break;
		default:
			if (!(p = vfork())) {
				execve("/nonexistent/true", argv_true, environ);
				_exit(1);
			}
		}
		waitpid(p, 0, 0);
	}
}

// parallel forks in k processes, n times each, and prints how many ran.
static void parallel(int k, int n) {
	int *ran = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (int j = 0; j < k; j++)
		if (!fork()) {
			for (int i = 0; i < n; i++) {
				pid_t p = fork();
				if (!p) {
					execve("/bin/true", argv_true, environ);
					_exit(9);
				}
				int s = 1;
				waitpid(p, &s, 0);
				if (s == 0) __sync_fetch_and_add(ran, 1);
			}
			_exit(0);
		}
	while (wait(0) > 0) ;
	printf("ran %d\n", *ran);
}

static void *exec_thread(void *path) {
	execve(path, argv_true, environ);
	return 0;
}
static void *sleep_thread(void *arg) {
	for (;;) pause();
	return arg;
}
static pthread_t start(void *(*f)(void *), void *arg) {
	pthread_t t;
	if (pthread_create(&t, 0, f, arg)) pause(); // another thread is executing already
	return t;
}

// threads lets a thread other than the first execute a program: alone, beside
// sleeping threads, against others that want to as well, after the first ended.
static void threads(int n) {
	int ran = 0;
	for (int i = 0; i < n; i++) {
		pid_t p = fork();
		if (!p) {
			switch (i % 5) {
			case 0:
				pthread_join(start(exec_thread, "/bin/true"), 0);
				break;
			case 1:
				for (int k = 0; k < 6; k++) start(sleep_thread, 0);
				pthread_join(start(exec_thread, "/bin/true"), 0);
				break;
			case 2:
				for (int k = 0; k < 6; k++) start(exec_thread, "/bin/true");
				for (;;) pause();
			case 3:
				for (int k = 0; k < 4; k++) start(exec_thread, "/bin/true");
				execve("/bin/true", argv_true, environ);
				break;
			case 4:
				start(exec_thread, "/nonexistent/true");
				start(exec_thread, "/bin/true");
				pthread_exit(0);
			}
			_exit(97);
		}
		int s = 1;
		waitpid(p, &s, 0);
		if (s == 0) ran++;
		else fprintf(stderr, "threads %d: status %#x\n", i % 5, s);
	}
	printf("ran %d\n", ran);
}

static void nothing(int s) { (void)s; }

// alarms executes programs while a signal comes every 400 us.
static void alarms(int n) {
	int ran = 0;
	for (int i = 0; i < n; i++) {
		pid_t p = fork();
		if (!p) {
			struct sigaction sa = {.sa_handler = nothing, .sa_flags = SA_RESTART};
			sigaction(SIGALRM, &sa, 0);
			struct itimerval t = {{0, 400}, {0, 400}};
			setitimer(ITIMER_REAL, &t, 0);
			execve("/nonexistent/true", argv_true, environ);
			execve("/bin/true", argv_true, environ);
			_exit(99);
		}
		int s = 0;
		waitpid(p, &s, 0);
		if (!(WIFEXITED(s) && WEXITSTATUS(s) == 99)) ran++;
	}
	printf("ran %d\n", ran);
}

// comers keeps processes coming and going, n in all, 32 at a time, each ended
// in another way, while they stop, continue and kill each other.
static void comers(int n) {
	unsigned seed = 7;
	pid_t live[32] = {0};
	int made = 0, ended = 0;
	while (ended < n) {
		for (int i = 0; i < 32 && made < n; i++) {
			if (live[i]) continue;
			int kind = made % 8;
			pid_t p = fork();
			if (p < 0) exit(1);
			if (!p) {
				switch (kind) {
				case 0: _exit(0);
				case 1: execve("/bin/true", argv_true, environ); _exit(9);
				case 2: execve("/nonexistent", argv_true, environ); _exit(0);
				case 3: start(sleep_thread, 0); _exit(0);
				case 4: start(exec_thread, "/bin/true"); pthread_exit(0);
				case 5: raise(SIGTERM); _exit(9);
				case 6: if (!fork()) { execve("/bin/true", argv_true, environ); _exit(9); } _exit(0); // an orphan
				case 7: for (int k = 0; k < 50; k++) if (!vfork()) { execve("/nonexistent", argv_true, environ); _exit(0); } _exit(0);
				}
			}
			live[i] = p;
			made++;
		}
		for (int i = 0; i < 32; i++) {
			if (!live[i]) continue;
			switch (rand_r(&seed) % 12) {
			case 0: kill(live[i], SIGSTOP); break;
			case 1: kill(live[i], SIGKILL); break;
			case 2: kill(live[i], SIGWINCH); break;
			}
			kill(live[i], SIGCONT);
			int s;
			if (waitpid(live[i], &s, WNOHANG) == live[i]) live[i] = 0, ended++;
		}
	}
	printf("ended %d\n", ended);
}

int main(int argc, char **argv) {
	int n = argc > 2 ? atoi(argv[2]) : 0, m = argc > 3 ? atoi(argv[3]) : 0;
	self = realpath("/proc/self/exe", 0);
	const char *what = argc > 1 ? argv[1] : "";
	if (!strcmp(what, "nothing")) return 0;
	if (!strcmp(what, "unlink")) return unlink("./gone") || (execve("/proc/self/exe", (char *[]){"gone", "nothing", 0}, environ), errno);
	if (!strcmp(what, "descriptors")) return by_descriptor(), 0;
	if (!strcmp(what, "paths")) return by_path(), 0;
	if (!strcmp(what, "storm")) return storm(n), 0;
	if (!strcmp(what, "parallel")) return parallel(n, m), 0;
	if (!strcmp(what, "threads")) return threads(n), 0;
	if (!strcmp(what, "alarms")) return alarms(n), 0;
	if (!strcmp(what, "comers")) return comers(n), 0;
	return 2;
}
