/* SPDX-License-Identifier: MIT */
/*
 * Shared by the fuzz targets: numbers from the input, and checks.
 *
 * A target is a file with LLVMFuzzerTestOneInput(). It reads its input front to
 * back as a list of decisions; where the input ends everything reads as 0, and
 * loops over fuzz_more() end. So every input is valid, and a truncated one is the
 * same test with fewer steps.
 *
 * A target leaves no state: the effect of an input depends on the input alone.
 */
#ifndef PUMICE_FUZZ_H
#define PUMICE_FUZZ_H

#include <stddef.h>

#include "pumice_types.h"

/* The entry point, which is also that of libFuzzer. Return: 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The remaining input. */
struct fuzz {
	const u8 *data;
	size_t left;
};

static inline bool fuzz_more(const struct fuzz *f)
{
	return f->left;
}

u8 fuzz_u8(struct fuzz *f);
u16 fuzz_u16(struct fuzz *f);
u32 fuzz_u32(struct fuzz *f);
u64 fuzz_u64(struct fuzz *f);

/* Return a number below n, which is not 0; takes one byte of input for n up to 256, else four. */
u32 fuzz_below(struct fuzz *f, u32 n);

/* Usually return @good, consuming one byte of input; occasionally a small or any number. */
u32 fuzz_mutate(struct fuzz *f, u32 good);

/* Return a number with few or all bits set, at a limit, or arbitrary. */
u64 fuzz_number(struct fuzz *f);

/* Copy up to @bytes of input. Return the number of copied bytes. */
size_t fuzz_bytes(struct fuzz *f, void *to, size_t bytes);

/* Fail with a message about the violated rule: the input is a finding. */
__attribute__((format(printf, 3, 4), noreturn)) void fuzz_fail(const char *file, int line,
							       const char *format, ...);
#define FUZZ_CHECK(good, ...)						\
	do {								\
		if (!(good))						\
			fuzz_fail(__FILE__, __LINE__, __VA_ARGS__);	\
	} while (0)

#endif
