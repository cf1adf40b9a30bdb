// SPDX-License-Identifier: MIT
/* Numbers from the input, and checks: see fuzz.h. */
#include "fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t fuzz_bytes(struct fuzz *f, void *to, size_t bytes)
{
	size_t n = bytes < f->left ? bytes : f->left;

	if (n)
		memcpy(to, f->data, n);
	f->data += n;
	f->left -= n;
	return n;
}

u8 fuzz_u8(struct fuzz *f)
{
	u8 v = 0;

	fuzz_bytes(f, &v, sizeof(v));
	return v;
}

u16 fuzz_u16(struct fuzz *f)
{
	u16 v = 0;

	fuzz_bytes(f, &v, sizeof(v));
	return v;
}

u32 fuzz_u32(struct fuzz *f)
{
	u32 v = 0;

	fuzz_bytes(f, &v, sizeof(v));
	return v;
}

u64 fuzz_u64(struct fuzz *f)
{
	u64 v = 0;

	fuzz_bytes(f, &v, sizeof(v));
	return v;
}

u32 fuzz_below(struct fuzz *f, u32 n)
{
	return (n <= 256 ? fuzz_u8(f) : fuzz_u32(f)) % n;
}

u32 fuzz_mutate(struct fuzz *f, u32 good)
{
	u8 how = fuzz_u8(f);

	if (how < 250)
		return good;
	return how < 253 ? fuzz_u8(f) : (u32)fuzz_number(f);
}

u64 fuzz_number(struct fuzz *f)
{
	u8 how = fuzz_u8(f);

	switch (how % 8) {
	case 0:
		return how / 8;
	case 1:
		return 1ull << how % 64;
	case 2:
		return (1ull << how % 64) - 1;
	case 3:
		return 0 - (u64)(how / 8);
	case 4:
		return fuzz_u8(f);
	case 5:
		return fuzz_u16(f);
	case 6:
		return fuzz_u32(f);
	default:
		return fuzz_u64(f);
	}
}

void fuzz_fail(const char *file, int line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "%s:%d: ", file, line);
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	va_end(args);
	abort();
}
