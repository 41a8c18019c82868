/* Programs that make and connect sockets, each in a way of its own. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void say(const char *what, int r)
{
	printf("%s\t%s\n", what, r < 0 ? strerrorname_np(errno) : "ok");
	fflush(stdout);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static socklen_t name(struct sockaddr_un *a, const char *path)
{
	memset(a, 0, sizeof *a);
	a->sun_family = AF_UNIX;
	memcpy(a->sun_path, path, strlen(path));
	return offsetof(struct sockaddr_un, sun_path) + strlen(path) + 1;
}

static int stream(void) { return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); }

static int serve(const char *path, int backlog)
{
	struct sockaddr_un a;
	int fd = stream();
	unlink(path);
	if (bind(fd, (void *)&a, name(&a, path)) < 0 || listen(fd, backlog) < 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

static int reach(const char *path)
{
	struct sockaddr_un a;
	int fd = stream(), r = connect(fd, (void *)&a, name(&a, path)), e = errno;
	close(fd);
	errno = e;
	return r;
}

/* errnos makes calls that fail, and others beside them, for the answers to be
   compared with the kernel's own. It runs in an empty directory. */
static int errnos(void)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(page + 4096, 4096);
	struct sockaddr_un a;
	socklen_t n = name(&a, "own");
	int own = serve("own", 8), file = open("file", O_CREAT | O_RDWR | O_CLOEXEC, 0600), byname = open("file", O_PATH | O_CLOEXEC);
	int stale = serve("stale", 1), seq = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	close(stale);
	mkdir("dir", 0700);
	mkdir("shut", 0);
	symlink("own", "link"), symlink("nowhere", "dangling"), symlink("loop", "loop");
	int inet = socket(AF_INET, SOCK_STREAM, 0), udp = socket(AF_INET, SOCK_DGRAM, 0), inet6 = socket(AF_INET6, SOCK_STREAM, 0);
	char *end = page + 4096 - n;
	memcpy(end, &a, n);
	for (int b = 0; b < 2; b++) {
		int (*call)(int, const struct sockaddr *, socklen_t) = b ? bind : connect;
		char what[64];
#define IS(text, fd, addr, len) (snprintf(what, sizeof what, "%s %s", b ? "bind" : "connect", text), say(what, call(fd, (void *)(addr), len)))
		IS("no descriptor", 999, &a, n);
		IS("descriptor -1", -1, &a, n);
		IS("a file", file, &a, n);
		IS("a file by name only", byname, &a, n);
		IS("a file, bad address", file, (void *)8, n);
		IS("a file, bad length", file, &a, 129);
		IS("no descriptor, bad address", 999, (void *)8, n);
		IS("null", stream(), NULL, n);
		IS("null and nothing", stream(), NULL, 0);
		IS("bad address", stream(), (void *)8, n);
		IS("kernel address", stream(), (void *)~4095ul, n);
		IS("length -1", stream(), &a, (socklen_t)-1);
		IS("length 0", stream(), &a, 0);
		IS("length 1", stream(), &a, 1);
		IS("length 2", stream(), &a, 2);
		IS("length 111", stream(), &a, 111);
		IS("length 129", stream(), &a, 129);
		IS("over the end of a page", stream(), end, n + 1);
		if (!b) {
			IS("at the end of a page", stream(), end, n);
			IS("its own", stream(), &a, n);
			IS("without its NUL", stream(), &a, n - 1);
			IS("all of the structure", stream(), &a, sizeof a);
			IS("another type", seq, &a, n);
		}
		a.sun_family = AF_INET;
		IS("another family's number", stream(), &a, n);
		a.sun_family = AF_UNSPEC;
		IS("no family", stream(), &a, n);
		a.sun_family = AF_UNIX;
		IS("from the internet", inet, &a, n);
		IS("from the internet, datagrams", udp, &a, n);
		const char *paths[] = {"nowhere", "file", "dir", "own/", "own/x", "nowhere/x", "dangling", "loop", "/", ".", "..", "stale", "shut/x", "/proc/self/fd/999/x"};
		for (unsigned i = 0; i < sizeof paths / sizeof *paths; i++) {
			if (b && i == 0)
				continue; /* it would be made */
			struct sockaddr_un p;
			socklen_t m = name(&p, paths[i]);
			if (b && !strcmp(paths[i], "dangling"))
				unlink("nowhere");
			IS(paths[i], stream(), &p, m);
		}
		struct sockaddr_un l;
		IS("link", stream(), &l, name(&l, "link"));
		memset(l.sun_path, 'x', sizeof l.sun_path);
		IS("a name as long as can be", stream(), &l, sizeof l);
		struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
		IS("the loopback, too short", inet, &to, 8);
		if (!b) {
			IS("the loopback", socket(AF_INET, SOCK_STREAM, 0), &to, sizeof to);
			IS("the loopback, datagrams", udp, &to, sizeof to);
			IS("the loopback, at once", socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), &to, sizeof to);
			struct sockaddr_nl nl = {.nl_family = AF_NETLINK};
			IS("netlink", socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), &nl, sizeof nl);
		}
		IS("IPv6, too short", inet6, &to, sizeof to);
	}
	int server = stream(), client = stream();
	char abstract[] = "\1\0\0abstract-of-the-test";
	say("bind abstract", bind(server, (void *)abstract, sizeof abstract - 1));
	listen(server, 1);
	say("connect abstract", connect(client, (void *)abstract, sizeof abstract - 1));
	say("connect again", connect(client, (void *)&a, n));
	say("bind again", bind(own, (void *)&a, n));
	struct sockaddr_un got;
	socklen_t len = sizeof got;
	int c = stream();
	connect(c, (void *)&a, n);
	say("its name", strcmp((getsockname(own, (void *)&got, &len), got.sun_path), "own") ? -1 : 0);
	len = sizeof got;
	say("its peer's name", strcmp((getpeername(c, (void *)&got, &len), got.sun_path), "own") ? -1 : 0);
	umask(027);
	struct stat st;
	close(serve("masked", 1));
	stat("masked", &st);
	printf("mode\t%o\n", st.st_mode);
	puts("end");
	return 0;
}

