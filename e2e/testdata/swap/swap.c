/* Executes a path while another thread changes the path's bytes: swap A B N,
   where A and B are equally long. Prints nothing itself. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char path[4096];
static char *const *names;

static void *turn(void *unused)
{
	(void)unused;
	for (unsigned i = 0;; i++)
		memcpy(path, names[i & 1], strlen(names[0]));
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 64;
	names = argv + 1;
	for (int i = 0; i < atoi(argv[3]); i++) {
		strcpy(path, names[i & 1]); /* each is met, should the thread be late */
		if (fork() == 0) {
			pthread_t thread;
			char *const args[] = {"program", "ran", NULL};
			pthread_create(&thread, NULL, turn, NULL);
			for (volatile int wait = i * 97 % 20000; wait > 0; wait--)
				;
			for (int k = 0; k < 20; k++)
				execve(path, args, environ);
			_exit(1);
		}
		wait(NULL);
	}
	return write(1, "end\n", 4) != 4;
}
