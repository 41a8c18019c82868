/* Programs that start programs, each in a way of its own. Those that a tracer
   miscounts print how many they saw running. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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
static char *const none[] = {"true", NULL};
static const char *truth = "/bin/true";

/* ran waits for a child and tells whether its program ran: one that did not
   start ends with 99. */
static int ran(pid_t pid)
{
	int status;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 0;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int run(const char *path)
{
	pid_t pid = fork();
	if (pid == 0) {
		execve(path, none, environ);
		_exit(99);
	}
	return ran(pid);
}

static int spawn(int n)
{
	int count = 0;
	for (int i = 0; i < n; i++) {
		pid_t pid;
		if (posix_spawn(&pid, truth, NULL, NULL, none, environ) == 0)
			count += ran(pid);
	}
	return count;
}

static int vforks(int n)
{
	int count = 0;
	for (int i = 0; i < n; i++) {
		pid_t pid = vfork();
		if (pid == 0) {
			execve(truth, none, environ);
			_exit(99);
		}
		count += ran(pid);
	}
	return count;
}

static void parallel(int width, int n)
{
	for (int i = 0; i < width; i++)
		if (fork() == 0) {
			for (int k = 0; k < n; k++)
				run(truth);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
}

static void at(int fd, const char *path, int flags)
{
	if (fork() == 0) {
		syscall(SYS_execveat, fd, path, none, environ, flags);
		_exit(99);
	}
	wait(NULL);
}

static void copy(const char *from, int to)
{
	char buf[65536];
	ssize_t n;
	int fd = open(from, O_RDONLY);
	while ((n = read(fd, buf, sizeof buf)) > 0)
		if (write(to, buf, n) != n)
			exit(98);
	close(fd);
}

static void descriptors(void)
{
	int fd = open(truth, O_PATH | O_CLOEXEC), dir = open("/bin", O_PATH);
	at(fd, "", AT_EMPTY_PATH);
	at(fd, "", 0);                   /* ENOENT */
	at(99, "", AT_EMPTY_PATH);       /* EBADF */
	at(99, "true", 0);               /* EBADF */
	at(99, truth, 0);                /* an absolute path needs no descriptor */
	at(dir, "true", 0);
	at(dir, "nothing", 0);           /* ENOENT */
	at(dir, "", AT_EMPTY_PATH);      /* EACCES: a directory */
	at(AT_FDCWD, "", AT_EMPTY_PATH); /* EACCES */
	at(dir, "true", 0x40000000);     /* EINVAL */
	at(fd, "true", 0);               /* ENOTDIR */
	symlink(truth, "link-to-true");
	at(AT_FDCWD, "link-to-true", AT_SYMLINK_NOFOLLOW); /* ELOOP */
	at(AT_FDCWD, "./link-to-true", 0);

	int script = open("script", O_CREAT | O_RDWR | O_TRUNC, 0755);
	if (write(script, "#!/bin/true\n", 12) != 12)
		exit(98);
	close(script);
	at(AT_FDCWD, "script", 0);
	at(open("script", O_RDONLY), "", AT_EMPTY_PATH);
	at(open("script", O_RDONLY | O_CLOEXEC), "", AT_EMPTY_PATH); /* ENOENT */
	if (fork() == 0) {
		fexecve(open(truth, O_RDONLY), none, environ);
		_exit(99);
	}
	wait(NULL);

	int mem = syscall(SYS_memfd_create, "m", 0);
	copy(truth, mem);
	at(mem, "", AT_EMPTY_PATH);
}

static void paths(void)
{
	static char path[5000];
	memset(path, 0, sizeof path);
	size_t n = 4095 - strlen(truth);
	for (size_t i = 0; i < n; i++)
		path[i] = "/."[i % 2];
	if (n % 2)
		path[n - 1] = '/';
	strcpy(path + n, truth);
	run(path); /* 4,095 bytes */
	memmove(path + 2, path, 4096);
	path[1] = '.';
	run(path); /* ENAMETOOLONG */

	char *page = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(page + 2 * 4096, 4096);
	char *end = page + 2 * 4096 - strlen(truth) - 1;
	strcpy(end, truth);
	run(end); /* up to the end of what is mapped */
	char *over = page + 4096 - 3;
	strcpy(over, truth);
	run(over); /* across a page's end */
	memset(page + 4096, 'x', 4096);
	run(page + 4096); /* EFAULT: no end */
	run((char *)1);   /* EFAULT */
	run("");          /* ENOENT */
	run("/bin/true/"); /* ENOTDIR */
	run("/etc/passwd/x"); /* ENOTDIR */
	static char name[300];
	memset(name, 'n', 299);
	run(name); /* ENAMETOOLONG: one name */
}

static void deleted(const char *self)
{
	int fd = open("copy", O_CREAT | O_WRONLY | O_TRUNC, 0755);
	copy(self, fd);
	close(fd);
	if (fork() == 0) {
		execl("./copy", "copy", "unlink", NULL);
		_exit(99);
	}
	wait(NULL);
}

static void *thread(void *arg)
{
	(void)arg;
	execve(truth, none, environ);
	_exit(99);
}

/* threads: the exec is made by a thread that is not the first. */
static int threads(int n)
{
	int count = 0;
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			pthread_t t;
			pthread_create(&t, NULL, thread, NULL);
			pthread_join(t, NULL);
			_exit(99);
		}
		count += ran(pid);
	}
	return count;
}

