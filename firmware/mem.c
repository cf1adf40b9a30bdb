// SPDX-License-Identifier: MIT
/*
 * The functions that a freestanding compiler may call implicitly: copying and
 * clearing structures. Compiled so that they do not call themselves.
 */
#include <stddef.h>
#include <stdint.h>

typedef uint32_t __attribute__((may_alias)) word;

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

	for (; bytes >= sizeof(word) && !((uintptr_t)t % sizeof(word)); t += sizeof(word)) {
		*(word *)t = (unsigned char)value * 0x01010101u;
		bytes -= sizeof(word);
	}
	while (bytes--)
		*t++ = (unsigned char)value;
	return to;
}
