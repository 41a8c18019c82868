// starter says on descriptor 5 that it runs, loads the filter that descriptor 3
// holds as soon as descriptor 4 says so, and executes its arguments.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv) {
	static char program[1 << 15];
	ssize_t n = read(3, program, sizeof program);
	char word;
	if (n <= 0 || argc < 2 || write(5, "x", 1) != 1 || read(4, &word, 1) != 1)
		return 120;
	for (int i = 3; i < 6; i++)
		close(i);
	struct sock_fprog f = {n / sizeof(struct sock_filter), (struct sock_filter *)program};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &f))
		return 121;
	execv(argv[1], argv + 1);
	fprintf(stderr, "starter: %s\n", strerror(errno));
	return 122;
}