static volatile char racing[64];
static volatile int stop;

static void *swap(void *arg)
{
	(void)arg;
	while (!stop)
		for (int i = 0; i < 2000; i++)
			racing[5] = i < 1000 ? 'x' : 't'; /* /bin/xrue */
	return NULL;
}

/* racer changes the path while the kernel and others read it. */
static int racer(int n)
{
	pthread_t t;
	int count = 0;
	strcpy((char *)racing, truth);
	pthread_create(&t, NULL, swap, NULL);
	for (int i = 0; i < n; i++) {
		pid_t pid = vfork(); /* in the same memory */
		if (pid == 0) {
			execve((char *)racing, none, environ);
			_exit(99);
		}
		count += ran(pid);
	}
	stop = 1;
	pthread_join(t, NULL);
	return count;
}

static volatile char name[] = "_envrc";

static void *rename_it(void *arg)
{
	(void)arg;
	while (!stop)
		for (int i = 0; i < 2000; i++)
			name[0] = i < 1000 ? '.' : '_';
	return NULL;
}

/* racing names: a directory is made by a name that changes meanwhile. It tells how
   often each name was made, and how often one was refused. */
static void names(int n)
{
	pthread_t t;
	int made = 0, refused = 0, bad = 0;
	pthread_create(&t, NULL, rename_it, NULL);
	for (int i = 0; i < n; i++) {
		if (mkdir((char *)name, 0755) == 0)
			made++;
		else if (errno == EPERM)
			refused++;
		if (rmdir(".envrc") == 0)
			bad++;
		rmdir("_envrc");
	}
	/* The last one stays. */
	for (int i = 0; i < n && access(".envrc", F_OK); i++) {
		rmdir("_envrc");
		mkdir((char *)name, 0755);
	}
	stop = 1;
	pthread_join(t, NULL);
	printf("made %d refused %d protected %d left %d\n", made, refused, bad, access(".envrc", F_OK) == 0);
}

static union {
	char text[16];
	unsigned long long head;
} elsewhere = {"./a/_git"};

static void *move_it(void *arg)
{
	unsigned long long *paths = arg;
	while (!stop)
		for (int i = 0; i < 2000; i++)
			*(volatile unsigned long long *)&elsewhere.head = paths[i < 1000];
	return NULL;
}

/* deep: the directory seed is renamed to a name that turns into that of a repository in
   another directory meanwhile, until that has come about. It tells how many tries that
   took, and whether the repository is gone again before long. */
static void deep(int n)
{
	pthread_t t;
	unsigned long long paths[2];
	int i = 0, gone = 0;
	memcpy(&paths[0], "./a/_git", 8);
	memcpy(&paths[1], "./b/.git", 8);
	pthread_create(&t, NULL, move_it, paths);
	do {
		rename("a/_git", "seed");
		rename("seed", elsewhere.text);
	} while (++i < n && access("b/.git", F_OK));
	stop = 1;
	pthread_join(t, NULL);
	int won = !access("b/.git", F_OK);
	rename("b/.git/head", "b/.git/HEAD"); /* until now it was no repository, which is pinned */
	for (int k = 0; won && k < 500 && !gone; k++) {
		usleep(10000);
		gone = access("b/.git", F_OK) != 0;
	}
	printf("won %d tries %d gone %d\n", won, i, gone);
}

/* replaced: what the host replaces meanwhile is opened for writing, removed, replaced,
   renamed, linked to and truncated, without any race of its own, until a file "stop" is there. It
   tells how often each came about, and how many calls failed in another way than by the
   mount of what is replaced. */
static void replaced(const char *path)
{
	int won[6] = {0}, other = 0, wrong = 0;
	close(open("over", O_CREAT | O_WRONLY, 0644));
	for (int i = 0; i < 1000000 && access("stop", F_OK); i++) {
		int fd = open(path, O_WRONLY | O_APPEND);
		int e[6] = {fd < 0 ? errno : 0};
		if (fd >= 0)
			close(fd);
		e[5] = truncate(path, 0) ? errno : 0;
		e[1] = unlink(path) ? errno : 0;
		e[2] = rename("over", path) ? errno : 0;
		e[3] = rename(path, "away") ? errno : 0;
		e[4] = link(path, "further") ? errno : 0;
		const int expected[6] = {EROFS, EBUSY, EXDEV, EXDEV, EXDEV, EROFS};
		for (int k = 0; k < 6; k++) {
			won[k] += e[k] == 0;
			if (e[k] && e[k] != expected[k]) {
				other++;
				wrong = e[k];
			}
		}
		if (i == 0) {
			printf("ready\n");
			fflush(stdout);
		}
	}
	printf("opened %d removed %d replaced %d renamed %d linked %d truncated %d other %d (%s)\n", won[0], won[1], won[2], won[3], won[4], won[5], other, strerror(wrong));
}

