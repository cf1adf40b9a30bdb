// SPDX-License-Identifier: MIT
/*
 * A race, to prove that ThreadSanitizer reports one: two threads increment the same
 * word without synchronisation. Only built with it, and expected to fail.
 */
#include <pthread.h>
#include <stdio.h>

static unsigned int word;

static void *count(void *opaque)
{
	unsigned int n;

	(void)opaque;
	for (n = 0; n < 100000; n++)
		word++;
	return NULL;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, count, NULL))
		return 0;
	count(NULL);
	pthread_join(thread, NULL);
	printf("%u\n", word);
	return 0;
}
