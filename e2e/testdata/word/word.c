/* Says one of two words. */
#include <stdio.h>

int main(void)
{
#ifdef GOOD
	return puts("GOOD") < 0;
#else
	return puts("EVIL") < 0;
#endif
}