/* unseen: a protected name by a path that the kernel reads and others do not,
   or resolves as others do not. */
static void unseen(void)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	strcpy(page, ".envrc");
	mprotect(page, 4096, PROT_WRITE);
	printf("mkdir %d\n", mkdir(page, 0755));
	printf("open %d\n", open(page, O_CREAT | O_WRONLY, 0644) >= 0 ? 0 : -1);
	printf("rename %d\n", rename("x", page));
	unsigned long long how[3] = {O_CREAT | O_WRONLY, 0644, 0x10 /* RESOLVE_IN_ROOT */};
	printf("in root %d\n", syscall(437, open(".", O_PATH), "/.envrc", how, sizeof how) >= 0 ? 0 : -1);
	symlink("/proc/self/cwd", "l0");
	for (int i = 0; i < 15; i++) {
		char from[8], to[8];
		snprintf(from, sizeof from, "l%d", i + 1);
		snprintf(to, sizeof to, "l%d", i);
		symlink(to, from);
	}
	printf("chain %d\n", mkdir("l15/.envrc", 0755));
	static char far[5000];
	for (int i = 0; i < 1900; i++)
		strcat(far, "a/");
	printf("far %d\n", mkdir(far, 0755));
}

static void nothing(int sig) { (void)sig; }

/* alarms: a signal comes every 400 microseconds. */
static int alarms(int n)
{
	struct sigaction sa = {.sa_handler = nothing};
	struct itimerval it = {{0, 400}, {0, 400}};
	int count = 0;
	sigaction(SIGALRM, &sa, NULL);
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			setitimer(ITIMER_REAL, &it, NULL);
			execve(truth, none, environ);
			_exit(99);
		}
		/* The program inherits the timer and not the handler, and may be ended
		   by it: only one that never ran ends with 99. */
		int status;
		while (waitpid(pid, &status, 0) < 0)
			;
		count += !(WIFEXITED(status) && WEXITSTATUS(status) == 99);
	}
	return count;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int a = argc > 2 ? atoi(argv[2]) : 0, b = argc > 3 ? atoi(argv[3]) : 0;
	if (!strcmp(mode, "spawn"))
		spawn(a);
	else if (!strcmp(mode, "vfork"))
		vforks(a);
	else if (!strcmp(mode, "parallel"))
		parallel(a, b);
	else if (!strcmp(mode, "descriptors"))
		descriptors();
	else if (!strcmp(mode, "paths"))
		paths();
	else if (!strcmp(mode, "deleted"))
		deleted(argv[0]);
	else if (!strcmp(mode, "unlink")) {
		unlink("./copy");
		execl("/proc/self/exe", "copy", "end", NULL);
		return 97;
	} else if (!strcmp(mode, "chroot")) {
		if (chroot("root") || chdir("/"))
			return 97;
		run("/in"); /* is there in the new root alone */
		run(truth); /* is not */
		run("../../in");
	} else if (!strcmp(mode, "end"))
		return 0;
	else if (!strcmp(mode, "threads"))
		printf("ran %d\n", threads(a));
	else if (!strcmp(mode, "racer"))
		printf("ran %d\n", racer(a));
	else if (!strcmp(mode, "names"))
		names(a);
	else if (!strcmp(mode, "replaced"))
		replaced(argv[2]);
	else if (!strcmp(mode, "deep"))
		deep(a);
	else if (!strcmp(mode, "unseen"))
		unseen();
	else if (!strcmp(mode, "fork-deep")) {
		for (int i = 0; i < a; i++) {
			pid_t pid = fork();
			if (pid) {
				waitpid(pid, NULL, 0);
				_exit(0);
			}
		}
		int n = 0;
		for (int i = 0; i < 5; i++)
			n += run(truth);
		printf("ran %d\n", n);
		fflush(stdout);
	} else if (!strcmp(mode, "first"))
		return printf("%d\n", mkdir(".envrc", 0755) ? errno : 0) < 0;
	else if (!strcmp(mode, "refused")) {
		int n = 0;
		for (int i = 0; i < a; i++)
			if (open(argv[3], O_RDWR) < 0 && (errno == EROFS || errno == EACCES))
				n++;
		printf("refused %d\n", n);
	} else if (!strcmp(mode, "make")) {
		printf("mkdir %d\n", mkdir("made", 0755) ? errno : 0);
		int fd = open("file", O_CREAT | O_WRONLY, 0644);
		printf("open %d\n", fd < 0 ? errno : 0);
		pid_t pid = fork();
		if (pid == 0) {
			execve(truth, none, environ);
			_exit(99);
		}
		printf("exec %d\n", ran(pid));
	} else if (!strcmp(mode, "alarms"))
		printf("ran %d\n", alarms(a));
	else
		return 96;
	return 0;
}