/* The racers change something while another thread connects. */
static struct sockaddr_un target;
static const char *one, *two;
static volatile int over;
static int number;

static void *addresses(void *unused)
{
	while (!over) {
		memcpy(target.sun_path, one, strlen(one) + 1);
		memcpy(target.sun_path, two, strlen(two) + 1);
	}
	return unused;
}

static void *links(void *unused)
{
	while (!over) {
		for (int i = 0; i < 2; i++) {
			unlink("swap");
			symlink(i ? one : two, "swap");
			rename("swap", "racing");
		}
	}
	return unused;
}

static void *descriptors(void *unused)
{
	while (!over) {
		int s = stream(), t = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		for (int i = 0; i < 16; i++)
			dup2(i & 1 ? s : t, number);
		close(s);
		close(t);
	}
	return unused;
}

/* race KIND HOST'S OWN SECONDS */
static int race(char **a)
{
	int own = serve(a[2], 4096), reached = 0, others = 0;
	double end = now() + atof(a[3]);
	pthread_t t;
	one = a[1], two = a[2];
	number = dup(own);
	void *(*racer)(void *) = !strcmp(a[0], "addresses") ? addresses : !strcmp(a[0], "links") ? links : descriptors;
	name(&target, racer == links ? "racing" : one);
	pthread_create(&t, NULL, racer, NULL);
	while (now() < end) {
		int fd = stream();
		if (racer == descriptors)
			name(&target, one);
		int r = connect(racer == descriptors ? number : fd, (void *)&target, sizeof target);
		r == 0 ? reached++ : others++;
		close(fd);
		struct pollfd p = {own, POLLIN, 0};
		while (poll(&p, 1, 0) > 0)
			close(accept(own, NULL, NULL));
	}
	over = 1;
	pthread_join(t, NULL);
	printf("reached\t%d\nothers\t%d\nend\n", reached, others);
	return 0;
}

/* ownTable connects from a thread with a table of descriptors of its own, in
   which the number means another socket than in the process's. */
static const char *path;
static int result;

static int inThread(void *unused)
{
	int fd = stream();
	dup2(fd, number);
	struct sockaddr_un a;
	result = connect(number, (void *)&a, name(&a, path)) < 0 ? errno : 0;
	over = 1;
	syscall(SYS_exit, 0);
	return unused != NULL;
}

static int ownTable(char **a)
{
	int own = serve(a[0], 8);
	path = a[0], number = 77;
	dup2(open("/dev/null", O_RDWR), number);
	char *stack = malloc(1 << 16);
	if (clone(inThread, stack + (1 << 16), CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, NULL) < 0)
		return perror("clone"), 1;
	while (!over)
		usleep(1000);
	errno = result;
	say("thread", result ? -1 : 0);
	struct pollfd p = {own, POLLIN, 0};
	printf("came\t%d\nend\n", poll(&p, 1, 1000));
	return 0;
}

/* crowd N: that many wait for a place in a queue. The others go on. Who asks
   meanwhile whether one more may wait takes up a place for as long as that takes,
   so that one of the crowd may have to ask again. */
static pid_t *waiting(const char *at, int n)
{
	pid_t *pids = calloc(n, sizeof *pids);
	for (int i = 0; i < n; i++)
		if ((pids[i] = fork()) == 0) {
			while (reach(at) < 0 && errno == EAGAIN)
				usleep(1000);
			_exit(0);
		}
	return pids;
}

