// SPDX-License-Identifier: MIT
/*
 * The functions that a freestanding compiler may call implicitly: copying and
 * clearing structures. Compiled so that they do not call themselves.
 */
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memset(void *to, int value, size_t bytes);

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	while (bytes--)
		*t++ = *f++;
	return to;
}

void *memset(void *to, int value, size_t bytes)
{
	unsigned char *t = to;

	while (bytes--)
		*t++ = (unsigned char)value;
	return to;
}