static int crowd(char **a)
{
	int n = atoi(a[1]), own = serve(a[0], 0), sent = 0;
	while (sent < 8) { /* until the queue is full */
		struct sockaddr_un u;
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		if (connect(fd, (void *)&u, name(&u, a[0])) < 0)
			break;
		sent++;
	}
	serve("beside", 128);
	pid_t *pids = waiting(a[0], n);
	int full = 0;
	for (int i = 0; i < 100 && !full; i++, usleep(20000))
		full = reach("beside") < 0 && errno == EAGAIN;
	say("one more", full ? (errno = EAGAIN, -1) : 0);
	for (int i = 0; i < n; i++)
		kill(pids[i], SIGSTOP);
	double before = now();
	for (int i = 0; i < 20; i++) {
		mkdir("made", 0700), rmdir("made");
		pid_t p = fork();
		if (p == 0)
			execl("/bin/true", "true", NULL), _exit(1);
		waitpid(p, NULL, 0);
	}
	printf("others took\t%s\n", now() - before < 5 ? "no longer" : "longer");
	for (int i = 0; i < n; i++)
		kill(pids[i], SIGKILL), waitpid(pids[i], NULL, 0);
	double end = now() + 5;
	while (reach("beside") < 0 && errno == EAGAIN && now() < end)
		usleep(1000);
	say("after their end", reach("beside"));
	waiting(a[0], 3);
	usleep(200000);
	for (int i = 0; i < sent; i++)
		close(accept(own, NULL, NULL));
	for (int i = 0; i < 3; i++) /* nobody of the dead is in the queue */
		close(accept(own, NULL, NULL));
	int ended = 0;
	for (int i = 0; i < 3; i++)
		ended += wait(NULL) > 0;
	struct pollfd p = {own, POLLIN, 0};
	printf("waiting ended\t%d\nleft\t%d\n", ended, poll(&p, 1, 300));
	if (n == 64)
		waiting(a[0], 70); /* and the end comes with them */
	puts("end");
	return 0;
}

/* exchange AT: a word goes there and back. */
static int exchange(char **a)
{
	struct sockaddr_un u;
	char word[16] = "";
	int fd = stream();
	if (connect(fd, (void *)&u, name(&u, a[0])) < 0)
		return say("connect", -1), puts("end"), 0;
	write(fd, "ping", 4);
	read(fd, word, sizeof word - 1);
	printf("connect\t%s\nend\n", word);
	return 0;
}

/* answer AT: the other side of exchange, once. */
static int answer(char **a)
{
	char word[16] = "";
	int own = serve(a[0], 8), fd;
	puts("ready");
	fflush(stdout);
	fd = accept(own, NULL, NULL);
	read(fd, word, sizeof word - 1);
	write(fd, !strcmp(word, "ping") ? "pong" : "what?", 4);
	puts("end");
	return 0;
}

static pthread_barrier_t together;
static struct sockaddr_in burstTo;
static int rounds, came[256];

static void *bursts(void *unused)
{
	for (int i = 0; i < rounds; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		pthread_barrier_wait(&together);
		int r = connect(fd, (void *)&burstTo, sizeof burstTo);
		__atomic_add_fetch(&came[r < 0 ? errno : 0], 1, __ATOMIC_RELAXED);
		pthread_barrier_wait(&together);
		close(fd);
	}
	return NULL;
}

/* burst ADDRESS PORT N ROUNDS: that many threads connect at once, so many times. */
static int burst(char **a)
{
	int n = atoi(a[2]);
	pthread_t t[n];
	burstTo.sin_family = AF_INET;
	inet_pton(AF_INET, a[0], &burstTo.sin_addr);
	burstTo.sin_port = htons(atoi(a[1]));
	rounds = atoi(a[3]);
	pthread_barrier_init(&together, NULL, n);
	for (int i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, bursts, NULL))
			return 1;
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	for (int e = 0; e < 256; e++)
		if (came[e])
			printf("%s\t%d\n", e ? strerrorname_np(e) : "ok", came[e]);
	puts("end");
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 64;
	alarm(18);
	signal(SIGPIPE, SIG_IGN);
	argv += 2;
	return !strcmp(argv[-1], "errnos") ? errnos()
		: !strcmp(argv[-1], "race") ? race(argv)
		: !strcmp(argv[-1], "table") ? ownTable(argv)
		: !strcmp(argv[-1], "crowd") ? crowd(argv)
		: !strcmp(argv[-1], "answer") ? answer(argv)
		: !strcmp(argv[-1], "burst") ? burst(argv)
		: !strcmp(argv[-1], "exchange") ? exchange(argv) : 64;
}
